package studio

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/yamlpatch"
)

// lister lists what the service can get.
type lister struct {
	a       *analysis
	service *mapping.Service
	v       *verdict // of the same book; nil when nothing is judged
	list    []targetJSON
}

// targets returns all that the mapping fills or could fill, in workflow order. The caller
// holds the verdict's lock.
func (a *analysis) targets(service *mapping.Service, v *verdict) []targetJSON {
	if a.doc == nil {
		return []targetJSON{}
	}
	if v != nil && v.of.book != a.book {
		v = nil
	}
	l := &lister{a: a, service: service, v: v, list: []targetJSON{}}
	l.client()
	l.contacts()
	l.claims()
	l.activities()
	l.workflow()
	l.settings()
	return l.list
}

// add adds a target with what the mapping says of it.
func (l *lister) add(t targetJSON, path ...string) {
	t.Path = yamlpatch.Pointer(path...)
	t.Columns, t.Problems, t.Warnings = []string{}, []troubleJSON{}, []troubleJSON{}
	if rule, ok := l.a.doc.Value(path...); ok {
		t.Rule = rule
		if line := l.a.doc.Line(path...); line > 0 {
			t.Line = &line
		}
		for _, c := range l.a.columnsOf(rule, path) {
			if name := cell.ColumnName(c); !slices.Contains(t.Columns, name) {
				t.Columns = append(t.Columns, name)
			}
		}
		var object struct {
			Type     string `json:"type"`
			Required bool   `json:"required"`
		}
		if json.Unmarshal(rule, &object) == nil {
			if object.Type != "" && t.TypeFrom != "service" {
				t.Type, t.TypeFrom = object.Type, "mapping"
			}
			t.Required = t.Required || object.Required
		}
	}
	if l.v != nil {
		l.judged(&t, path)
	}
	l.list = append(l.list, t)
}

// judged adds the verdict over the rows.
func (l *lister) judged(t *targetJSON, path []string) {
	if t.Path == "/client/key" && !l.v.of.bound.Keyless {
		t.Usable, t.Trouble = l.v.keyed, l.v.done-l.v.skipped-l.v.keyed
		return
	}
	for i, target := range l.v.of.bound.Targets {
		if !slices.Equal(target.Path, path) {
			continue
		}
		tally := &l.v.targets[i]
		t.Usable, t.Trouble, t.Empty = tally.usable, tally.trouble, tally.empty
		t.Problems, t.Warnings = shown(tally.kinds), shown(tally.doubts)
		if t.Type == "" {
			t.Type = string(target.Type)
		}
		return
	}
}

var (
	placeName = regexp.MustCompile(`\{\{|\{([^{}]+)\}`)
	callName  = regexp.MustCompile(`\b[A-Za-z]+\(\s*("(?:[^"\\]|\\.)*")`)
)

// isValue reports whether a path is that of a field, an attribute or a look-up, whose names
// are the service's: a field may be called “name” or “status”.
func isValue(path []string) bool {
	return len(path) > 2 && slices.Contains([]string{"fields", "attributes", "lookup"}, path[len(path)-2])
}

// columnsOf returns the columns of the first sheet that a rule names.
func (a *analysis) columnsOf(rule json.RawMessage, path []string) []int {
	var names []string
	inText := func(s string) {
		for _, found := range placeName.FindAllStringSubmatch(s, -1) {
			names = append(names, strings.TrimSpace(found[1]))
		}
	}
	inExpression := func(s string) {
		for _, found := range callName.FindAllStringSubmatch(s, -1) {
			if name, err := strconv.Unquote(found[1]); err == nil {
				names = append(names, name)
			}
		}
	}
	one, several := textOf(rule), []string(nil)
	var object struct {
		Column  json.RawMessage `json:"column"`
		FirstOf json.RawMessage `json:"first_of"`
		Text    string          `json:"text"`
		Expr    string          `json:"expr"`
	}
	switch last := path[len(path)-1]; {
	case one != "":
		switch {
		case isValue(path):
			names = append(names, one)
		case last == "when":
			inExpression(one)
		case last == "name":
			inText(one)
		case slices.Contains([]string{"template_identifier", "on", "status", "api", "existing", "existing_activities", "template", "id"}, last) || path[0] == "sheet" || last == "resume_at":
		default:
			names = append(names, one)
		}
	case json.Unmarshal(rule, &several) == nil:
		if path[0] != "sheet" {
			names = several
		}
	case json.Unmarshal(rule, &object) == nil:
		names = append(names, textOf(object.Column))
		inText(object.Text)
		inExpression(object.Expr)
		if json.Unmarshal(object.FirstOf, &one) == nil {
			names = append(names, one)
		} else if json.Unmarshal(object.FirstOf, &several) == nil {
			names = append(names, several...)
		}
	}
	var list []int
	for _, name := range names {
		if path[0] == "claims" || path[0] == "activities" { // an alias of a claims entry
			for i, c := range a.mapping.Claims {
				if alias, ok := c.Columns[name]; ok && (path[0] == "activities" || path[1] == strconv.Itoa(i)) {
					list = append(list, a.book.find(alias.Text))
				}
			}
		}
		list = append(list, a.book.find(name))
	}
	return slices.DeleteFunc(list, func(i int) bool { return i < 0 })
}

