package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"claimsheet/mapping"
)

// asked is what a step asks for, as the ledger keeps it: enough to tell what
// differs from night to night and whether a cell or the mapping made it so.
// It holds no ids, for those belong to templates that may be made anew.
type asked struct {
	Mapping  string            `json:"mapping"` // digest of the mapping file
	Template string            `json:"template,omitempty"`
	Status   string            `json:"status,omitempty"`
	Workflow *mapping.Workflow `json:"workflow,omitempty"`
	Values   []askedValue      `json:"values,omitempty"`

	sources []mapping.Source // of Values; not kept
}

// askedValue is one field or attribute.
type askedValue struct {
	Name  string   `json:"name"`
	Field string   `json:"field"`
	Value string   `json:"value"`
	Cells []string `json:"cells,omitempty"` // as a person reads them; none for a constant
}

func ask(step mapping.Step, mappingDigest string) asked {
	a := asked{Mapping: mappingDigest}
	add := func(name string, v mapping.Value, src mapping.Source) {
		a.Values = append(a.Values, askedValue{name, string(v.Field), v.Literal, src.Texts})
		a.sources = append(a.sources, src)
	}
	switch step.Kind {
	case mapping.ClientStep:
		for _, f := range step.Fields {
			add(strings.Join(f.Path, "."), f.Value, f.Source)
		}
	case mapping.ClaimStep:
		add("claimName", mapping.Value{Field: mapping.StringValue, Literal: step.Name}, step.NameSource)
	case mapping.ActivityStep:
		a.Template, a.Status = step.Activity.TemplateName, string(step.Activity.Status)
		if step.Activity.Workflow != (mapping.Workflow{}) {
			w := step.Activity.Workflow
			a.Workflow = &w
		}
		for _, attr := range step.Activity.Attributes {
			add(attr.Name, attr.Value, attr.Source)
		}
	}
	return a
}

// digest is over what the service is told, without the workflow fields, which
// are fixed when the step is first sent, and without cells, which may be
// written in another way and say the same.
func (a asked) digest() string {
	told := asked{Template: a.Template, Status: a.Status}
	for _, v := range a.Values {
		v.Cells = nil
		told.Values = append(told.Values, v)
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

// difference is what a done step's data differ in from what is asked now.
type difference struct {
	cells   []cellChange
	mapping bool // the mapping asks for something else than it did
	status  bool // an activity is wanted in another status
}

type cellChange struct {
	name   string
	source mapping.Source // zero when the cell is now empty
}

// differs compares what was asked then with what is asked now. A value whose
// cells read the same was changed by the mapping; so was one that only one of
// two different mapping files has.
func (now asked) differs(then asked) difference {
	d := difference{status: now.Status != then.Status, mapping: now.Template != then.Template}
	old := map[string]askedValue{}
	for _, v := range then.Values {
		old[v.Name] = v
	}
	for i, v := range now.Values {
		was, known := old[v.Name]
		delete(old, v.Name)
		switch {
		case known && was.Value == v.Value && was.Field == v.Field:
		case known && slices.Equal(was.Cells, v.Cells), !known && then.Mapping != now.Mapping:
			d.mapping = true
		default:
			d.cells = append(d.cells, cellChange{v.Name, now.sources[i]})
		}
	}
	for _, v := range then.Values { // what is left of old was filled then and is empty now
		if _, gone := old[v.Name]; gone && then.Mapping == now.Mapping {
			d.cells = append(d.cells, cellChange{name: v.Name})
		} else if gone {
			d.mapping = true
		}
	}
	return d
}
