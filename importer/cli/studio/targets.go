package studio

import (
	"bytes"
	"cmp"
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
	v       *verdict // nil when nothing is judged
	list    []targetJSON
}

// targets returns all that the mapping fills or could fill, in workflow order.
func (a *analysis) targets(service *mapping.Service, v *verdict) []targetJSON {
	if a.doc == nil {
		return []targetJSON{}
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
	last := path[len(path)-1]
	if t.Title == "" {
		t.Title = cmp.Or(label(path), last)
	}
	if t.Options == nil && !isAttribute(path) {
		t.Options = options[last]
	}
	if typ := map[string]string{"email": "Email", "phone": "Phone"}[last]; typ != "" && path[len(path)-2] == "lookup" {
		t.Type, t.TypeFrom = typ, "default"
	} else if last == "name" && len(path) > 1 || len(path) > 2 && path[len(path)-2] == "fields" {
		t.Type, t.TypeFrom = "Text", "default"
	}
	t.Columns, t.tallyJSON = []string{}, tallyJSON{Problems: []errorJSON{}, Warnings: []errorJSON{}}
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
		t.Usable, t.Errors = l.v.keyed, len(l.v.skipped)-l.v.sum.Skipped-l.v.keyed
		return
	}
	at := slices.IndexFunc(l.v.of.bound.Targets, func(target mapping.Target) bool { return slices.Equal(target.Path, path) })
	if at >= 0 {
		t.tallyJSON = l.v.targets[at]
		t.Type = cmp.Or(t.Type, string(l.v.of.bound.Targets[at].Type))
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
	var walk func(value any, key string)
	walk = func(value any, key string) {
		switch v := value.(type) {
		case map[string]any:
			for _, key := range []string{"column", "first_of", "join", "text", "expr"} {
				walk(v[key], key)
			}
		case []any:
			for _, entry := range v {
				walk(entry, key)
			}
		case string:
			switch key {
			case "when", "expr":
				for _, found := range callName.FindAllStringSubmatch(v, -1) {
					if name, err := strconv.Unquote(found[1]); err == nil {
						names = append(names, name)
					}
				}
			case "name", "text":
				for _, found := range placeName.FindAllStringSubmatch(v, -1) {
					names = append(names, strings.TrimSpace(found[1]))
				}
			default:
				names = append(names, v)
			}
		case json.Number:
			walk(v.String(), key)
		}
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(rule))
	decoder.UseNumber()
	if key := path[len(path)-1]; decoder.Decode(&value) != nil {
		return nil
	} else if isValue(path) {
		walk(value, "column")
	} else if _, isText := value.(string); key == "resume_at" && !isText || slices.Contains([]string{"key", "known_id", "when", "name", "fill_down"}, key) {
		walk(value, key)
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

// options are what can be chosen for a key.
var options = map[string][]string{
	"existing":            {"reuse", "skip", "fail", "create"},
	"existing_activities": {"send", "skip"},
	"status":              {string(mapping.Submitted), string(mapping.Accepted), string(mapping.Open)},
	"mode":                {"first", "either", "both"},
	"api":                 {"v1", "v2"},
	"ambiguous_times":     {"refuse", "earlier"},
	"hidden_rows":         {"take", "skip"},
	"encoding":            {"utf-8", "windows-1252"},
	"delimiter":           {",", ";", "tab"},
}

// isAttribute reports whether the last part of a path is a name of the service's.
func isAttribute(path []string) bool {
	return len(path) > 2 && slices.Contains([]string{"fields", "attributes"}, path[len(path)-2])
}

// all adds several keys of a part of the mapping.
func (l *lister) all(t targetJSON, of []string, keys ...string) {
	for _, key := range keys {
		l.add(t, slices.Concat(of, strings.Split(key, "."))...)
	}
}

func (l *lister) client() {
	of := []string{"client"}
	l.all(targetJSON{Group: "key", Of: "Client", Required: true}, of, "key")
	l.all(targetJSON{Group: "lookup", Of: "Client"}, of, "lookup.email", "lookup.phone")
	if _, ok := l.a.doc.Value("client", "lookup", "mode"); ok {
		l.all(targetJSON{Group: "lookup", Of: "Client"}, of, "lookup.mode")
	}
	l.all(targetJSON{Group: "lookup", Of: "Client"}, of, "existing", "existing_activities", "known_id")
	l.fields("client", "Client", "client", "fields")
}

// fields lists the fields of a person, and the usual ones that are not there yet.
func (l *lister) fields(group, of string, path ...string) {
	var names []string
	for _, name := range slices.Concat(l.a.doc.Keys(path...), usualFields) { // a name may be there twice, by mistake
		if !slices.Contains(names, name) {
			names = append(names, name)
			l.add(targetJSON{Group: group, Of: of, Title: name}, append(slices.Clone(path), name)...)
		}
	}
}

func (l *lister) contacts() {
	for i, c := range l.a.mapping.Contacts {
		path, t := []string{"contacts", strconv.Itoa(i)}, targetJSON{Group: "contacts", Of: "Contact " + c.ID.Text}
		required := t
		required.Required = true
		l.all(required, path, "key")
		l.all(t, path, "when", "lookup.email", "lookup.phone")
		l.fields("contacts", t.Of, append(path, "fields")...)
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
		path, t := []string{"claims", strconv.Itoa(i)}, targetJSON{Group: "claims", Of: "Claim", On: "claim"}
		if id := c.ID.Text; id != "" && id != "claim" {
			t.Of = "Claim " + id
		}
		required := t
		required.Required = len(l.a.mapping.Claims) > 0
		l.all(required, path, "key", "name")
		l.all(t, path, "when", "known_id")
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

// template returns the attributes of a template; nil when the service is not known, or does
// not have it.
func (l *lister) template(name string) []mapping.AttributeTemplate {
	if l.service != nil {
		for _, t := range l.service.Templates {
			if t.Name == name {
				return t.Attributes
			}
		}
	}
	return nil
}

// activities lists the activities of the mapping: how each is sent, the attributes of its
// template in their order, and those that only the mapping has; then the other templates.
func (l *lister) activities() {
	used := map[string]bool{}
	for i := range l.a.mapping.Activities {
		rule := &l.a.mapping.Activities[i]
		used[rule.Template.Text] = true
		path := []string{"activities", strconv.Itoa(i)}
		t := targetJSON{Group: "activity", Of: rule.Template.Text, Status: "BackFilled", On: "claim"}
		switch {
		case rule.Status == mapping.Open:
			t.Status = "Open"
		case l.a.mapping.ResumeAt != nil && !rule.Assigned:
			t.Status = ""
		}
		isContact := func(c mapping.ContactRule) bool { return c.ID.Text == rule.On.Text }
		if rule.On.Text == "client" || slices.ContainsFunc(l.a.mapping.Contacts, isContact) {
			t.On = rule.On.Text
		}
		l.all(t, path, "status")
		scoped := t
		scoped.Options = l.scopes()
		l.all(scoped, path, "on")
		l.all(t, path, "when")
		l.attributes(t, path, rule.Attributes)
	}
	if l.service == nil {
		return
	}
	for _, template := range l.service.Templates {
		if !used[template.Name] {
			used[template.Name] = true
			path, t := []string{"activities", byTemplate + template.Name}, targetJSON{Group: "activity", Of: template.Name}
			l.all(t, path, "status")
			l.attributes(t, path, nil)
		}
	}
}

func (l *lister) attributes(t targetJSON, path []string, rules []mapping.AttributeRule) {
	listed := map[string]bool{}
	attributes := slices.Clone(l.template(t.Of))
	for _, attr := range rules {
		attributes = append(attributes, mapping.AttributeTemplate{Name: attr.Name.Text})
	}
	for _, a := range attributes {
		if listed[a.Name] {
			continue
		}
		listed[a.Name] = true
		t.Title, t.Type, t.TypeFrom, t.Options = a.Name, string(a.Type), "service", a.Options
		if t.Type == "" {
			t.TypeFrom = "unknown"
		}
		l.add(t, slices.Concat(path, []string{"attributes", a.Name})...)
	}
}

func (l *lister) workflow() {
	if l.a.mapping.V1() {
		return
	}
	t := targetJSON{Group: "workflow", Of: "Workflow", Required: len(l.a.mapping.Activities) > 0}
	l.add(t, "workflow", "name")
	t.Required = t.Required && (l.service == nil || l.service.WorkflowTemplateIdentifier == "")
	l.add(t, "workflow", "template_identifier")
	l.add(targetJSON{Group: "workflow", Of: "Workflow"}, "resume_at")
}

func (l *lister) settings() {
	t := targetJSON{Group: "settings", Of: "Settings"}
	required := t
	required.Required = true
	l.all(required, nil, "name", "api")
	l.all(t, []string{"sheet"}, "when", "empty", "numbers", "timezone", "ambiguous_times", "hidden_rows")
	if _, ok := l.a.doc.Value("sheet", "fill_down"); ok {
		l.all(t, []string{"sheet"}, "fill_down")
	}
	if len(l.a.book.looks[0].names) == 0 { // a workbook says it itself
		l.all(t, []string{"sheet"}, "encoding", "delimiter")
	}
}
