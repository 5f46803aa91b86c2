package mapping

import (
	"cmp"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem/yamltree"
)

func (b *binder) bindActivities(bound *Binding) {
	order := 0
	for i := range b.mapping.Activities {
		rule := &b.mapping.Activities[i]
		a := boundActivity{rule: rule, perScope: make([]*boundPayload, 1+len(b.mapping.Claims)), order: -1}
		if !rule.Assigned {
			a.order = order
			order++
		}
		known := true
		if b.service != nil {
			a.template, known = b.template(rule.Template)
		}
		scopes := []int{clientScope}
		if rule.On.Text != "client" {
			a.on = b.claimEntries(rule.On.Text)
			scopes = a.on
		}
		for _, scope := range scopes {
			a.perScope[1+scope] = b.payload(rule, a.template, known, scope)
		}
		bound.acts = append(bound.acts, a)
	}
}

// claimEntries are the indexes of the claims entries that `on` reaches.
func (b *binder) claimEntries(on string) []int {
	var entries []int
	for i, c := range b.mapping.Claims {
		if on == "claim" || on == c.ID.Text {
			entries = append(entries, i)
		}
	}
	return entries
}

func (b *binder) payload(rule *ActivityRule, template Template, known bool, scope int) *boundPayload {
	var aliases map[string]yamltree.Scalar
	if scope != clientScope {
		aliases = b.mapping.Claims[scope].Columns
	}
	p := &boundPayload{when: b.condition(rule.When, aliases)}
	for i := range rule.Attributes {
		attr := &rule.Attributes[i]
		var found AttributeTemplate
		typ, untyped := convert.Type(attr.Value.Type.Text), 0 // "" stays where there is nothing that could say it
		if b.service != nil && known {
			var ok bool
			if found, ok = b.attribute(template, attr.Name); ok {
				typ, untyped = b.attributeType(template.Name, found, attr)
			}
		}
		if untyped > 0 && attr.Value.likelyType() != convert.Text { // which is an error already
			typ = ""
		}
		v := b.value(attr.Name.Text, &attr.Value, typ, aliases)
		v.untyped = untyped
		p.attributes = append(p.attributes, boundAttribute{found.ID, v})
	}
	if !b.mapping.V1() {
		p.workflow, p.identifier = b.workflow(rule, aliases)
	}
	return p
}

// workflow settles the two workflow fields: the activity's own, else the
// mapping's; the identifier may come from the environment.
func (b *binder) workflow(rule *ActivityRule, aliases map[string]yamltree.Scalar) (boundValue, string) {
	name := rule.Workflow.Name
	if name.Text == "" {
		name = b.mapping.Workflow.Name
	}
	v := boundValue{label: "workflow name", required: true, conv: convert.Converter{Type: convert.Text}}
	if t, err := parseTemplateText(name.Text); err == nil && name.Text != "" {
		v.text = t.settle(map[string]string{"sheet": b.sheetName(), "run.date": b.runDate})
		v.places = b.places(v.text, name.At, aliases)
		v.columns, v.names = placeColumns(v.text, v.places)
	}
	if len(v.columns) == 0 {
		v.constant = &cell.Value{Field: cell.StringValue, Literal: v.text.fill(func(string) string { return "" })}
	}

	identifier := rule.Workflow.TemplateIdentifier.Text
	if identifier == "" {
		identifier = b.mapping.Workflow.TemplateIdentifier.Text
	}
	if identifier == "" && b.service != nil {
		identifier = b.service.WorkflowTemplateIdentifier
		if identifier == "" {
			b.wrongAt(rule.Template.At, "no-workflow", "“%s” has no workflow template identifier, which every activity of version 2 carries", rule.Template.Text).
				Hint = "the service's operator supplies it: write it as workflow.template_identifier, or as workflow_template_identifier of the environment"
		}
	}
	return v, identifier
}

func (b *binder) sheetName() string {
	if b.sheet == nil {
		return ""
	}
	return cmp.Or(b.sheet.Origin, b.sheet.Name)
}

// bindResume finds where the client resumes, by the activities' order.
func (b *binder) bindResume(bound *Binding) {
	rule := b.mapping.ResumeAt
	if rule == nil {
		return
	}
	r := boundResume{given: true, column: -1, orders: map[string]int{}}
	for _, a := range bound.acts {
		if _, twice := r.orders[a.rule.Template.Text]; a.order >= 0 && !twice {
			r.orders[a.rule.Template.Text] = a.order
		}
	}
	if rule.Column.Text != "" {
		r.column, _ = b.column(rule.Column, nil)
	} else {
		r.order = r.orders[rule.Template.Text] // checked by Parse
	}
	bound.resume = r
}
