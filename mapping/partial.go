package mapping

import (
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// BindPart binds a mapping without the rules that have problems: those that were found
// when it was parsed, and those that binding finds, which it returns as BindAll does. at
// returns the path of the value at a place of the file. The Binding is nil when too little is
// left to judge a row. Its rows have Readings.
func BindPart(m *Mapping, found problem.List, at func(problem.Where) []string, sheets []cell.Sheet, service *Service, runDate string) (
	*Binding, problem.List) {
	isKeyless, rest := false, *m
	rest.Contacts, rest.Claims, rest.Activities = slices.Clone(m.Contacts), slices.Clone(m.Claims), slices.Clone(m.Activities)
	binding, problems := BindAll(m, sheets, service, runDate)
	left := map[string]bool{}
	for found = slices.Concat(found, problems); len(found) > 0 || binding == nil; {
		again := false
		for _, wrong := range found {
			if wrong.Where.Line == 0 || wrong.Where.Sheet != "" {
				continue
			}
			rule := ruleAt(at(wrong.Where))
			if key := strings.Join(rule, "\x00"); rule != nil && !left[key] {
				left[key], again = true, true
				rest.leaveOut(rule)
			}
		}
		if len(rest.Client.Key) == 0 {
			isKeyless, again = true, true
			rest.Client.Key = standInKey(sheets)
		}
		if !again && binding == nil || len(rest.Client.Key) == 0 {
			return nil, problems
		}
		if !again {
			break
		}
		binding, found = BindAll(&rest, sheets, service, runDate)
	}
	hasRule := len(rest.Client.Fields) > 0 || slices.ContainsFunc(rest.Activities, func(a ActivityRule) bool { return !a.isLeftOut })
	if !hasRule {
		return nil, problems
	}
	for _, b := range append(binding.tables, binding) {
		b.readings = true
	}
	binding.Keyless, binding.Partial = isKeyless, isKeyless || len(left) > 0
	return binding, problems
}

// ruleAt returns the path of the rule that a path belongs to: what can be left out alone; nil
// where the rest cannot do without it.
func ruleAt(path []string) []string {
	is := func(words ...string) bool {
		matches := func(have, want string) bool { return want == "*" || have == want }
		return len(path) >= len(words) && slices.EqualFunc(path[:len(words)], words, matches)
	}
	switch {
	case len(path) == 0, is("name"), is("api"), is("client") && len(path) == 1, is("client", "fields") && len(path) == 2:
		return nil
	case is("activities", "*", "attributes", "*"):
		return path[:4]
	case is("client", "fields"):
		return path[:3]
	case is("client"), is("activities", "*"), is("claims", "*"):
		return path[:2]
	}
	return path[:1]
}

// leaveOut takes a rule out. An entry of a list keeps its place, so that the others do too.
func (m *Mapping) leaveOut(path []string) {
	entry := 0
	if len(path) > 1 {
		entry, _ = strconv.Atoi(path[1])
	}
	c := &m.Client
	switch section := path[0]; {
	case section == "client" && len(path) == 3:
		c.Fields = slices.DeleteFunc(slices.Clone(c.Fields), func(f FieldRule) bool { return f.Name.Text == path[2] })
	case section == "client" && path[1] == "key":
		c.Key = nil
	case section == "client":
		*c = ClientRule{PersonRule: PersonRule{At: c.At, ID: c.ID, Key: c.Key, Administrator: true, Fields: c.Fields}, Existing: c.Existing}
	case len(path) == 4:
		a := &m.Activities[entry]
		a.Attributes = slices.DeleteFunc(slices.Clone(a.Attributes), func(attr FieldRule) bool { return attr.Name.Text == path[3] })
	case section == "sheet":
		m.Sheet.When, m.Sheet.Timezone, m.Sheet.Empty, m.Sheet.FillDown = yamltree.Scalar{}, yamltree.Scalar{}, nil, nil
	case section == "workflow":
		m.Workflow = WorkflowRule{}
	case section == "link":
		m.Link, m.LinkAt = "", yamltree.Place{}
	case section == "resume_at":
		m.ResumeAt = nil
	case section == "contacts":
		m.Contacts = nil
	}
	for i, c := range m.Claims { // which may name contacts
		if path[0] == "contacts" || path[0] == "claims" && (len(path) == 1 || i == entry) {
			m.Claims[i] = ClaimRule{ID: c.ID, isLeftOut: true}
		}
	}
	for i := range m.Activities { // at which clients may resume
		if path[0] == "activities" && len(path) < 3 && (len(path) == 1 || i == entry) {
			m.Activities[i], m.ResumeAt = ActivityRule{isLeftOut: true}, nil
		}
	}
}

// standInKey returns the first column with a header of its own, which stands in for the client's key; nil for none.
func standInKey(sheets []cell.Sheet) []yamltree.Scalar {
	if len(sheets) > 0 {
		for i, header := range sheets[0].Header {
			if FindColumn(sheets[0], header) == i {
				return []yamltree.Scalar{{Text: header}}
			}
		}
	}
	return nil
}
