package mapping

import (
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// Part is as much of a mapping as has no problems, bound to the sheets.
type Part struct {
	*Binding
	Targets []Target // those of the Binding, with their paths in the whole mapping
	Partial bool     // rules with problems are left out
	Keyless bool     // the client's key is one of them, so clients cannot be told apart

	mapping Mapping
	entries map[string][]int // of lists: the places in the whole mapping of the entries that are not left out
}

// BindPart binds a mapping without the rules that have problems: those that were found
// when it was parsed, and those that binding finds, which it returns as BindAll does. at
// returns the path of the value at a place of the file. The Part is nil when too little is
// left to judge a row.
func BindPart(m *Mapping, found problem.List, at func(problem.Where) []string, sheets []cell.Sheet, service *Service, runDate string) (
	*Part, problem.List) {
	p := &Part{mapping: *m, entries: map[string][]int{}}
	for list, n := range map[string]int{"contacts": len(m.Contacts), "claims": len(m.Claims), "activities": len(m.Activities)} {
		for i := range n {
			p.entries[list] = append(p.entries[list], i)
		}
	}
	binding, problems := BindAll(m, sheets, service, runDate)
	left := map[string]bool{}
	for found = slices.Concat(found, problems); len(found) > 0 || binding == nil; {
		again := false
		for _, wrong := range found {
			if rule := ruleAt(at(wrong.Where)); wrong.Where.Line > 0 && wrong.Where.Sheet == "" && rule != nil {
				if key := strings.Join(rule, "\x00"); !left[key] {
					left[key], again = true, true
					p.leaveOut(rule)
				}
			}
		}
		if len(p.mapping.Client.Key) == 0 {
			p.Keyless, again = true, true
			p.mapping.Client.Key = standInKey(sheets)
		}
		if !again && binding == nil || len(p.mapping.Client.Key) == 0 || len(p.mapping.Client.Fields)+len(p.mapping.Activities) == 0 {
			return nil, problems
		}
		if !again {
			break
		}
		check := &checker{file: m.File}
		check.check(&p.mapping)
		binding, found = BindAll(&p.mapping, sheets, service, runDate)
		found = append(found, check.problems...)
	}
	for _, b := range append(binding.tables, binding) {
		b.readings = true
	}
	p.Binding, p.Targets, p.Partial = binding, binding.targets, p.Keyless || len(left) > 0
	for _, t := range p.Targets {
		if kept := p.entries[t.Path[0]]; kept != nil {
			entry, _ := strconv.Atoi(t.Path[1])
			t.Path[1] = strconv.Itoa(kept[entry])
		}
	}
	return p, problems
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
	case is("client"), is("activities", "*"), is("claims", "*"), is("contacts", "*"):
		return path[:2]
	}
	return path[:1]
}

// leaveOut takes a rule out.
func (p *Part) leaveOut(path []string) {
	m := &p.mapping
	if len(path) > 1 && path[0] != "client" {
		entry, _ := strconv.Atoi(path[1])
		i := slices.Index(p.entries[path[0]], entry)
		switch {
		case i < 0:
		case len(path) == 4:
			m.Activities = slices.Clone(m.Activities)
			a := &m.Activities[i]
			a.Attributes = slices.DeleteFunc(slices.Clone(a.Attributes), func(attr AttributeRule) bool { return attr.Name.Text == path[3] })
		default:
			p.entries[path[0]] = without(p.entries[path[0]], i)
			switch path[0] {
			case "activities":
				m.Activities = without(m.Activities, i)
			case "claims":
				m.Claims = without(m.Claims, i)
			case "contacts":
				m.Contacts = without(m.Contacts, i)
			}
		}
		return
	}
	c := &m.Client
	switch path[0] {
	case "client":
		switch {
		case len(path) == 3:
			c.Fields = slices.DeleteFunc(slices.Clone(c.Fields), func(f FieldRule) bool { return f.Name.Text == path[2] })
		case path[1] == "key":
			c.Key = nil
		default:
			*c = ClientRule{PersonRule: PersonRule{At: c.At, Key: c.Key, Administrator: true, Fields: c.Fields}, Existing: c.Existing}
		}
	case "sheet":
		m.Sheet.When, m.Sheet.Timezone, m.Sheet.Empty, m.Sheet.FillDown = yamltree.Scalar{}, yamltree.Scalar{}, nil, nil
	case "workflow":
		m.Workflow = WorkflowRule{}
	case "link":
		m.Link, m.LinkAt = "", yamltree.Place{}
	case "resume_at":
		m.ResumeAt = nil
	case "contacts":
		m.Contacts = nil
	case "claims":
		m.Claims = nil
	case "activities":
		m.Activities = nil
	}
}

func without[T any](list []T, i int) []T { return slices.Delete(slices.Clone(list), i, i+1) }

// standInKey returns the first column with a header of its own, which stands in for the
// client's key; nil for none.
func standInKey(sheets []cell.Sheet) []yamltree.Scalar {
	for i := 0; len(sheets) > 0 && i < len(sheets[0].Header); i++ {
		if header := sheets[0].Header[i]; convert.FoldHeader(header) != "" && IgnoredName(sheets[0], i) != "column "+cell.ColumnName(i) {
			return []yamltree.Scalar{{Text: header}}
		}
	}
	return nil
}
