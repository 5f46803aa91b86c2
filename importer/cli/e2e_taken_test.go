package cli_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// things are the steps whose answers hold an id or a url, of the client N, and
// what a wrong answer to it looks like.
var things = []struct {
	name, mapping, step, ledger string
	answer                      func(apitest.Made) string // with what another step has
	kind                        string
}{
	{"a contact", stepThree, "client cN@example.com", "client",
		func(m apitest.Made) string { return fmt.Sprintf(`{"contactId":%q}`, m.ID) }, "client"},
	{"a claim", stepThree, "claim cN@example.com/Loan A-N", "claim/loan/A-N",
		func(m apitest.Made) string { return fmt.Sprintf(`{"claimId":%q}`, m.ID) }, "claim"},
	{"an activity", oneActivity, "activity cN@example.com Your details", "activity/Your details@client",
		func(m apitest.Made) string { return fmt.Sprintf(`{"activityId":%q}`, m.ID) }, "activity"},
	{"a link", stepThree, "link cN@example.com", "link",
		func(m apitest.Made) string { return fmt.Sprintf(`{"redirectUrl":%q}`, m.URL) }, "link"},
	{"a client of version 1", "name: a\napi: v1\n" + clientPart, "client cN@example.com", "client",
		func(m apitest.Made) string {
			return fmt.Sprintf(`{"clientId":%q,"redirectUrl":"https://x.example/1"}`, m.ID)
		}, "client"},
	{"a url of version 1", "name: a\napi: v1\n" + clientPart, "client cN@example.com", "client",
		func(m apitest.Made) string {
			return fmt.Sprintf(`{"clientId":"c0000000-0000-4000-8000-999999999999","redirectUrl":%q}`, m.URL)
		}, "client"},
}

func ofClient(text string, n int) string { return strings.ReplaceAll(text, "N", fmt.Sprint(n)) }

// TestTakenAnswer: the service gives a step the id of another step. The later step is
// uncertain and names the other, nothing is built on it, and the second such answer
// in a row stops the run.
func TestTakenAnswer(t *testing.T) {
	for i, thing := range things {
		for _, wrong := range []int{1, 2} {
			if !*long && thing.name != []string{"a claim", "a link"}[wrong-1] {
				continue
			}
			t.Run(fmt.Sprint(thing.name, ", ", wrong), func(t *testing.T) {
				inEveryVariant(t, nil, nil, func(t *testing.T, v variant) {
					s := newScene(t, thing.mapping, leads(1))
					s.service.Wire.ActivityID = "/activityId"
					s.environment("wire: {activity_id: /activityId}")
					s.mustRun(0)
					first := s.service.Created()[ofClient(thing.step, 1)][0]
					s.service.Play(func(c apitest.Call) apitest.Fault {
						for n := 2; n < 2+wrong; n++ {
							if c.Step == ofClient(thing.step, n) {
								return apitest.CreateThen(apitest.JSON(201, thing.answer(first)))
							}
						}
						return apitest.Fault{}
					})
					rows := [][]any{lead(1, "A-1"), lead(2, "A-2"), lead(3, "A-3")}
					if v.odd == (i%2 == wrong%2) { // the known client stands below
						rows = [][]any{lead(2, "A-2"), lead(3, "A-3"), lead(1, "A-1")}
					}
					s.sheet(rows)
					code := []int{4, 3}[wrong-1]
					p := s.mustRun(code, v.flags()...)
					if wrong == 2 && !strings.Contains(p.err, "in a row what other steps have already") {
						t.Errorf("it is not said why the run stopped:\n%s", p.err)
					}
					s.checkTaken(ofClient(thing.ledger, 2), first)
					before := s.service.Created()
					s.service.Play(nil)
					if thing.kind == "client" {
						code = 0 // a look-up finds the client
					} else {
						code = 4
					}
					again := s.foretold(code, v.flags()...)
					for n := 2; n < 2+wrong; n++ {
						if slices.Contains(again.steps(), ofClient(thing.step, n)) {
							t.Errorf("%s was sent again", ofClient(thing.step, n))
						}
					}
					if code == 4 {
						s.checkTaken(ofClient(thing.ledger, 2), first)
					}
					// The truth, from an operator.
					for n := 2; n < 2+wrong && code == 4; n++ {
						made := before[ofClient(thing.step, n)]
						if len(made) != 1 {
							continue // the run had stopped before
						}
						truth := made[0].ID
						if thing.kind == "link" {
							truth = made[0].URL
						}
						s.settle("--created", truth, fmt.Sprintf("c%d@example.com:%s", n, ofClient(thing.ledger, n)))
					}
					s.mustRun(0)
					for step, made := range s.service.Created() {
						if len(made) != 1 {
							t.Errorf("%s was created %d times", step, len(made))
						}
					}
				})
			})
		}
	}
}

