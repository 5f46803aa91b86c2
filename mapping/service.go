package mapping

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Service is what a mapping is bound to: the environment's reference data and
// settings. Ids come from here and from nowhere else.
type Service struct {
	Environment                string // its name, for messages
	Templates                  []Template
	TemplateIDs                map[string]string // "Template" or "Template/Attribute" → id, for names that occur twice
	WorkflowTemplateIdentifier string            // the default for mappings; "" for none
	ContactIDs                 map[string]string // of the contacts that the mapping names by AdministratorRule.ID
	Earlier                    *Earlier          // what the service had when the mapping last ran; nil when it never did
}

// chosenID returns the id that the environment gives for a name that occurs twice.
func (s *Service) chosenID(name string) (id string, ok bool) {
	for n, id := range s.TemplateIDs {
		if convert.Composed(n) == name {
			return id, true
		}
	}
	return "", false
}

// template finds an activity template by its name, which is that of the service but for
// the way in which accents are written.
func (b *binder) template(name yamltree.Scalar) (Template, bool) {
	var found []Template
	var names []string
	for _, t := range b.service.Templates {
		names = append(names, t.Name)
		if convert.Composed(t.Name) == name.Text {
			found = append(found, t)
		}
	}
	if id, ok := b.service.chosenID(name.Text); ok {
		return b.templateByID(name, id)
	}
	switch len(found) {
	case 1:
		return found[0], true
	case 0:
		if what, hint, ok := b.service.Earlier.goneTemplate(name.Text, b.service.Templates); ok {
			b.wrongAt(name.At, "unknown-template", "%s", what).Hint = hint
			break
		}
		b.wrongAt(name.At, "unknown-template", "the environment “%s” has no activity template “%s”", b.service.Environment, name.Text).
			Hint = problem.Suggestion(name.Text, names)
	default:
		b.wrongAt(name.At, "shared-name", "the environment “%s” has %d activity templates called “%s”", b.service.Environment, len(found), name.Text).
			Hint = "say which one is meant in the environments file: template_ids: {\"" + name.Text + "\": its id}; the ids are " + ids(found)
	}
	return Template{}, false
}

func (b *binder) templateByID(name yamltree.Scalar, id string) (Template, bool) {
	for _, t := range b.service.Templates {
		if strings.EqualFold(t.ID, id) {
			return t, true
		}
	}
	b.wrongAt(name.At, "unknown-template", "the environment “%s” has no activity template with the id that template_ids gives for “%s”", b.service.Environment, name.Text).
		Hint = "correct template_ids in the environments file; “" + name.Text + "” may have been deleted and created again"
	return Template{}, false
}

func ids(templates []Template) string {
	var list []string
	for _, t := range templates {
		list = append(list, t.ID)
	}
	return strings.Join(list, ", ")
}

// attribute finds an attribute template by its name, as template does.
func (b *binder) attribute(t Template, name yamltree.Scalar) (AttributeTemplate, bool) {
	var found []AttributeTemplate
	var names []string
	id, chosen := b.service.chosenID(convert.Composed(t.Name) + "/" + name.Text)
	for _, a := range t.Attributes {
		names = append(names, a.Name)
		if chosen && strings.EqualFold(a.ID, id) || !chosen && convert.Composed(a.Name) == name.Text {
			found = append(found, a)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], true
	case chosen:
		b.wrongAt(name.At, "unknown-attribute", "the template “%s” has no attribute with the id that template_ids gives for “%s/%s”", t.Name, t.Name, name.Text).
			Hint = "correct template_ids in the environments file"
	case len(found) == 0:
		if what, hint, ok := b.service.Earlier.goneAttribute(t, name.Text); ok {
			b.wrongAt(name.At, "unknown-attribute", "%s", what).Hint = hint
			break
		}
		b.wrongAt(name.At, "unknown-attribute", "the template “%s” has no attribute “%s”", t.Name, name.Text).
			Hint = problem.Suggestion(name.Text, names)
	default:
		b.wrongAt(name.At, "shared-name", "the template “%s” has %d attributes called “%s”", t.Name, len(found), name.Text).
			Hint = "say which one is meant in the environments file: template_ids: {\"" + t.Name + "/" + name.Text + "\": its id}"
	}
	return AttributeTemplate{}, false
}

