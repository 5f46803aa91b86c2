package mapping

import (
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// Untyped is an attribute of the mapping whose data type neither the service
// nor the mapping says. It is sent as Text, which must not go unnoticed.
type Untyped struct {
	Template  string // the activity template's name
	Attribute string
	At        problem.Where // in the mapping file

	rule *ValueRule
}

// Name is Template/Attribute.
func (u Untyped) Name() string { return u.Template + "/" + u.Attribute }

// warning says that the attribute is sent as Text, and how to say its type.
func (u Untyped) warning() problem.Problem {
	return problem.At(u.At, "untyped", "neither the service nor the mapping says the type of “%s” of “%s”: it is sent as Text", u.Attribute, u.Template).
		Hinted("say what it is: %s", u.yaml(convert.Text))
}

// yaml is what to write in the mapping to give the attribute a type.
func (u Untyped) yaml(t convert.Type) string {
	if source := u.rule; source.Column.Text != "" && source.At == source.Column.At { // a bare column
		return yamltree.Quote(u.Attribute) + ": {column: " + yamltree.Quote(source.Column.Text) + ", type: " + string(t) + "}"
	}
	return "add type: " + string(t) + " to “" + u.Attribute + "”"
}

// Untyped lists the attributes whose type nobody says, as the mapping lists
// them.
func (b *Binding) Untyped() []Untyped { return b.untyped }

// noteUntyped notes an attribute whose type nobody says, once for each place in
// the mapping, and returns its number from 1. What the mapping itself says in a
// typed way, or reads by an option that only another type has, is an error.
func (b *binder) noteUntyped(template string, attr *AttributeRule) int {
	at := problem.Where{File: b.file, Line: attr.Name.At.Line, Column: attr.Name.At.Column}
	for i, u := range b.untyped {
		if u.At == at { // the same attribute on another claims entry
			return i + 1
		}
	}
	u := Untyped{Template: template, Attribute: attr.Name.Text, At: at, rule: &attr.Value}
	b.untyped = append(b.untyped, u)
	rule := &attr.Value
	refuse := func(at yamltree.Place, what string, t convert.Type) {
		b.wrongAt(at, "untyped", "neither the service nor the mapping says the type of “%s” of “%s”, and %s", u.Attribute, template, what).
			Hint = "say what it is: " + u.yaml(t) + textInstead
	}
	if t := rule.likelyType(); t != convert.Text {
		refuse(rule.optionsAt(), "it has an option of another type than Text", t)
	}
	if rule.hasConstant && rule.constantKind != cell.Text {
		refuse(rule.Constant.At, "its constant is "+kindInWords(rule.constantKind)+", which would be sent as Text", likelyType(rule.constantKind, cell.Cell{}))
	}
	if rule.Default != nil && rule.defaultKind != cell.Text {
		refuse(rule.Default.At, "its default is "+kindInWords(rule.defaultKind)+", which would be sent as Text", likelyType(rule.defaultKind, cell.Cell{}))
	}
	return len(b.untyped)
}

const textInstead = "; where it is a text all the same, type: Text"

// likelyType is the type that the options of a value are for.
func (v *ValueRule) likelyType() convert.Type {
	switch {
	case v.Type.Text != "":
		return convert.Type(v.Type.Text)
	case v.Format.Text != "":
		return convert.Date
	case v.Checked != nil || v.Unchecked != nil:
		return convert.Checkbox
	}
	return convert.Text
}

// isTyped reports that a file says more of a cell than that it is a text.
func isTyped(k cell.Kind) bool { return k == cell.Number || k == cell.Date || k == cell.Bool }

func kindInWords(k cell.Kind) string {
	switch k {
	case cell.Number:
		return "a number"
	case cell.Date:
		return "a date"
	case cell.Bool:
		return "a boolean"
	}
	return "a text"
}

// likelyType is the type to propose for a cell, or for a constant where there is
// none.
func likelyType(k cell.Kind, c cell.Cell) convert.Type {
	switch k {
	case cell.Number:
		if strings.ContainsAny(c.Format, "$£€¥") {
			return convert.Currency
		}
		return convert.Number
	case cell.Date:
		if strings.Contains(c.Shown, ":") {
			return convert.DateTime
		}
		return convert.Date
	case cell.Bool:
		return convert.Checkbox
	}
	return convert.Text
}
