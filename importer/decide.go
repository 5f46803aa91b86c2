package importer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// decision is what is to be done about one step of a plan, and why.
type decision struct {
	stepOutcome             // what its rows say; Status is "" for a step that is to be sent
	known       ledger.Step // as the ledger has it, and what has changed since; the zero Step when it does not know the step
	mapping     bool        // the mapping, not a cell, made the data differ
	moved       string      // that the activity is wanted in another status than it was sent in; "" when it is not
}

// reject decides that a client is not created.
func (d *decision) reject(why, logReason, advice string) {
	d.Status, d.Error, d.reason, d.Advice = result.Failed, why, logReason, advice
}

// isDoneAsWanted reports whether the step is done as it is wanted.
func (d decision) isDoneAsWanted() bool {
	return d.Status == result.Unchanged || d.Status == result.Done
}

// decide says for every step of a plan what is to be done, given what the ledger
// knows of the client. It is pure. A first run, a run after a crash, a rerun and the
// next night's run differ only in what the ledger knows.
func decide(plan mapping.Plan, known map[string]ledger.Step, b *mapping.Binding) []decision {
	decisions := make([]decision, 0, len(plan.Steps))
	moved := ""
	for i := range plan.Steps {
		if step := &plan.Steps[i]; step.Kind == mapping.LinkStep {
			decisions = append(decisions, decideLink(decisions, plan, known, b))
		} else {
			decisions = append(decisions, decideStep(plan, step, known, b))
		}
		moved = cmp.Or(moved, decisions[i].moved)
	}
	if isFound(known[string(mapping.ClientStep)]) {
		skipActivities(decisions, b)
	}
	waitForDoubts(decisions, known)
	leaveOutContacts(decisions)
	if moved != "" {
		holdBack(decisions, moved)
	}
	return decisions
}

// leaveOutContacts leaves out further contacts that no step of this run needs: those of
// claims that were created without them.
func leaveOutContacts(decisions []decision) {
	var needed []string
	for _, d := range decisions {
		if d.Status == "" && d.Step.KnownID == "" {
			needed = append(needed, contactsNeeded(d.Step)...)
		}
	}
	for i := range decisions {
		if d := &decisions[i]; d.Step.Contact != nil && d.Status == "" && !slices.Contains(needed, d.Step.Key) {
			d.Status = result.Skipped
		}
	}
}

// isUnneeded reports whether a further contact is left out, and its id is not known.
func (d decision) isUnneeded() bool {
	return d.Step.Contact != nil && d.Status == result.Skipped
}

// contactsNeeded are the steps of further contacts that a claim or activity needs.
func contactsNeeded(step *mapping.Step) []string {
	var list []string
	for _, key := range append([]string{step.Administrator, step.On}, step.Claimants...) {
		if key != "" && key != string(mapping.ClientStep) {
			list = append(list, key)
		}
	}
	return list
}

// decideStep is decide for one step, without what depends on the others.
func decideStep(plan mapping.Plan, step *mapping.Step, known map[string]ledger.Step, b *mapping.Binding) decision {
	d := decision{stepOutcome: stepOutcome{Step: step}, known: known[step.Key]}
	switch d.known.State {
	case ledger.Done:
		d.Advice = adviceNoLink(step.Kind, d.known, b.Mapping().V1())
		d.compare(plan, b)
		d.compareKnownID(plan.Client)
	case ledger.Uncertain:
		d.Status, d.Error, d.Advice = result.Uncertain, d.known.Reason, adviceUncertain(step)
		if step.KnownID != "" {
			d.Advice = adviceKnownIDInDoubt
		}
		d.fixWorkflow()
	case ledger.Closed:
		d.Status, d.Error, d.Advice = result.Failed, "it was given up", adviceGivenUp
	default:
		d.fixWorkflow()
	}
	return d
}