// attributeType settles the data type: the template's if it has one, else the
// mapping's, else Text, which is noted. A contradiction is a problem, and so is
// a type that nobody but the service gives and that is not the last run's: the
// type is "" then. number counts the attributes of unknown type from 1; 0 for a
// known type.
func (b *binder) attributeType(template string, a AttributeTemplate, attr *AttributeRule) (t convert.Type, number int) {
	wanted := convert.Type(attr.Value.Type.Text)
	if wanted == "" {
		b.types[template+"/"+attr.Name.Text] = cmp.Or(a.Type, convert.Text)
		if b.refuseRetyped(template, a, attr) {
			return "", 0
		}
	}
	switch {
	case a.Type == "" && wanted == "":
		return convert.Text, b.noteUntyped(template, attr)
	case a.Type == "":
		return wanted, 0
	case wanted != "" && wanted != a.Type:
		b.wrongAt(attr.Value.Type.At, "wrong-type", "the service says that “%s” of “%s” is a %s, not a %s", a.Name, template, a.Type, wanted).
			Hint = "leave type out, or write type: " + string(a.Type)
	}
	return a.Type, 0
}

// Template is an activity template of the service's reference data (service
// document, "Activity template").
type Template struct {
	ID         string
	Name       string
	Attributes []AttributeTemplate
}

// AttributeTemplate is an attribute template, nested in an activity template.
type AttributeTemplate struct {
	ID   string
	Name string
	// Type is the data type that the environment's answers give; "" when they give
	// none. (The service document shows no such field.)
	Type convert.Type
	// Options are the texts that a DropDown takes, when the environment's answers
	// give them; else nil. (The service document shows no such field.)
	Options []string
}

// StrayTemplateIDs warns of entries in the environment's template_ids that
// have no effect, because neither the service nor the mapping has a template
// or attribute of that name.
func StrayTemplateIDs(m *Mapping, service *Service) problem.List {
	var names []string
	for _, t := range service.Templates {
		names = append(names, t.Name)
		for _, a := range t.Attributes {
			names = append(names, t.Name+"/"+a.Name)
		}
	}
	known := slices.Clone(names)
	for _, a := range m.Activities {
		known = append(known, a.Template.Text)
		for _, attr := range a.Attributes {
			known = append(known, a.Template.Text+"/"+attr.Name.Text)
		}
	}
	var list problem.List
	for _, name := range slices.Sorted(maps.Keys(service.TemplateIDs)) {
		if !slices.Contains(known, name) {
			hint := "remove the entry"
			if nearest, ok := problem.Nearest(name, names); ok {
				hint = "did you mean “" + nearest + "”?"
			}
			list = append(list, problem.New("stray-template-id", "template_ids of the environment “%s” has an entry “%s”, and there is no such template or attribute",
				service.Environment, name).Hinted("%s", hint))
		}
	}
	return list
}

// Templates returns how many activity templates the mapping names.
func (m *Mapping) Templates() int {
	names := map[string]bool{}
	for _, a := range m.Activities {
		names[a.Template.Text] = true
	}
	return len(names)
}

