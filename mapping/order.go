package mapping

import (
	"slices"

	"claimsheet/mapping/problem"
)

// opensWorkflow reports whether an activity of the workflow is Open.
func (a *ActivityRule) opensWorkflow() bool { return a.Status == Open && !a.Assigned }

// isBackFilled reports whether an activity of the workflow is back-filled.
func (a *ActivityRule) isBackFilled() bool {
	return (a.Status == Submitted || a.Status == Accepted) && !a.Assigned
}

// checkOrder compares each activity with the Open ones before it: the service sends a client to
// the first Open activity, and those before it are back-filled. Activities of different claims
// entries have no common order; all have one with those of the client.
func (p *checker) checkOrder(m *Mapping) {
	for i := range m.Activities {
		a := &m.Activities[i]
		if !m.V1() && len(m.Claims) > 0 && a.On.Text == ClientRole && a.Status == Accepted {
			p.warnAt(a.StatusAt, "accepted-on-client", "“%s” is on the client and Accepted: for a client with several claims, activities on the client are back-filled as Submitted", a.Template.Text).
				Hint = "leave the status out; keep Accepted only if no client has more than one claim and the service's operator specifies it for this activity"
		}
		if a.Assigned {
			continue
		}
		isOnClient := a.On.Text == ClientRole
		for _, open := range m.Activities[:i] {
			hasCondition := open.When.Text+a.When.Text != ""
			onSame, line := m.haveCommonScope(open.On.Text, a.On.Text), open.Template.At.Line
			switch {
			case !open.opensWorkflow():
				continue
			case a.Status == Open && onSame && !hasCondition:
				p.wrongAt(a.Template.At, "two-open", "“%s” is Open, and so is “%s” in line %d: one scope can have one Open activity", a.Template.Text, open.Template.Text, line).
					Hint = "an activity that a handler assigns outside the workflow is marked assigned: true"
			case m.ResumeAt != nil:
			case a.Status == Open && onSame:
				p.warnAt(a.Template.At, "two-open", "“%s” is Open, and so is “%s” in line %d: a client for whom both are created is sent to the first, “%s”",
					a.Template.Text, open.Template.Text, line, open.Template.Text).
					Hint = "this is right if no client meets both conditions"
				continue
			case a.isBackFilled() && (onSame || isOnClient || open.On.Text == ClientRole):
				unless := ""
				if hasCondition {
					unless = "; this is right only if no client meets both conditions"
				}
				p.warnAt(a.Template.At, "open-before",
					"“%s” is back-filled and comes after “%s” in line %d, which is Open: the client resumes at the Open activity, and only activities before it are back-filled%s",
					a.Template.Text, open.Template.Text, line, unless).
					Hint = "list the activities in the order of the workflow, the Open one after those that are back-filled; an activity that a handler assigns outside the workflow is marked assigned: true"
			default:
				continue
			}
			break
		}
	}
	p.checkNeverOpen(m)
}

// haveCommonScope reports whether activities on a and on b can be on the same client,
// claim or contact.
func (m *Mapping) haveCommonScope(a, b string) bool {
	ids := m.claimIDs()
	return a == b || a == "claim" && slices.Contains(ids, b) || b == "claim" && slices.Contains(ids, a)
}

// checkNeverOpen warns of back-filled activities when none is Open: the redirect url, or the
// link, begins at step 1, which may be among them. In version 2 one of them alone is use
// case 1 of the service document.
func (p *checker) checkNeverOpen(m *Mapping) {
	begins, least := "the link leads to step 1", 2
	if m.V1() {
		begins, least = "in version 1 the redirect url begins at step 1", 1
	}
	var filled []ActivityRule
	for _, a := range m.Activities {
		if a.opensWorkflow() {
			return
		}
		if a.isBackFilled() && a.Template.Text != "" {
			filled = append(filled, a)
		}
	}
	if m.ResumeAt == nil && m.Link != LinkNever && len(filled) >= least {
		p.warnAt(filled[0].Template.At, "never-open",
			"“%s” is back-filled and no activity is Open: %s, and only an Open activity makes the client resume at a later one", filled[0].Template.Text, begins).
			Hint = "give the activity at which the client resumes the status Open, or write resume_at"
	}
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
	if word := m.ResumeAt.Template; word.Text != "" && !slices.Contains(names, word.Text) {
		p.wrongAt(word.At, "unknown-activity", "resume_at names “%s”, which is not among the activities of the workflow", word.Text).
			Hint = problem.Suggestion(word.Text, names)
	}
}
