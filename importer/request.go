package importer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"claimsheet/apiclient"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// request is the call that carries a step out.
func (j *Job) request(step *mapping.Step, known ids) apiclient.Request {
	return requestOf(j.Service.Routes(), j.Service.LinkBody(), step, known)
}

// Preview returns the requests that would carry out a plan's steps, in their order, for
// people to look at: “«id of …»” stands for each id that only the service's answers
// give. linkBody is the body of a magic link, nil for none.
func Preview(plan mapping.Plan, routes apiclient.Routes, linkBody json.RawMessage) []apiclient.Request {
	known := ids{client: "«id of the client»", claims: map[string]string{}, contacts: map[string]string{}}
	for i := range plan.Steps {
		switch step := &plan.Steps[i]; step.Kind {
		case mapping.ClaimStep:
			known.claims[step.Key] = "«id of the claim " + step.Name + "»"
		case mapping.ContactStep:
			known.contacts[step.Key] = "«id of the contact " + step.Contact.Role + "»"
		}
	}
	list := make([]apiclient.Request, len(plan.Steps))
	for i := range plan.Steps {
		list[i] = requestOf(routes, linkBody, &plan.Steps[i], known)
	}
	return list
}

func requestOf(routes apiclient.Routes, linkBody json.RawMessage, step *mapping.Step, known ids) apiclient.Request {
	switch step.Kind {
	case mapping.ClientStep, mapping.ContactStep:
		return routes.CreateClient(clientBody(step.Fields), !step.NotAdministrator)
	case mapping.ClaimStep:
		claimants := []string{known.client}
		if step.Claimants != nil {
			claimants = claimants[:0]
			for _, key := range step.Claimants {
				claimants = append(claimants, known.contactID(key))
			}
		}
		return routes.CreateClaim(cmp.Or(step.AdministratorID, known.contactID(step.Administrator)), claimants, step.Name)
	case mapping.LinkStep:
		return routes.CreateLink(known.client, linkBody)
	}
	return routes.CreateActivity(known.contactID(step.On), known.claims[step.Claim], activityOf(step.Activity))
}

// contactID is the id of the client or of a further contact, by the key of the contact's step.
func (known ids) contactID(step string) string {
	if step == "" || step == string(mapping.ClientStep) {
		return known.client
	}
	return known.contacts[step]
}

func activityOf(a *mapping.Activity) apiclient.Activity {
	out := apiclient.Activity{
		TemplateID: a.TemplateID, Status: string(a.Status),
		WorkflowName: a.Workflow.Name, WorkflowTemplateIdentifier: a.Workflow.TemplateIdentifier,
	}
	if a.Status != mapping.Open { // a back-filled activity has the field, even when its template has no attributes
		out.Attributes = make([]apiclient.Attribute, 0, len(a.Attributes))
	}
	for _, attr := range a.Attributes {
		out.Attributes = append(out.Attributes, apiclient.Attribute{
			TemplateID: attr.TemplateID, Field: string(attr.Value.Field), Value: attr.Value.JSON(),
		})
	}
	return out
}

// clientBody is the create payload: the fields in the mapping's order, dotted
// names as nested objects and arrays.
func clientBody(fields []mapping.Field) json.RawMessage {
	var b bytes.Buffer
	writeFields(&b, fields, 0)
	return b.Bytes()
}

// writeFields writes the fields that share their first depth names as one object
// or array. An element of an array of which no field has a value is left out.
func writeFields(b *bytes.Buffer, fields []mapping.Field, depth int) {
	ends := "{}"
	if len(fields) > 0 {
		if _, isArray := fields[0].Index(depth); isArray {
			ends = "[]"
			fields = slices.SortedStableFunc(slices.Values(fields), func(f, g mapping.Field) int {
				i, _ := f.Index(depth)
				j, _ := g.Index(depth)
				return i - j
			})
		}
	}
	b.WriteByte(ends[0])
	written := map[string]bool{}
	for _, f := range fields {
		name := f.Path[depth]
		if written[name] {
			continue
		}
		if len(written) > 0 {
			b.WriteByte(',')
		}
		written[name] = true
		if ends == "{}" {
			b.Write(cell.QuoteJSON(name))
			b.WriteByte(':')
		}
		if len(f.Path) == depth+1 {
			b.Write(f.Value.JSON())
			continue
		}
		var inside []mapping.Field
		for _, other := range fields {
			if other.Path[depth] == name {
				inside = append(inside, other)
			}
		}
		writeFields(b, inside, depth+1)
	}
	b.WriteByte(ends[1])
}
