package importer

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// KnownIDs are the ids that a sheet gives for its clients and claims (known_id), each
// with the cells that give it. The zero value has none. It holds some bytes for each
// id, never the id itself.
type KnownIDs struct {
	given map[[16]byte]givenID
}

// givenID is an id, by the first cell that gives it and by the first cell that gives
// it to another client or claim.
type givenID struct {
	first, second   cell.Row // second is 0 when there is none
	column, another int32
	whose           [16]byte
}

// add notes the ids of a client's row.
func (k *KnownIDs) add(client [16]byte, row cell.Row, ids []mapping.KnownID) {
	for _, id := range ids {
		if k.given == nil {
			k.given = map[[16]byte]givenID{}
		}
		key, whose := idFingerprint(id.Kind, id.ID), stepFingerprint(client, id.Step)
		switch g, known := k.given[key]; {
		case !known:
			k.given[key] = givenID{first: row, column: int32(id.Column), whose: whose}
		case g.whose != whose && g.second == 0:
			g.second, g.another = row, int32(id.Column)
			k.given[key] = g
		}
	}
}

// other returns a cell that gives an id to another client or claim than this one.
func (k KnownIDs) other(kind mapping.StepKind, id string, who mapping.Identity, step string) (row cell.Row, column int, ok bool) {
	g, known := k.given[idFingerprint(kind, id)]
	switch {
	case !known:
		return 0, 0, false
	case g.whose != stepFingerprint(fingerprint(who), step):
		return g.first, int(g.column), true
	}
	return g.second, int(g.another), g.second != 0
}

func idFingerprint(kind mapping.StepKind, id string) [16]byte {
	sum := sha256.Sum256([]byte(string(kind) + "\x00" + strings.ToLower(id)))
	return [16]byte(sum[:16])
}

func stepFingerprint(client [16]byte, step string) [16]byte {
	sum := sha256.Sum256(append(client[:], mapping.FoldStep(step)...))
	return [16]byte(sum[:16])
}

const reasonKnownID = "the sheet gives its id (known_id)"

// givesID reports whether the sheet gives the id of a plan's client.
func givesID(plan mapping.Plan) bool { return len(plan.Steps) > 0 && plan.Steps[0].KnownID != "" }

// sameID reports whether two ids are one. An id of the sheet is in lower case.
func sameID(a, b string) bool { return strings.EqualFold(a, b) }

// compareKnownID refuses another id than the ledger's for a step that is done.
// Nothing is created again, and nothing moves to the other id.
func (d *decision) compareKnownID() {
	if d.step.KnownID != "" && !sameID(d.step.KnownID, d.known.ID) {
		d.action, d.mapping, d.moved = idConflict, false, ""
		d.why = fmt.Sprintf("the sheet gives the id %s, and the ledger has %s for this %s", d.step.KnownID, d.known.ID, d.step.Kind)
		d.advice = adviceKnownIDChanged
	}
}

// takeKnownID takes a client or claim over whose id the sheet gives. Nothing is sent.
// It is refused where the id, or the client's address, is another's.
func (r *clientRun) takeKnownID(ctx context.Context, d decision) (stepOutcome, error) {
	if ctx.Err() != nil {
		return r.job.notStarted(ctx, d, ""), nil
	}
	event := r.event(d, ledger.Done)
	event.Via, event.Reason, event.ID = ledger.ViaAdopted, reasonKnownID, d.step.KnownID
	w := r.wanted(&d)
	event.Data, event.Digest = w.json(), w.digest()
	why, advice, err := r.refuseKnownID(d, event)
	if err != nil {
		return stepOutcome{}, err
	}
	if why != "" {
		failed := r.event(d, ledger.Failed)
		failed.Reason = "nothing was created: see the workbook"
		r.pending = append(r.pending, failed)
		return stepOutcome{Step: d.step, Status: result.Failed, Error: why, Advice: advice}, nil
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
	if row, column, ok := j.KnownIDs.other(d.step.Kind, event.ID, r.plan.Client, d.step.Key); ok {
		return fmt.Sprintf("the sheet gives the id %s here and, to another %s, in %s", event.ID, d.step.Kind, j.Binding.At(column, row)), adviceKnownIDTwice, nil
	}
	if d.step.Kind == mapping.ClientStep {
		if other, owned := j.lookups.OwnerOf(r.plan.Client, lookup.Asked(r.plan.Lookup), false); owned {
			return undecidedReason(other), adviceDoubtful, nil
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
	t, ok, err := j.take(event)
	if err != nil || ok {
		return "", "", err
	}
	return fmt.Sprintf("the id %s is that of another %s: of %s", event.ID, d.step.Kind, holderOf(t)), adviceKnownIDTwice, nil
}