// decideLink decides about the magic link, which is the last step of a plan. The client's
// first one is the step link. With link: on_new_claim a claim that is newer than the
// newest link gets a link of its own, link/<claims id>/<claim key>; else the claim says that
// the link is older. While it is in doubt whether a link was made, no other is asked for.
func decideLink(before []decision, plan mapping.Plan, known map[string]ledger.Step, b *mapping.Binding) decision {
	newest, key := ledger.Step{}, ledger.KindLink
	for _, s := range known {
		if s.Kind == ledger.KindLink && askedFor(s) >= askedFor(newest) {
			newest, key = s, s.StepID.Step
		}
	}
	for i := range before {
		switch d := &before[i]; {
		case newest.State == "" || newest.State == ledger.Uncertain || d.Step.Kind != mapping.ClaimStep || !d.isNewerThan(newest):
		case b.Mapping().Link == mapping.LinkOnNewClaim:
			key = mapping.FreshLinkKey(d.Step.Key)
		case newest.State == ledger.Done:
			d.Advice = cmp.Or(d.Advice, adviceOlderLink)
		}
	}
	step := mapping.LinkStepOf(key, plan.Rows)
	return decideStep(plan, &step, known, b)
}

// askedFor returns the number of the event by which a link was asked for last. One
// that is done may have been asked for again by hand. What a person decided about it
// says nothing of when it was made.
func askedFor(link ledger.Step) int64 {
	if link.State == ledger.Done && link.Via != ledger.ViaByHand {
		return link.Version
	}
	return link.SentVersion
}

// isNewerThan reports whether a claim is created now, or was created after a link was
// asked for. It compares events and not times, because a clock may be set back. It is
// false for steps that were taken over from a workbook, of which the order is not known.
func (d *decision) isNewerThan(link ledger.Step) bool {
	switch {
	case d.Status == "":
		return true
	case d.known.State != ledger.Done, d.known.Via == ledger.ViaWorkbook && link.Via == ledger.ViaWorkbook:
		return false
	}
	return d.known.SentVersion > askedFor(link)
}

// outcome returns the outcome of a step that the run does not send.
func (d decision) outcome() stepOutcome {
	o := d.stepOutcome
	if d.reason == "" { // else the client is rejected
		o.ID, o.URL = d.known.ID, d.known.URL
	}
	if d.Status == result.Uncertain { // a redirect url that an answer held is shown with the id
		o.URL = ""
	}
	return o
}

