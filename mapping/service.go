package mapping

import (
	"slices"
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

const (
	unknownTemplateCode  = "unknown-template"
	unknownAttributeCode = "unknown-attribute"
)

// Templates returns how many activity templates the mapping names.
func (m *Mapping) Templates() int {
	names := map[string]bool{}
	for _, a := range m.Activities {
		names[a.Template.Text] = true
	}
	return len(names)
}

// findNamed returns the entry of the service that a name of the mapping means: the one with
// that name, however its accents are written, or with the id that template_ids gives for the
// path of the name, “Template” or “Template/Attribute”.
func findNamed[T any](b *binder, code, in, kind string, list []T, ident func(*T) (id, name string), name yamltree.Scalar,
	path string) (found T, ok bool) {
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

// attribute finds the template of an attribute and settles its type: the template's if it has one, else
// the mapping's, else Text; likely is the one that the attribute's options are for. A contradiction is a problem.
// isUntyped reports that neither the service nor the mapping gives the type.
func (b *binder) attribute(t Template, attr *FieldRule, likely convert.Type) (found AttributeTemplate, typ convert.Type, isUntyped bool) {
	wanted := attr.Value.Type
	found, ok := findNamed(b, unknownAttributeCode, "the template “"+t.Name+"”", "attribute", t.Attributes,
		func(a *AttributeTemplate) (string, string) { return a.ID, a.Name }, attr.Name, convert.Composed(t.Name)+"/"+attr.Name.Text)
	switch {
	case !ok:
		return AttributeTemplate{}, likely, false
	case found.Type != "":
		if wanted.Text != "" && wanted.Text != string(found.Type) {
			b.wrongAt(wanted.At, "wrong-type", "the service says that “%s” of “%s” is a %s, not a %s", found.Name, t.Name, found.Type, wanted.Text).
				Hint = "leave type out, or write type: " + string(found.Type)
		}
		return found, found.Type, false
	case wanted.Text != "":
		return found, likely, false
	}
	u := untypedAttribute{t.Name, attr}
	if !slices.Contains(b.untyped, u) { // it may be on several claims entries
		b.untyped = append(b.untyped, u)
	}
	if likely != convert.Text {
		b.wrongAt(attr.Value.optionsAt(), "untyped", "%s, and it has an option of another type than Text", u.says()).Hint = u.cure(likely, orText)
	}
	return found, likely, true
}
