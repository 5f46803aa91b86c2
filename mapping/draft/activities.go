package draft

import (
	"claimsheet/mapping"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem/yamltree"
	"slices"
	"strings"
)

// activities writes the templates in the service's order. Templates without an
// attribute that certainly has a column become comments.
func (w *writer) activities() {
	service := w.draft.Service
	if service == nil {
		w.line("\n# The service's templates are not known here: claimsheet init -e ENVIRONMENT fills them in.\n" +
			"# activities:\n#   - template: NAME OF A TEMPLATE\n#     attributes:\n#       NAME OF AN ATTRIBUTE: A column")
		return
	}
	var live, rest []mapping.Template
	for _, t := range service.Templates {
		if w.isMatched(t) {
			live = append(live, t)
		} else {
			rest = append(rest, t)
		}
	}
	if len(live) > 0 {
		w.line("")
		if w.draft.API == "v2" {
			w.workflow()
		}
		w.line("activities:   %sthe workflow's order; status: Open at the step where the client resumes", decide)
	}
	for i, t := range live {
		w.template("", t, i+1)
	}
	if len(rest) > 0 {
		w.line("\n# Templates without an attribute that certainly has a column:")
	}
	for _, t := range rest {
		w.template("# ", t, 0)
	}
}

// template writes one template with its attributes, each line after mark.
func (w *writer) template(mark string, t mapping.Template, number int) {
	note := ""
	if w.shared(t.Name) {
		note = "   # several have this name; template_ids of the environment says which one is meant"
	}
	w.line("%s  - template: %s%s", mark, yamltree.Quote(t.Name), note)
	if mark == "" && strings.Contains(t.Name, "@") { // an id cannot contain @
		w.line("    id: step %d", number)
	}
	if len(t.Attributes) > 0 {
		w.line("%s    attributes:", mark)
	}
	for _, a := range t.Attributes {
		w.attribute(mark, t, a)
	}
}

// workflow writes the two workflow fields of version 2.
func (w *writer) workflow() {
	w.line("workflow:")
	w.line("  name: %s   %sagreed with the service's operator", yamltree.Quote(strings.NewReplacer("{", "{{", "}", "}}").Replace(w.draft.Name)+" {run.date}"), decide)
	if w.draft.Service.WorkflowTemplateIdentifier == "" {
		w.line("  template_identifier: TO-BE-AGREED   %sthe service's operator supplies it", decide)
	}
	w.line("")
}

// isMatched reports whether an attribute of a template certainly has a column.
// A mapping cannot use a template's name that the service has twice.
func (w *writer) isMatched(t mapping.Template) bool {
	return !w.shared(t.Name) && slices.ContainsFunc(t.Attributes, func(a mapping.AttributeTemplate) bool {
		_, sure, _ := w.column(t, a)
		return sure
	})
}

func (w *writer) shared(template string) bool {
	n := 0
	for _, t := range w.draft.Service.Templates {
		if t.Name == template {
			n++
		}
	}
	return n > 1
}

func attributeShared(t mapping.Template, name string) bool {
	n := 0
	for _, a := range t.Attributes {
		if a.Name == name {
			n++
		}
	}
	return n > 1
}

// column is matchColumn for an attribute of a template.
func (w *writer) column(t mapping.Template, a mapping.AttributeTemplate) (column string, sure, ok bool) {
	if attributeShared(t, a.Name) {
		return "", false, false
	}
	return matchColumn(a.Name, w.columns)
}

// attribute writes one attribute: with its column, or as a comment with or
// without a guess.
func (w *writer) attribute(mark string, t mapping.Template, a mapping.AttributeTemplate) {
	column, sure, ok := w.column(t, a)
	switch {
	case sure && mark == "":
		w.line("      %s: %s   # %s", yamltree.Quote(a.Name), w.take(column), typeInWords(a.Type, column))
	case ok:
		w.line("      # %s: %s   %sis it this column? %s", yamltree.Quote(a.Name), yamltree.Quote(column), decide, typeInWords(a.Type, column))
	default:
		w.line("      # %s:   # %s", yamltree.Quote(a.Name), typeInWords(a.Type, "Column"))
	}
}

// typeInWords names a data type, and what its cells may need in order to be
// read.
func typeInWords(t convert.Type, column string) string {
	switch t {
	case "":
		return "sent as Text: the service reports no data types"
	case convert.Date, convert.DateTime:
		return string(t) + "; text cells need a format: {column: " + oneLine(column) + ", format: dd/mm/yyyy}"
	case convert.Checkbox:
		return string(t) + "; other words than yes and no need checked and unchecked"
	}
	return string(t)
}

// hasType reports whether an attribute of a type will be written.
func (w *writer) hasType(want convert.Type) bool {
	if w.draft.Service == nil {
		return false
	}
	for _, t := range w.draft.Service.Templates {
		for _, a := range t.Attributes {
			if _, sure, _ := w.column(t, a); sure && a.Type == want && w.isMatched(t) {
				return true
			}
		}
	}
	return false
}
