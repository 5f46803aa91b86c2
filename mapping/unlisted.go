package mapping

import (
	"maps"
	"slices"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

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

// noteUnlisted warns of a cell whose text is not among the options of its attribute. What
// a table of values or a constant sends is warned of once, at the mapping.
func (r *rowConverter) noteUnlisted(a *boundAttribute, it fieldValue) {
	text := it.value.Literal
	if len(a.options) == 0 || text == "" || len(it.source.Columns) == 0 || a.value.conv.Values != nil || slices.Contains(a.options, text) {
		return
	}
	sheet, column := &r.b.sheet, it.source.from()
	expected, option := problem.Suggestion(text, a.options)+":", "OPTION"
	if nearest, ok := nearestNew(text, a.options); ok {
		expected, option = "did you mean “"+nearest+"”?", yamltree.Quote(nearest)
	}
	p := problem.At(sheet.At(column, r.record.Row), "not-an-option", "%s holds a text that is not among the options of “%s”; it is sent as it is",
		sheet.ColumnLabel(column), a.value.label).
		Hinted("%s write an option in the cell, or translate the text in the mapping: values: {TEXT: %s}", expected, option)
	p.Seen, p.Warning = r.record.Cell(column).Shown, true
	r.row.Warnings = append(r.row.Warnings, p)
}
