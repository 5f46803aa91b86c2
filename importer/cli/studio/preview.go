package studio

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"claimsheet/importer/cli/load"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/yamlpatch"
)

// A preview shows the first rows, and counts over some more.
const (
	previewShown   = 20
	previewCounted = 2000
)

// previewJSON is what a rule makes of the rows.
type previewJSON struct {
	Format   string           `json:"format,omitempty"` // of a reading
	Rows     []map[string]any `json:"rows"`
	Usable   int              `json:"usable"`
	Errors   int              `json:"errors"`
	Empty    int              `json:"empty"`
	Readings []previewJSON    `json:"readings,omitempty"` // how the same cells are read with other date formats
	Error    *problemJSON     `json:"error,omitempty"`    // why the rule cannot be tried

	typ convert.Type
}

// dateFormats are the formats that a date in a text is tried with.
var dateFormats = []string{"dd/mm/yyyy", "mm/dd/yyyy", "dd.mm.yyyy", "dd-mm-yyyy", "mm-dd-yyyy", "dd/mm/yy", "mm/dd/yy", "d mmm yyyy",
	"dd mmm yyyy", "yyyy/mm/dd", "dd/mm/yyyy hh:mm"}

func getPreview(v view, r *http.Request) (any, error) {
	var in struct {
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	rule := v.asField(yamlpatch.Operation{Op: "add", Path: in.Path, Value: in.Value})
	made, err := v.preview(rule)
	if err != nil || made.typ != convert.Date && made.typ != convert.DateTime || made.Error != nil {
		return made, err
	}
	operations := []yamlpatch.Operation{rule}
	if v.mapping.Sheet.Timezone.Text == "" { // without a zone no date-time can be read; which one does not change which format fits
		operations = append(operations, yamlpatch.Operation{Op: "add", Path: "/sheet/timezone", Value: cell.QuoteJSON("Europe/London")})
	}
	for _, format := range dateFormats {
		operations[0].Value = withFormat(in.Value, format)
		other, err := v.preview(operations...)
		if err != nil {
			return nil, err
		}
		if other.Error == nil && other.Usable > 0 && (other.Usable >= made.Usable || 2*other.Usable >= other.Usable+other.Errors) {
			other.Format = format
			made.Readings = append(made.Readings, other)
		}
	}
	slices.SortStableFunc(made.Readings, func(a, b previewJSON) int { return a.Errors - b.Errors })
	made.Readings = made.Readings[:min(len(made.Readings), 4)]
	return made, nil
}

// asField returns the rule of a condition, or of a claim's or workflow's name, as a field of the client that reads the same, because rows
// are read for fields; other rules as they are.
func (v view) asField(rule yamlpatch.Operation) yamlpatch.Operation {
	path := tokens(rule.Path)
	var text string
	if json.Unmarshal(rule.Value, &text) != nil || isValue(path) {
		return rule
	}
	field := map[string]string{"type": "Text"}
	switch last := path[len(path)-1]; {
	case last == "when":
		field["expr"] = "(" + text + ") ? \"yes\" : \"no\""
	case last == "name" && len(path) > 1 && path[0] != "sheet":
		field["text"] = strings.NewReplacer("{run.date}", load.Today(v.mapping), "{sheet}", v.book.table.Name).Replace(text)
	default:
		return rule
	}
	value, _ := json.Marshal(field) // texts
	return yamlpatch.Operation{Op: "add", Path: "/client/fields/preview", Value: value}
}

func withFormat(rule json.RawMessage, format string) json.RawMessage {
	object := map[string]json.RawMessage{}
	if json.Unmarshal(rule, &object) != nil || object == nil {
		object = map[string]json.RawMessage{"column": rule}
	}
	object["format"] = cell.QuoteJSON(format)
	data, _ := json.Marshal(object) // it was JSON
	return data
}

// preview tries the rule of the first operation on the first rows. Rules that it does not need may have mistakes.
func (v view) preview(operations ...yamlpatch.Operation) (previewJSON, error) {
	made := previewJSON{Rows: []map[string]any{}}
	text, err := apply(v.text, operations)
	if err != nil {
		return made, err
	}
	a := analyse(v.mapping.File, text, v.book, v.options.Service)
	at := -1
	wanted := resolve(a.doc, tokens(operations[0].Path))
	if a.bound != nil {
		at = slices.IndexFunc(a.bound.Targets, func(t mapping.Target) bool { return slices.Equal(t.Path, wanted) })
	}
	if at < 0 {
		made.Error = a.complaint(yamlpatch.Pointer(wanted...))
		return made, nil
	}
	made.typ = a.bound.Targets[at].Type
	return made, v.book.rows.Read(v.book.places[:min(len(v.book.places), previewCounted)], func(record cell.Record) {
		for _, reading := range a.bound.Convert(record).Readings {
			if reading.Target == at {
				made.add(record, reading)
				break
			}
		}
	})
}

// add counts a reading, and shows it when it is among the first.
func (made *previewJSON) add(record cell.Record, reading mapping.Reading) {
	one := map[string]any{"row": record.Row, "source": strings.Join(reading.Source.Texts, " | "), "result": nil, "problem": nil}
	switch {
	case reading.Wrong != nil:
		made.Errors++
		one["problem"] = inPage(*reading.Wrong)
	case reading.Value.IsZero():
		made.Empty++
	default:
		made.Usable++
		one["result"] = reading.Value.Literal
	}
	if len(made.Rows) < previewShown {
		made.Rows = append(made.Rows, one)
	}
}

// complaint returns why the rule at a path cannot be tried: a problem of it, or else the first one of the mapping.
func (a *analysis) complaint(path string) *problemJSON {
	shown := append(a.show(a.problems), problemJSON{Code: "not-tried", Message: "this is not read from the rows, so there is nothing to try"})
	at := slices.IndexFunc(shown, func(p problemJSON) bool {
		return p.Path != "" && (strings.HasPrefix(p.Path+"/", path+"/") || strings.HasPrefix(path, p.Path+"/"))
	})
	return &shown[max(0, at)]
}
