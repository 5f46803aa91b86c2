package importer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/mapping"
)

// holders knows whose an id or a redirect url is that the ledger does not have
// yet: those of answers that wait for their commit and, in a dry run, those that
// look-ups found. An id is one step's among those of its kind, a url is one
// client's; whoever comes later does not get it.
type holders struct {
	mu       sync.Mutex
	waiting  map[string]ledger.StepID
	foreseen *lookup.Index           // clients by id; nil but in a dry run, which commits nothing
	shared   map[string]ledger.Owner // ids that several clients have in the ledger, with the first of them
}

// loadHolders makes a job ready to say whose an id is.
func (j *Job) loadHolders(ctx context.Context) (err error) {
	j.holders.waiting = map[string]ledger.StepID{}
	if j.effects.dryRun {
		j.holders.foreseen = lookup.NewIndex()
	}
	j.holders.shared, err = j.Ledger.SharedIDs(ctx, j.Environment)
	return err
}

// takeFound takes the id of a client whom a look-up found, and the redirect url
// that an earlier answer brought. A url that another client has by now does not
// come along.
func (j *Job) takeFound(e *ledger.Event) (t ledger.Taken, ok bool, err error) {
	if t, ok, err = j.take(*e); t.URL && !ok && err == nil {
		e.URL = ""
		return j.take(*e)
	}
	return t, ok, err
}

// take takes the id and url of an event for its step, which is to become done. ok
// is false when another step has one of them. What is taken is given back when
// the event has been committed (release).
func (j *Job) take(e ledger.Event) (t ledger.Taken, ok bool, err error) {
	if t, ok = j.holders.take(e); !ok {
		return t, false, nil
	}
	// Only now: what another worker has taken and committed meanwhile is there.
	// It is read whether or not the run is being stopped.
	t, taken, err := j.Ledger.Holder(context.Background(), e)
	if taken || err != nil {
		j.holders.release(e)
	}
	return t, !taken, err
}

func (h *holders) take(e ledger.Event) (t ledger.Taken, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.Step = e.StepID
	if h.foreseen != nil && e.Kind == ledger.KindClient {
		who := mapping.Identity{Space: e.Space, Key: e.Client}
		if other, known := h.foreseen.Owner(e.ID); known && other != who {
			t.Holder = e.StepID
			t.Holder.Space, t.Holder.Client = other.Space, other.Key
			return t, false
		}
		h.foreseen.Note(e.ID, who)
		return t, true
	}
	id, url := waitingKeys(e)
	if other, known := h.waiting[id]; known && other != e.StepID {
		t.Holder = other
		return t, false
	}
	if other, known := h.waiting[url]; known && other.Owner != e.Owner {
		t.Holder, t.URL = other, true
		return t, false
	}
	for _, key := range []string{id, url} {
		if key != "" {
			h.waiting[key] = e.StepID
		}
	}
	return t, true
}

// release gives back what was taken for events: they are in the ledger now, or
// never will be.
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

// sharedWith finds the client to whom the ledger gives an id before it gives it
// to this one: a ledger may hold that from before ids were refused.
func (j *Job) sharedWith(id string, who mapping.Identity) (other mapping.Identity, shared bool) {
	owner, shared := j.holders.shared[id]
	other = mapping.Identity{Space: owner.Space, Key: owner.Client}
	return other, shared && other != who
}

// clashReason reports that the service has one client for two of ours.
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

// identityOf is the client who has a taken id or url.
func identityOf(t ledger.Taken) mapping.Identity {
	return mapping.Identity{Space: t.Holder.Space, Key: t.Holder.Client}
}

// takeAnswer takes what an answer holds, which may lack no more than the id. What
// another step has is no success: the step is uncertain, and both are named. The
// run stops where that is not the first time in a row.
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

// takenAnswer says of a step that the service gave it what another step has,
// without names, and whose that is, with them. The id is named, a url never: it
// is a credential.
func takenAnswer(kind, id string, t ledger.Taken) (reason, whose string) {
	client := fmt.Sprintf("the client with the key “%s”", t.Holder.Client)
	if at, ok := ledger.Erased(t.Holder.Client); ok {
		client = "a client who was erased on " + at.Format(time.DateOnly)
	}
	whose = fmt.Sprintf("it is that of %s", client)
	if t.Holder.Step != ledger.KindClient {
		whose = fmt.Sprintf("it is that of the step %s of %s", t.Holder.Step, client)
	}
	if t.URL {
		return "the service gave it a redirect url that it had given to another client", whose
	}
	return fmt.Sprintf("the service gave it the id of another %s", kind), "id " + id + "; " + whose
}