// usualFields are client fields that most campaigns have. The service's operator knows
// which there are.
var usualFields = []string{"email", "firstName", "lastName", "phone"}

var statuses = []string{string(mapping.Submitted), string(mapping.Accepted), string(mapping.Open)}

func (l *lister) client() {
	l.add(targetJSON{Group: "key", Title: "Which rows are one client", Of: "Client", Required: true}, "client", "key")
	l.add(targetJSON{Group: "lookup", Title: "E-mail address to look clients up by", Of: "Client", Type: "Email", TypeFrom: "default"}, "client", "lookup", "email")
	l.add(targetJSON{Group: "lookup", Title: "Phone number to look clients up by", Of: "Client", Type: "Phone", TypeFrom: "default"}, "client", "lookup", "phone")
	l.add(targetJSON{Group: "lookup", Title: "What to do with known clients", Of: "Client", Options: []string{"reuse", "skip", "fail", "create"}}, "client", "existing")
	l.add(targetJSON{Group: "lookup", Title: "Activities of known clients", Of: "Client", Options: []string{"send", "skip"}}, "client", "existing_activities")
	l.add(targetJSON{Group: "lookup", Title: "Id known from elsewhere", Of: "Client"}, "client", "known_id")
	l.fields("client", "Client", "client", "fields")
}

// fields lists the fields of a person, and the usual ones that are not there yet.
func (l *lister) fields(group, of string, path ...string) {
	var names []string
	for _, name := range slices.Concat(l.a.doc.Keys(path...), usualFields) { // a name may be there twice, by mistake
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		l.add(targetJSON{Group: group, Title: name, Of: of, Type: "Text", TypeFrom: "default"}, append(slices.Clone(path), name)...)
	}
}

func (l *lister) contacts() {
	for i, c := range l.a.mapping.Contacts {
		entry := strconv.Itoa(i)
		of := "Contact " + c.ID.Text
		l.add(targetJSON{Group: "contacts", Title: "Which rows are one contact", Of: of, Required: true}, "contacts", entry, "key")
		l.add(targetJSON{Group: "contacts", Title: "Only when", Of: of}, "contacts", entry, "when")
		l.add(targetJSON{Group: "contacts", Title: "E-mail address to look the contact up by", Of: of, Type: "Email", TypeFrom: "default"}, "contacts", entry, "lookup", "email")
		l.add(targetJSON{Group: "contacts", Title: "Phone number to look the contact up by", Of: of, Type: "Phone", TypeFrom: "default"}, "contacts", entry, "lookup", "phone")
		l.fields("contacts", of, "contacts", entry, "fields")
	}
}

func (l *lister) claims() {
	if l.a.mapping.V1() {
		return
	}
	entries := l.a.mapping.Claims
	if len(entries) == 0 { // so that a person can begin one
		entries = make([]mapping.ClaimRule, 1)
	}
	for i, c := range entries {
		entry, of := strconv.Itoa(i), "Claim"
		if id := c.ID.Text; id != "" && id != "claim" {
			of = "Claim " + id
		}
		l.add(targetJSON{Group: "claims", Title: "Which rows are one claim", Of: of, On: "claim", Required: len(l.a.mapping.Claims) > 0}, "claims", entry, "key")
		l.add(targetJSON{Group: "claims", Title: "The claim's name", Of: of, On: "claim", Type: "Text", TypeFrom: "default", Required: len(l.a.mapping.Claims) > 0}, "claims", entry, "name")
		l.add(targetJSON{Group: "claims", Title: "Only when", Of: of, On: "claim"}, "claims", entry, "when")
		l.add(targetJSON{Group: "claims", Title: "Id known from elsewhere", Of: of, On: "claim"}, "claims", entry, "known_id")
	}
}

// scopes are what an activity can be on.
func (l *lister) scopes() []string {
	list := []string{"client"}
	if len(l.a.mapping.Claims) > 0 {
		list = append(list, "claim")
	}
	for _, c := range l.a.mapping.Claims {
		if !slices.Contains(list, c.ID.Text) {
			list = append(list, c.ID.Text)
		}
	}
	for _, c := range l.a.mapping.Contacts {
		list = append(list, c.ID.Text)
	}
	return list
}

