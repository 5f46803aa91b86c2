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
	left    map[string]bool
	entries map[string][]int // of lists: the places in the whole mapping of the entries that are not left out
}

// BindPart binds a mapping without the rules that have problems: those that were found
// when it was parsed, and those that binding finds, which it returns as BindAll does. at
// returns the path of the value at a place of the file. The Part is nil when too little is
// left to judge a row.
func BindPart(m *Mapping, found problem.List, at func(problem.Where) []string, sheets []cell.Sheet, service *Service, runDate string) (
	*Part, problem.List) {
	p := &Part{mapping: *m, left: map[string]bool{}, entries: map[string][]int{}}
	for list, n := range map[string]int{"contacts": len(m.Contacts), "claims": len(m.Claims), "activities": len(m.Activities)} {
		for i := range n {
			p.entries[list] = append(p.entries[list], i)
		}
	}
	binding, problems := BindAll(m, sheets, service, runDate)
	for found = slices.Concat(found, problems); ; {
		again := false
		for _, wrong := range found {
			if wrong.Where.Line > 0 && wrong.Where.Sheet == "" && p.leaveOut(at(wrong.Where), sheets) {
				again = true
			}
		}
		if len(p.mapping.Client.Key) == 0 && !p.Keyless {
			again = p.leaveOut([]string{"client", "key"}, sheets)
		}
		if len(p.mapping.Client.Key) == 0 || len(p.mapping.Client.Fields) == 0 && len(p.mapping.Activities) == 0 || !again && binding == nil {
			return nil, problems
		}
		if !again {
			break
		}
		check := &checker{file: m.File}
		check.check(&p.mapping)
		if binding, found = BindAll(&p.mapping, sheets, service, runDate); check.problems != nil {
			found = append(found, check.problems...)
		}
	}
	p.Binding, p.Targets = binding, binding.Targets()
	for _, t := range p.Targets {
		if kept := p.entries[t.Path[0]]; kept != nil {
			entry, _ := strconv.Atoi(t.Path[1])
			t.Path[1] = strconv.Itoa(kept[entry])
		}
	}
	return p, problems
}

// leaveOut takes out the rule that a path belongs to; for the client's key, the first
// column with a header of its own stands in. It returns false when that was done before, or
// the rest cannot do without the rule.
func (p *Part) leaveOut(path []string, sheets []cell.Sheet) bool {
	is := func(words ...string) bool {
		matches := func(have, want string) bool { return want == "*" || have == want }
		return len(path) >= len(words) && slices.EqualFunc(path[:len(words)], words, matches)
	}
	size := 1
	switch {
	case len(path) == 0, is("name"), is("api"), is("client") && len(path) == 1, is("client", "fields") && len(path) == 2:
		return false
	case is("activities", "*", "attributes", "*"):
		size = 4
	case is("client", "fields"), is("client", "lookup", "*"):
		size = 3
	case len(path) > 1 && !is("resume_at") && !is("claim_type"):
		size = 2
	}
	path = path[:size]
	rule := strings.Join(path, "\x00")
	if p.left[rule] {
		return false
	}
	p.left[rule], p.Partial = true, true
	m := &p.mapping
	entry := func() int { i, _ := strconv.Atoi(path[1]); return slices.Index(p.entries[path[0]], i) }
	switch {
	case size == 4:
		if i := entry(); i >= 0 {
			m.Activities = slices.Clone(m.Activities)
			attributes := slices.Clone(m.Activities[i].Attributes)
			m.Activities[i].Attributes = slices.DeleteFunc(attributes, func(a AttributeRule) bool { return a.Name.Text == path[3] })
		}
	case is("client", "fields", "*"):
		m.Client.Fields = slices.DeleteFunc(slices.Clone(m.Client.Fields), func(f FieldRule) bool { return f.Name.Text == path[2] })
	case size > 1 && p.entries[path[0]] != nil:
		i := entry()
		if i < 0 {
			return false
		}
		switch path[0] {
		case "activities":
			m.Activities = slices.Delete(slices.Clone(m.Activities), i, i+1)
		case "claims":
			m.Claims = slices.Delete(slices.Clone(m.Claims), i, i+1)
		default:
			m.Contacts = slices.Delete(slices.Clone(m.Contacts), i, i+1)
		}
		p.entries[path[0]] = slices.Delete(p.entries[path[0]], i, i+1)
	case is("client", "key"):
		p.Keyless, m.Client.Key = true, nil
		for i := 0; len(sheets) > 0 && i < len(sheets[0].Header) && m.Client.Key == nil; i++ {
			if header := sheets[0].Header[i]; convert.FoldHeader(header) != "" && IgnoredName(sheets[0], i) != "column "+cell.ColumnName(i) {
				m.Client.Key = []yamltree.Scalar{{Text: header}}
			}
		}
	default:
		m.reset(strings.Join(path, "."))
	}
	return true
}

// reset takes away what a key says; a value that could not be read is not there anyway.
func (m *Mapping) reset(key string) {
	switch key {
	case "resume_at":
		m.ResumeAt = nil
	case "link":
		m.Link, m.LinkAt = "", yamltree.Place{}
	case "sheet.when":
		m.Sheet.When = yamltree.Scalar{}
	case "sheet.empty":
		m.Sheet.Empty = nil
	case "sheet.fill_down":
		m.Sheet.FillDown = nil
	case "sheet.timezone":
		m.Sheet.Timezone = yamltree.Scalar{}
	case "client.known_id":
		m.Client.KnownID = yamltree.Scalar{}
	case "client.key_space":
		m.Client.KeySpace = yamltree.Scalar{}
	case "client.existing_activities":
		m.Client.SkipActivities, m.Client.ActivitiesAt = false, yamltree.Place{}
	case "client.administrator":
		m.Client.Administrator, m.Client.AdministratorAt = true, yamltree.Place{}
	case "client.lookup":
		m.Client.Lookup = LookupRule{}
	case "client.lookup.email":
		m.Client.Lookup.Email = nil
	case "client.lookup.phone":
		m.Client.Lookup.Phone = nil
	case "client.lookup.mode":
		m.Client.Lookup.Mode = ""
	case "workflow.name":
		m.Workflow.Name = yamltree.Scalar{}
	case "workflow.template_identifier":
		m.Workflow.TemplateIdentifier = yamltree.Scalar{}
	case "contacts":
		m.Contacts = nil
	case "claims":
		m.Claims = nil
	case "activities":
		m.Activities = nil
	}
}
