package importer_test

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/importer"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// faulty is a service whose transport panics, with personal data in the value,
// at the creation of one client's claim, while other workers have requests on
// their way.
type faulty struct {
	ids   atomic.Int64
	value any
}

func (f *faulty) RoundTrip(req *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(req.Body)
	if strings.Contains(string(body), "L-3") {
		panic(f.value)
	}
	time.Sleep(20 * time.Millisecond)
	id := f.ids.Add(1)
	text := fmt.Sprintf(`{"contactId":"c-%d","claimId":"k-%d","redirectUrl":"https://claims.example.com/%d"}`, id, id, id)
	return &http.Response{StatusCode: 201, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: req}, nil
}

// P-8 of docs/security.md, in a worker: a panic ends the run like any other
// fault that a run cannot go on after. Its value is shown nowhere, what other
// workers have on its way is finished and recorded, and so is what the client
// had before.
func TestP8_PanicInAWorker(t *testing.T) {
	for name, value := range map[string]any{
		"text": "jane.canary@example.com", "error": errors.New("canary"), "runtime": index([]string{"canary"}, 7),
	} {
		t.Run(name, func(t *testing.T) {
			job, service := faultyJob(t, value)
			err := job.Do(t.Context(), leadPlans(job.Binding, 8))
			fault, ok := errors.AsType[*importer.Fault](err)
			if !ok || len(fault.Stack) == 0 || !strings.Contains(strings.Join(fault.Stack, "\n"), "importer.(*clientRun).send") {
				t.Fatalf("error %v, want a fault with its stack: %+v", err, fault)
			}
			if shown := fmt.Sprintf("%v %+v %#v", err, fault, *fault); strings.Contains(shown, "canary") {
				t.Errorf("the panic's value shows: %s", shown)
			}
			ids := 0
			for n := range 8 {
				owner := ledger.ClientKey{Environment: "e", Space: "loans", Client: fmt.Sprintf("c%d@example.com", n+1)}
				steps, err := job.Ledger.Steps(t.Context(), owner, "loans")
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range steps {
					switch {
					case s.To == ledger.Done:
						ids++
					case s.To == ledger.Uncertain && s.Step == "claim/loan/L-3":
					case s.To != ledger.Refused: // the run ended before it was sent
						t.Errorf("%s of client %d is %s", s.Step, n+1, s.To)
					}
				}
			}
			if made := int(service.ids.Load()); ids != made || made < 3 {
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

func faultyJob(t *testing.T, value any) (*importer.Job, *faulty) {
	t.Helper()
	transport := &faulty{value: value}
	job, _, _ := newJob(t, func(http.Handler) http.RoundTripper { return transport })
	job.Binding = bind(t, `
name: loans
api: v2
client: {key: E-mail, existing: create, fields: {email: {column: E-mail, type: Email}}}
claims: [{id: loan, key: "No", name: "Loan {No}"}]
`, cell.Sheet{Name: "Leads", HeaderRow: 1, Header: []string{"E-mail", "No"}})
	return job, transport
}

// leadPlans are plans of clients with one claim each.
func leadPlans(b *mapping.Binding, n int) iter.Seq2[mapping.Plan, error] {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf("c%d@example.com|L-%[1]d", i+1))
	}
	return plansOf(b, rows...)
}

// TestLedgerThatPanics: a ledger that panics at every outcome ends the run, not the
// process, and what was created is in the journal.
func TestLedgerThatPanics(t *testing.T) {
	t.Parallel()
	job, service := faultyJob(t, "never")
	path := job.Ledger.(*ledger.Ledger).Path()
	job.Ledger = hooked{job.Ledger, func(events []ledger.Event) error {
		if slices.ContainsFunc(events, func(e ledger.Event) bool { return e.To == ledger.Done }) {
			panic("jane.canary@example.com")
		}
		return nil
	}}
	var kept []journal.Created
	job.Journal = journal.Open(journal.Path(path), func(c journal.Created) { kept = append(kept, c) })
	err := job.Do(t.Context(), leadPlans(job.Binding, 1))
	if fault, ok := errors.AsType[*importer.Fault](err); !ok || !errors.Is(err, ledger.ErrStopped) || strings.Contains(fmt.Sprintf("%v %+v", err, *fault), "canary") {
		t.Errorf("got %v; want a fault and ErrStopped, without the value", err)
	}
	if made := int(service.ids.Load()); made == 0 || len(kept) != made || kept[0].File == "" {
		t.Errorf("%d were made, %v are in the journal", made, kept)
	}
	if err := job.Journal.Close(); err != nil {
		t.Error(err)
	}
}
