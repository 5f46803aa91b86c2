package importer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"sync"

	"golang.org/x/sync/errgroup"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/parallel"
	"claimsheet/mapping"
)

// A dry run is a run that creates and records nothing. What the run would have recorded by
// then, as far as it matters for later clients, is in the overlay.

// Forecast says what Do would do, by the same decisions, and sends nothing but
// look-ups (none with NoLookup, which takes unknown clients for new ones). It
// counts the requests, by kind, that Do then makes. It goes through the clients one after
// the other.
func (j *Job) Forecast(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	j.mode = dry
	j.overlay = overlay{planned: map[string]bool{}, people: map[mapping.Identity]ledger.Step{}, addresses: lookup.NewIndex(), ids: lookup.NewIndex()}
	ctx, j.cancel = context.WithCancelCause(ctx)
	defer j.cancel(nil)
	if err := j.load(ctx, false); err != nil {
		return err
	}
	inChunks := chunked(j.detectLostLedger(ctx, plans), 4*max(j.Concurrency, 1))
	for runs, err := range parallel.Map(inChunks, j.prepareClients) {
		if err != nil {
			return err
		}
		j.prefetch(ctx, runs)
		for _, r := range runs {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			outcome, err := r.execute(ctx)
			if f, ok := errors.AsType[*apiclient.Failure](err); ok {
				return fmt.Errorf("%w: %w", ErrStopped, advised(f))
			}
			if err == nil {
				err = j.record(outcome)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// prefetch looks some clients up side by side; their runs find the answers, and
// ask again where there is none.
func (j *Job) prefetch(ctx context.Context, runs []*clientRun) {
	if j.NoLookup {
		return
	}
	var g errgroup.Group
	g.SetLimit(max(j.Concurrency, 1))
	for _, r := range runs {
		for _, d := range r.decisions {
			plan := r.plan
			if d.step.Contact != nil {
				plan = *d.step.Contact
			} else if d.step.Kind != mapping.ClientStep {
				continue
			}
			if _, done := j.overlay.person(plan.Client); done || d.known.To != "" || !j.looksUp(plan) {
				continue
			}
			g.Go(func() error {
				defer func() {
					if v := recover(); v != nil {
						j.stop(Caught(v))
					}
				}()
				if _, err := j.lookups.Prefetch(ctx, plan); err != nil {
					j.stop(err)
				}
				return nil
			})
		}
	}
	_ = g.Wait() // the functions return nil
}

// overlay is what a dry run adds to the ledger. It has of the clients no more than others may
// meet: their addresses and ids, and the steps of those who may be contacts. A run has the
// zero overlay, which adds nothing.
type overlay struct {
	mu        sync.RWMutex    // clients are prepared while others are noted
	planned   map[string]bool // activities on further contacts, by the step's key
	people    map[mapping.Identity]ledger.Step
	addresses *lookup.Index
	ids       *lookup.Index
}

// note adds what the run would have recorded of a client, by the outcome of its first step.
func (l *overlay) note(r *clientRun, o stepOutcome) {
	first := &r.decisions[0]
	if !o.ok() || first.known.To == ledger.Done && first.action != willAdopt {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, address := range lookup.Addresses(r.plan) {
		l.addresses.Note(address, r.plan.Client)
	}
	if o.ID != "" {
		l.ids.Note(o.ID, r.plan.Client)
	}
	if !r.job.hasContacts(r.plan) {
		return
	}
	w := wantedOf(r.plan, first.step, r.job.Binding.Mapping().Name.Text)
	step := ledger.Step{Event: ledger.Event{StepID: r.job.stepID(r.plan.Client, first.step), To: ledger.Done, Kind: ledger.KindClient, Via: ledger.ViaAnswer,
		ID: o.ID, Data: w.json(), Digest: w.digest()}}
	if r.reused {
		step.Via = ledger.ViaAdopted
	}
	if r.plan.Steps[0].KnownID != "" {
		step.Reason = ledger.ReasonKnownID
	}
	l.people[r.plan.Client] = step
}

// isPlanned reports whether an earlier client has an activity on a further contact, and notes
// that this one has it.
func (l *overlay) isPlanned(step string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.planned[step]
	l.planned[step] = true
	return before
}

// person returns the step client of a client or contact, if the run would have
// recorded it by then.
func (l *overlay) person(who mapping.Identity) (step ledger.Step, noted bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	step, noted = l.people[who]
	return step, noted
}

// over returns the steps of a client as the run would have them by then.
func (l *overlay) over(who mapping.Identity, known map[string]ledger.Step) map[string]ledger.Step {
	step, noted := l.person(who)
	if !noted || known[ledger.KindClient].To == ledger.Done {
		return known
	}
	above := map[string]ledger.Step{}
	maps.Copy(above, known)
	above[ledger.KindClient] = step
	return above
}

// addressOwner returns the client who would have an address by then.
func (l *overlay) addressOwner(address string) (who mapping.Identity, owned bool) {
	if l.addresses == nil {
		return who, false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.addresses.Owner(address)
}

// hasID returns another client who would be done with the id of an event by then.
func (l *overlay) hasID(e ledger.Event) (who mapping.Identity, found bool) {
	if l.ids == nil || e.Kind != ledger.KindClient || e.ID == "" {
		return who, false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	who, found = l.ids.Owner(e.ID)
	return who, found && who != (mapping.Identity{Space: e.Space, Key: e.Client})
}

// foresee prepares the client of a dry run again, if the run would have recorded it by then as
// a contact of another client.
func (r *clientRun) foresee() {
	if _, noted := r.job.overlay.person(r.plan.Client); noted && r.failed == nil && r.settled == nil {
		r.readAndPrepare()
	}
}
