package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// commit makes events durable, in the ledger or, when that cannot be written any
// more, in the journal. If the ledger refuses one, commit returns why: see isRefusal.
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

// append is Ledger.Append. A panic counts as ledger.ErrStopped: it is unknown whether the ledger has
// the events.
func (j *Job) append(events []ledger.Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %w", ledger.ErrStopped, Caught(v))
		}
	}()
	return j.Ledger.Append(events...)
}

// commitApart makes the outcomes of a refused call durable one by one, so that one that is refused
// does not keep the ids of the others from the ledger. An intent is left out: its request is not sent.
func (j *Job) commitApart(events []ledger.Event, refusal error) error {
	for i, e := range events {
		if e.State == ledger.Sent {
			continue
		}
		err := refusal
		if len(events) > 1 {
			err = j.append([]ledger.Event{e})
		}
		j.seeAnswers([]ledger.Event{e}, err)
		if isRefusal(err) {
			refusal = err
			err = j.commitOvertaken(e, err)
		}
		if err != nil {
			return errors.Join(err, j.Journal.Keep(events[i:]...))
		}
	}
	return refusal
}

// seeAnswers lets the guard see whether answers that created steps hold an id or url which another
// step has. At the second such answer in a row the run stops.
func (j *Job) seeAnswers(events []ledger.Event, refusal error) {
	_, isTaken := errors.AsType[ledger.Taken](refusal) // an event whose address is taken is an intent, and so no answer
	for _, e := range events {
		if e.State != ledger.Done || e.Via != ledger.ViaAnswer || refusal != nil && !isTaken {
			continue
		}
		j.observe(observation{of: ofAnswer, kind: mapping.StepKind(e.Kind), bad: isTaken})
	}
}

// commitOvertaken makes an outcome durable that the ledger refuses. What the service has created is
// recorded as uncertain, so that no run sends it again: with the id, or without it where another
// step has that. An outcome without an answer, or of a refused request, is left out: it has nothing
// that the ledger needs.
func (j *Job) commitOvertaken(e ledger.Event, refusal error) error {
	if e.Status == 0 || e.State == ledger.Refused {
		return nil
	}
	e.State, e.Via = ledger.Uncertain, ledger.ViaConflict
	e.Reason = "the service created it, and meanwhile another process or a decision (claimsheet settle) had changed the step"
	if t, ok := errors.AsType[ledger.Taken](refusal); ok { // a person decides about a conflict also where its answer can be read
		reason, _ := takenAnswer(e.Kind, e.ID, t)
		e.Via, e.Reason, e.ID, e.URL = ledger.ViaJournal, reasonWith(reason, hintTaken), "", ""
	} else if e.ID != "" {
		e.Reason += "; its id there is " + e.ID
	}
	err := j.append([]ledger.Event{e})
	if isRefusal(err) { // also as uncertain
		return fmt.Errorf("an answer cannot be recorded: %v", err)
	}
	return err
}

// What the ledger knows of a client is read before its run and holds as a rule until the
// run is over. Where a step has changed all the same, the ledger refuses what the run would
// record, and the client is read again, once (Job.runClient). Its rows say so when that
// does not help; the other clients go on.

// errChangedAgain ends the work on a client in this run: the ledger has refused to record a step
// also after the client was read again.
var errChangedAgain = errors.New("not sent: the ledger refused to record a step, because another process or a decision (claimsheet settle) had changed it meanwhile")

const adviceAgain = "claimsheet history CLIENT-KEY shows what was recorded. Run again when nothing else works on the client: only what is missing is sent."

// isRefusal reports whether the ledger refuses an event and goes on: another process, or a decision
// (claimsheet settle), has changed the step since this run read it. What the service answered is kept all the same.
func isRefusal(err error) bool {
	_, isTaken := errors.AsType[ledger.Taken](err)
	return (isTaken || errors.Is(err, ledger.ErrTransition)) && !errors.Is(err, ledger.ErrStopped) && problem.ClassOf(err) != problem.Bug
}

// holderOf names the step that has a taken id or url.
func holderOf(t ledger.Taken) string {
	client := fmt.Sprintf("the client with the key “%s”", t.Holder.Client)
	if at, ok := ledger.Erased(t.Holder.Client); ok {
		client = "a client who was erased on " + at.Format(time.DateOnly)
	} else if t.Holder.Client == t.Step.Client && t.Holder.Space != t.Step.Space {
		client += fmt.Sprintf(" in the key space “%s”, not in “%s”", t.Holder.Space, t.Step.Space)
	}
	if t.Holder.Step != ledger.KindClient {
		return fmt.Sprintf("the step %s of %s", t.Holder.Step, client)
	}
	return client
}

