package importer

import (
	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// KnownIDs are the ids that a sheet gives for its clients and claims (known_id), each
// with the cells that give it. The zero value has none. It holds some bytes for each
// id, and the id itself where a client may be a contact of others. Its fields are those of gob.
type KnownIDs struct {
	Given   map[[16]byte]givenID
	Clients map[[16]byte]string // the first id that is given for a client; nil where nobody is a contact
}

// givenID is an id, by the first cell that gives it and by the first cell that gives
// it to another client or claim.
type givenID struct {
	First, Second   cell.Row // Second is 0 when there is none
	Column, Another int32
	Whose           [16]byte
}

// add notes the ids of a client's row.
func (k *KnownIDs) add(client [16]byte, row cell.Row, ids []mapping.KnownID) {
	for _, id := range ids {
		if k.Clients != nil && id.Kind == mapping.ClientStep && k.Clients[client] == "" {
			k.Clients[client] = id.ID
		}
		if k.Given == nil {
			k.Given = map[[16]byte]givenID{}
		}
		key, whose := idFingerprint(id.Kind, id.ID), stepFingerprint(client, id.Step)
		switch g, known := k.Given[key]; {
		case !known:
			k.Given[key] = givenID{First: row, Column: int32(id.Column), Whose: whose}
		case g.Whose != whose && g.Second == 0:
			g.Second, g.Another = row, int32(id.Column)
			k.Given[key] = g
		}
	}
}

// other returns a cell that gives an id to another client or claim than this one.
func (k KnownIDs) other(kind mapping.StepKind, id string, who mapping.Identity, step string) (row cell.Row, column int, ok bool) {
	g, known := k.Given[idFingerprint(kind, id)]
	switch {
	case !known:
		return 0, 0, false
	case g.Whose != stepFingerprint(fingerprint(who), step):
		return g.First, int(g.Column), true
	}
	return g.Second, int(g.Another), g.Second != 0
}

func idFingerprint(kind mapping.StepKind, id string) [16]byte {
	sum := sha256.Sum256([]byte(string(kind) + "\x00" + strings.ToLower(id)))
	return [16]byte(sum[:16])
}

func stepFingerprint(client [16]byte, step string) [16]byte {
	sum := sha256.Sum256(append(client[:], step...))
	return [16]byte(sum[:16])
}

// givesID reports whether the sheet gives the id of a plan's client.
func givesID(plan mapping.Plan) bool { return len(plan.Steps) > 0 && plan.Steps[0].KnownID != "" }

// ownerOfKnownID makes the plan one of the client whom the ledger has with the id that the
// sheet gives, whatever the row's key, and returns what it knows of that client. A client
// whom the ledger has under the row's own key stays, and so does one whose id the sheet gives
// to another key too.
func (r *clientRun) ownerOfKnownID(known map[string]ledger.Step) (map[string]ledger.Step, error) {
	j := r.job
	if !givesID(r.plan) || known[string(mapping.ClientStep)].To != "" || !j.readsLedger() {
		return known, nil
	}
	id := r.plan.Steps[0].KnownID
	if _, _, several := j.KnownIDs.other(mapping.ClientStep, id, r.inSheet, string(mapping.ClientStep)); several {
		return known, nil
	}
	// It is read whether or not the run is being stopped.
	for owner, err := range j.Ledger.ClientsWithID(context.Background(), j.Environment, id) {
		if err != nil {
			return nil, err
		}
		r.plan.Client = mapping.Identity{Space: owner.Space, Key: owner.Client}
		return j.readSteps(r.plan)
	}
	return known, nil
}

// sameID reports whether two ids are one. An id of the sheet is in lower case.
func sameID(a, b string) bool { return strings.EqualFold(a, b) }

// takeKnownID takes a client or claim over whose id the sheet gives, also in place of
// another id that the sheet gave before, as long as nothing was built on that one.
// Nothing is sent.
// It is refused where the id, or the client's address, is another's.
func (r *clientRun) takeKnownID(ctx context.Context, d decision) (stepOutcome, error) {
	if ctx.Err() != nil {
		return r.job.notStarted(ctx, d, ""), nil
	}
	event := r.event(d, ledger.Done)
	event.Via, event.Reason, event.ID = ledger.ViaAdopted, ledger.ReasonKnownID, d.step.KnownID
	r.identify(&event, r.wanted(&d))
	if t, taken, err := r.job.holder(event); err != nil {
		return stepOutcome{}, err
	} else if taken && d.step.Kind == mapping.ClaimStep && t.Holder.ClientKey == event.ClientKey && t.Holder.Mapping != event.Mapping && d.known == unknown {
		r.known.claims[d.step.Key] = event.ID // the client's claim by another mapping
		return stepOutcome{Step: d.step, Status: result.Unchanged, ID: event.ID}, nil
	}
	why, advice, err := r.refuseKnownID(d, event)
	if err != nil {
		return stepOutcome{}, err
	}
	if why != "" && d.known.NotFound { // what is in doubt stays so
		return stepOutcome{Step: d.step, Status: result.Uncertain, Error: why, Advice: advice}, nil
	}
	if why != "" {
		if d.known.To != ledger.Done { // one that is done stays done, with the id that it has
			failed := r.event(d, ledger.Refused)
			failed.Reason = "nothing was created: see the workbook"
			r.pending = append(r.pending, failed)
		}
		return stepOutcome{Step: d.step, Status: result.Failed, ID: d.known.ID, Error: why, Advice: advice}, nil
	}
	r.pending = append(r.pending, event)
	if d.step.Kind == mapping.ClientStep {
		r.known.client, r.reused = event.ID, true
		skipActivities(r.decisions, r.job.Binding) // they come after this step
	} else {
		r.known.claims[d.step.Key] = event.ID
	}
	d.adopt(event.ID, r.job)
	return d.outcome(), nil
}

// refuseKnownID says why an id cannot be taken over; "" when its step has it now.
func (r *clientRun) refuseKnownID(d decision, event ledger.Event) (why, advice string, err error) {
	j := r.job
	if d.known.To == ledger.Done {
		// The steps of all mappings are read, whether or not the run is being stopped.
		steps, err := j.Ledger.StepsOfClient(context.Background(), j.owner(r.plan.Client))
		if _, built := ledger.BuiltOn(*d.known, slices.Values(steps)); err != nil || built {
			return d.otherID(), adviceKnownIDChanged, err
		}
		if d.step.Kind == mapping.ClientStep {
			if why, err := j.inClaimOfOthers(r.plan, d); err != nil || why != "" {
				return why, adviceKnownIDChanged, err
			}
		}
	}
	if row, column, ok := j.KnownIDs.other(d.step.Kind, event.ID, r.inSheet, d.step.Key); ok {
		return fmt.Sprintf("the sheet gives the id %s here and, to another %s, in %s", event.ID, d.step.Kind, j.Binding.At(column, row)), adviceKnownIDTwice, nil
	}
	if d.step.Kind == mapping.ClientStep {
		if why, advice, err := j.sharesAddress(r.plan, lookup.Asked(r.plan.Lookup)); err != nil || advice == adviceDoubtful {
			return why, advice, err
		}
	}
	for _, kind := range []string{ledger.KindClient, ledger.KindClaim} { // an id of the other kind was copied into the wrong column
		other := event
		if other.Kind = kind; kind == event.Kind {
			continue
		}
		// It is read whether or not the run is being stopped.
		t, taken, err := j.Ledger.StepWithID(context.Background(), other)
		if err != nil || taken {
			return fmt.Sprintf("the id %s is that of a %s in the ledger: of %s", event.ID, kind, holderOf(t)), adviceKnownIDTwice, err
		}
	}
	t, taken, err := j.holder(event)
	if err != nil || !taken {
		return "", "", err
	}
	return fmt.Sprintf("the id %s is that of another %s: of %s", event.ID, d.step.Kind, holderOf(t)), adviceKnownIDTwice, nil
}

// claimContacts are the contacts of claims that earlier runs have sent, of all clients
// and mappings, as far as the ledger keeps what was sent. They are read when a run first
// asks. Its own claims are not among them: they go to the ids that this sheet gives.
type claimContacts struct {
	read  sync.Once
	err   error
	named map[string]bool // by mapping.Fingerprint
	// Of claims of this mapping, and of others, of which that is not kept: the number
	// of the newest attempt.
	own, others int64
}

// of reads them, once.
func (c *claimContacts) of(j *Job) error {
	c.read.Do(func() {
		c.named = map[string]bool{}
		// It is read whether or not the run is being stopped.
		for claim, err := range j.Ledger.ClaimsWith(context.Background(), j.Environment, `"`+mapping.ClaimClaimants+`"`) {
			if err != nil {
				c.err = err
				return
			}
			if !claim.IsOfSheet() { // that was not sent
				c.add(claim, j.Binding.Mapping().Name.Text)
			}
		}
	})
	return c.err
}

func (c *claimContacts) add(claim ledger.Step, mappingName string) {
	var sent wanted
	switch {
	case json.Unmarshal(claim.Data, &sent) == nil:
	case claim.Mapping == mappingName:
		c.own = max(c.own, claim.Ref.Sent)
	default:
		c.others = max(c.others, claim.Ref.Sent)
	}
	for _, v := range sent.Values {
		if v.Name == mapping.ClaimAdministrator || v.Name == mapping.ClaimClaimants {
			for _, who := range strings.Split(v.Value, ", ") {
				c.named[who] = true
			}
		}
	}
}

// inClaimOfOthers says why a client's id cannot be replaced by another one: a claim of
// another client may have been created with it. It is "" when none was.
func (j *Job) inClaimOfOthers(plan mapping.Plan, d decision) (why string, err error) {
	if err := j.claims.of(j); err != nil {
		return "", err
	}
	unkept := j.claims.others
	if j.hasContacts(plan) {
		unkept = max(unkept, j.claims.own)
	}
	switch {
	case j.claims.named[mapping.Fingerprint(plan.Client)]:
		return d.otherID() + ", to which a claim of another client was sent", nil
	case unkept > d.known.Ref.Last:
		return d.otherID() + "; of a claim that was sent since, the ledger does not keep the contacts, so it may be this one's", nil
	}
	return "", nil
}
