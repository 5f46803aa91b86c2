package importer

import (
	"slices"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// A client's first magic link is the step link of the plan. A fresh link, for claims
// that are newer than the links before it, is the step link/<claims id>/<claim key>
// of the first such claim: it depends on what the ledger knows, so it is decided
// here, and no plan has it.

// addFreshLinks adds the fresh links that the ledger has to the decisions of a plan,
// the last of which is about its link, and one more where the mapping wants that and
// a claim is newer than every link. Links stand in the order in which they were asked
// for, so that the newest redirect url is the one that is shown. others says that the
// ledger has steps that are not in the plan.
func addFreshLinks(decisions []decision, plan mapping.Plan, known map[string]ledger.Step, b *mapping.Binding, others bool) []decision {
	before, links := decisions[:len(decisions)-1], slices.Clip(decisions[len(decisions)-1:])
	var unmade ledger.Step // the newest fresh link that certainly does not exist
	if others {
		for key, s := range known {
			switch {
			case s.Kind != ledger.KindLink || key == links[0].step.Key:
			case isUnmade(&s) && s.Ref.Last > unmade.Ref.Last:
				unmade = s
			case !isUnmade(&s):
				step := mapping.LinkStepOf(key, plan.Rows)
				links = append(links, decideStep(plan, &step, known, b))
			}
		}
		sortLinks(links)
	}
	if key := dueLink(before, links, known, unmade); key != "" && b.Mapping().FreshLinks {
		step := mapping.LinkStepOf(key, plan.Rows)
		links = append(links, decideStep(plan, &step, known, b))
	}
	if len(links) == 1 {
		return decisions
	}
	for i := range links[:len(links)-1] {
		links[i].supersede()
	}
	return append(before, links...)
}

// dueLink returns the key of the link that the client lacks, "" for none. A link that
// was not made is made under the key that it has.
func dueLink(before, links []decision, known map[string]ledger.Step, unmade ledger.Step) string {
	newest := links[len(links)-1]
	if newest.action == send {
		return "" // it is made now
	}
	if unmade.Ref.Last > askedFor(newest.known) {
		return unmade.StepID.Step
	}
	for _, d := range before {
		if d.step.Kind != mapping.ClaimStep || !d.isNewerThan(newest.known) {
			continue
		}
		key := mapping.FreshLinkKey(d.step.Key)
		if s, ok := known[key]; ok && !isUnmade(&s) {
			continue // its link was asked for, and is not asked for twice
		}
		if unmade.StepID.Step != "" {
			return unmade.StepID.Step
		}
		return key
	}
	return ""
}

// isUnmade reports whether a link was asked for and certainly does not exist.
func isUnmade(link *ledger.Step) bool { return link.To == ledger.Failed || link.To == ledger.NotSent }

// sortLinks sorts the links by when they were asked for; one that is sent now is the
// last.
func sortLinks(links []decision) {
	slices.SortFunc(links, func(x, y decision) int {
		if x.action == send || y.action == send {
			return int(y.action) - int(x.action) // at most one is sent
		}
		return int(askedFor(x.known) - askedFor(y.known))
	})
}

// askedFor returns the number of the event by which a link was asked for last. One
// that is done may have been asked for again by hand. What a person decided about it
// says nothing of when it was made.
func askedFor(link *ledger.Step) int64 {
	if link.To == ledger.Done && link.Via != ledger.ViaByHand {
		return link.Ref.Last
	}
	return link.Ref.Sent
}

// isNewerThan reports whether a claim is created now, or was after a link was asked
// for. The clock does not count, because it may have been set back. Of steps that
// were taken over from a workbook nobody knows it.
func (d *decision) isNewerThan(link *ledger.Step) bool {
	switch {
	case d.action == send:
		return true
	case d.known.To != ledger.Done, d.known.Via == ledger.ViaWorkbook && link.Via == ledger.ViaWorkbook:
		return false
	}
	return d.known.Ref.Sent > askedFor(link)
}

// supersede makes the decision one about a link after which another one was asked for:
// it says nothing about its client's rows that only holds for the newest link.
func (d *decision) supersede() {
	d.advice = ""
	if d.action == givenUp {
		step := *d.step
		step.Rows = nil
		d.step = &step
	}
}

// noteOlderLink notes the claims that are newer than the client's link, which is not
// made again for them.
func noteOlderLink(decisions []decision) {
	var link *ledger.Step
	for _, d := range decisions {
		if d.step.Kind == mapping.LinkStep && d.known.To == ledger.Done {
			link = d.known
		}
	}
	for i := range decisions {
		d := &decisions[i]
		if link != nil && d.step.Kind == mapping.ClaimStep && d.isNewerThan(link) && d.advice == "" {
			d.advice = adviceOlderLink
		}
	}
}