// UnfilledAttributes warns of attributes of a back-filled activity's template that no
// key of the mapping fills, in one warning for each activity.
func UnfilledAttributes(m *Mapping, service *Service) problem.List {
	b := &binder{checker: checker{file: m.File}, mapping: m, service: service}
	var list problem.List
	for i := range m.Activities {
		a := &m.Activities[i]
		if a.Status == Open || len(a.Attributes) == 0 {
			continue
		}
		template, ok := b.template(a.Template)
		if !ok {
			continue // Bind reports it
		}
		filled := map[string]bool{}
		for _, attr := range a.Attributes {
			if found, ok := b.attribute(template, attr.Name); ok {
				filled[found.ID] = true
			}
		}
		var unfilled []string
		for _, attr := range template.Attributes {
			if !filled[attr.ID] {
				unfilled = append(unfilled, "“"+attr.Name+"”")
			}
		}
		if len(unfilled) > 0 {
			list = append(list, problem.At(m.At(a.Template.At), "unfilled-attributes", "no key fills the %s of the template “%s”", named("attribute", unfilled), a.Template.Text).
				Hinted("add keys for what the sheet knows; clients fill in the rest"))
		}
	}
	return list
}

// Where an environment reports the options of an attribute, a text that is not among them
// is a warning, not an error: the service document shows no options, so it does not say
// that the service refuses other texts, and what it would take must not be held back.

// optionsOf returns the options that limit the texts of an attribute; nil for none.
func optionsOf(a AttributeTemplate) []string {
	if a.Type != "" && a.Type.Field() != cell.StringValue {
		return nil
	}
	return a.Options
}

// UnlistedTexts warns of texts in the mapping that are not among the options of their
// attribute: constants, defaults, and what tables of values send.
func UnlistedTexts(m *Mapping, service *Service) problem.List {
	b := &binder{checker: checker{file: m.File}, mapping: m, service: service}
	var list problem.List
	for _, a := range m.Activities {
		if template, ok := b.template(a.Template); ok { // else Bind reports it
			for _, attr := range a.Attributes {
				if found, ok := b.attribute(template, attr.Name); ok {
					list = append(list, m.unlisted(attr.Name, &attr.Value, template.Name, optionsOf(found))...)
				}
			}
		}
	}
	return list
}

// unlisted warns of the texts of a rule that are not among the options.
func (m *Mapping) unlisted(name yamltree.Scalar, rule *ValueRule, template string, options []string) (list problem.List) {
	warn := func(at yamltree.Place, text string) {
		if text != "" && len(options) > 0 && !slices.Contains(options, text) {
			list = append(list, problem.At(m.At(at), "not-an-option", "“%s” is not an option of %s", text, attributeSubject(template, name.Text)).
				Hinted("%s", problem.Suggestion(text, options)))
		}
	}
	if rule.hasConstant {
		warn(rule.Constant.At, rule.Constant.Text)
	}
	if rule.Default != nil {
		warn(rule.Default.At, rule.Default.Text)
	}
	for _, from := range slices.Sorted(maps.Keys(rule.Values)) {
		warn(name.At, rule.Values[from])
	}
	if rule.Else != nil {
		warn(name.At, *rule.Else)
	}
	return list
}

// noteUnlisted warns of a cell whose text is not among the options of its attribute, and
// returns the warning; nil for none. What a table of values or a constant sends is warned
// of once, at the mapping.
func (r *rowConverter) noteUnlisted(a *boundAttribute, it fieldValue) *problem.Problem {
	text := it.value.Literal
	if len(a.options) == 0 || text == "" || len(it.source.Columns) == 0 || a.value.conv.Values != nil || slices.Contains(a.options, text) {
		return nil
	}
	sheet, column := &r.b.sheet, it.source.From()
	expected, option := problem.Suggestion(text, a.options)+":", "OPTION"
	if nearest, ok := nearestNew(text, a.options); ok {
		expected, option = "did you mean “"+nearest+"”?", yamltree.Quote(nearest)
	}
	p := problem.At(sheet.At(column, r.record.Row), "not-an-option", "%s holds a text that is not among the options of “%s”; it is sent as it is",
		sheet.ColumnLabel(column), a.value.label).
		Hinted("%s write an option in the cell, or translate the text in the mapping: values: {TEXT: %s}", expected, option)
	p.Seen, p.Warning = r.record.Cell(column).Shown, true
	r.row.Warnings = append(r.row.Warnings, p)
	return &p
}