// takenAnswer says that the service gave a step what another step has: reason without personal data,
// whose with the other client's key and the id. It never names a url, which is a credential.
func takenAnswer(kind, id string, t ledger.Taken) (reason, whose string) {
	whose = "it is that of " + holderOf(t)
	if t.URL {
		return "the service gave it a redirect url that it had given to another client", whose
	}
	return fmt.Sprintf("the service gave it the id of another %s", kind), "id " + id + "; " + whose
}

// clientRun carries one client's plan out, in one goroutine: see newClientRun and execute.
type clientRun struct {
	job           *Job
	plan          mapping.Plan
	group         []mapping.Plan // the plans of the client's group
	decisions     []decision
	lookup        lookedUp               // of a client who is new to the ledger or in doubt; zero without a look-up
	pending       []ledger.Event         // outcomes that the next commit records
	policy        *apiclient.RetryPolicy // when the client step may be sent again
	hasOpenIntent bool                   // it has a place in Job.openIntents
	slot          *apiclient.Slot        // reserved for the client's next request; nil without one
	sent          int                    // creating requests that went out, whatever came of them
	lookedUp      bool                   // the service was asked about the client, and nothing more
	unanswered    bool                   // it gave no answer to that
	refused       int                    // the status of its first refusal, 0 for none
	answered      bool                   // the service has answered a creating request
	lacksURL      bool                   // the answer that should have the client's redirect url has none
	leads         *bool                  // it goes first, or the client whose contact this one creates does; see canary

	steps map[string]ledger.Step // what the ledger knows by now, by the keys of the plan's steps; may be nil

	noWork *clientOutcome // of a plan for which nothing is sent; else nil
	failed error          // what kept newClientRun from deciding
}

