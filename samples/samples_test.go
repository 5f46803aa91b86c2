// Package samples runs every sample as a user would: the mapping, the
// environments file and the sheet in a folder of their own, against the
// sandbox. Each sample's expected.json has the expected result, which was
// counted from the sheets and not copied from the program's output.
package samples

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"claimsheet/importer/cli"
	"claimsheet/importer/testform"
	"claimsheet/mapping"

	"github.com/google/go-cmp/cmp"
)

// counts are the counts of --json that no sample may get wrong; those that
// expected.json leaves out are zero.
type counts struct {
	Total, Done, Failed, Uncertain, Invalid, Skipped, Unchanged, Changed, NotStarted, Planned int
}

// requests are the calls that create something.
type requests struct{ Client, Claim, Activity, Link int }

// expected is an expected.json: what a first run against a fresh sandbox gives.
type expected struct {
	Rows, Clients counts
	Requests      requests
	Flows         map[string]int // the calls of a client, in their order, and for how many clients they are these
	InvalidCells  []string
}

// summary is what a user's script reads of --json.
type summary struct {
	Environment   string
	DryRun        bool
	Rows, Clients counts
	Requests      requests
	WithoutLink   int
	Results       string
}

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

func TestSamples(t *testing.T) {
	for _, name := range names(t) {
		if short := []string{"first", "v1-step-1", "v2-several-claims", "v2-csv"}; !*testform.Long && !slices.Contains(short, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := readExpected(t, name)
			folder := t.TempDir()
			copySample(t, name, folder)

			dry := claimsheet(t, folder, want, "--dry-run")
			same(t, "dry run", dry, summary{
				Environment: "sandbox", DryRun: true, Requests: want.Requests,
				Rows: planned(want.Rows), Clients: planned(want.Clients),
			})
			checkFlow(t, dry.Results, want)

			first := claimsheet(t, folder, want)
			same(t, "first run", first, summary{
				Environment: "sandbox", Requests: want.Requests, Rows: want.Rows, Clients: want.Clients,
			})
			checkInvalid(t, first.Results, want)

			second := claimsheet(t, folder, want)
			same(t, "second run", second, summary{
				Environment: "sandbox", Rows: unchanged(want.Rows), Clients: unchanged(want.Clients),
			})
			checkInvalid(t, second.Results, want)
		})
	}
}

// TestSamplesNameTypes: the service's document does not show that templates report data types, so the samples say them.
// The first one has a text without, to be short.
func TestSamplesNameTypes(t *testing.T) {
	for _, name := range slices.DeleteFunc(names(t), func(name string) bool { return name == "first" }) {
		source, err := os.ReadFile(filepath.Join(name, "mapping.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		m, found := mapping.Parse(name+"/mapping.yaml", source)
		if len(found) > 0 {
			t.Fatal(found)
		}
		for _, activity := range m.Activities {
			for _, attribute := range activity.Attributes {
				if attribute.Value.Type.Text == "" {
					t.Errorf("%s/mapping.yaml:%d: %s has no type", name, attribute.Name.At.Line, attribute.Name.Text)
				}
			}
		}
	}
}

// names are the samples' folders: those with an expected result.
func names(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*/expected.json")
	if err != nil || len(files) < 11 {
		t.Fatalf("%d samples found, %v; want all of them", len(files), err)
	}
	for i := range files {
		files[i] = filepath.Dir(files[i])
	}
	return files
}

// sheetOf is the file name of the sheet in a sample's folder.
func sheetOf(folder string) string {
	if _, err := os.Stat(filepath.Join(folder, "leads.csv")); err == nil {
		return "leads.csv"
	}
	return "leads.xlsx"
}

// copySample copies what belongs to a sample. Whoever has tried it has results
// and a state folder beside these files.
func copySample(t *testing.T, name, to string) {
	t.Helper()
	for _, file := range []string{"mapping.yaml", "environments.yaml", sheetOf(name)} {
		data, err := os.ReadFile(filepath.Join(name, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, file), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// claimsheet runs the program on the sample in folder and returns what --json
// printed. The exit code is 1 where the sample has invalid rows.
func claimsheet(t *testing.T, folder string, want expected, flags ...string) summary {
	t.Helper()
	var out, diagnostics bytes.Buffer
	args := slices.Concat(
		[]string{"run", "-m", filepath.Join(folder, "mapping.yaml"), "--json"},
		flags,
		[]string{filepath.Join(folder, sheetOf(folder))},
	)
	code := cli.Main(context.Background(), args, cli.IO{
		In: bytes.NewReader(nil), Out: &out, Err: &diagnostics,
		Env: func(string) string { return "" },
	})
	if wantCode := min(1, want.Rows.Invalid); code != wantCode {
		t.Fatalf("exit code %d, want %d\n%s%s", code, wantCode, &out, &diagnostics)
	}
	var s summary
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		t.Fatalf("--json: %v\n%s", err, &out)
	}
	return s
}

// same compares all but the path of the results.
func same(t *testing.T, what string, got, want summary) {
	t.Helper()
	want.Results = got.Results
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// planned is what a dry run says before a run that gives c.
func planned(c counts) counts {
	c.Planned, c.Done = c.Done, 0
	return c
}

// unchanged is what a second run says after a run that gave c.
func unchanged(c counts) counts {
	c.Unchanged, c.Done = c.Done, 0
	return c
}

func readExpected(t *testing.T, name string) expected {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(name, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want expected
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatalf("%s/expected.json: %v", name, err)
	}
	return want
}
