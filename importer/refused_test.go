package importer_test

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer"
	"claimsheet/importer/emergency"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

// changing is a ledger in which somebody else changes steps between what a run reads and
// what it records.
type changing struct {
	*ledger.Ledger
	t *testing.T

	mu sync.Mutex
	// before is called before an event of the second client's claim is recorded, with how
	// many there were like it; an error is what Append returns.
	before func(e ledger.Event, n int) error
	seen   map[ledger.State]int
}

func (c *changing) Append(events ...ledger.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range events {
		if e.Client == "c2@example.com" && e.Kind == ledger.KindClaim {
			c.seen[e.To]++
			if err := c.before(e, c.seen[e.To]); err != nil {
				return err
			}
		}
	}
	return c.Ledger.Append(events...)
}

// append records what somebody else does.
func (c *changing) append(events ...ledger.Event) {
	c.t.Helper()
	for i := range events {
		events[i].At = time.Now()
	}
	if err := c.Ledger.Append(events...); err != nil {
		c.t.Error(err)
	}
}

// errRefused is what the ledger says of a step that has changed meanwhile.
var errRefused = fmt.Errorf("%w: as the test wants it", ledger.ErrTransition)

// changedRun is a run of three clients whose ledger is changed by somebody else.
type changedRun struct {
	t       *testing.T
	job     *importer.Job
	known   *ledger.Ledger
	service *apitest.Server
	places  []string
	kept    []emergency.Created
}

func newChangedRun(t *testing.T, before func(c *changing, e ledger.Event, n int) error) *changedRun {
	t.Helper()
	job, known, service := newJob(t, func(service http.Handler) http.RoundTripper { return apiclient.InProcess(service) })
	t.Cleanup(func() { _ = known.Close() })
	c := &changing{Ledger: known, t: t, seen: map[ledger.State]int{}}
	c.before = func(e ledger.Event, n int) error { return before(c, e, n) }
	run := &changedRun{t: t, job: job, known: known, service: service, places: []string{filepath.Dir(known.Path())}}
	job.Ledger = c
	job.Emergency = emergency.Open(job.Runs[0], known.Path(), run.places, func(k emergency.Created) { run.kept = append(run.kept, k) })
	return run
}

// do carries the clients out and returns the rows of their sheet.
func (run *changedRun) do() []result.Row {
	run.t.Helper()
	if err := run.job.Do(run.t.Context(), busyPlans(run.job.Binding, 3)); err != nil {
		run.t.Fatalf("the run ended: %v", err)
	}
	if err := errors.Join(run.known.Flush(), run.job.Emergency.Close()); err != nil {
		run.t.Fatal(err)
	}
	var rows []result.Row
	for row, err := range run.known.Rows(run.t.Context(), run.job.Runs[0], ledger.Newest) {
		if err != nil {
			run.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b result.Row) int { return a.Row - b.Row })
	if len(rows) != 3 || rows[0].Status != result.Done || rows[2].Status != result.Done {
		run.t.Errorf("the other clients' rows are not done: %+v", rows)
	}
	for step, made := range run.service.Created() {
		if len(made) != 1 {
			run.t.Errorf("%s was created %d times", step, len(made))
		}
	}
	return rows
}

// again is a later run that nobody disturbs.
func (run *changedRun) again() []result.Row {
	run.t.Helper()
	if _, _, err := emergency.Replay(run.known, run.places); err != nil {
		run.t.Fatal(err)
	}
	const id = "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a12"
	if err := run.known.StartRun(ledger.Run{ID: id, Environment: "e", Mapping: "n", Started: time.Now()}); err != nil {
		run.t.Fatal(err)
	}
	first := run.job
	run.job = &importer.Job{Runs: []string{id}, Environment: "e", Binding: first.Binding, Service: first.Service, Ledger: run.known,
		Drafts: newDrafts(run.t), Concurrency: 4, MaxFailures: importer.DefaultMaxFailures}
	if err := run.job.Do(run.t.Context(), busyPlans(first.Binding, 3)); err != nil {
		run.t.Fatal(err)
	}
	for step, made := range run.service.Created() {
		if len(made) != 1 {
			run.t.Errorf("%s was created %d times by two runs", step, len(made))
		}
	}
	if err := run.known.Flush(); err != nil {
		run.t.Fatal(err)
	}
	rows, err := run.known.RowsOfClient(run.t.Context(), ledger.ClientKey{Environment: "e", Space: "email", Client: "c2@example.com"})
	if err != nil {
		run.t.Fatal(err)
	}
	var list []result.Row
	for _, row := range rows {
		if row.Run == id {
			list = append(list, row.Result)
		}
	}
	return list
}

