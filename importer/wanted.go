package importer

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// wanted is what a step asks for, as the ledger keeps it: enough to say what differs
// from one run to another, and whether a cell or the mapping made it differ. It has no
// template ids, because a template that is created again gets another one.
type wanted struct {
	Mapping  string            `json:"mapping"` // the mapping's name
	Template string            `json:"template,omitempty"`
	Status   string            `json:"status,omitempty"`
	Resume   sourceCells       `json:"resume,omitzero"` // the cell that the status came from
	Workflow *mapping.Workflow `json:"workflow,omitempty"`
	Values   []wantedValue     `json:"values,omitempty"`

	// Of a client: how it was looked up, and all its addresses as mapping.Addresses writes them.
	Lookup    *wantedLookup `json:"lookup,omitempty"`
	Addresses []string      `json:"addresses,omitempty"`

	own     string          // Mapping without the role of a contact; not kept
	payload []mapping.Value // what Values are made of; not kept
	resume  mapping.Source  // of Status; not kept
}

// SentTemplate returns the name of an activity's template, from Event.Data of its step. It is ""
// for other steps, and after a purge.
func SentTemplate(request []byte) string {
	var w wanted
	if json.Unmarshal(request, &w) != nil {
		return ""
	}
	return w.Template
}

// wantedValue is one field or attribute; Value is "" where its cells are empty.
type wantedValue struct {
	Name  string `json:"name"`
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"`
	sourceCells
	Fold bool `json:"fold,omitempty"` // case makes no difference
}

// wantedLookup is how a client was looked up before it was created.
type wantedLookup struct {
	Email string   `json:"email,omitempty"` // as it was sent; Phone too
	Phone string   `json:"phone,omitempty"`
	Mode  string   `json:"mode,omitempty"`
	Asked []string `json:"asked,omitempty"` // see askedBy
}

// sourceCells are the cells that a value came from; empty for a constant.
type sourceCells struct {
	Cells   []string `json:"cells,omitempty"`   // as a person reads them
	Columns []string `json:"columns,omitempty"` // as the mapping names them
}

// same reports whether two values mean the same: letters may be composed in one, and not in the other.
func (v wantedValue) same(other wantedValue) bool {
	one, two := convert.Composed(v.Value), convert.Composed(other.Value)
	return v.Field == other.Field && (one == two || (v.Fold || other.Fold) && strings.EqualFold(one, two))
}

// wantedOf returns what a step of a plan asks for.
func wantedOf(plan mapping.Plan, step *mapping.Step, mappingName string) *wanted {
	w := &wanted{Mapping: mappingName, own: mappingName, payload: step.Fields}
	if plan.Role != "" {
		w.Mapping += "/" + plan.Role // the same person has other values as a client
	}
	w.Values = make([]wantedValue, 0, len(w.payload))
	for _, v := range w.payload {
		w.Values = append(w.Values, wantedValue{v.Name, v.Value.Field, v.Value.Literal, sourceCells{v.Source.Texts, v.Source.Names}, v.Source.FoldCase})
	}
	switch step.Kind {
	case mapping.ClientStep:
		w.Addresses = mapping.Addresses(plan.Addresses)
		w.Lookup = &wantedLookup{plan.Lookup.Email, plan.Lookup.Phone, plan.Lookup.Mode, askedBy(plan.Lookup)}
	case mapping.ActivityStep:
		w.Template, w.Status = step.Activity.TemplateName, step.Activity.Status
		w.resume = step.Activity.StatusSource
		w.Resume = sourceCells{w.resume.Texts, w.resume.Names}
		if step.Activity.Workflow != (mapping.Workflow{}) {
			w.Workflow = new(step.Activity.Workflow)
		}
	}
	return w
}

