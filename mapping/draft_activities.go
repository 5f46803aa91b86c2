package mapping

import (
	"slices"
	"strings"
)

// activities writes the templates of which the sheet has any attribute, in the
// service's order; the others are named in comments.
func (w *draftWriter) activities() {
	service := w.draft.Service
	if service == nil || len(service.Templates) > 0 {
		w.line("")
	}
	if service == nil {
		w.line("# The service's templates are not known here: claimsheet init -e ENVIRONMENT fills them in.\n" +
			"# activities:\n#   - template: NAME OF A TEMPLATE\n#     attributes:\n#       NAME OF AN ATTRIBUTE: A column")
		return
	}
	templates := w.matched()
	if len(templates) > 0 {
		if w.draft.API == "v2" {
			w.workflow()
		}
		w.line("activities:   %sthe workflow's order; status: Open at the step where the client resumes", decide)
	}
	for i, t := range templates {
		w.line("  - template: %s", quote(t.Name))
		if strings.Contains(t.Name, "@") { // which an id cannot hold
			w.line("    id: step %d", i+1)
		}
		w.line("    attributes:")
		for _, a := range t.Attributes {
			w.attribute(a)
		}
	}
	for _, t := range service.Templates {
		switch {
		case w.shared(t.Name):
			w.line("# - template: %s   # several have this name; template_ids of the environment tells them apart", quote(oneLine(t.Name)))
		case !slices.ContainsFunc(templates, func(m Template) bool { return m.Name == t.Name }):
			w.line("# - template: %s   # no column is named like an attribute of it", quote(oneLine(t.Name)))
		}
	}
}

// workflow writes the two fields that activities of version 2 carry.
func (w *draftWriter) workflow() {
	w.line("workflow:")
	w.line("  name: %s   %sagreed with the service's operator", quote(strings.NewReplacer("{", "{{", "}", "}}").Replace(w.draft.Name)+" {run.date}"), decide)
	if w.draft.Service.WorkflowTemplateIdentifier == "" {
		w.line("  template_identifier: TO-BE-AGREED   %sthe service's operator supplies it", decide)
	}
	w.line("")
}

// matched are the templates that have an attribute in the sheet. Names that the
// service has twice cannot be named in a mapping without ids, and are left out.
func (w *draftWriter) matched() []Template {
	var found []Template
	for _, t := range w.draft.Service.Templates {
		if w.shared(t.Name) {
			continue
		}
		for _, a := range t.Attributes {
			if _, ok := w.column(t, a); ok {
				found = append(found, t)
				break
			}
		}
	}
	for i, t := range found {
		found[i].Attributes = slices.DeleteFunc(slices.Clone(t.Attributes), func(a AttributeTemplate) bool { return attributeShared(t, a.Name) })
	}
	return found
}

func (w *draftWriter) shared(template string) bool {
	n := 0
	for _, t := range w.draft.Service.Templates {
		if t.Name == template {
			n++
		}
	}
	return n > 1
}

func attributeShared(t Template, name string) bool {
	n := 0
	for _, a := range t.Attributes {
		if a.Name == name {
			n++
		}
	}
	return n > 1
}

// column is the column that an attribute of a template most likely means.
func (w *draftWriter) column(t Template, a AttributeTemplate) (string, bool) {
	if attributeShared(t, a.Name) {
		return "", false
	}
	return matchColumn(a.Name, w.columns)
}

// attribute writes one attribute: with its column, or as a comment.
func (w *draftWriter) attribute(a AttributeTemplate) {
	column, ok := matchColumn(a.Name, w.columns)
	if !ok {
		w.line("      # %s:   # no column is named like it%s", quote(oneLine(a.Name)), ofType(a.Type))
		return
	}
	hint := ""
	switch a.Type {
	case Date, DateTime:
		hint = "; text cells need a format, e.g. {column: " + oneLine(column) + ", format: dd/mm/yyyy}"
	case Checkbox:
		hint = "; other words than yes and no need checked and unchecked"
	}
	w.line("      %s: %s   # %s", quote(a.Name), w.take(column), strings.TrimPrefix(ofType(a.Type)+hint, ", "))
}

// ofType names a data type behind a comma.
func ofType(t Type) string {
	if t == "" {
		return ", sent as Text: the service tells no data type"
	}
	return ", " + string(t)
}

// hasType tells whether an attribute of a type will be written.
func (w *draftWriter) hasType(want Type) bool {
	if w.draft.Service == nil {
		return false
	}
	for _, t := range w.matched() {
		for _, a := range t.Attributes {
			if _, ok := w.column(t, a); ok && a.Type == want {
				return true
			}
		}
	}
	return false
}