// claim is the second client's claim in the ledger, and its id in the service.
func (run *changedRun) claim() (step ledger.Step, id string) {
	run.t.Helper()
	steps, err := run.known.Steps(run.t.Context(), ledger.ClientKey{Environment: "e", Space: "email", Client: "c2@example.com"}, "n")
	if err != nil {
		run.t.Fatal(err)
	}
	for _, s := range steps {
		if s.Kind == ledger.KindClaim {
			step = s
		}
	}
	for name, made := range run.service.Created() {
		if strings.HasPrefix(name, "claim c2@example.com/") {
			id = made[0].ID
		}
	}
	return step, id
}

// TestIntentIsRefused: the ledger refuses to record that a claim is about to be sent. The
// client's steps are read again, and the claim is sent as soon as the ledger takes it;
// where it never does, the row says so.
func TestIntentIsRefused(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 3, 99} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			t.Parallel()
			run := newChangedRun(t, func(_ *changing, e ledger.Event, n int) error {
				if e.To == ledger.Intent && n <= times {
					return errRefused
				}
				return nil
			})
			row := run.do()[1]
			step, id := run.claim()
			if times < 99 {
				if row.Status != result.Done || row.Error != "" || step.To != ledger.Done || step.ID != id || !slices.Equal(row.ClaimIDs, []string{id}) {
					t.Errorf("the row says %+v, the ledger has %+v", row, step.Event)
				}
				return
			}
			if row.Status != result.Failed || row.FailedStep != "claim/claim/A" || row.ClientID == "" || id != "" ||
				!strings.Contains(row.Error, "changed") || !strings.Contains(row.Advice, "un again") {
				t.Errorf("the row says %+v", row)
			}
			if again := run.again(); len(again) != 1 || again[0].Status != result.Done {
				t.Errorf("the next run's row is %+v", again)
			}
		})
	}
}

// TestAnswerToAStepThatHasChanged: while a claim's request is at the service, somebody
// else decides about the step, or changes it. What the service has created is in the
// ledger or in the emergency file, the row says so, and nothing is created again.
func TestAnswerToAStepThatHasChanged(t *testing.T) {
	t.Parallel()
	to := func(e ledger.Event, state ledger.State, via string) ledger.Event {
		return ledger.Event{StepID: e.StepID, Kind: e.Kind, To: state, Via: via}
	}
	for name, tt := range map[string]struct {
		change func(c *changing, e ledger.Event) error // is called at the first of these outcomes
		always bool                                    // at all of them
		file   bool                                    // what was created is in the emergency file
		next   result.Status
	}{
		"decided that it was not created": {change: func(c *changing, e ledger.Event) error {
			c.append(to(e, ledger.Uncertain, ""), to(e, ledger.Failed, ledger.ViaByHand))
			return nil
		}, next: result.Uncertain},
		"given up": {change: func(c *changing, e ledger.Event) error {
			c.append(to(e, ledger.Uncertain, ""), to(e, ledger.GivenUp, ledger.ViaByHand))
			return nil
		}, next: result.Uncertain},
		"not sent": {change: func(c *changing, e ledger.Event) error {
			c.append(to(e, ledger.NotSent, ""))
			return nil
		}, next: result.Uncertain},
		"refused, taken as uncertain": {change: func(*changing, ledger.Event) error { return errRefused }, always: true, next: result.Uncertain},
		"refused in every way": {change: func(c *changing, e ledger.Event) error {
			c.before = func(e ledger.Event, _ int) error { return errRefused }
			return errRefused
		}, file: true, next: result.Done}, // its link is missing
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := newChangedRun(t, func(c *changing, e ledger.Event, n int) error {
				if e.To == ledger.Done && (n == 1 || tt.always) {
					return tt.change(c, e)
				}
				return nil
			})
			row := run.do()[1]
			step, id := run.claim()
			if row.Status != result.Uncertain || row.FailedStep != "claim/claim/A" || row.ClientID == "" ||
				!strings.Contains(row.Error, "meanwhile") || row.Advice == "" {
				t.Errorf("the row says %+v", row)
			}
			if step.To != ledger.Uncertain && !tt.file {
				t.Errorf("the claim is %q in the ledger", step.To)
			}
			if inLedger := step.ID == id && strings.Contains(string(step.Answer), id); id == "" || inLedger == tt.file {
				t.Errorf("the service has created %q, and the ledger has %q with the answer %q", id, step.ID, step.Answer)
			}
			if tt.file && (len(run.kept) != 1 || run.kept[0].ID != id || run.kept[0].File == "" || !strings.Contains(row.Error, "emergency file")) ||
				!tt.file && len(run.kept) > 0 {
				t.Errorf("the emergency file has %+v, the row says %+v", run.kept, row)
			}
			if again := run.again(); len(again) != 1 || again[0].Status != tt.next || !slices.Equal(again[0].ClaimIDs, []string{id}) {
				t.Errorf("the next run's row is %+v", again)
			}
		})
	}
}

