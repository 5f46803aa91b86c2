package importer

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/mapping"
)

// holders are the steps that have an id or a redirect url which the ledger does not
// have yet: those of answers that wait for their commit and, in a dry run, those
// that look-ups found. Among the steps of a kind an id belongs to one step, and a
// url belongs to one client; a later one does not get it.
type holders struct {
	mu      sync.Mutex
	waiting map[string]ledger.StepID
	seen    map[uint64]struct{} // hashes of all ids and urls so far, when the ledger had none before the run; else nil
	seed    maphash.Seed
	found   *lookup.Index               // clients by id, in a dry run, which commits nothing; else nil
	shared  map[string]ledger.ClientKey // ids that several clients have in the ledger, with the first of them
}

// loadHolders reads which ids several clients of the ledger have.
func (j *Job) loadHolders(ctx context.Context) (err error) {
	j.holders.waiting = map[string]ledger.StepID{}
	if j.effects.dryRun {
		j.holders.found = lookup.NewIndex()
	}
	if !j.knows && (j.effects.dryRun || !j.Ledger.Shared()) {
		j.holders.seen, j.holders.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	}
	j.holders.shared, err = j.Ledger.SharedIDs(ctx, j.Environment)
	return err
}

// takeFound takes the id of a client that a look-up found, and the redirect url
// that an earlier answer brought. A url that another client has by now does not
// come along.
func (j *Job) takeFound(e *ledger.Event) (t ledger.Taken, ok bool, err error) {
	if t, ok, err = j.take(*e); t.URL && !ok && err == nil {
		e.URL = ""
		return j.take(*e)
	}
	return t, ok, err
}

// take reserves the id and url of an event for its step, which is about to become
// done. ok is false when another step has one of them. release ends the
// reservation when the event has been committed.
func (j *Job) take(e ledger.Event) (t ledger.Taken, ok bool, err error) {
	t, ok, isNew := j.holders.take(e)
	if !ok || isNew {
		return t, ok, nil
	}
	// Only now, so that what another worker has taken and committed meanwhile is
	// seen. It is read whether or not the run is being stopped.
	t, taken, err := j.Ledger.StepWithID(context.Background(), e)
	if taken || err != nil {
		j.holders.release(e)
	}
	return t, !taken, err
}

// take is Job.take without the ledger. isNew says that the ledger cannot have the id and
// the url.
func (h *holders) take(e ledger.Event) (t ledger.Taken, ok, isNew bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.Step = e.StepID
	if h.found != nil && e.Kind == ledger.KindClient {
		who := mapping.Identity{Space: e.Space, Key: e.Client}
		if other, known := h.found.Owner(e.ID); known && other != who {
			t.Holder = e.StepID
			t.Holder.Space, t.Holder.Client = other.Space, other.Key
			return t, false, false
		}
		h.found.Note(e.ID, who)
		return t, true, false
	}
	id, url := waitingKeys(e)
	if other, known := h.waiting[id]; known && other != e.StepID {
		t.Holder = other
		return t, false, false
	}
	if other, known := h.waiting[url]; known && other.ClientKey != e.ClientKey {
		t.Holder, t.URL = other, true
		return t, false, false
	}
	isNew = h.seen != nil
	for _, key := range []string{id, url} {
		if key == "" {
			continue
		}
		h.waiting[key] = e.StepID
		if h.seen != nil {
			hash := maphash.String(h.seed, key)
			_, before := h.seen[hash]
			h.seen[hash], isNew = struct{}{}, isNew && !before
		}
	}
	return t, true, isNew
}

// release ends the reservations of events, which are in the ledger now, or never
// will be.
func (h *holders) release(events ...ledger.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range events {
		id, url := waitingKeys(e)
		for _, key := range []string{id, url} {
			if h.waiting[key] == e.StepID {
				delete(h.waiting, key)
			}
		}
	}
}

func waitingKeys(e ledger.Event) (id, url string) {
	if e.ID != "" {
		id = e.Kind + " " + e.ID
	}
	if e.URL != "" {
		url = "url " + e.URL
	}
	return id, url
}

