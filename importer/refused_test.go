package importer_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

// changing is a ledger whose steps another process or a person changes between what a run reads and what it records:
// before is called before an event of one step is recorded, with how many there were like it.
func changing(known importer.Ledger, step ledger.StepID, before func(e ledger.Event, n int) error) hooked {
	var mu sync.Mutex
	seen := map[ledger.State]int{}
	return hooked{known, func(events []ledger.Event) error {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range events {
			if e.StepID == step {
				seen[e.State]++
				if err := before(e, seen[e.State]); err != nil {
					return err
				}
			}
		}
		return nil
	}}
}

// errRefused is what the ledger says of a step that has changed meanwhile.
var errRefused = fmt.Errorf("%w: as the test wants it", ledger.ErrTransition)

// stepOfSecond names a step of the second client.
func stepOfSecond(step string) ledger.StepID {
	id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: "e", Space: "email", Client: "c2@example.com"}, Mapping: "n", Step: step}
	if step == "client" {
		id.Mapping = ""
	}
	return id
}

// changedRun is a run of three clients in whose ledger somebody else changes a step of the
// second one.
type changedRun struct {
	t       *testing.T
	job     *importer.Job
	known   *ledger.Ledger
	service *apitest.Server
	journal string
	step    string
}

func newChangedRun(t *testing.T, step string, before func(run *changedRun, e ledger.Event, n int) error) *changedRun {
	t.Helper()
	job, known, service := newJob(t, apiclient.InProcess)
	run := &changedRun{t: t, job: job, known: known, service: service, journal: journal.Path(known.Path()), step: step}
	job.Ledger = changing(known, stepOfSecond(step), func(e ledger.Event, n int) error { return before(run, e, n) })
	var err error
	job.Journal, err = journal.Open(run.journal, func(string, string) { t.Error("something was not written") })
	must(t, err)
	return run
}

// append records what another process or a person does.
func (run *changedRun) append(events ...ledger.Event) {
	run.t.Helper()
	for i := range events {
		events[i].At = time.Now()
	}
	if err := run.known.Append(events...); err != nil {
		run.t.Error(err)
	}
}

// kept is what the journal has; "" for no journal.
func (run *changedRun) kept() string {
	text, _ := os.ReadFile(run.journal)
	return strings.TrimSpace(string(text))
}

// do carries the clients out and returns the rows of their sheet.
func (run *changedRun) do() []result.Row {
	run.t.Helper()
	if err := run.job.Do(run.t.Context(), busyPlans(run.job.Binding, 3)); err != nil {
		run.t.Fatalf("the run ended: %v", err)
	}
	must(run.t, errors.Join(run.known.Flush(), run.job.Journal.Close()))
	rows := rowsOf(run.t, run.job)
	if len(rows) != 3 || rows[0].Status != result.Done || rows[2].Status != result.Done {
		run.t.Errorf("the other clients' rows are not done: %+v", rows)
	}
	madeOnce(run.t, run.service)
	return rows
}

// again is a later run that nobody disturbs.
func (run *changedRun) again() []result.Row {
	run.t.Helper()
	if _, _, err := journal.Replay(run.known, run.journal); err != nil {
		run.t.Fatal(err)
	}
	run.job = laterJob(run.t, run.job, run.known, "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a12")
	run.job.MaxFailures = importer.DefaultMaxFailures
	must(run.t, run.job.Do(run.t.Context(), busyPlans(run.job.Binding, 3)))
	madeOnce(run.t, run.service)
	must(run.t, run.known.Flush())
	return slices.DeleteFunc(rowsOf(run.t, run.job), func(row result.Row) bool { return row.Client != 2 })
}

// changed is the changed step in the ledger, and what the service has created for it.
func (run *changedRun) changed() (step ledger.Step, made apitest.Made) {
	run.t.Helper()
	id := stepOfSecond(run.step)
	steps, err := run.known.Steps(run.t.Context(), id.ClientKey, id.Mapping)
	must(run.t, err)
	step = steps[run.step]
	for name, made := range run.service.Created() {
		kind, of, _ := strings.Cut(name, " ")
		if of, _, _ := strings.Cut(of, "/"); kind == step.Kind && of == id.Client {
			return step, made[0]
		}
	}
	return step, made
}

