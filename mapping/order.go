package mapping

// orderV1 puts the Open activity right behind the client, so that the client
// can be redirected while the earlier activities are still being back-filled
// (service document, v1 flow B).
func orderV1(client Step, acts []plannedActivity) []Step {
	steps := []Step{client}
	for _, a := range acts {
		if a.open {
			steps = append(steps, a.Step)
		}
	}
	for _, a := range acts {
		if !a.open {
			steps = append(steps, a.Step)
		}
	}
	return steps
}

// orderV2 is the client; claims that no activity is on, or that the mapping wants
// first; the activities as listed, any other claim being created just before its
// first activity, and a stretch of activities on claims running claim by claim;
// the link. The document's use cases 1 and 2 create their claim first, use case 3
// each claim when it is needed.
func (p *planner) orderV2(client Step, claims []*plannedClaim, acts []plannedActivity) []Step {
	steps := append(make([]Step, 0, 2+len(claims)+len(acts)), client)
	create := func(c *plannedClaim) {
		if !c.ordered {
			c.ordered = true
			steps = append(steps, c.step(p.b.claims[c.entry].id))
		}
	}
	for _, c := range claims {
		if !c.hasActivities || p.b.claims[c.entry].first {
			create(c)
		}
	}
	for len(acts) > 0 {
		if acts[0].on == nil {
			steps = append(steps, acts[0].Step)
			acts = acts[1:]
			continue
		}
		stretch := 0
		for stretch < len(acts) && acts[stretch].on != nil {
			stretch++
		}
		for _, c := range claims {
			for i := range acts[:stretch] {
				if acts[i].on == c {
					create(c)
					steps = append(steps, acts[i].Step)
				}
			}
		}
		acts = acts[stretch:]
	}
	return append(steps, Step{Key: "link", Kind: LinkStep, Rows: p.plan.Rows, Title: "magic link"})
}