// walk goes through a client's steps in order. A step that the run does not send has
// its outcome by its decision, one that waits for an earlier step says so, and
// create is called for the others.
func walk(decisions []decision, create func(decision) (stepOutcome, error)) ([]stepOutcome, error) {
	outcomes := make([]stepOutcome, 0, len(decisions))
	b := blockers{}
	for _, d := range decisions {
		o := d.outcome()
		if d.Status == "" {
			if blocker := b.before(d.Step); blocker != nil && d.known.State != ledger.Uncertain {
				o = stepOutcome{Step: d.Step, Status: result.NotStarted, Error: reasonBlocked(blocker)}
			} else {
				var err error
				if o, err = create(d); err != nil {
					return outcomes, err
				}
				if o.ok() && o.Advice == "" {
					o.Advice = d.Advice
				}
			}
		}
		if !o.ok() {
			b.add(d.Step)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// blockers are steps that are not done, the first one for each thing that has to wait: the client, a contact, the steps of a
// claim, the activities on a contact, and "" for the client's own activities and link. A failed step stops its own claim; a failed
// contact stops the claims and activities that name it. Without the client nothing can be created, and the client's own activities
// wait until every earlier step is done.
type blockers map[string]*mapping.Step

func (b blockers) add(step *mapping.Step) {
	keys := []string{"", scopeOf(step)}
	if step.Kind == mapping.ClientStep || step.Kind == mapping.ContactStep {
		keys = append(keys, step.Key)
	}
	for _, key := range keys {
		if b[key] == nil {
			b[key] = step
		}
	}
}

// before returns the step that must be done before this one; nil for none.
func (b blockers) before(step *mapping.Step) *mapping.Step {
	waitsFor := []string{string(mapping.ClientStep)}
	switch {
	case step.Kind == mapping.ContactStep:
	case step.Claim != "" || step.On != "":
		waitsFor = append(append(waitsFor, contactsNeeded(step)...), scopeOf(step))
	default:
		waitsFor = append(waitsFor, "")
	}
	for _, key := range waitsFor {
		if b[key] != nil {
			return b[key]
		}
	}
	return nil
}

// scopeOf returns the claim to which a step belongs, or the contact on which an activity is.
func scopeOf(step *mapping.Step) string { return cmp.Or(step.Claim, "on "+step.On) }

// reasonBlocked says which step a step waits for.
func reasonBlocked(blocker *mapping.Step) string {
	if blocker.Kind == mapping.ContactStep {
		return "waits for the contact “" + blocker.Title + "”"
	}
	return "waits for the step " + blocker.Key
}

// holdBack decides that nothing new is sent for a client, because an activity that is
// done is now wanted in another status, as moved says: a second activity would be Open.
func holdBack(decisions []decision, moved string) {
	for i := range decisions {
		if d := &decisions[i]; d.Status == "" {
			d.Status, d.Error, d.Advice = result.Changed, "held back: "+moved, adviceHeld
		}
	}
}

// isFound reports whether the ledger has a client who was found: in the service, when
// no attempt could have created it, or in the sheet (known_id).
func isFound(client ledger.Step) bool {
	return client.Via == ledger.ViaSheet || client.Via == ledger.ViaAdopted && client.Attempts == 0
}

// skipActivities leaves out new activities on a client who was found, if the mapping
// says existing_activities: skip. The client may be past them.
func skipActivities(decisions []decision, b *mapping.Binding) {
	if b.Mapping().Client.ExistingActivities != "skip" {
		return
	}
	for i := range decisions {
		if d := &decisions[i]; d.Status == "" && d.Step.Kind == mapping.ActivityStep && d.Step.Claim+d.Step.On == "" {
			d.Status = result.Skipped
		}
	}
}

// fixWorkflow keeps the workflow name of an earlier attempt at a step that may be sent
// again: with the date of the later run in it, one batch would become two. A refused step
// takes the name as it is now, because the name may be what was refused.
func (d *decision) fixWorkflow() {
	if d.Step.Activity == nil || d.known.State == ledger.Refused || d.known.Data == nil {
		return
	}
	var then wanted
	if json.Unmarshal(d.known.Data, &then) != nil || then.Workflow == nil {
		return
	}
	step, act := *d.Step, *d.Step.Activity
	act.Workflow.Name = then.Workflow.Name
	step.Activity = &act
	d.Step = &step
}

// compare decides about a done step: unchanged, or changed.
func (d *decision) compare(plan mapping.Plan, b *mapping.Binding) {
	now := wantedOf(plan, d.Step, b.Mapping().Name.Text)
	d.Status = result.Unchanged
	if d.known.Digest == "" || d.known.Digest == now.digest() {
		return
	}
	var then wanted
	if d.known.Data == nil || json.Unmarshal(d.known.Data, &then) != nil {
		d.Status, d.Error, d.Advice = result.Changed, "the data differ from what was sent; what they were is no longer kept", adviceChanged
		if d.openedOrClosed() {
			d.moved = "“" + d.Step.Title + "” was sent in another status than it is now wanted in"
		}
		return
	}
	if then.Status != now.Status { // an Open activity has no attributes: they do not differ, they are absent
		if d.mapping = !now.movedByCell(then, b); d.mapping {
			d.moved = fmt.Sprintf("“%s” was sent as %s, and the mapping now wants it as %s", d.Step.Title, then.Status, now.Status)
			return
		}
		d.moved = fmt.Sprintf("“%s” was sent as %s and is now wanted as %s: %s", d.Step.Title, then.Status, now.Status, cells(b, now.resume))
		d.Status, d.Error, d.Advice = result.Changed, d.moved, adviceChanged
		return
	}
	parts, byMapping := now.differs(then, b, d.Step.Kind == mapping.ClientStep && isFound(d.known))
	d.mapping = byMapping
	if len(parts) > 0 {
		d.Status, d.Error, d.Advice = result.Changed, strings.Join(parts, "; "), adviceChanged
	}
}

// compareKnownID refuses a step that is done if the sheet gives another id than the ledger has.
// Nothing is created again.
func (d *decision) compareKnownID(who mapping.Identity) {
	if d.Step.KnownID == "" || sameID(d.Step.KnownID, d.known.ID) {
		return
	}
	d.mapping, d.moved = false, ""
	d.Status, d.Advice = result.Failed, adviceKnownIDChanged
	d.Error = fmt.Sprintf("the sheet gives the id %s, and the ledger has %s for this %s", d.Step.KnownID, d.known.ID, d.Step.Kind)
	if d.known.Via == ledger.ViaSheet {
		d.Advice += fmt.Sprintf(" If the cell is right, and nothing was sent on the ledger's id, withdraw that: claimsheet settle --undo \"%s:%s\"; then run again. Else correct it in the service, and give the client another key.", who.Key, d.Step.Key)
	}
}

// openedOrClosed reports whether an activity, of which only the digest is kept, was
// Open and is now wanted back-filled, or the reverse: an Open one has no
// attributes, so its digest is known.
func (d *decision) openedOrClosed() bool {
	if d.Step.Activity == nil {
		return false
	}
	open := wanted{Template: d.Step.Activity.TemplateName, Status: mapping.Open}
	return (d.known.Digest == open.digest()) != (d.Step.Activity.Status == mapping.Open)
}

// adviceNoLink is what to do about a v1 client or a link that is done and has no redirect url; "" for any other step.
func adviceNoLink(kind mapping.StepKind, s ledger.Step, v1 bool) string {
	switch {
	case s.URL != "":
	case kind == mapping.LinkStep:
		return adviceURLPurged
	case !v1 || kind != mapping.ClientStep:
	case isFound(s), s.Via == ledger.ViaAdopted && !apiclient.Readable(s.Status, s.Answer):
		return adviceNoLinkV1
	case s.Via == ledger.ViaAnswer && s.Answer == nil:
		return adviceURLPurgedV1
	default:
		return adviceNoURL
	}
	return ""
}

// waitForDoubts decides that new claims are not sent while an earlier claim of the same entry
// is in doubt: if only its key was corrected, they would be the same claim a second time.
func waitForDoubts(decisions []decision, known map[string]ledger.Step) {
	for i := range decisions {
		d := &decisions[i]
		if d.Step.Kind != mapping.ClaimStep || d.Status != "" || d.Step.KnownID != "" {
			continue
		}
		for other, was := range claimsOf(d.Step, known) {
			if was.State == ledger.Uncertain {
				d.Status, d.Error, d.Advice = result.Uncertain, fmt.Sprintf("it is not sent while the client's claim “%s” is in doubt: it may be the same one", other), adviceOtherClaim
				break
			}
		}
	}
}

// claimsOf yields the keys and steps of a client's claims that are of the same entry as a new one.
func claimsOf(claim *mapping.Step, known map[string]ledger.Step) iter.Seq2[string, ledger.Step] {
	return func(yield func(string, ledger.Step) bool) {
		entry, _ := entryOf(claim.Key)
		for _, name := range slices.Sorted(maps.Keys(known)) {
			if of, key := entryOf(name); known[name].Kind == ledger.KindClaim && of == entry && !yield(key, known[name]) {
				return
			}
		}
	}
}

// entryOf returns the claims entry and the key in the name of a claim's step.
func entryOf(step string) (entry, key string) {
	entry, key, _ = strings.Cut(strings.TrimPrefix(step, ledger.KindClaim+"/"), "/")
	return entry, key
}

// sameID reports whether two ids are one. An id of the sheet is in lower case.
func sameID(a, b string) bool { return strings.EqualFold(a, b) }

// takenNames returns a problem for each claim to be created whose name another claim of
// the client has, or may have: the names of one client's claims must differ (service
// document, "V2 flows"). The other claim is an earlier one, or one that is to be created before. Of an
// earlier one the name is not known if the sheet gave its id, or if its data were purged and
// the sheet does not ask for it any more.
func takenNames(plan mapping.Plan, known map[string]ledger.Step, b *mapping.Binding) (found problem.List) {
	const earlier = "an earlier claim of the client, as claimsheet history shows,"
	taken := map[string]string{} // by name the claim that has it, in words
	var wanted []*mapping.Step   // the claims to be created
	for i := range plan.Steps {
		step := &plan.Steps[i]
		if step.Kind != mapping.ClaimStep || step.KnownID != "" {
			continue
		}
		switch was := known[step.Key]; {
		case !mayExist(was.State) && was.State != ledger.Closed:
			wanted = append(wanted, step)
		case mayExist(was.State) && was.Data == nil && was.Via != ledger.ViaSheet: // its data were purged
			taken[step.Name] = earlier
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	for _, was := range known {
		if was.Kind != ledger.KindClaim || !mayExist(was.State) || was.Via == ledger.ViaSheet {
			continue
		}
		var sent struct{ Values []wantedValue }
		_ = json.Unmarshal(was.Data, &sent) // nothing, when they were purged
		for _, v := range sent.Values {
			if v.Name == mapping.ClaimName {
				taken[v.Value] = earlier
			}
		}
	}
	for _, step := range wanted {
		other, isTaken := taken[step.Name]
		if !isTaken {
			taken[step.Name] = "that of " + nameAt(b, step).String()
			continue
		}
		p := problem.At(nameAt(b, step), "claim-name", "the claim has the same name as %s, and the names of one client's claims must differ", other).
			Hinted("correct the cell; or add a column of the claim's key to its name, for example {Agreement no}")
		p.Seen = strings.Join(step.Fields[0].Source.Texts, " ")
		found = append(found, p)
	}
	return found
}

// nameAt returns the place of the first cell of a claim's name; of a name without
// cells, that of the claim's first row.
func nameAt(b *mapping.Binding, step *mapping.Step) problem.Where {
	if src := step.Fields[0].Source; len(src.Columns) > 0 {
		return b.At(src.Columns[0], src.Row)
	}
	return b.AtRow(step.Rows[0])
}

// mayExist reports whether what a step creates exists in the service, or may.
func mayExist(s ledger.State) bool {
	return s == ledger.Done || s == ledger.Uncertain
}

// similarClaims returns a problem for each new claim whose key differs from that of an earlier
// claim of the client only in what plainKey leaves out: most likely it is that claim.
func similarClaims(plan mapping.Plan, known map[string]ledger.Step, b *mapping.Binding) (found problem.List) {
	for i := range plan.Steps {
		step := &plan.Steps[i]
		if _, was := known[step.Key]; step.Kind != mapping.ClaimStep || was {
			continue
		}
		_, key := entryOf(step.Key)
		for other, was := range claimsOf(step, known) {
			if !mayExist(was.State) || plainKey(other) != plainKey(key) {
				continue
			}
			for _, row := range step.Rows {
				p := problem.At(b.AtRow(row), "similar-key", "the client has a claim whose key differs from that of this row only in its spelling").
					Hinted("write the key as before, if it is the same claim; if it is another one, add --accept similar-key")
				p.Seen = fmt.Sprintf("“%s” and, before, “%s”", key, other)
				found = append(found, p)
			}
		}
	}
	return found
}

// plainKey returns a claim's key without what is often written in another way: case,
// punctuation, leading zeros of its numbers and a trailing .0 or .00.
func plainKey(key string) string {
	key = leadingZeros.ReplaceAllString(trailingZeros.ReplaceAllString(key, ""), "$1$2")
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
}

var (
	trailingZeros = regexp.MustCompile(`\.0+$`)
	leadingZeros  = regexp.MustCompile(`(^|[^0-9])0+([0-9])`)
)