// takeSlot reserves a slot for the client's next request; ok is false when ctx is done before that.
// It first takes a place in Job.openIntents, so a client with a slot never waits for a place.
func (r *clientRun) takeSlot(ctx context.Context) (ok bool) {
	if r.slot != nil || ctx.Err() != nil {
		return ctx.Err() == nil
	}
	if !r.hasOpenIntent { // it still has one while an outcome is not committed
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
// commit. Do not call it between the commit of an intent and its outcome.
func (r *clientRun) closeIntent() {
	if r.hasOpenIntent && len(r.pending) == 0 {
		r.hasOpenIntent = false
		<-r.job.openIntents
	}
}

func (r *clientRun) event(d decision, to ledger.State) ledger.Event {
	return r.job.stamped(ledger.Event{
		StepID: r.job.stepID(r.plan.Client, d.Step.Key), State: to, Run: r.job.runID(r.plan), Kind: string(d.Step.Kind),
	})
}

// attachWanted adds to the event of a step what it asks for, with the addresses that the client owns
// from then on.
func (r *clientRun) attachWanted(e *ledger.Event, d decision) {
	w := wantedOf(r.plan, d.Step, r.job.Binding.Mapping().Name.Text)
	e.Addresses = w.Addresses
	if r.job.mode != modeDry || r.job.hasContacts() { // else no later client of a dry run asks for it
		e.Data, e.Digest = w.json(), w.digest()
	}
	if d.Step.Kind == mapping.ClientStep && r.job.ifKnown(r.plan) != mapping.Create {
		e.LookedUp = askedBy(r.plan.Lookup)
	}
}

func (r *clientRun) intend(d decision) error {
	intent := r.event(d, ledger.Sent)
	r.attachWanted(&intent, d)
	if d.known.State == ledger.Uncertain && !d.known.NotFound {
		intent.Via = ledger.ViaRepeatable
	}
	r.record(d.Step.Key, intent)
	err := r.commit()
	if !isRefusal(err) {
		r.sent++
	}
	return err
}

// withdraw takes an intent back whose request was not sent. The next commit makes
// that durable. A step with an earlier attempt that may have worked stays uncertain.
func (r *clientRun) withdraw(d *decision) {
	event := r.event(*d, ledger.Refused)
	event.Reason = reasonWithdrawn
	if d.known.State == ledger.Uncertain {
		event.State, event.Reason, event.NotFound = ledger.Uncertain, reasonNotRepeated, d.known.NotFound
	}
	r.record(d.Step.Key, event)
	d.known.State = event.State
}

// record keeps an event of a step for the next commit.
func (r *clientRun) record(key string, e ledger.Event) {
	r.pending = append(r.pending, e)
	r.know(key, r.steps[key].After(e))
}

// idOf returns the id of what a step of the plan has created or found.
func (r *clientRun) idOf(key string) string {
	if s := r.steps[key]; s.State == ledger.Done {
		return s.ID
	}
	for i := range r.plan.Steps {
		if s := &r.plan.Steps[i]; s.Key == key {
			return s.KnownID // a claim that another mapping has: see takeKnownID
		}
	}
	return ""
}

func (r *clientRun) recordNow(key string, e ledger.Event) error {
	r.record(key, e)
	return r.commit()
}

// know notes what the ledger has of a step of the plan.
func (r *clientRun) know(key string, s ledger.Step) {
	if r.steps == nil {
		r.steps = map[string]ledger.Step{}
	}
	r.steps[key] = s
}

func (r *clientRun) commit() error {
	if len(r.pending) == 0 {
		return nil
	}
	last := r.pending[len(r.pending)-1]
	err := r.job.commit(r.pending)
	if r.pending = r.pending[:0]; last.State != ledger.Sent || err != nil {
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

// lines are the client's lines in the sheet Steps: one for each step of the plan. A step that
// the ledger does not have is planned, or skipped.
func (r *clientRun) lines(o clientOutcome) []result.Step {
	lines := make([]result.Step, 0, len(o.Steps))
	dryRun := r.job.mode == modeDry
	for _, s := range o.Steps {
		if dryRun && (s.Status != result.Planned || s.ID != "") { // nothing would be sent
			continue
		}
		known, ok := r.steps[s.Step.Key]
		line := result.Step{Step: s.Step.Key, Kind: string(s.Step.Kind), State: string(result.Planned)}
		if dryRun {
			line.Title = s.Step.Title
		} else if ok {
			line = lineOf(s.Step.Key, line.Kind, known)
		}
		if s.Status == result.Skipped && (!ok || known.State == ledger.Refused) {
			line.State = result.StepSkipped
		}
		lines = append(lines, line)
	}
	if n := len(o.Steps); n > 0 && o.Steps[n-1].Step.Kind == mapping.LinkStep && o.Steps[n-1].URL == "" && !dryRun {
		if last := lastGiven(r.steps); last.Kind == ledger.KindLink { // its redirect url is still shown; the newest link stays the last
			lines = slices.Insert(lines, n-1, lineOf(last.StepID.Step, last.Kind, last))
		}
	}
	return lines
}

func lineOf(step, kind string, s ledger.Step) result.Step {
	return result.Step{Step: step, Kind: kind, State: string(s.State), ID: s.ID, Attempts: s.Attempts, Status: s.Status, At: s.At}
}

// stepOutcome returns a step's outcome by the event that is recorded of it, in the words of the
// verdict.
func (r *clientRun) stepOutcome(d decision, event ledger.Event, v apiclient.Verdict) stepOutcome {
	o := stepOutcome{Step: d.Step, Error: v.Reason, reason: v.Reason, Advice: v.Hint}
	if v.Detail != "" { // the service's own words
		o.Error += ": " + v.Detail
	}
	switch event.State {
	case ledger.Done:
		if event.Via == ledger.ViaAdopted {
			o.Advice = ""
		}
		o.Status, o.ID, o.URL, o.Error = result.Done, event.ID, event.URL, ""
		o.Advice = cmp.Or(o.Advice, adviceNoLink(d.Step.Kind, r.steps[d.Step.Key], r.job.Binding.Mapping().V1()))
	case ledger.Refused:
		switch o.Status = result.Failed; {
		case v.Effect == apiclient.NotSent:
			o.Advice = cmp.Or(v.Hint, adviceNotSent)
		case mayRepeat(v):
			o.Advice = cmp.Or(v.Hint, adviceBusy)
		default:
			o.Advice = r.adviceRefusal(d.Step, v.Hint)
		}
	default:
		if event.NotFound {
			o.Status, o.Error, o.Advice = result.Uncertain, reasonNotFound, withHint(v.Hint, adviceNotFound)
			break
		}
		o.Status, o.Advice = result.Uncertain, withHint(v.Hint, adviceUncertain(d.Step))
	}
	return o
}

// projected is the outcome of a step that is not done, by what became of the last attempt: by the
// answer that the ledger keeps, or by the words in its place (see ledger.Words). When the run was
// stopped, an attempt of an earlier run says nothing. A report, which has no Service, reads the
// answer without the rules of an environment, and a 2xx not at all.
func (r *clientRun) projected(ctx context.Context, d decision) stepOutcome {
	known, stopped := d.known, ctx.Err() != nil
	if known.State == "" || stopped && !slices.Contains(r.job.Runs, known.Run) {
		return r.job.notStarted(ctx, d, "")
	}
	v := apiclient.Verdict{Effect: apiclient.Refused, Status: known.Status}
	why, advice, hasWords := known.Words()
	switch {
	case v.Status == 0:
		v.Effect = apiclient.NotSent
	case r.job.Service != nil || v.Status/100 != 2:
		v = r.job.judgeStored(known, r.idOf(string(mapping.ClientStep)))
	}
	withdrawn := known.Reason == apiclient.StoppedBefore || known.Reason == reasonWithdrawn
	if known.State == ledger.Refused && !hasWords && mayRepeat(v) && (stopped || v.Stop || withdrawn) {
		return r.job.notStarted(ctx, d, v.Detail)
	}
	v.Reason = cmp.Or(strings.TrimSuffix(known.Reason, "; "+v.Hint), v.Reason, "it was not sent")
	o := r.stepOutcome(d, known.Event, v)
	if v.Effect == apiclient.Created { // another has what the answer gives, and the reason says who: see reparse
		o.reason = ""
	}
	if hasWords {
		o.Error, o.Advice = why, advice
	}
	if hasWords || known.State == ledger.Uncertain {
		o.ID = known.ID
	}
	return o
}

// judgeStored is the verdict on a step's last request by the answer that the ledger keeps of it.
func (j *Job) judgeStored(step ledger.Step, clientID string) apiclient.Verdict {
	request := apiclient.Request{Kind: apiclient.Kind(step.Kind)}
	stored := apiclient.StoredAnswer(step.Status, step.Answer)
	if j.Service == nil {
		v := new(apiclient.Client).JudgeStored(request, stored)
		if strings.Contains(step.Reason, apiclient.ByRules+"failed") { // what the status alone would mean did not count
			v.Stop, v.Retry, v.Hint = false, apiclient.Never, ""
		}
		return v
	}
	switch routes := j.Service.Routes(); step.Kind { // as far as a relative url in the answer depends on it
	case ledger.KindClient:
		request = routes.CreateClient(nil, false)
	case ledger.KindLink:
		request = routes.CreateLink(clientID, nil)
	}
	return j.Service.JudgeStored(request, stored)
}

// mayRepeat reports whether a request may be sent again: it was not sent, or was refused for another
// reason than what it asks for.
func mayRepeat(v apiclient.Verdict) bool {
	return v.Effect == apiclient.NotSent || v.Effect == apiclient.Refused && (v.Retry != apiclient.Never || v.Stop)
}

// notStarted returns the outcome of a step that was not sent before the run ended. said is the
// service's answer if that stopped the run; else "". A step that was uncertain before stays so.
func (j *Job) notStarted(ctx context.Context, d decision, said string) stepOutcome {
	o := stepOutcome{Step: d.Step, Status: result.NotStarted, Error: "it was not sent", Advice: adviceStopped}
	switch cause := context.Cause(ctx); {
	case cause == errChangedAgain:
		o.Error, o.Advice = cause.Error(), adviceAgain
	case errors.Is(cause, ErrStopped):
		o.Error = cause.Error()
	case cause != nil:
		o.Error = ErrStopped.Error()
	}
	if d.known.State == ledger.Uncertain {
		o.Status, o.Error, o.Advice = result.Uncertain, reasonNotRepeated, adviceUncertain(d.Step)
	}
	if said != "" {
		o.Error += "; the service says: " + said
	}
	return o
}

// adviceRefusal says what to do about a step that the service refused. hint is that of a rule of the
// environment, "" for none. The advice also names an id that the sheet gives and on which the step
// depends: the service's document does not show how it refuses an id that it does not know.
func (r *clientRun) adviceRefusal(step *mapping.Step, hint string) string {
	usual := adviceRefused
	if step.Kind == mapping.ClaimStep && isFound(r.steps[string(mapping.ClientStep)]) {
		usual = adviceReused
	}
	advice := cmp.Or(hint, usual)
	for _, d := range slices.Backward(r.decisions) {
		if id := d.idOfSheet(); id != "" && (d.Step.Kind != mapping.ClaimStep || d.Step.Key == step.Claim) {
			name := d.Step.Key
			if d.Step.Kind != mapping.ContactStep {
				name = r.plan.Client.Key + ":" + name
			}
			return withHint(advice, fmt.Sprintf(adviceKnownIDRefused, id, name))
		}
	}
	return advice
}

// idOfSheet returns the id that the sheet gives for the step; "" if the ledger has one from elsewhere.
func (d decision) idOfSheet() string {
	switch {
	case d.known.Via == ledger.ViaSheet:
		return d.known.ID
	case d.known.State == ledger.Done:
		return ""
	case d.Step.Contact != nil:
		return d.Step.Contact.Steps[0].KnownID
	}
	return d.Step.KnownID
}

// reasonClash is why a look-up does not say who a client is: see clientRun.foundEvent.
const reasonClash = "the service has one client for two keys"

// The reasons of a step that is uncertain by an earlier attempt: where it was not
// sent again, and behind the reason why the service refused it then.
const (
	reasonWithdrawn   = "it was not sent after all" // of a step that is not uncertain
	reasonNotRepeated = "an earlier request may have created it, and it was not sent again"
	reasonEarlier     = ", and an earlier attempt may have created it"
	reasonUnfound     = ", and a look-up does not find it" // the service says that the client exists
)

const reasonNotFound = "no answer that says whether it was created; a look-up finds nobody yet"