func (l *lister) activities() {
	used := map[string]bool{}
	for i := range l.a.mapping.Activities {
		rule := &l.a.mapping.Activities[i]
		used[rule.Template.Text] = true
		l.activity(i, rule)
	}
	if l.service == nil {
		return
	}
	for _, t := range l.service.Templates {
		if used[t.Name] {
			continue
		}
		used[t.Name] = true
		entry := byTemplate + t.Name
		l.add(targetJSON{Group: "activity", Title: "Status", Of: t.Name, Options: statuses}, "activities", entry, "status")
		for _, a := range t.Attributes {
			l.add(attributeTarget(t.Name, "", "", a), "activities", entry, "attributes", a.Name)
		}
	}
}

// activity lists an activity of the mapping: how it is sent, the attributes of its
// template in their order, and those that only the mapping has.
func (l *lister) activity(i int, rule *mapping.ActivityRule) {
	entry, of := strconv.Itoa(i), rule.Template.Text
	status, on := "BackFilled", "client"
	switch {
	case rule.Status == mapping.Open:
		status = "Open"
	case l.a.mapping.ResumeAt != nil && !rule.Assigned:
		status = ""
	}
	if slices.ContainsFunc(l.a.mapping.Contacts, func(c mapping.ContactRule) bool { return c.ID.Text == rule.On.Text }) {
		on = rule.On.Text
	} else if rule.On.Text != on {
		on = "claim"
	}
	l.add(targetJSON{Group: "activity", Title: "Status", Of: of, Status: status, On: on, Options: statuses}, "activities", entry, "status")
	l.add(targetJSON{Group: "activity", Title: "On the client, a claim or a contact", Of: of, Status: status, On: on, Options: l.scopes()}, "activities", entry, "on")
	l.add(targetJSON{Group: "activity", Title: "Only when", Of: of, Status: status, On: on}, "activities", entry, "when")
	listed := map[string]bool{}
	if l.service != nil {
		for _, t := range l.service.Templates {
			if t.Name != of || len(listed) > 0 {
				continue
			}
			for _, a := range t.Attributes {
				listed[a.Name] = true
				l.add(attributeTarget(of, status, on, a), "activities", entry, "attributes", a.Name)
			}
		}
	}
	for _, attr := range rule.Attributes {
		if !listed[attr.Name.Text] {
			listed[attr.Name.Text] = true
			l.add(attributeTarget(of, status, on, mapping.AttributeTemplate{Name: attr.Name.Text}), "activities", entry, "attributes", attr.Name.Text)
		}
	}
}

func attributeTarget(of, status, on string, a mapping.AttributeTemplate) targetJSON {
	t := targetJSON{Group: "activity", Title: a.Name, Of: of, Status: status, On: on, Type: string(a.Type), TypeFrom: "service", Options: a.Options}
	if t.Type == "" {
		t.TypeFrom = "unknown"
	}
	return t
}

func (l *lister) workflow() {
	if l.a.mapping.V1() {
		return
	}
	needed := len(l.a.mapping.Activities) > 0
	l.add(targetJSON{Group: "workflow", Title: "Workflow name", Of: "Workflow", Type: "Text", TypeFrom: "default", Required: needed}, "workflow", "name")
	l.add(targetJSON{Group: "workflow", Title: "Workflow template identifier", Of: "Workflow",
		Required: needed && (l.service == nil || l.service.WorkflowTemplateIdentifier == "")}, "workflow", "template_identifier")
	l.add(targetJSON{Group: "workflow", Title: "Where clients resume", Of: "Workflow"}, "resume_at")
}

func (l *lister) settings() {
	l.add(targetJSON{Group: "settings", Title: "Campaign name", Of: "Settings", Required: true}, "name")
	l.add(targetJSON{Group: "settings", Title: "Version of the interface", Of: "Settings", Required: true, Options: []string{"v1", "v2"}}, "api")
	l.add(targetJSON{Group: "settings", Title: "Only rows for which", Of: "Settings"}, "sheet", "when")
	l.add(targetJSON{Group: "settings", Title: "Texts that count as empty", Of: "Settings"}, "sheet", "empty")
	l.add(targetJSON{Group: "settings", Title: "How numbers are written", Of: "Settings"}, "sheet", "numbers")
	l.add(targetJSON{Group: "settings", Title: "Time zone", Of: "Settings"}, "sheet", "timezone")
	l.add(targetJSON{Group: "settings", Title: "Times that occur twice", Of: "Settings", Options: []string{"refuse", "earlier"}}, "sheet", "ambiguous_times")
	l.add(targetJSON{Group: "settings", Title: "Hidden rows", Of: "Settings", Options: []string{"take", "skip"}}, "sheet", "hidden_rows")
	if len(l.a.book.names) == 0 { // a workbook says it itself
		l.add(targetJSON{Group: "settings", Title: "Characters of the .csv file", Of: "Settings", Options: []string{"utf-8", "windows-1252"}}, "sheet", "encoding")
		l.add(targetJSON{Group: "settings", Title: "Between the fields of the .csv file", Of: "Settings", Options: []string{",", ";", "tab"}}, "sheet", "delimiter")
	}
}