// checkTaken checks that the second client's row is uncertain and names the first
// client, and that the step has no id.
func (s *scene) checkTaken(step string, first apitest.Made) {
	s.t.Helper()
	of := func(mail string) record {
		rows := s.results()
		return rows[slices.IndexFunc(rows, func(r record) bool { return r["E-mail"] == mail })]
	}
	r := of("c2@example.com")
	if r["Import status"] != "uncertain" || !strings.Contains(r["Error"], "c1@example.com") {
		s.t.Errorf("the second row says %v", r)
	}
	if first.URL != "" && strings.Contains(r["Error"], first.URL) {
		s.t.Errorf("the error names a redirect url: %q", r["Error"])
	}
	if r := of("c1@example.com"); r["Import status"] != "unchanged" {
		s.t.Errorf("the first client's row says %v", r)
	}
	for _, line := range s.steps() {
		if line["Client key"] == "c2@example.com" && line["Step"] == step && (line["State"] != "uncertain" || line["Id"] != "") {
			s.t.Errorf("the step says %v", line)
		}
	}
}

// TestTakenAtTheSameMoment: two workers get the same id at the same moment. One
// has it, the other is uncertain.
func TestTakenAtTheSameMoment(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, workers := range []string{"2", "8"} {
		for _, rows := range [][][]any{leads(3), {lead(1, "A-1"), lead(2, "A-2"), lead(2, "A-3")}} {
			t.Run(fmt.Sprint(workers, ", ", rows[2][0]), func(t *testing.T) {
				t.Parallel()
				s := newScene(t, "name: c\napi: v2\n"+clientPart+"claims: [{id: loan, key: Agreement no, name: \"{Agreement no}\"}]\n", rows)
				var mu sync.Mutex
				both, arrived := make(chan struct{}), 0
				together := rows[2][0] == "c3@example.com" // those of one client come one after the other
				s.service.Play(func(c apitest.Call) apitest.Fault {
					if c.Kind != "claim" || strings.Contains(c.Step, "A-1") {
						return apitest.Fault{}
					}
					mu.Lock()
					defer mu.Unlock()
					if arrived++; arrived == 1 && !together || arrived == 2 && together {
						close(both)
					}
					f := apitest.CreateThen(apitest.JSON(201, `{"claimId":"b0000000-0000-4000-8000-999999999999"}`))
					f.Until = both
					return f
				})
				s.mustRun(4, "--concurrency", workers)
				status := column(s.results(), "Import status")
				slices.Sort(status)
				if diff := cmp.Diff([]string{"done", "done", "uncertain"}, status); diff != "" && together {
					t.Errorf("statuses (-want +got):\n%s", diff)
				}
				uncertain, done := 0, 0
				for _, line := range s.steps() {
					if strings.HasPrefix(line["Step"], "claim/") && line["Step"] != "claim/loan/A-1" {
						switch line["State"] {
						case "uncertain":
							uncertain++
						case "done":
							done++
						}
					}
				}
				if uncertain != 1 || done != 1 {
					t.Errorf("%d claims are uncertain and %d done, want one each", uncertain, done)
				}
			})
		}
	}
}
