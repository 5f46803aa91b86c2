package importer

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"claimsheet/importer/ledger"
)

// Doubt is a step that may or may not have been created, with what helps an
// operator to find out.
type Doubt struct {
	ledger.Unsettled
	ClientID string // of the client that it belongs to; "" while that is in doubt itself
	ClaimID  string // of the claim that an activity is on; "" for others
	Template string // the template's name of an activity; "" where it is no longer kept
	Status   string // the status that an activity was sent with
}

// Doubts are the steps of environments that are uncertain or parked, the
// longest waiting first.
func Doubts(ctx context.Context, l *ledger.Ledger, environments []string) ([]Doubt, error) {
	var doubts []Doubt
	for _, environment := range environments {
		for u, err := range l.Unsettled(ctx, environment) {
			if err != nil {
				return nil, err
			}
			d := Doubt{Unsettled: u}
			if err := d.gather(ctx, l); err != nil {
				return nil, err
			}
			doubts = append(doubts, d)
		}
	}
	slices.SortStableFunc(doubts, func(a, b Doubt) int { return a.At.Compare(b.At) })
	return doubts, nil
}

// gather finds the ids that lead to the step, and what it asked for.
func (d *Doubt) gather(ctx context.Context, l *ledger.Ledger) error {
	known, err := l.Steps(ctx, d.ClientKey, d.Mapping)
	if err != nil {
		return err
	}
	d.ClientID = known["client"].ID
	if claim, ok := claimOf(d.StepID.Step); ok {
		d.ClaimID = known[claim].ID
	}
	var was wanted
	if d.Kind == ledger.KindActivity && json.Unmarshal(d.Data, &was) == nil {
		d.Template, d.Status = was.Template, was.Status
	}
	return nil
}

// claimOf is the claim step that an activity's step is on: what it is on stands
// behind the first @, because a mapping's ids hold none. ok is false for other
// steps.
func claimOf(step string) (claim string, ok bool) {
	on, isActivity := strings.CutPrefix(step, "activity/")
	if _, where, cut := strings.Cut(on, "@"); isActivity && cut && where != "client" {
		return "claim/" + where, true
	}
	return "", false
}