// digest returns a digest of what is sent to the service, without the workflow fields, which
// are fixed when the step is first sent. Cells that are written in another way and mean the same
// have the same digest.
func (w wanted) digest() string {
	values := make([]wantedValue, 0, len(w.Values))
	for _, v := range w.Values {
		v.Value = convert.Composed(v.Value)
		if v.Fold {
			v.Value = strings.ToLower(v.Value)
		}
		if v.Value != "" {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, func(x, y wantedValue) int { return strings.Compare(x.Name, y.Name) })
	b := make([]byte, 0, 512)
	add := func(text string) {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	add(w.Template)
	add(w.Status)
	for _, v := range values {
		add(v.Name)
		add(v.Field)
		add(v.Value)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (w wanted) json() []byte {
	data, err := json.Marshal(w)
	if err != nil {
		panic("importer: plain data that does not marshal: " + err.Error())
	}
	return data
}

// differs compares what was wanted then with what is wanted now. It returns what differs because of a
// cell, in words: also what was not sent, because the person was created in another role, which has no
// value for it; but not for one who was found, for whom nothing was sent. byMapping reports whether the
// mapping made a difference: also a value that only then or only now has. What another mapping does not
// have, or takes from other columns, is no difference, because a client belongs to all mappings. The
// roles of one mapping are compared by value: otherwise what a person's other rows say would be lost.
func (now wanted) differs(then wanted, b *mapping.Binding, found bool) (edited []string, byMapping bool) {
	own, otherRole := now.Mapping == then.Mapping, now.inOtherRole(then)
	byMapping = own && now.Template != then.Template
	old := map[string]wantedValue{}
	for _, v := range then.Values {
		old[v.Name] = v
	}
	for i, v := range now.Values {
		was, known := old[v.Name]
		delete(old, v.Name)
		source := now.payload[i].Source
		switch {
		case known && v.same(was):
		case otherRole && (v.Value == "" || was.Value != "" && v.isDefault()):
		case otherRole && was.Value == "":
			if !found {
				edited = append(edited, "“"+v.Name+"” was not sent: "+cells(b, source))
			}
		case otherRole, known && v.edited(was.sourceCells, source, b):
			edited = append(edited, "“"+v.Name+"” differs: "+cells(b, source))
		default:
			byMapping = byMapping || own
		}
	}
	return edited, byMapping || own && len(old) > 0
}

// cells names the cells that a value came from.
func cells(b *mapping.Binding, src mapping.Source) string {
	if len(src.Columns) == 0 {
		return "a constant of the mapping"
	}
	at := make([]string, len(src.Columns))
	for i, column := range src.Columns {
		at[i] = b.At(column, src.Row).String()
	}
	return strings.Join(at, ", ")
}

// inOtherRole reports whether then is of another role of the same mapping: the person was created as
// a client, or as a contact of another entry.
func (now wanted) inOtherRole(then wanted) bool {
	return now.Mapping != then.Mapping && (then.Mapping == now.own || strings.HasPrefix(then.Mapping, now.own+"/"))
}

// isDefault reports whether the mapping gives a value because its cells are empty.
func (v wantedValue) isDefault() bool {
	return len(v.Cells) > 0 && strings.TrimSpace(strings.Join(v.Cells, "")) == ""
}

// movedByCell reports whether an activity has another status because of the cell that
// says where the client resumes. Such a cell can only open an activity or close it.
func (now wanted) movedByCell(then wanted, b *mapping.Binding) bool {
	open := mapping.Open
	return (now.Status == open || then.Status == open) && now.Resume.edited(then.Resume, now.resume, b)
}

// edited reports whether a cell was edited. Where the mapping now reads another column, the mapping
// made the difference, unless the column that it read then is gone: that column was renamed.
func (now sourceCells) edited(then sourceCells, source mapping.Source, b *mapping.Binding) bool {
	if len(now.Cells) == 0 || len(then.Cells) == 0 { // a constant, now or then
		return false
	}
	was := make(map[string]string, len(then.Columns))
	for i, column := range then.Columns {
		was[column] = then.Cells[i]
	}
	var others []string // what is in columns that were not read then
	for i, column := range now.Columns {
		text, both := was[column]
		switch {
		case !both:
			others = append(others, now.Cells[i])
		case text != now.Cells[i]:
			return true
		}
	}
	for column, text := range was {
		if !slices.Contains(now.Columns, column) && !slices.Contains(others, text) && !b.HasColumn(column, source.Row) {
			return true
		}
	}
	return false
}

// Preview returns the requests that would carry out a plan's steps, in their order, for
// people to look at: “«id of …»” stands for each id that only the service's answers
// give. linkBody is the body of a magic link, nil for none.
func Preview(plan mapping.Plan, routes apiclient.Routes, linkBody json.RawMessage) []apiclient.Request {
	known := map[string]string{}
	for i := range plan.Steps {
		step, of := &plan.Steps[i], "client"
		switch step.Kind {
		case mapping.ClaimStep:
			of = "claim " + step.Name
		case mapping.ContactStep:
			of = "contact " + step.Contact.Role
		}
		known[step.Key] = "«id of the " + of + "»"
	}
	list := make([]apiclient.Request, len(plan.Steps))
	for i := range plan.Steps {
		list[i] = requestOf(routes, linkBody, &plan.Steps[i], func(key string) string { return known[key] })
	}
	return list
}

func requestOf(routes apiclient.Routes, linkBody json.RawMessage, step *mapping.Step, idOf func(key string) string) apiclient.Request {
	person := func(key string) string { return idOf(cmp.Or(key, string(mapping.ClientStep))) }
	switch step.Kind {
	case mapping.ClientStep, mapping.ContactStep:
		return routes.CreateClient(clientBody(step.Fields), !step.NotAdministrator)
	case mapping.ClaimStep:
		claimants := []string{person("")}
		if step.Claimants != nil {
			claimants = claimants[:0]
			for _, key := range step.Claimants {
				claimants = append(claimants, person(key))
			}
		}
		return routes.CreateClaim(cmp.Or(step.AdministratorID, person(step.Administrator)), claimants, step.Name)
	case mapping.LinkStep:
		return routes.CreateLink(person(""), linkBody)
	}
	return routes.CreateActivity(person(step.On), idOf(step.Claim), activityOf(step))
}

func activityOf(step *mapping.Step) apiclient.Activity {
	a := step.Activity
	out := apiclient.Activity{
		TemplateID: a.TemplateID, Status: a.Status,
		WorkflowName: a.Workflow.Name, WorkflowTemplateIdentifier: a.Workflow.TemplateIdentifier,
	}
	if a.Status != mapping.Open { // a back-filled activity has the field, even when its template has no attributes
		out.Attributes = make([]apiclient.Attribute, 0, len(step.Fields))
	}
	for _, attr := range step.Fields {
		if !attr.Value.IsZero() {
			out.Attributes = append(out.Attributes, apiclient.Attribute{TemplateID: attr.TemplateID, Field: attr.Value.Field, Value: attr.Value.JSON()})
		}
	}
	return out
}

// clientBody returns the create payload: the fields in the mapping's order, dotted names as nested
// objects.
func clientBody(fields []mapping.Value) json.RawMessage {
	var b bytes.Buffer
	fields = slices.DeleteFunc(slices.Clone(fields), func(f mapping.Value) bool { return f.Value.IsZero() })
	writeFields(&b, fields, "")
	return b.Bytes()
}

// writeFields writes the fields below a path, which ends with a dot, as one object.
func writeFields(b *bytes.Buffer, fields []mapping.Value, path string) {
	b.WriteByte('{')
	for first := true; len(fields) > 0; first = false {
		name, _, isNested := strings.Cut(fields[0].Name[len(path):], ".")
		var named, others []mapping.Value
		for _, f := range fields {
			if f.Name == path+name || strings.HasPrefix(f.Name, path+name+".") {
				named = append(named, f)
			} else {
				others = append(others, f)
			}
		}
		if !first {
			b.WriteByte(',')
		}
		b.Write(cell.QuoteJSON(name))
		b.WriteByte(':')
		if isNested {
			writeFields(b, named, path+name+".")
		} else {
			b.Write(named[0].Value.JSON())
		}
		fields = others
	}
	b.WriteByte('}')
}
