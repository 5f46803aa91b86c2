package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claimsheet/importer/result"
	"claimsheet/importer/testform"
	"claimsheet/mapping"
)

// expected is an expected.json: what a first run of a sample against a fresh sandbox gives. It was
// counted from the sheet and not copied from the program's output.
type expected struct {
	Rows, Clients result.Counts
	Requests      result.Requests // without look-ups
	Flows         map[string]int  // the calls of a client, in their order, and for how many clients they are these
	InvalidCells  []string
}

// expectations are those of all samples, by the samples' names.
func expectations(t *testing.T) map[string]expected {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "samples", "*", "expected.json"))
	if err != nil || len(files) < 11 {
		t.Fatalf("%d samples found, %v; want all of them", len(files), err)
	}
	all := map[string]expected{}
	for _, file := range files {
		var want expected
		must(t, json.Unmarshal([]byte(readText(t, file)), &want))
		all[filepath.Base(filepath.Dir(file))] = want
	}
	return all
}

// TestSamples runs every sample as a user would, in a folder of its own and against the sandbox.
func TestSamples(t *testing.T) {
	t.Parallel()
	for name, want := range expectations(t) {
		if short := []string{"first", "v1-step-1", "v2-several-claims", "v2-csv"}; !*testform.Long && !slices.Contains(short, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), name)
			must(t, copySample(filepath.Join(root, "samples", name), filepath.Dir(folder)))
			sheets, err := filepath.Glob(filepath.Join(folder, "leads.*"))
			if err != nil || len(sheets) != 1 {
				t.Fatalf("%d sheets, %v", len(sheets), err)
			}
			run := func(want result.Summary, flags ...string) string {
				p := claimsheet(t, slices.Concat([]string{"run", "-m", filepath.Join(folder, "mapping.yaml"), "--json"}, flags, sheets)...)
				if p.code != min(1, want.Rows.Invalid) { // 1: invalid rows
					t.Fatalf("%q: exit code %d\n%s%s", flags, p.code, p.out, p.err)
				}
				want.Environment = "sandbox"
				ignored := cmp.Options{cmpopts.IgnoreFields(result.Summary{}, "Run", "Results", "Seconds"), cmpopts.IgnoreFields(result.Requests{}, "Lookup", "Templates")}
				same(t, fmt.Sprintf("%q", flags), want, p.summary, ignored)
				return p.summary.Results
			}
			planned, unchanged := func(c result.Counts) result.Counts { c.Planned, c.Done = c.Done, 0; return c }, func(c result.Counts) result.Counts { c.Unchanged, c.Done = c.Done, 0; return c }
			plan := run(result.Summary{DryRun: true, Requests: want.Requests, Rows: planned(want.Rows), Clients: planned(want.Clients)}, "--dry-run")
			same(t, "calls of a client, and of how many clients", want.Flows, flowsOf(column(readSheet(t, plan, "Plan"), "In this order")[:want.Clients.Done]))
			for range 2 {
				results := run(result.Summary{Requests: want.Requests, Rows: want.Rows, Clients: want.Clients})
				if len(want.InvalidCells) > 0 { // else there is no sheet Problems
					same(t, "cells named in Problems", slices.Sorted(slices.Values(want.InvalidCells)), cellsNamed(readSheet(t, results, "Problems")))
				}
				want.Requests, want.Rows, want.Clients = result.Requests{}, unchanged(want.Rows), unchanged(want.Clients)
			}
		})
	}
}

var claimKey = regexp.MustCompile(`claim [^ ,]+`)

// flowsOf counts the clients of a plan by the calls that are made for them.
func flowsOf(plan []string) map[string]int {
	flows := map[string]int{}
	for _, calls := range plan {
		flows[claimKey.ReplaceAllString(calls, "claim")]++
	}
	return flows
}

var resultsCell = regexp.MustCompile(`\bResults!([A-Z]+)([0-9]+) \(source row ([0-9]+)\)`)

// cellsNamed are the cells of the sheet Leads that rows name. A sample's rows are in Results where they are in its sheet.
func cellsNamed(rows []record) []string {
	found := map[string]bool{}
	for _, match := range resultsCell.FindAllStringSubmatch(fmt.Sprint(rows), -1) {
		if match[2] == match[3] {
			found["Leads!"+match[1]+match[2]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// TestSamplesNameTypes: the service's document does not show that templates report data types, so the samples say them.
// The first one has a text without, to be short.
func TestSamplesNameTypes(t *testing.T) {
	for name := range expectations(t) {
		path := filepath.Join(root, "samples", name, "mapping.yaml")
		m, found := mapping.Parse(path, []byte(readText(t, path)))
		if len(found) > 0 {
			t.Fatal(found)
		}
		for _, activity := range m.Activities {
			for _, attribute := range activity.Attributes {
				if attribute.Value.Type.Text == "" && name != "first" {
					t.Errorf("%s:%d: %s has no type", path, attribute.Name.At.Line, attribute.Name.Text)
				}
			}
		}
	}
}

var (
	callsBlock = regexp.MustCompile("(?s)<!-- calls: ([a-z0-9-]+) -->\n\n```\n(.*?)```")
	shownCall  = regexp.MustCompile(`(?m)^POST \S*/(clients|contacts|claims|activities|magic-link)(\?claimId)?[^“\n]*(“[^”]+”)?`)
)

// TestFlowsPage: docs/flows.md names each sample, and the calls that it shows are in the order in
// which a client of the sample makes them.
func TestFlowsPage(t *testing.T) {
	page, all := readText(t, filepath.Join(root, "docs", "flows.md")), expectations(t)
	for name := range all {
		if !strings.Contains(page, "`samples/"+name+"`") {
			t.Errorf("docs/flows.md does not name samples/%s", name)
		}
	}
	blocks := callsBlock.FindAllStringSubmatch(page, -1)
	if len(blocks) < 2 {
		t.Errorf("docs/flows.md shows the calls of %d samples", len(blocks))
	}
	for _, block := range blocks {
		var flow []string
		for _, c := range shownCall.FindAllStringSubmatch(block[2], -1) {
			step := map[string]string{"clients": "client", "contacts": "client", "claims": "claim", "activities": c[3], "magic-link": "magic link"}[c[1]]
			if c[2] != "" {
				step += " on claim"
			}
			flow = append(flow, step)
		}
		if want := all[block[1]].Flows; want[strings.Join(flow, ", ")] == 0 {
			t.Errorf("docs/flows.md shows %q for samples/%s, and its clients have %v", flow, block[1], want)
		}
	}
}