// TestIDTakenByAnotherProcess: in the moment in which the id of a claim is recorded,
// another process records the same id for another client's claim. The row says whose it
// is.
func TestIDTakenByAnotherProcess(t *testing.T) {
	t.Parallel()
	run := newChangedRun(t, func(c *changing, e ledger.Event, n int) error {
		if e.To == ledger.Done && n == 1 {
			other := e
			other.Client = "other@example.com"
			sent := ledger.Event{StepID: other.StepID, Kind: e.Kind, To: ledger.Intent}
			c.append(sent, other)
		}
		return nil
	})
	row := run.do()[1]
	step, id := run.claim()
	if row.Status != result.Uncertain || !strings.Contains(row.Error, id) || !strings.Contains(row.Error, "other@example.com") || row.Advice == "" {
		t.Errorf("the row says %+v", row)
	}
	if step.To != ledger.Uncertain || step.ID != "" || !strings.Contains(string(step.Answer), id) || len(run.kept) > 0 {
		t.Errorf("the ledger has %+v, the emergency file %+v", step.Event, run.kept)
	}
}

// TestKeptAnswerIsRefused: a claim is uncertain, and its answer is read again with a
// corrected pointer. In that moment somebody else decides that it was created with
// another id.
func TestKeptAnswerIsRefused(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 99} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			t.Parallel()
			run := newChangedRun(t, func(_ *changing, e ledger.Event, n int) error {
				if e.To == ledger.Done && n <= times {
					return errRefused
				}
				return nil
			})
			claim := ledger.Event{StepID: ledger.StepID{ClientKey: ledger.ClientKey{Environment: "e", Space: "email", Client: "c2@example.com"},
				Mapping: "n", Step: "claim/claim/A"}, Kind: ledger.KindClaim, To: ledger.Intent, At: time.Now()}
			client := ledger.Event{StepID: ledger.StepID{ClientKey: claim.ClientKey, Step: "client"}, Kind: ledger.KindClient, To: ledger.Done,
				Via: ledger.ViaAdopted, ID: id1, At: time.Now()}
			answered := claim
			answered.To, answered.Status, answered.Answer = ledger.Uncertain, 201, []byte(`{"claimId":"`+id2+`"}`)
			link, linked := claim, claim
			link.Step, link.Kind, linked.Step, linked.Kind, linked.To, linked.Via = "link", ledger.KindLink, "link", ledger.KindLink, ledger.Done, ledger.ViaAnswer
			if err := run.known.Append(client, claim, answered, link, linked); err != nil {
				t.Fatal(err)
			}
			row := run.do()[1]
			step, _ := run.claim()
			switch {
			case times == 1 && (row.Status != result.Unchanged || step.ID != id2):
				t.Errorf("the row says %+v, the ledger has %+v", row, step.Event)
			case times > 1 && (row.Status != result.Uncertain || row.Advice == "" || step.To != ledger.Uncertain || row.ClientID != id1):
				t.Errorf("the row says %+v, the ledger has %+v", row, step.Event)
			}
		})
	}
}
