package studio

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/yamlpatch"
)

type lister struct {
	a       *analysis
	service *mapping.Service
	v       *verdict // nil when nothing is judged
	list    []targetJSON
}

// targets returns all that the mapping fills or could fill, in workflow order.
func (a *analysis) targets(service *mapping.Service, v *verdict) []targetJSON {
	l := &lister{a: a, service: service, v: v, list: []targetJSON{}}
	if a.doc == nil {
		return l.list
	}
	l.all(targetJSON{Section: "Who is who", Required: true}, "client", "key")
	l.all(targetJSON{Section: "Finding clients that are known"}, "client",
		"lookup/email", "lookup/phone", "lookup/mode", "existing", "existing_activities", "known_id")
	l.fields(targetJSON{Section: "The client"}, "client")
	for i, c := range a.mapping.Contacts {
		of, t := "contacts/"+strconv.Itoa(i), targetJSON{Section: "Contact " + c.ID.Text}
		l.all(required(t, true), of, "key")
		l.all(t, of, "when", "lookup/email", "lookup/phone")
		l.fields(t, of)
	}
	isV2 := !a.mapping.V1()
	if isV2 {
		l.claims()
		t, isNeeded := targetJSON{Section: "Workflow"}, len(a.mapping.Activities) > 0
		l.all(required(t, isNeeded), "workflow", "name")
		l.all(required(t, isNeeded && (service == nil || service.WorkflowTemplateIdentifier == "")), "workflow", "template_identifier")
		l.all(t, "", "resume_at")
	}
	l.activities()
	t := targetJSON{Section: "How the sheet is read"}
	l.all(required(t, true), "", "name", "api")
	l.all(t, "sheet", "when", "empty", "numbers", "timezone", "fill_down")
	if len(a.book.sheet.Names) == 0 { // a workbook says it itself
		l.all(t, "sheet", "encoding", "delimiter")
	}
	return l.list
}

func required(t targetJSON, is bool) targetJSON {
	t.Required = is
	return t
}

func (l *lister) all(t targetJSON, of string, keys ...string) {
	for _, key := range keys {
		l.add(t, strings.Split(strings.TrimPrefix(of+"/"+key, "/"), "/")...)
	}
}

// usualFields are client fields that most campaigns have. The service's operator knows which there are.
var usualFields = []string{"email", "firstName", "lastName", "phone"}

// fields lists the fields of a person, and the usual ones that are not there yet.
func (l *lister) fields(t targetJSON, of string) {
	path := append(strings.Split(of, "/"), "fields")
	var names []string
	for _, t.Title = range slices.Concat(l.a.doc.Keys(path...), usualFields) { // a name may be there twice, by mistake
		if !slices.Contains(names, t.Title) {
			names = append(names, t.Title)
			l.add(t, append(slices.Clone(path), t.Title)...)
		}
	}
}

func (l *lister) claims() {
	entries := l.a.mapping.Claims
	if len(entries) == 0 { // so that a person can begin one
		entries = make([]mapping.ClaimRule, 1)
	}
	for i, c := range entries {
		of, t := "claims/"+strconv.Itoa(i), targetJSON{Section: "Claim", About: "for each claim"}
		if id := c.ID.Text; id != "" && id != "claim" {
			t.Section = "Claim " + id
		}
		l.all(required(t, len(l.a.mapping.Claims) > 0), of, "key", "name")
		l.all(t, of, "when", "known_id")
	}
}

// choices returns what a rule can say if it is one of few: each value, the words for it, and what it does; nil for other rules.
func (l *lister) choices(key string) [][3]any {
	list := slices.Clone(choices[key])
	switch key {
	case "on":
		if len(l.a.mapping.Claims) > 0 {
			list = append(list, [3]any{"claim", "Once for each claim", ""})
		}
		for _, c := range l.a.mapping.Claims {
			if c.ID.Text != "claim" { // as a claim alone is called
				list = append(list, [3]any{c.ID.Text, "Once for each “" + c.ID.Text + "”", ""})
			}
		}
		for _, c := range l.a.mapping.Contacts {
			list = append(list, [3]any{c.ID.Text, "Once for each “" + c.ID.Text + "”", ""})
		}
	case "resume_at":
		var names []string
		for _, rule := range l.a.mapping.Activities {
			if name := rule.Template.Text; !slices.Contains(names, name) {
				names = append(names, name)
				list = append(list, [3]any{name, name, ""})
			}
		}
	}
	return list
}

// activities lists the mapping's activities: how each is sent, its template's attributes, those that only the mapping has; then other
// templates.
func (l *lister) activities() {
	used := map[string]int{}
	for i := range l.a.mapping.Activities {
		rule := &l.a.mapping.Activities[i]
		of, on, name := "activities/"+strconv.Itoa(i), "claim", rule.Template.Text
		isContact := func(c mapping.PersonRule) bool { return c.ID.Text == rule.On.Text }
		if rule.On.Text == "client" || slices.ContainsFunc(l.a.mapping.Contacts, isContact) {
			on = rule.On.Text
		}
		t := targetJSON{Section: name, About: "for each " + on, IsOpen: rule.Status == mapping.Open, template: name}
		if t.IsOpen {
			t.About += ", open: the client fills it in"
		} else if l.a.mapping.ResumeAt == nil || rule.Assigned {
			t.About += ", back-filled: sent as done, from the sheet"
		}
		if used[name]++; used[name] > 1 {
			t.Section = fmt.Sprintf("%s, %d", name, used[name])
		}
		l.all(t, of, "status", "on", "when")
		l.attributes(t, strconv.Itoa(i), rule.Attributes)
	}
	if l.service == nil {
		return
	}
	for _, template := range l.service.Templates {
		if used[template.Name] == 0 {
			used[template.Name] = 1
			t := targetJSON{Section: template.Name, About: "not sent yet", template: template.Name}
			entry := byTemplate + template.Name
			l.add(t, "activities", entry, "status")
			l.attributes(t, entry, nil)
		}
	}
}

