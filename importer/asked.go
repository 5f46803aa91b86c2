package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"claimsheet/importer/lookup"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// asked is what a step asks for, as the ledger keeps it: enough to tell what
// differs from night to night and whether a cell or the mapping made it so.
// It holds no ids, for those belong to templates that may be made anew.
type asked struct {
	Mapping  string            `json:"mapping"` // the mapping's name
	Template string            `json:"template,omitempty"`
	Status   string            `json:"status,omitempty"`
	Resumes  bool              `json:"resumes,omitempty"` // the status came from a cell
	Resume   askedCells        `json:"resume,omitzero"`   // that cell; older records have none
	Workflow *mapping.Workflow `json:"workflow,omitempty"`
	Values   []askedValue      `json:"values,omitempty"`

	// Of a client: how it was looked up, and all its addresses as addressKey
	// has them. Older records have neither.
	Lookup    *askedLookup `json:"lookup,omitempty"`
	Addresses []string     `json:"addresses,omitempty"`

	sources []mapping.Source // of Values; not kept
	resume  mapping.Source   // of Status; not kept
}

// askedValue is one field or attribute; Value is "" where its cells are empty.
type askedValue struct {
	Name  string `json:"name"`
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"`
	askedCells
	Fold bool `json:"fold,omitempty"` // case makes no difference
}

// askedLookup is how a client was looked up before it was asked for: in the
// format of that time, and by which addresses.
type askedLookup struct {
	Email   string   `json:"email,omitempty"`
	Phone   string   `json:"phone,omitempty"`
	Confirm bool     `json:"confirm,omitempty"`
	Asked   []string `json:"asked,omitempty"`
}

// askedCells are the cells that something came from; none for a constant.
type askedCells struct {
	Cells   []string `json:"cells,omitempty"`   // as a person reads them
	Columns []string `json:"columns,omitempty"` // as the mapping names them; older records have none
}

func (v askedValue) same(other askedValue) bool {
	if v.Fold || other.Fold {
		return v.Field == other.Field && strings.EqualFold(v.Value, other.Value)
	}
	return v.Field == other.Field && v.Value == other.Value
}

// ask is what a step of a plan asks for.
func ask(plan mapping.Plan, step *mapping.Step, mappingName string) *asked {
	a := &asked{Mapping: mappingName}
	n := len(step.Fields) + len(step.Omitted)
	if step.Activity != nil {
		n += len(step.Activity.Attributes)
	}
	a.Values, a.sources = make([]askedValue, 0, n+1), make([]mapping.Source, 0, n+1)
	add := func(name string, v cell.Value, src mapping.Source) {
		a.Values = append(a.Values, askedValue{name, string(v.Field), v.Literal, askedCells{src.Texts, src.Names}, src.FoldCase})
		a.sources = append(a.sources, src)
	}
	switch step.Kind {
	case mapping.ClientStep:
		for _, f := range step.Fields {
			add(strings.Join(f.Path, "."), f.Value, f.Source)
		}
		a.Addresses = lookup.Addresses(plan)
		a.Lookup = &askedLookup{plan.Lookup.Email, plan.Lookup.Phone, plan.Lookup.Confirm, lookup.Asked(plan.Lookup)}
	case mapping.ClaimStep:
		add("claimName", cell.Value{Field: cell.StringValue, Literal: step.Name}, step.NameSource)
	case mapping.ActivityStep:
		a.Template, a.Status = step.Activity.TemplateName, string(step.Activity.Status)
		a.resume = step.Activity.StatusSource
		a.Resumes, a.Resume = len(a.resume.Columns) > 0, askedCells{a.resume.Texts, a.resume.Names}
		if step.Activity.Workflow != (mapping.Workflow{}) {
			w := step.Activity.Workflow
			a.Workflow = &w
		}
		for _, attr := range step.Activity.Attributes {
			add(attr.Name, attr.Value, attr.Source)
		}
	}
	for _, empty := range step.Omitted {
		add(empty.Name, cell.Value{}, empty.Source)
	}
	return a
}

// digest is over what the service is told, without the workflow fields, which
// are fixed when the step is first sent, and without cells, which may be
// written in another way and say the same.
func (a asked) digest() string {
	told := asked{Template: a.Template, Status: a.Status}
	for _, v := range a.Values {
		if v.Fold {
			v.Value = strings.ToLower(v.Value)
		}
		if v.Value != "" {
			told.Values = append(told.Values, askedValue{Name: v.Name, Field: v.Field, Value: v.Value})
		}
	}
	slices.SortFunc(told.Values, func(x, y askedValue) int { return strings.Compare(x.Name, y.Name) })
	sum := sha256.Sum256(told.json())
	return hex.EncodeToString(sum[:])
}

func (a asked) json() []byte {
	data, err := json.Marshal(a)
	if err != nil {
		panic("importer: plain data that does not marshal: " + err.Error())
	}
	return data
}
