package mapping

import (
	"strings"

	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// Service is what a mapping is bound to: the environment's reference data and
// settings. Ids come from here and from nowhere else.
type Service struct {
	Environment                string // its name, for messages
	Templates                  []Template
	TemplateIDs                map[string]string // "Template" or "Template/Attribute" → id, for names that occur twice
	WorkflowTemplateIdentifier string            // the default for mappings; "" for none
	ContactIDs                 map[string]string // of the contacts that the mapping names by ClaimRule.AdministratorID
}

// Template is an activity template of the service's reference data (service document, "Activity template").
type Template struct {
	ID         string              `json:"id"`   // in the environment
	Name       string              `json:"name"` // which mappings use
	Attributes []AttributeTemplate `json:"attributes"`
}

// AttributeTemplate is an attribute template, nested in an activity template.
type AttributeTemplate struct {
	ID   string `json:"id"`   // in the environment
	Name string `json:"name"` // which mappings use
	// Type is the data type that the environment's answers give; "" when they give
	// none. (The service document shows no such field.)
	Type convert.Type `json:"type"`
	// Options are the texts that a DropDown takes, for first mappings and for studio, when the
	// environment's answers give them; else nil. (The service document shows no such field.)
	Options []string `json:"options,omitempty"`
}

// Templates returns how many activity templates the mapping names.
func (m *Mapping) Templates() int {
	names := map[string]bool{}
	for _, a := range m.Activities {
		names[a.Template.Text] = true
	}
	return len(names)
}

const (
	unknownTemplateCode  = "unknown-template"
	unknownAttributeCode = "unknown-attribute"
)

// findNamed returns the entry of the service that a name of the mapping means: the one with
// that name, however its accents are written, or with the id that template_ids gives for the
// path of the name, “Template” or “Template/Attribute”.
func findNamed[T any](b *binder, code, in, kind string, list []T, ident func(*T) (id, name string), name yamltree.Scalar, path string) (found T, ok bool) {
	chosen, isChosen := "", false
	for p, id := range b.service.TemplateIDs {
		if convert.Composed(p) == path {
			chosen, isChosen = id, true
		}
	}
	var names, ids []string
	for i := range list {
		id, is := ident(&list[i])
		names = append(names, is)
		if isChosen && strings.EqualFold(id, chosen) || !isChosen && convert.Composed(is) == name.Text {
			found, ids = list[i], append(ids, id)
		}
	}
	switch {
	case len(ids) == 1, len(ids) > 0 && isChosen:
		return found, true
	case isChosen:
		b.wrongAt(name.At, code, "%s has no %s with the id that template_ids gives for “%s”", in, kind, path).
			Hint = "correct template_ids in the environments file; “" + path + "” may have been deleted and created again"
	case len(ids) == 0:
		b.wrongAt(name.At, code, "%s has no %s “%s”", in, kind, name.Text).Hint = problem.Suggestion(name.Text, names)
	default:
		b.wrongAt(name.At, "shared-name", "%s has %d %ss called “%s”", in, len(ids), kind, name.Text).
			Hint = "say which one is meant in the environments file: template_ids: {\"" + path + "\": its id}; the ids are " + strings.Join(ids, ", ")
	}
	return found, false
}

// template finds an activity template by its name.
func (b *binder) template(name yamltree.Scalar) (Template, bool) {
	return findNamed(b, unknownTemplateCode, "the environment “"+b.service.Environment+"”", "activity template", b.service.Templates,
		func(t *Template) (string, string) { return t.ID, t.Name }, name, name.Text)
}

// attribute finds an attribute template by its name.
func (b *binder) attribute(t Template, name yamltree.Scalar) (AttributeTemplate, bool) {
	return findNamed(b, unknownAttributeCode, "the template “"+t.Name+"”", "attribute", t.Attributes,
		func(a *AttributeTemplate) (string, string) { return a.ID, a.Name }, name, convert.Composed(t.Name)+"/"+name.Text)
}

// attributeType is an attribute of an activity with its type settled: the template's if it
// has one, else the mapping's, else Text.
type attributeType struct {
	template  AttributeTemplate
	typ       convert.Type // where it is not known, that which its options are for
	isUntyped bool         // neither the service nor the mapping gives the type
}

// attributes finds the attributes of an activity and settles their types; a contradiction is
// a problem. It warns of the template's attributes that no key fills.
func (b *binder) attributes(rule *ActivityRule, template Template, known bool) []attributeType {
	list := make([]attributeType, len(rule.Attributes))
	filled := map[string]bool{}
	for i := range rule.Attributes {
		attr, wanted := &rule.Attributes[i], rule.Attributes[i].Value.Type
		list[i].typ = attr.Value.likelyType()
		if !known {
			continue
		}
		a, ok := b.attribute(template, attr.Name)
		if !ok {
			continue
		}
		filled[a.ID] = true
		list[i].template = a
		switch {
		case a.Type != "" && wanted.Text != "" && wanted.Text != string(a.Type):
			b.wrongAt(wanted.At, "wrong-type", "the service says that “%s” of “%s” is a %s, not a %s", a.Name, template.Name, a.Type, wanted.Text).
				Hint = "leave type out, or write type: " + string(a.Type)
			list[i].typ = a.Type
		case a.Type != "":
			list[i].typ = a.Type
		case wanted.Text == "":
			u := untypedAttribute{template.Name, attr}
			b.untyped, list[i].isUntyped = append(b.untyped, u), true
			if t := attr.Value.likelyType(); t != convert.Text {
				b.wrongAt(attr.Value.optionsAt(), "untyped", "%s, and it has an option of another type than Text", u.says()).
					Hint = u.cure(t, orText)
			}
		}
	}
	var unfilled []string
	for _, a := range template.Attributes {
		if !filled[a.ID] {
			unfilled = append(unfilled, "“"+a.Name+"”")
		}
	}
	if len(filled) > 0 && len(unfilled) > 0 && rule.Status != Open {
		b.warnAt(rule.Template.At, "unfilled-attributes", "no key fills the %s of the template “%s”", named("attribute", unfilled), rule.Template.Text).
			Hint = "add keys for what the sheet knows; clients fill in the rest"
	}
	return list
}
