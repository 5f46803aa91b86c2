package mapping

import (
	"slices"
	"strconv"

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
	isPartial, isKeyless, rest := false, false, *m
	rest.Contacts, rest.Claims, rest.Activities = slices.Clone(m.Contacts), slices.Clone(m.Claims), slices.Clone(m.Activities)
	binding, problems := BindAll(m, sheets, service, runDate)
	for now := slices.Concat(found, problems); len(now) > 0; {
		before := now
		for _, wrong := range now {
			if wrong.Where.Line > 0 && wrong.Where.Sheet == "" && rest.leaveOut(at(wrong.Where)) {
				isPartial = true
			}
		}
		if len(rest.Client.Key) == 0 {
			isKeyless, isPartial = true, true
			rest.Client.Key = standInKey(sheets)
		}
		if binding, now = BindAll(&rest, sheets, service, runDate); len(rest.Client.Key) == 0 || slices.Equal(now, before) {
			return nil, problems
		}
	}
	hasRule := len(rest.Client.Fields) > 0 || slices.ContainsFunc(rest.Activities, func(a ActivityRule) bool { return !a.isLeftOut })
	if !hasRule {
		return nil, problems
	}
	for _, b := range binding.tables {
		b.readings = true
	}
	binding.Keyless, binding.Partial = isKeyless, isPartial
	return binding, problems
}

// leaveOut takes out the rule that a path belongs to, and reports whether there is one that the rest can do without. An entry of a
// list keeps its place, so that the others do too.
func (m *Mapping) leaveOut(path []string) bool {
	path = append(path, "", "", "", "")[:4]
	isNamed := func(name string) func(FieldRule) bool { return func(f FieldRule) bool { return f.Name.Text == name } }
	entry, err := strconv.Atoi(path[1])
	isEntry := func(i int) bool { return err != nil || i == entry } // or all of them
	c := &m.Client
	switch {
	case path[0] == "client" && path[1] == "key":
		c.Key = nil
	case path[0] == "client" && path[1] == "fields" && path[2] != "":
		c.Fields = slices.DeleteFunc(slices.Clone(c.Fields), isNamed(path[2]))
	case path[0] == "client" && path[1] != "" && path[1] != "fields":
		*c = ClientRule{PersonRule: PersonRule{At: c.At, ID: c.ID, Key: c.Key, Administrator: true, Fields: c.Fields}, Existing: c.Existing}
	case path[0] == "activities" && path[2] == "attributes" && path[3] != "":
		a := &m.Activities[entry]
		a.Attributes = slices.DeleteFunc(slices.Clone(a.Attributes), isNamed(path[3]))
	case path[0] == "activities":
		for i := range m.Activities {
			if isEntry(i) {
				m.Activities[i], m.ResumeAt = ActivityRule{isLeftOut: true}, nil // at which clients may resume
			}
		}
	case path[0] == "claims", path[0] == "contacts": // which claims may name
		for i := range m.Claims {
			if path[0] == "contacts" || isEntry(i) {
				m.Claims[i] = ClaimRule{ID: m.Claims[i].ID, isLeftOut: true}
			}
		}
		if path[0] == "contacts" {
			m.Contacts = nil
		}
	case path[0] == "sheet":
		m.Sheet.When, m.Sheet.Timezone, m.Sheet.Empty, m.Sheet.FillDown = yamltree.Scalar{}, yamltree.Scalar{}, nil, nil
	case path[0] == "workflow":
		m.Workflow = WorkflowRule{}
	case path[0] == "link":
		m.Link, m.LinkAt = "", yamltree.Place{}
	case path[0] == "resume_at":
		m.ResumeAt = nil
	default:
		return !slices.Contains([]string{"", "name", "api", "client"}, path[0])
	}
	return true
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