func (l *lister) attributes(t targetJSON, entry string, rules []mapping.FieldRule) {
	var attributes []mapping.AttributeTemplate
	if l.service != nil {
		if at := slices.IndexFunc(l.service.Templates, func(template mapping.Template) bool { return template.Name == t.template }); at >= 0 {
			attributes = slices.Clone(l.service.Templates[at].Attributes)
		}
	}
	for _, rule := range rules {
		attributes = append(attributes, mapping.AttributeTemplate{Name: rule.Name.Text})
	}
	for i, a := range attributes {
		if slices.ContainsFunc(attributes[:i], func(other mapping.AttributeTemplate) bool { return other.Name == a.Name }) {
			continue
		}
		t.Title, t.Type, t.TypeFrom, t.Options = a.Name, string(a.Type), "service", a.Options
		if t.Type == "" {
			t.TypeFrom = "unknown"
		}
		l.add(t, "activities", entry, "attributes", a.Name)
	}
}

func (l *lister) add(t targetJSON, path ...string) {
	t.Path = yamlpatch.Pointer(path...)
	last := path[len(path)-1]
	t.Title = cmp.Or(t.Title, label(path), last)
	if t.Name = t.Title; slices.Contains(lists, path[0]) && t.Section != "Claim" {
		t.Name += " · " + t.Section
	}
	if t.template != "" {
		t.ByTemplate = yamlpatch.Pointer(append([]string{path[0], byTemplate + t.template}, path[2:]...)...)
	}
	t.Editor = cmp.Or(editors[last], "plain")
	if isValue(path) {
		t.Editor = "value"
	} else if t.Choices = l.choices(last); t.Choices != nil {
		t.Editor = "choice"
	} else if last == "name" && len(path) > 1 {
		t.Editor = "text"
	}
	if typ := map[string]string{"email": "Email", "phone": "Phone"}[last]; typ != "" && path[len(path)-2] == "lookup" {
		t.Type, t.TypeFrom = typ, "default"
	} else if last == "name" && len(path) > 1 || len(path) > 2 && path[len(path)-2] == "fields" {
		t.Type, t.TypeFrom = "Text", "default"
	}
	t.Columns, t.tallyJSON = []string{}, tallyJSON{Problems: []errorJSON{}}
	if rule, ok := l.a.doc.Value(path...); ok {
		t.Rule = rule
		t.Line = l.a.doc.Line(path...)
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

// columnName matches a column in a text, {Surname}, or in an expression, col("Surname").
var columnName = regexp.MustCompile(`\{\{|\{([^{}]+)\}|\b[A-Za-z]+\(\s*("(?:[^"\\]|\\.)*")`)

// isName reports whether the last part of a path is the name of a field or an attribute, which may be “name” or “status”.
func isName(path []string) bool {
	return len(path) > 2 && slices.Contains([]string{"fields", "attributes"}, path[len(path)-2])
}

// isValue reports whether a path is that of a value of the client: also of a look-up.
func isValue(path []string) bool {
	return isName(path) || len(path) > 2 && path[len(path)-2] == "lookup" && path[len(path)-1] != "mode"
}

// columnsOf returns the columns that a rule names.
func (a *analysis) columnsOf(rule json.RawMessage, path []string) []int {
	var list []int
	add := func(name string) {
		for i, c := range a.mapping.Claims { // it may be an alias of a claims entry
			if alias, ok := c.Columns[name]; ok && (path[0] == "activities" || path[0] == "claims" && path[1] == strconv.Itoa(i)) {
				list = append(list, a.book.find(alias.Text))
			}
		}
		list = append(list, a.book.find(name))
	}
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
			if !slices.Contains([]string{"when", "expr", "name", "text"}, key) {
				add(v)
				break
			}
			for _, found := range columnName.FindAllStringSubmatch(v, -1) {
				quoted, _ := strconv.Unquote(found[2])
				add(cmp.Or(quoted, strings.TrimSpace(found[1])))
			}
		case json.Number:
			add(v.String())
		}
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(rule))
	decoder.UseNumber()
	if key := path[len(path)-1]; decoder.Decode(&value) != nil {
		return nil
	} else if isValue(path) {
		walk(value, "column")
	} else if _, isText := value.(string); key == "resume_at" && !isText ||
		slices.Contains([]string{"key", "known_id", "when", "name", "fill_down"}, key) {
		walk(value, key)
	}
	return slices.DeleteFunc(list, func(i int) bool { return i < 0 })
}
