package importer_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// P-8 of docs/security.md, in a worker: a panic ends the run like any other
// fault that a run cannot go on after. Its value is shown nowhere, what other
// workers have on its way is finished and recorded, and so is what the client
// had before.
func TestP8_PanicInAWorker(t *testing.T) {
	for name, value := range map[string]any{"error": errors.New("jane.canary@example.com"), "runtime": index([]string{"canary"}, 7)} {
		t.Run(name, func(t *testing.T) {
			job, _, service := newJob(t, func(service http.Handler) http.RoundTripper {
				return transport(func(req *http.Request) (*http.Response, error) {
					if req.Method == http.MethodPost {
						body, _ := io.ReadAll(req.Body)
						if strings.Contains(string(body), "A-3") { // the creation of one client's claim
							panic(value)
						}
						time.Sleep(20 * time.Millisecond)
						req.Body = io.NopCloser(strings.NewReader(string(body)))
					}
					return apiclient.InProcess(service).RoundTrip(req)
				})
			})
			rows := busyRows(8)
			rows[2] += "-3"
			err := job.Do(t.Context(), plansOf(job.Binding, rows...))
			fault, _ := errors.AsType[problem.Problem](err)
			if fault.Class != problem.Bug || !strings.Contains(fault.Hint, "importer.(*clientRun).send") {
				t.Fatalf("error %v, want a fault with its stack: %+v", err, fault)
			}
			if shown := fmt.Sprintf("%v %+v %#v", err, fault, fault); strings.Contains(shown, "canary") {
				t.Errorf("the panic's value shows: %s", shown)
			}
			ids := 0
			for n := range 8 {
				owner := ledger.ClientKey{Environment: "e", Space: "email", Client: fmt.Sprintf("c%d@example.com", n+1)}
				steps, err := job.Ledger.Steps(t.Context(), owner, "n")
				must(t, err)
				for _, s := range steps {
					switch {
					case s.State == ledger.Done:
						ids++
					case s.State == ledger.Uncertain && s.Step == "claim/claim/A-3":
					case s.State != ledger.Refused: // the run ended before it was sent
						t.Errorf("%s of client %d is %s", s.Step, n+1, s.State)
					}
				}
			}
			if made := len(service.Created()); ids != made || made < 3 {
				t.Errorf("%d were made, %d ids are in the ledger", made, ids)
			}
		})
	}
}

// index is the runtime's own panic, for an index out of range.
func index(s []string, i int) (value any) {
	defer func() { value = recover() }()
	return s[i]
}

// TestLedgerThatPanics: a ledger that panics at every outcome ends the run, not the
// process, and what was created is in the journal.
func TestLedgerThatPanics(t *testing.T) {
	t.Parallel()
	job, known, service := newJob(t, apiclient.InProcess)
	job.Ledger = hooked{known, func(events []ledger.Event) error {
		if slices.ContainsFunc(events, func(e ledger.Event) bool { return e.State == ledger.Done }) {
			panic("jane.canary@example.com")
		}
		return nil
	}}
	path := journal.Path(known.Path())
	outcomes, err := journal.Open(path, func(string, string) { t.Error("something was not written") })
	must(t, err)
	job.Journal = outcomes
	err = job.Do(t.Context(), busyPlans(job.Binding, 1))
	fault, _ := errors.AsType[problem.Problem](err)
	if fault.Class != problem.Bug || !errors.Is(err, ledger.ErrStopped) || strings.Contains(fmt.Sprintf("%v %+v", err, fault), "canary") {
		t.Errorf("got %v; want a fault and ErrStopped, without the value", err)
	}
	kept, err := journal.Pending(path)
	if made := len(service.Created()); made == 0 || kept != made || err != nil {
		t.Errorf("%d were made, %d are in the journal, %v", made, kept, err)
	}
	if err := job.Journal.Close(); err != nil {
		t.Error(err)
	}
}
