package environment_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/testform"
	"claimsheet/mapping/problem"
)

// long asks for what takes long: .ci/run gives it.
var long = testform.Long

var update = flag.Bool("update", false, "update the golden files")

// report is a list of problems as a terminal might show it.
func report(t *testing.T, err error) string {
	t.Helper()
	var list problem.List
	if !errors.As(err, &list) {
		t.Fatalf("the error is a %T, want a problem.List: %v", err, err)
	}
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintln(&b, p.Error())
		if p.Hint != "" {
			fmt.Fprintln(&b, "    "+p.Hint)
		}
	}
	return b.String()
}

func TestLoadReportsEveryProblem(t *testing.T) {
	files, err := filepath.Glob("testdata/err/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := environment.Load(path)
			if err == nil || f != nil {
				t.Fatal("no problem was found")
			}
			got := report(t, err)
			if strings.Contains(got, "hunter2") {
				t.Errorf("a secret shows in the report:\n%s", got)
			}
			golden := strings.TrimSuffix(path, ".yaml") + ".out"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadTakesGoodFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/ok/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, path := range files {
		if _, err := environment.Load(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// An empty entry of errors, such as one that was commented out, is not a rule: it
// would match every answer.
func TestLoadLeavesOutEmptyRules(t *testing.T) {
	path := write(t, t.TempDir(), "environments.yaml", "environments:\n  uat:\n    base_url: https://example.com\n    errors:\n      -\n      - {status: 409, means: failed}\n      - ~\n")
	f, err := environment.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := f.Choose("uat")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]apiclient.Rule{{Status: 409, Means: "failed"}}, e.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestLoadWithoutAFile(t *testing.T) {
	dir := t.TempDir()
	large := write(t, dir, "large.yaml", strings.Repeat("#\n", 1<<20))
	for path, want := range map[string]string{
		filepath.Join(dir, "absent.yaml"): "no-file",
		dir:                               "not-a-file",
		large:                             "too-large",
	} {
		_, err := environment.Load(path)
		var list problem.List
		if !errors.As(err, &list) || len(list) != 1 || list[0].Code != want || list[0].Where.File != path {
			t.Errorf("%s: %v, want one problem [%s]", path, err, want)
		}
	}
}

// A file that is made to exhaust a parser gets an error, and a short one.
// C-1 of docs/security.md.
func TestC1_HostileEnvironments(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 20; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	body := "environments: {uat: {base_url: https://a.example, wire: {link_body: "
	for name, text := range map[string]string{
		"alias bomb":        bomb.String(),
		"alias in a body":   body + "{a: &a {b: *a}}}}}",
		"deep flow":         "a: " + strings.Repeat("[", 500_000),
		"deep flow, closed": "a: " + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000),
		"deep block":        strings.Repeat("- ", 500_000),
		"deep body":         body + strings.Repeat("{a: ", 5_000) + strings.Repeat("}", 5_003),
		"many keys":         strings.Repeat("a: 1\n", 100_000),
		"unknown keys":      manyKeys(100_000),
		"long key":          strings.Repeat("k", 900_000) + ": 1\n",
	} {
		if !*long && len(text) > 600_000 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			path := write(t, t.TempDir(), "environments.yaml", text)
			_, err := environment.Load(path)
			if err == nil {
				t.Fatal("no problem was found")
			}
			if n := len(err.Error()); n > 100_000 {
				t.Errorf("the report has %d bytes", n)
			}
		})
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	return b.String()
}

func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/err/*.yaml", "testdata/ok/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	path := filepath.Join(f.TempDir(), "environments.yaml")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := environment.Load(path)
		if err == nil {
			for _, name := range file.Names() {
				if e, err := file.Choose(name); err != nil || e.BaseURL == "" {
					t.Errorf("entry %q of a good file: %+v, %v", name, e, err)
				}
			}
			return
		}
		var list problem.List
		if !errors.As(err, &list) || len(list) == 0 {
			t.Fatalf("an error that is no list of problems: %T", err)
		}
		for _, p := range list {
			if p.Code == "" || p.Message == "" || strings.ContainsAny(p.Message, "\n\r") || p.Where.File != path || p.Where.Line < 1 || p.Where.Column < 1 {
				t.Errorf("an incomplete problem: %#v", p)
			}
		}
	})
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A misspelt key is one problem: the key that it seems to leave out is not reported
// too.
func TestOneSlipIsOneProblem(t *testing.T) {
	const whole = `default: uat
environments:
  uat:
    base_url: https://uat.example.com
    auth: {type: bearer, token: env:TOKEN}
`
	for slip, right := range map[string]string{"base-url:": "base_url:", "baseurl:": "base_url:", "ath:": "auth:", "enviroments:": "environments:"} {
		path := filepath.Join(t.TempDir(), "environments.yaml")
		if err := os.WriteFile(path, []byte(strings.Replace(whole, right, slip, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := environment.Load(path)
		if list, _ := errors.AsType[problem.List](err); len(list) != 1 {
			t.Errorf("%s: %d problems:\n%v", slip, len(list), err)
		}
	}
}

func TestSchema(t *testing.T) {
	const golden = "testdata/schema.json"
	got := environment.Schema()
	if !json.Valid(got) {
		t.Fatal("the schema is not JSON")
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}