// TestIntentIsRefused: the ledger refuses to record that a step is about to be sent. The
// client's steps are read again, and the step is sent as soon as the ledger takes it;
// where it never does, the row says so.
func TestIntentIsRefused(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"client", "claim/claim/A", "link"} {
		for _, times := range []int{1, 99} {
			t.Run(fmt.Sprint(step, ", ", times), func(t *testing.T) {
				t.Parallel()
				run := newChangedRun(t, step, func(_ *changedRun, e ledger.Event, n int) error {
					if e.State == ledger.Sent && n <= times {
						return errRefused
					}
					return nil
				})
				if step == "client" { // for whom nothing was sent
					run.job.MaxFailures = importer.MaxFailures{}
				}
				row := run.do()[1]
				known, made := run.changed()
				if times < 99 {
					if row.Status != result.Done || row.Error != "" || known.State != ledger.Done || known.ID != made.ID || len(row.ClaimIDs) != 1 || row.URL == "" {
						t.Errorf("the row says %+v, the ledger has %+v", row, known.Event)
					}
					return
				}
				if row.Status != result.NotStarted || row.FailedStep != "" || made != (apitest.Made{}) || (row.ClientID == "") != (step == "client") ||
					!strings.Contains(row.Error, "changed it meanwhile") || !strings.Contains(row.Advice, "Run again") {
					t.Errorf("the row says %+v", row)
				}
				if again := run.again(); len(again) != 1 || again[0].Status != result.Done {
					t.Errorf("the next run's row is %+v", again)
				}
			})
		}
	}
}

// TestAnswerToAStepThatHasChanged: while a request is at the service, somebody else
// decides about its step, or changes it. What the service has created
// makes the step uncertain, the row says so, and nothing is created again. Where another client's
// step has got its id in that moment, the row says whose it is.
func TestAnswerToAStepThatHasChanged(t *testing.T) {
	t.Parallel()
	type change = func(run *changedRun, e ledger.Event) error
	events := func(states ...string) change { // each to a state via a way
		return func(run *changedRun, e ledger.Event) error {
			for _, s := range states {
				to, via, byHand := strings.Cut(s, ", ")
				change := ledger.Event{StepID: e.StepID, Kind: e.Kind, State: ledger.State(to), Via: via}
				if !byHand {
					change.Run = e.Run // by another worker of the run
				}
				run.append(change)
			}
			return nil
		}
	}
	for name, tt := range map[string]struct {
		change change // is called at the first of these outcomes
		always bool   // at all of them
		taken  bool   // the id is another client's
	}{
		"decided that it was not created": {change: events("refused, by hand")},
		"given up":                        {change: events("closed, by hand")},
		"refused":                         {change: events("refused")},
		"refused, taken as uncertain":     {change: func(*changedRun, ledger.Event) error { return errRefused }, always: true},
		"its id is taken": {taken: true, change: func(run *changedRun, e ledger.Event) error {
			e.Client = "other@example.com"
			run.append(ledger.Event{StepID: e.StepID, Kind: e.Kind, State: ledger.Sent}, e)
			return nil
		}},
	} {
		for _, step := range []string{"claim/claim/A", "link"} { // the outcome of a link is recorded alone
			t.Run(name+", "+step, func(t *testing.T) {
				t.Parallel()
				run := newChangedRun(t, step, func(run *changedRun, e ledger.Event, n int) error {
					if e.State == ledger.Done && (n == 1 || tt.always) {
						return tt.change(run, e)
					}
					return nil
				})
				row := run.do()[1]
				known, made := run.changed()
				says, id, url := "meanwhile", made.ID, made.URL
				if tt.taken {
					says, id, url = "other@example.com", "", ""
				}
				if row.Status != result.Uncertain || row.FailedStep != step || row.ClientID == "" || row.URL != "" ||
					!strings.Contains(row.Error, says) || !strings.Contains(row.Error, made.ID) || row.Advice == "" {
					t.Errorf("the row says %+v", row)
				}
				if made == (apitest.Made{}) || known.State != ledger.Uncertain || known.ID != id || known.URL != url || !strings.Contains(string(known.Answer), made.ID) ||
					len(known.Answer) == 0 || run.kept() != "" {
					t.Errorf("the service has created %+v, the ledger has %+v, the journal %s", made, known.Event, run.kept())
				}
				again := run.again()
				if known, _ = run.changed(); len(again) != 1 || known.State != ledger.Uncertain || again[0].Status != result.Uncertain {
					t.Errorf("the next run's row is %+v, the ledger has %+v", again, known.Event)
				}
			})
		}
	}
}