// sharedWith returns the client who has an id in the ledger before this one has it.
// Ledgers from before such ids were refused may hold that.
func (j *Job) sharedWith(id string, who mapping.Identity) (other mapping.Identity, shared bool) {
	owner, shared := j.holders.shared[id]
	other = mapping.Identity{Space: owner.Space, Key: owner.Client}
	return other, shared && other != who
}

// clashReason says that the service has one client for two of ours.
func clashReason(who, other mapping.Identity) string {
	if at, ok := ledger.Erased(other.Key); ok {
		return "the service has one client for this key and for one who was erased on " + at.Format(time.DateOnly)
	}
	if who.Key == other.Key {
		return fmt.Sprintf("the service has one client for this key of the key space “%s” and for the same key “%s” of the key space “%s”",
			who.Space, other.Key, other.Space)
	}
	return fmt.Sprintf("the service has one client for this key and for the key “%s”", other.Key)
}

// takeAnswer reserves the id and url that an answer holds; only the id may be
// missing. Where another step has them, the step is not done but uncertain, and
// both are named. At the second such answer in a row the run stops.
func (r *clientRun) takeAnswer(d decision, v apiclient.Verdict) (answer apiclient.Verdict, taken bool, err error) {
	if v.Effect != apiclient.Created && v.URL == "" {
		return v, false, nil
	}
	event := r.event(d, ledger.Done)
	event.ID, event.URL = v.ID, v.URL
	t, ok, err := r.job.take(event)
	if err != nil {
		return v, false, err
	}
	if why := r.job.guard.gave(d.step.Kind, !ok); why != nil {
		r.job.stop(why)
	}
	if ok {
		return v, false, nil
	}
	v.Effect, v.Hint = apiclient.Uncertain, hintTaken
	v.Reason, v.Detail = takenAnswer(string(d.step.Kind), v.ID, t)
	v.ID, v.URL = "", ""
	return v, true, nil
}

// holderOf names the step that has a taken id or url.
func holderOf(t ledger.Taken) string {
	client := fmt.Sprintf("the client with the key “%s”", t.Holder.Client)
	if at, ok := ledger.Erased(t.Holder.Client); ok {
		client = "a client who was erased on " + at.Format(time.DateOnly)
	}
	if t.Holder.Step != ledger.KindClient {
		return fmt.Sprintf("the step %s of %s", t.Holder.Step, client)
	}
	return client
}

// takenAnswer says that the service gave a step what another step has: reason
// without names, whose with them. The id is named, a url never, because it is a
// credential.
func takenAnswer(kind, id string, t ledger.Taken) (reason, whose string) {
	whose = "it is that of " + holderOf(t)
	if t.URL {
		return "the service gave it a redirect url that it had given to another client", whose
	}
	return fmt.Sprintf("the service gave it the id of another %s", kind), "id " + id + "; " + whose
}

// reclassifyConflict makes a conflict (409) uncertain where an earlier attempt at
// the step, in this run or before, may have worked: what the service says is there
// already may be what that attempt created, whatever was decided about it since. A
// client is looked up as always.
func (r *clientRun) reclassifyConflict(d decision, v apiclient.Verdict) (apiclient.Verdict, error) {
	if v.Effect != apiclient.Refused || v.Retry != apiclient.Never || v.Status != 409 {
		return v, nil
	}
	// What was done is read whether or not the run is being stopped.
	events, err := r.job.Ledger.Events(context.Background(), r.job.stepID(r.plan.Client, d.step))
	if err != nil || !doubted(events) {
		return v, err
	}
	v.Effect, v.Reason = apiclient.Uncertain, v.Reason+reasonEarlier
	return v, nil
}

// doubted reports whether some attempt since the step was last done may have worked
// without an answer.
func doubted(events []ledger.Event) bool {
	doubt := false
	for _, event := range events {
		switch event.To {
		case ledger.Uncertain, ledger.Parked:
			doubt = true
		case ledger.Done:
			doubt = false
		}
	}
	return doubt
}
