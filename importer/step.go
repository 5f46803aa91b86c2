package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/retry"
	"claimsheet/mapping"
)

// commit makes events durable, in the ledger or, when that cannot be written any
// more, in the journal. Where the ledger refuses one it returns stepChanged.
func (j *Job) commit(events []ledger.Event) error {
	err := j.append(events)
	switch {
	case err == nil:
		j.seeAnswers(events, nil)
	case errors.Is(err, ledger.ErrStopped):
		return errors.Join(err, j.Journal.Keep(events...))
	case isRefusal(err):
		return j.commitApart(events, err)
	}
	return err
}

// append is Ledger.Append. After a panic the ledger counts as one that cannot be written:
// it is unknown whether it has the events.
func (j *Job) append(events []ledger.Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %w", ledger.ErrStopped, Caught(v))
		}
	}()
	return j.Ledger.Append(events...)
}

// commitApart makes the outcomes of a refused call durable one by one: one of its events
// must not take another's id with it. An intent is left out, so its request is not sent.
func (j *Job) commitApart(events []ledger.Event, refusal error) error {
	changed := &stepChanged{step: events[len(events)-1].StepID, why: refusal}
	var errs []error // an error about one outcome does not take another's id with it either
	for i, e := range events {
		if e.To == ledger.Sent {
			continue
		}
		err := refusal
		if len(events) > 1 {
			err = j.append([]ledger.Event{e})
		}
		j.seeAnswers([]ledger.Event{e}, err)
		if isRefusal(err) {
			changed.step, changed.why = e.StepID, err
			err = j.commitOvertaken(e, err)
		}
		switch {
		case errors.Is(err, ledger.ErrStopped):
			return errors.Join(append(errs, err, j.Journal.Keep(events[i:]...))...)
		case err != nil:
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return changed
}

// seeAnswers lets the guard see whether the answers by which steps were created held what
// other steps have. At the second such answer in a row the run stops.
func (j *Job) seeAnswers(events []ledger.Event, refusal error) {
	taken, isTaken := errors.AsType[ledger.Taken](refusal)
	for _, e := range events {
		if e.To != ledger.Done || e.Via != ledger.ViaAnswer || refusal != nil && !(isTaken && !taken.Address && taken.Step == e.StepID) {
			continue
		}
		j.observe(observation{of: ofAnswer, kind: mapping.StepKind(e.Kind), bad: isTaken})
	}
}

// commitOvertaken makes an outcome durable that the ledger refuses. What the service has
// created is recorded as uncertain, so that no run sends it again. An outcome without an answer
// says nothing that the ledger lacks, and a refused request has created nothing.
func (j *Job) commitOvertaken(e ledger.Event, refusal error) error {
	if e.Status == 0 || e.To == ledger.Refused {
		return nil
	}
	err := j.append([]ledger.Event{overtaken(e, refusal)})
	if isRefusal(err) { // it is refused in every way
		return errors.Join(fmt.Errorf("an answer cannot be recorded: %w", err), j.Journal.Keep(e))
	}
	return err
}

// overtaken is the outcome by which a step becomes uncertain that the service has created:
// with the id, or without it where another step has that. A person decides about a conflict,
// also where its answer can be read; a client may be found by a look-up before that.
func overtaken(e ledger.Event, refusal error) ledger.Event {
	e.To, e.Via = ledger.Uncertain, ledger.ViaConflict
	e.Reason = "the service created it, and meanwhile another process or a decision (claimsheet settle) had changed the step"
	if t, ok := errors.AsType[ledger.Taken](refusal); ok {
		reason, _ := takenAnswer(e.Kind, e.ID, t)
		e.Via, e.Reason, e.ID, e.URL = ledger.ViaJournal, reasonWith(reason, hintTaken), "", ""
	} else if e.ID != "" {
		e.Reason += "; its id there is " + e.ID
	}
	return e
}

// What the ledger knows of a client is read before its run and holds as a rule until the
// run is over. Where a step has changed all the same, the ledger refuses what the run would
// record, and the client is read again, once (Job.runClient). Its rows say so when that
// does not help; the other clients go on.

// stepChanged is returned when the ledger refuses an event: another process, or somebody
// who decided by hand, has changed the step since this run read it. What the service
// answered is kept all the same. Wrapped in another error, it is no more than a part of what
// ends the run.
type stepChanged struct {
	step ledger.StepID
	why  error // wraps ledger.ErrTransition or ledger.Taken
}

func (s *stepChanged) Error() string { return "a step was changed meanwhile: " + s.why.Error() }

func (s *stepChanged) Unwrap() error { return s.why }

// isRefusal reports whether the ledger refuses an event and goes on.
func isRefusal(err error) bool {
	return (errors.Is(err, ledger.ErrTransition) || errors.As(err, new(ledger.Taken))) && !errors.Is(err, ledger.ErrStopped)
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

// clientRun carries one client's plan out, in one goroutine: prepare first, then
// execute.
type clientRun struct {
	job           *Job
	plan          mapping.Plan
	leader        *clientRun // the run that this one is part of: its own, or that of the client whose contact it creates
	decisions     []decision
	ids           ids
	created       map[string]time.Time // when this run created what a step asked for, by step key
	pending       []ledger.Event       // outcomes that the next commit takes along
	policy        *retry.Policy        // by which the client step is sent again
	hasOpenIntent bool                 // it has a place in Job.openIntents
	slot          *apiclient.Slot      // reserved for the client's creation, for which it is looked up first; else nil
	sent          int                  // creating requests that went out, whatever came of them
	reused        bool                 // a look-up found the client, and nothing was sent to create it
	lookedUp      bool                 // the service was asked about the client, and nothing more
	answered      bool                 // the service has answered a creating request
	leads         bool                 // it goes first; see canary
	taken         bool                 // what the run asked for is another step's: no look-up decides about what is in doubt now

	steps  map[string]ledger.Step        // what the ledger knew of the client
	latest map[ledger.StepID]ledger.Step // what has changed since then, and the steps of contacts

	noWork *clientOutcome // that of a plan for which nothing is to be done
	failed error          // of prepare
}

func (j *Job) newClientRun(plan mapping.Plan) *clientRun {
	r := &clientRun{job: j, plan: plan, ids: ids{}, created: map[string]time.Time{}, latest: map[ledger.StepID]ledger.Step{}}
	r.leader = r
	return r
}

// takeSlot reserves a slot for the client's next request; ok is false when ctx is done before
// that. Each client that waits for a slot has a place in Job.openIntents, so a client with a slot
// never waits for such a place.
func (r *clientRun) takeSlot(ctx context.Context) (ok bool) {
	if r.slot != nil {
		return true
	}
	if !r.hasOpenIntent { // else an outcome is not committed yet
		select {
		case r.job.openIntents <- struct{}{}:
			r.hasOpenIntent = true
		case <-ctx.Done():
			return false
		}
	}
	slot, err := r.job.Service.Reserve(ctx)
	if err != nil {
		r.closeIntent()
		return false
	}
	r.slot = slot
	return true
}

func (r *clientRun) releaseSlot() {
	r.slot.Release()
	r.slot = nil
}

// closeIntent gives the client's place in Job.openIntents back, unless an outcome waits for its
// commit. While an intent is committed and its outcome is not known, do not call it.
func (r *clientRun) closeIntent() {
	if r.hasOpenIntent && len(r.pending) == 0 {
		r.hasOpenIntent = false
		<-r.job.openIntents
	}
}

func (r *clientRun) event(d decision, to ledger.State) ledger.Event {
	return r.job.stamped(ledger.Event{
		StepID: r.job.stepID(r.plan.Client, d.step), To: to, Run: r.job.runID(r.plan), Kind: string(d.step.Kind),
	})
}

// wanted is what a step asks for. It is not known yet where the ledger does not
// know the step.
func (r *clientRun) wanted(d *decision) *wanted {
	if d.wanted == nil {
		d.wanted = wantedOf(r.plan, d.step, r.job.Binding.Mapping().Name.Text)
	}
	return d.wanted
}

// identify adds what a step asks for to its event, with the addresses that the client has
// from then on.
func (r *clientRun) identify(e *ledger.Event, d *decision) {
	w := r.wanted(d)
	e.Data, e.Digest, e.Addresses = w.json(), w.digest(), w.Addresses
	if r.job.ifKnown(r.plan) != mapping.Create {
		e.LookedUp = w.asked()
	}
}

func (r *clientRun) intend(d *decision) error {
	intent := r.event(*d, ledger.Sent)
	r.identify(&intent, d)
	if d.known.To == ledger.Uncertain && !d.known.NotFound {
		intent.Via = ledger.ViaRepeatable
	}
	r.pending = append(r.pending, intent)
	err := r.commit()
	if _, changed := err.(*stepChanged); !changed {
		r.sent++
	}
	return err
}

// withdraw takes an intent back whose request was not sent. The next commit makes
// that durable. A step with an earlier attempt that may have worked stays uncertain.
func (r *clientRun) withdraw(d *decision) {
	event := r.event(*d, ledger.Refused)
	event.Reason = "it was not sent after all"
	if d.known.To == ledger.Uncertain {
		event.To, event.Reason, event.NotFound = ledger.Uncertain, reasonNotRepeated, d.known.NotFound
	}
	r.pending = append(r.pending, event)
	d.known.To = event.To
}

func (r *clientRun) record(event ledger.Event) error {
	r.pending = append(r.pending, event)
	return r.commit()
}

func (r *clientRun) commit() error {
	if len(r.pending) == 0 {
		return nil
	}
	last := r.pending[len(r.pending)-1]
	r.note(r.pending)
	err := r.job.commit(r.pending)
	if r.pending = r.pending[:0]; last.To != ledger.Sent || err != nil {
		r.closeIntent()
	}
	return err
}

// recoverPanic makes an error of a panic. What is known by then is kept, and other
// workers finish what they do.
func (r *clientRun) recoverPanic(err *error) {
	if v := recover(); v != nil {
		*err = errors.Join(Caught(v), r.commit())
	}
}

// note keeps what events make of their steps.
func (r *clientRun) note(events []ledger.Event) {
	for _, e := range events {
		s, known := r.latest[e.StepID]
		if !known && e.ClientKey == r.job.owner(r.plan.Client) {
			s = r.steps[e.StepID.Step]
		}
		id := cmp.Or(e.ID, s.ID)
		if e.To == ledger.Sent {
			s.Attempts, id = s.Attempts+1, ""
		}
		s.Event = e
		s.ID = id
		r.latest[e.StepID] = s
	}
}

func (r *clientRun) takeLatest(contact map[string]ledger.Step) {
	for _, s := range contact {
		r.latest[s.StepID] = s
	}
}

// lines are the client's lines in the sheet Steps: one for each step of the plan. A step that
// the ledger does not have is planned, or skipped.
func (r *clientRun) lines(o clientOutcome) (lines []result.Step) {
	dryRun := r.job.mode == dry
	for _, s := range o.Steps {
		ofErased, wouldSend := s.Step.Kind == mapping.ContactStep && s.Step.Contact == nil, s.Status == result.Planned && s.ID == "" // else nothing is sent
		if ofErased || dryRun && !wouldSend {
			continue
		}
		known, ok := r.latest[r.job.stepID(r.plan.Client, s.Step)]
		if !ok {
			known, ok = r.steps[s.Step.Key]
		}
		line := result.Step{Step: s.Step.Key, Kind: string(s.Step.Kind), State: string(result.Planned)}
		if dryRun {
			line.Title = s.Step.Title
		} else if ok {
			line = lineOf(s.Step.Key, line.Kind, known)
		}
		if s.Status == result.Skipped && (!ok || known.To == ledger.Refused) {
			line.State = result.StepSkipped
		}
		lines = append(lines, line)
	}
	return lines
}

func lineOf(step, kind string, s ledger.Step) result.Step {
	return result.Step{Step: step, Kind: kind, State: string(s.To), ID: s.ID, Attempts: s.Attempts, Status: s.Status, At: s.At}
}

// stepOutcome is a step's outcome by the event that was recorded of it; the words
// are the verdict's.
func (r *clientRun) stepOutcome(d decision, event ledger.Event, v apiclient.Verdict) stepOutcome {
	o := stepOutcome{Step: d.step, Error: said(v), reason: v.Reason, Advice: v.Hint, http: v.Status,
		wordless: v.Effect == apiclient.Uncertain && apiclient.Readable(v.Status, v.Answer)}
	switch event.To {
	case ledger.Done:
		o.Status, o.ID, o.URL, o.Error = result.Done, event.ID, event.URL, ""
		lacksURL := event.URL == "" && d.step.Kind == mapping.ClientStep && r.job.Binding.Mapping().V1()
		if event.Via == ledger.ViaAdopted {
			o.wordless, o.Advice = v.URL == "" && apiclient.Readable(v.Status, v.Answer), ""
			switch {
			case lacksURL && o.wordless:
				o.Advice = adviceNoURL
			case lacksURL:
				o.Advice = adviceURLLost
			}
		} else if lacksURL {
			o.wordless, o.Advice = true, cmp.Or(v.Hint, adviceNoURL)
		}
	case ledger.Refused:
		switch o.Status = result.Failed; {
		case v.Effect == apiclient.NotSent:
			o.Advice = cmp.Or(v.Hint, adviceNotSent)
		case unsent(v):
			o.Advice = cmp.Or(v.Hint, adviceBusy)
		default:
			o.Advice = r.adviceRefusal(d.step, v.Hint)
		}
	default:
		if event.NotFound {
			o.Status, o.Error, o.Advice = result.Uncertain, reasonNotFound, withHint(v.Hint, adviceNotFound)
			break
		}
		o.Status, o.Advice = result.Uncertain, withHint(v.Hint, adviceUncertain(d.step))
	}
	return o
}

// unsent reports whether a request was not sent, or was refused for another reason than what it
// asks for: it may be sent again.
func unsent(v apiclient.Verdict) bool {
	return v.Effect == apiclient.NotSent || v.Effect == apiclient.Refused && (v.Retry != apiclient.Never || v.Stop)
}

// said is the verdict in words for the workbook: ours, then the service's own.
func said(v apiclient.Verdict) string {
	if v.Detail == "" {
		return v.Reason
	}
	return v.Reason + ": " + v.Detail
}

func (r *clientRun) noteCreated(step *mapping.Step, id string) {
	r.created[step.Key] = r.job.now()
	r.ids[step.Key] = id
}

// notStarted is the outcome of a step that was not sent before the run ended. said
// is what the service said when the run was stopped for that. A step that was
// uncertain before stays so.
func (j *Job) notStarted(ctx context.Context, d decision, said string) stepOutcome {
	o := stepOutcome{Step: d.step, Status: result.NotStarted, Error: j.whyStopped(ctx), Advice: adviceStopped}
	if d.known.To == ledger.Uncertain {
		o.Status, o.Error, o.Advice = result.Uncertain, reasonNotRepeated, adviceUncertain(d.step)
	}
	if said != "" {
		o.Error += "; the service says: " + said
	}
	return o
}

// whyStopped is why the run was stopped, for rows that are not started.
func (j *Job) whyStopped(ctx context.Context) string {
	if ctx.Err() == nil {
		return "it was not sent"
	}
	if cause := context.Cause(ctx); errors.Is(cause, ErrStopped) {
		return cause.Error()
	}
	return ErrStopped.Error()
}

// adviceRefusal says what to do about a step that the service refused. hint is that of a
// rule of the environment, "" for none. The service's document does not show how an id
// that it does not know is refused.
func (r *clientRun) adviceRefusal(step *mapping.Step, hint string) string {
	usual := adviceRefused
	if step.Kind == mapping.ClaimStep && r.reused {
		usual = adviceReused
	}
	advice := cmp.Or(hint, usual)
	for _, d := range slices.Backward(r.decisions) {
		if id := d.idOfSheet(); id != "" && (d.step.Kind != mapping.ClaimStep || d.step.Key == step.Claim) {
			name := result.ShownStep(d.step.Key)
			if d.step.Kind != mapping.ContactStep {
				name = r.plan.Client.Key + ":" + name
			}
			return withHint(advice, fmt.Sprintf(adviceKnownIDRefused, id, name))
		}
	}
	return advice
}

// idOfSheet returns the id that the sheet gives for the step, where that is the one that
// counts; "" otherwise.
func (d decision) idOfSheet() string {
	switch {
	case d.known.Via == ledger.ViaSheet:
		return d.known.ID
	case d.known.To == ledger.Done:
		return ""
	case d.step.Contact != nil:
		return d.step.Contact.Steps[0].KnownID
	}
	return d.step.KnownID
}

// reasonClash is clashReason without the keys.
const reasonClash = "the service has one client for two keys"

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

// takeURL looks whether another client has the redirect url of an answer that has no id. Then
// the step stays uncertain, and both are named.
func (r *clientRun) takeURL(d decision, v apiclient.Verdict) (answer apiclient.Verdict, taken bool, err error) {
	if v.Effect == apiclient.Created || v.URL == "" {
		return v, false, nil
	}
	event := r.event(d, ledger.Done)
	event.URL = v.URL
	t, taken, err := r.job.Ledger.StepWithID(uninterrupted, event)
	if err != nil || !taken {
		return v, false, err
	}
	v.Effect, v.Hint, v.URL = apiclient.Uncertain, hintTaken, ""
	v.Reason, v.Detail = takenAnswer(string(d.step.Kind), "", t)
	return v, true, nil
}

// foundEvent is the event by which a client that a look-up found becomes done.
func (j *Job) foundEvent(plan mapping.Plan, id string) ledger.Event {
	return j.stamped(ledger.Event{StepID: ledger.StepID{ClientKey: j.owner(plan.Client), Step: string(mapping.ClientStep)}, To: ledger.Done,
		Run: j.runID(plan), Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: id})
}

// reclassifyConflict makes a conflict (409) uncertain where an earlier attempt at
// the step, in this run or before, may have worked: what the service says is there
// already may be what that attempt created, whatever was decided about it since. A
// client is looked up as always.
func (r *clientRun) reclassifyConflict(d decision, v apiclient.Verdict) (apiclient.Verdict, error) {
	if v.Effect != apiclient.Refused || v.Retry != apiclient.Never || v.Status != 409 {
		return v, nil
	}
	events, err := r.job.Ledger.Events(uninterrupted, r.job.stepID(r.plan.Client, d.step))
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
	for i, event := range events {
		switch {
		case event.To == ledger.Done:
			doubt = false
		case event.To == ledger.Uncertain, i > 0 && events[i-1].To == ledger.Sent && event.Run != events[i-1].Run:
			doubt = true
		}
	}
	return doubt
}

// The reasons of a step that is uncertain by an earlier attempt: where it was not
// sent again, and behind the reason why the service refused it then.
const (
	reasonNotRepeated = "an earlier request may have created it, and it was not sent again"
	reasonEarlier     = ", and an earlier attempt may have created it"
)

const reasonNotFound = "no answer that says whether it was created; a look-up finds nobody yet"
