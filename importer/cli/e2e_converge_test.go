package cli_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// TestSecondRun does the same again: nothing is sent, and the workbook shows
// the same ids and urls.
func TestSecondRun(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, append(leads(3), lead(1, "A-9")))
	s.mustRun(0)
	first := s.results()
	p := s.mustRun(0)
	if posts := p.posts(); len(posts) > 0 {
		t.Errorf("the second run created %v", posts)
	}
	if p.summary.Rows.Unchanged != 4 || p.summary.Rows.Total != 4 {
		t.Errorf("rows %+v, want 4 unchanged", p.summary.Rows)
	}
	second := s.results()
	for i := range first {
		if first[i]["Import status"] != "done" || second[i]["Import status"] != "unchanged" {
			t.Errorf("row %d went from %q to %q", i+2, first[i]["Import status"], second[i]["Import status"])
		}
		first[i]["Import status"] = second[i]["Import status"]
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the workbook changed (-first +second):\n%s", diff)
	}
	s.checkPromise()
}

// TestAddedRows sends what a row adds to yesterday's sheet, and nothing else.
func TestAddedRows(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	s.mustRun(0)
	s.sheet([][]any{lead(3, "C-1"), lead(2, "A-2"), lead(1, "A-1"), lead(1, "A-7")})
	p := s.mustRun(0, "--concurrency", "1")
	want := []string{
		"client c3@example.com", "activity c3@example.com Your details", "claim c3@example.com/Loan C-1",
		"activity c3@example.com/Loan C-1 Agreement details", "activity c3@example.com Sign your claim", "link c3@example.com",
		"claim c1@example.com/Loan A-7", "activity c1@example.com/Loan A-7 Agreement details",
	}
	if diff := cmp.Diff(want, p.steps()); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"done", "unchanged", "unchanged", "done"}, column(s.results(), "Import status")); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	s.checkPromise()
}

// TestLimitAndOnly take some of the clients; the next run does the rest.
func TestLimitAndOnly(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, append(leads(3), lead(1, "A-9")))
	p := s.mustRun(0, "--limit", "1")
	if p.summary.Rows.Done != 2 || p.summary.Rows.Skipped != 2 || p.posts()["client"] != 1 || p.posts()["claim"] != 2 {
		t.Errorf("--limit 1: rows %+v, created %v", p.summary.Rows, p.posts())
	}
	p = s.mustRun(0, "--only", " C3@Example.com ")
	if diff := cmp.Diff([]string{"skipped", "skipped", "done", "skipped"}, column(s.results(), "Import status")); diff != "" {
		t.Errorf("--only: statuses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"client": 1, "claim": 1, "activity": 3, "link": 1}, p.posts()); diff != "" {
		t.Errorf("--only: created (-want +got):\n%s", diff)
	}
	// What is left out this time keeps its lines in Steps.
	lines := map[string]int{}
	for _, step := range s.steps() {
		lines[step["Client key"]]++
	}
	if diff := cmp.Diff(map[string]int{"c1@example.com": 8, "c3@example.com": 6}, lines); diff != "" {
		t.Errorf("lines in Steps (-want +got):\n%s", diff)
	}
	s.mustRun(2, "--only", "nobody@example.com")
	s.mustRun(3, "--min-rows", "5")
	p = s.mustRun(0)
	if p.summary.Rows.Done != 1 || p.summary.Rows.Unchanged != 3 {
		t.Errorf("the rest: rows %+v", p.summary.Rows)
	}
	s.checkPromise()
}

// TestManyWorkers runs 200 clients on 32 workers: each client's calls come in
// order, one after the other, and the first client is finished before anything
// is created for another.
func TestManyWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(200))
	p := s.mustRun(0, "--concurrency", "32")
	last, want := map[string]apitest.Call{}, []string{"client", "activity", "claim", "activity", "activity", "link"}
	kinds := map[string][]string{}
	first := ""
	for _, c := range p.calls {
		if c.Method == "GET" {
			continue
		}
		if first == "" {
			first = c.Client
		}
		if c.Client != first && (len(kinds[first]) < len(want) || c.Arrived < last[first].Ended) {
			t.Fatalf("%s of %s came before the first client was finished", c.Kind, c.Client)
		}
		if c.Arrived < last[c.Client].Ended {
			t.Errorf("%s of %s came before the %s was answered", c.Kind, c.Client, last[c.Client].Kind)
		}
		last[c.Client] = c
		kinds[c.Client] = append(kinds[c.Client], c.Kind)
	}
	if len(kinds) != 200 {
		t.Errorf("%d clients were created, want 200", len(kinds))
	}
	for who, got := range kinds {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", who, diff)
		}
	}
	s.checkPromise()
}
