package mapping

import (
	"iter"
	"maps"
	"slices"

	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// This file checks the order of the activities and where the client resumes.
// The service sends a client to the first Open activity; activities before it
// in the workflow are back-filled, those after it follow by themselves; what a
// case handler assigns is outside that order (service document, "States and
// transitions"). Two Open activities in one order are an error. What the
// document leaves open, or what can be right for some clients or for a campaign
// that grows, is a warning.

// checkOrder allows one Open activity per scope. The client is sent to the
// first Open one, so a second would never be reached. Two with conditions may be for
// different clients; then openTwice warns.
func (p *checker) checkOrder(m *Mapping) {
	open := map[string]yamltree.Scalar{}
	for _, a := range m.Activities {
		if a.Status != Open || a.Assigned || a.When.Text != "" {
			continue
		}
		for _, scope := range m.scopes(a.On.Text) {
			if first, twice := open[scope]; twice {
				p.wrongAt(a.Template.At, "two-open", "“%s” is Open, and so is “%s” in line %d: one scope can have one Open activity", a.Template.Text, first.Text, first.At.Line).
					Hint = "an activity that a handler assigns outside the workflow is marked assigned: true"
				break
			}
			open[scope] = a.Template
		}
	}
}

// scopes returns the claims ids that `on` means, or client.
func (m *Mapping) scopes(on string) []string {
	if on != "claim" {
		return []string{on}
	}
	return m.claimIDs()
}

func (p *checker) checkResume(m *Mapping) {
	if m.ResumeAt == nil {
		return
	}
	var names []string
	for _, a := range m.Activities {
		if a.Assigned {
			continue
		}
		names = append(names, a.Template.Text)
		if a.Status == Open {
			p.wrongAt(a.StatusAt, "resume-open", "“%s” is Open, and resume_at says where the client resumes: they exclude each other", a.Template.Text).
				Hint = "leave the status out; resume_at makes the activity that it names Open"
		}
	}
	if w := m.ResumeAt.Template; w.Text != "" && !slices.Contains(names, w.Text) {
		p.wrongAt(w.At, "unknown-activity", "resume_at names “%s”, which is not among the activities of the workflow", w.Text).
			Hint = problem.Suggestion(w.Text, names)
	}
	p.checkResumeValues(m, names)
}

// checkResumeValues checks the table of a resume cell. names are the templates
// of the workflow's activities.
func (p *checker) checkResumeValues(m *Mapping, names []string) {
	values := m.ResumeAt.Values
	if values != nil && len(values) == 0 {
		p.wrongAt(m.ResumeAt.Column.At, "no-value", "the values of resume_at list nothing, so that no cell says where a client resumes").
			Hint = "list what the cells say, or leave values out if they hold the names of the templates"
	}
	for _, from := range slices.Sorted(maps.Keys(values)) {
		to := values[from]
		switch {
		case from != convert.FoldSpace(from):
			p.wrongAt(to.At, "values-key", "“%s” can never match: in the cells of resume_at white space is trimmed, and each run of it is one space", from).
				Hint = "write the text with single spaces and none around it"
		case m.Sheet.countsAsEmpty(from):
			p.wrongAt(to.At, "empty-text", "“%s” counts as empty by sheet.empty, so the entry for it here is never used", from).
				Hint = "list it in one of the two places"
		}
		if to.Text != "" && !slices.Contains(names, to.Text) {
			p.wrongAt(to.At, "unknown-activity", "resume_at names “%s”, which is not among the activities of the workflow", to.Text).
				Hint = problem.Suggestion(to.Text, names)
		}
	}
}

// openPair is an activity of the workflow that is back-filled although an
// activity listed before it is Open.
type openPair struct{ open, after *ActivityRule }

// openBefore yields each back-filled activity that comes after an Open one, with
// the first such one. Activities of different claims entries have no common
// order; all have one with those of the client.
func (m *Mapping) openBefore() iter.Seq[openPair] {
	return func(yield func(openPair) bool) {
		if m.ResumeAt != nil {
			return
		}
		for i := range m.Activities {
			after := &m.Activities[i]
			if !after.isBackFilled() {
				continue
			}
			for k := range m.Activities[:i] {
				open := &m.Activities[k]
				if open.opensWorkflow() && m.inOneOrder(open, after) {
					if !yield(openPair{open, after}) {
						return
					}
					break
				}
			}
		}
	}
}

func (p openPair) warning(m *Mapping) problem.Problem {
	unless := ""
	if p.open.When.Text != "" || p.after.When.Text != "" {
		unless = "; this is right only if no client meets both conditions"
	}
	return problem.At(m.At(p.after.Template.At), "open-before",
		"“%s” is back-filled and comes after “%s” in line %d, which is Open: the client resumes at the Open activity, and only activities before it are back-filled%s",
		p.after.Template.Text, p.open.Template.Text, p.open.Template.At.Line, unless).
		Hinted("list the activities in the order of the workflow, the Open one after those that are back-filled; an activity that a handler assigns outside the workflow is marked assigned: true")
}

// opensWorkflow reports whether an activity of the workflow is Open.
func (a *ActivityRule) opensWorkflow() bool { return a.Status == Open && !a.Assigned }

// isBackFilled reports whether an activity of the workflow is back-filled.
func (a *ActivityRule) isBackFilled() bool {
	return (a.Status == Submitted || a.Status == Accepted) && !a.Assigned
}

func (m *Mapping) inOneOrder(a, b *ActivityRule) bool {
	if a.On.Text == "client" || b.On.Text == "client" {
		return true
	}
	of := m.scopes(b.On.Text)
	return slices.ContainsFunc(m.scopes(a.On.Text), func(scope string) bool { return slices.Contains(of, scope) })
}

// orderWarnings reports orders of activities that the service may understand in
// another way than the mapping means them.
func (m *Mapping) orderWarnings() problem.List {
	var list problem.List
	for pair := range m.openBefore() {
		list = append(list, pair.warning(m))
	}
	list = append(list, m.openTwice()...)
	if m.Link != LinkNever {
		list = append(list, m.openOnBoth()...)
		list = append(list, m.assignedFirst()...)
	}
	list = append(list, m.neverOpen()...)
	return append(list, m.acceptedOnClient()...)
}

// openTwice warns of Open activities on one scope of which one has a condition.
func (m *Mapping) openTwice() (list problem.List) {
	for i := range m.Activities {
		for k := range m.Activities[:i] {
			a, first := &m.Activities[i], &m.Activities[k]
			both := func(scope string) bool { return slices.Contains(m.scopes(first.On.Text), scope) }
			if m.ResumeAt == nil && a.opensWorkflow() && first.opensWorkflow() && a.When.Text+first.When.Text != "" && slices.ContainsFunc(m.scopes(a.On.Text), both) {
				list = append(list, problem.At(m.At(a.Template.At), "two-open",
					"“%s” is Open, and so is “%s” in line %d: a client for whom both are created is sent to the first, “%s”", a.Template.Text, first.Template.Text, first.Template.At.Line, first.Template.Text).
					Hinted("this is right if no client meets both conditions"))
				break
			}
		}
	}
	return list
}

// openOnBoth warns of an Open activity on the client beside one on claims: only
// one of them is the first.
func (m *Mapping) openOnBoth() problem.List {
	var first *ActivityRule
	for i := range m.Activities {
		a := &m.Activities[i]
		switch {
		case m.ResumeAt != nil || !a.opensWorkflow():
		case first == nil:
			first = a
		case (first.On.Text == "client") != (a.On.Text == "client"):
			return problem.List{problem.At(m.At(a.Template.At), "open-on-both",
				"“%s” (on: %s) and “%s” in line %d (on: %s) are both Open: the link leads to the first Open activity, and it is not certain which of the two the service takes for the first",
				a.Template.Text, a.On.Text, first.Template.Text, first.Template.At.Line, first.On.Text).
				Hinted("leave only the one Open at which the client resumes: the workflow goes on from there; or ask the service's operator which of them comes first")}
		}
	}
	return nil
}

// assignedFirst warns of Open activities outside the workflow that may be the
// client's first Open one: those created before the workflow's, and all of them
// when the workflow has none. Version 1 creates the workflow's first, whatever
// its place in the list.
func (m *Mapping) assignedFirst() problem.List {
	resume, name := m.lastResume()
	var list problem.List
	for i := range m.Activities {
		a := &m.Activities[i]
		switch {
		case !a.Assigned || a.Status != Open || m.contactIndex(a.On.Text) >= 0:
		case resume < 0:
			list = append(list, problem.At(m.At(a.Template.At), "assigned-first",
				"“%s” is Open and assigned, and no activity of the workflow is Open: the client is sent to the first Open activity, which is then “%s”", a.Template.Text, a.Template.Text).
				Hinted("give the activity at which the client resumes the status Open, or write resume_at; leave it as it is if the client starts with “%s”", a.Template.Text))
		case i < resume && !m.V1():
			list = append(list, problem.At(m.At(a.Template.At), "assigned-first",
				"“%s” is Open and assigned, and is created before %s: the link leads to the first Open activity, which may then be “%s”", a.Template.Text, name, a.Template.Text).
				Hinted("list it after the activities of the workflow"))
		}
	}
	return list
}

// lastResume returns the index of the last activity at which a client may resume,
// and its name in messages; -1 for none.
func (m *Mapping) lastResume() (index int, name string) {
	index = -1
	for i := range m.Activities {
		a := &m.Activities[i]
		isResume := a.opensWorkflow()
		if m.ResumeAt != nil {
			isResume = !a.Assigned && (m.ResumeAt.Column.Text != "" || m.ResumeAt.Template.Text == a.Template.Text && index < 0)
		}
		if isResume {
			index, name = i, "“"+a.Template.Text+"”"
		}
	}
	if m.ResumeAt != nil && m.ResumeAt.Column.Text != "" {
		name = "the activity at which the client resumes"
	}
	return index, name
}

// neverOpen warns of back-filled activities when none is Open: the redirect url, or the
// link, begins at step 1, which may be among them. In version 2 one of them alone is use
// case 1 of the service document.
func (m *Mapping) neverOpen() problem.List {
	if resume, _ := m.lastResume(); resume >= 0 || m.Link == LinkNever {
		return nil
	}
	var filled []*ActivityRule
	for i := range m.Activities {
		if a := &m.Activities[i]; a.isBackFilled() && a.Template.Text != "" {
			filled = append(filled, a)
		}
	}
	begins, least := "the link leads to step 1", 2
	if m.V1() {
		begins, least = "in version 1 the redirect url begins at step 1", 1
	}
	if len(filled) < least {
		return nil
	}
	return problem.List{problem.At(m.At(filled[0].Template.At), "never-open",
		"“%s” is back-filled and no activity is Open: %s, and only an Open activity makes the client resume at a later one", filled[0].Template.Text, begins).
		Hinted("give the activity at which the client resumes the status Open, or write resume_at")}
}

// acceptedOnClient warns of activities on the client that are back-filled as
// Accepted, beside claims: with several claims for a client they must be Submitted
// (service document, rule 2 and use case 3).
func (m *Mapping) acceptedOnClient() problem.List {
	var list problem.List
	for i := range m.Activities {
		a := &m.Activities[i]
		if m.V1() || len(m.Claims) == 0 || a.On.Text != "client" || a.Status != Accepted {
			continue
		}
		list = append(list, problem.At(m.At(a.StatusAt), "accepted-on-client",
			"“%s” is on the client and Accepted: for a client with several claims, activities on the client are back-filled as Submitted", a.Template.Text).
			Hinted("leave the status out; keep Accepted only if no client has more than one claim and the service's operator specifies it for this activity"))
	}
	return list
}