// TestAnswerThatIsRefused: where the ledger refuses an answer in every way, the journal has it, the
// run ends, and the next one records it.
func TestAnswerThatIsRefused(t *testing.T) {
	t.Parallel()
	run := newChangedRun(t, "claim/claim/A", func(_ *changedRun, e ledger.Event, _ int) error {
		if e.State != ledger.Sent {
			return errRefused
		}
		return nil
	})
	if err := run.job.Do(t.Context(), busyPlans(run.job.Binding, 3)); err == nil {
		t.Error("the run goes on")
	}
	must(t, errors.Join(run.known.Flush(), run.job.Journal.Close()))
	known, made := run.changed()
	if kept := run.kept(); strings.Contains(kept, "\n") || !strings.Contains(kept, `"`+made.ID+`"`) || known.State != ledger.Uncertain {
		t.Errorf("the service has created %+v, the ledger has %+v, the journal %s", made, known.Event, run.kept())
	}
	if again := run.again(); len(again) != 1 || again[0].Status != result.Done {
		t.Errorf("the next run's row is %+v", again)
	}
	if known, _ = run.changed(); known.State != ledger.Done || known.ID != made.ID {
		t.Errorf("the ledger has %+v", known.Event)
	}
}

// TestAddressTakenByAnotherProcess: another process has recorded the client's address for its own
// client, whom the service knows by then, and has given that client up since. The client is looked
// up again before anything is sent.
func TestAddressTakenByAnotherProcess(t *testing.T) {
	t.Parallel()
	var service *apitest.Server
	id := ""
	run := newChangedRun(t, "client", func(_ *changedRun, e ledger.Event, n int) error {
		if e.State != ledger.Sent || n > 1 {
			return nil
		}
		id = service.AddClient("c2", "c2@example.com", "")
		other := e.StepID
		other.Client = "other@example.com"
		return ledger.Taken{Step: e.StepID, Holder: other, Address: true}
	})
	service = run.service
	if row := run.do()[1]; row.Status != result.Done || row.ClientID != id {
		t.Errorf("the row says %+v, want the client %s", row, id)
	}
}

// knowsAnswer makes the second client's claim one whose answer a run reads again, because
// its step is uncertain. Everything else of the client is done.
func (run *changedRun) knowsAnswer() {
	run.t.Helper()
	event := func(step, kind string, to ledger.State) ledger.Event {
		return ledger.Event{StepID: stepOfSecond(step), Kind: kind, State: to}
	}
	client, answered, linked := event("client", ledger.KindClient, ledger.Done), event("claim/claim/A", ledger.KindClaim, ledger.Uncertain), event("link", ledger.KindLink, ledger.Done)
	client.Via, client.ID, linked.Via = ledger.ViaAdopted, id1, ledger.ViaAnswer
	answered.Status, answered.Answer = 201, []byte(`{"claimId":"`+id2+`"}`)
	run.append(client, event("claim/claim/A", ledger.KindClaim, ledger.Sent), answered, event("link", ledger.KindLink, ledger.Sent), linked)
}

// TestKeptAnswerIsRefused: the answer to the request for a claim is read again, and the
// ledger refuses what it says.
func TestKeptAnswerIsRefused(t *testing.T) {
	t.Parallel()
	for times, want := range map[int]result.Status{1: result.Unchanged, 99: result.Uncertain} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			t.Parallel()
			run := newChangedRun(t, "claim/claim/A", func(_ *changedRun, e ledger.Event, n int) error {
				if e.State == ledger.Done && n <= times {
					return errRefused
				}
				return nil
			})
			run.knowsAnswer()
			row := run.do()[1]
			known, _ := run.changed()
			if row.Status != want || row.ClientID != id1 || row.Advice == "" || (known.ID == id2) != (times < 99) || (known.State == ledger.Uncertain) != (times == 99) {
				t.Errorf("the row says %+v, the ledger has %+v", row, known.Event)
			}
		})
	}
}

// TestContactIsRefused: the ledger refuses once to record that a contact of two clients is
// about to be created. It is created once, and both clients get it.
func TestContactIsRefused(t *testing.T) {
	t.Parallel()
	contact := ledger.StepID{ClientKey: ledger.ClientKey{Environment: "e", Space: "email", Client: "p@x.example"}, Step: "client"}
	for _, to := range []ledger.State{ledger.Sent, ledger.Done} {
		t.Run(string(to), func(t *testing.T) {
			t.Parallel()
			run := sheetRun{contactMapping, contactSheet, nil, []string{"a@x.example|p@x.example|1|", "b@x.example|p@x.example|2|", "p@x.example|||"},
				func(job *importer.Job, _ *apitest.Server) *strings.Replacer {
					job.Ledger = changing(job.Ledger, contact, func(e ledger.Event, n int) error {
						if e.State == to && n == 1 {
							return errRefused
						}
						return nil
					})
					return nil
				}}
			rows, _, service, _ := run.by(t, "run")
			for _, row := range rows {
				if row.Error != "" || row.ClientID == "" || row.Row < 4 && len(row.Contacts) != 1 {
					t.Errorf("row %d says %+v", row.Row, row)
				}
			}
			madeOnce(t, service)
		})
	}
}
