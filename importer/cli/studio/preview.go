package studio

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"claimsheet/importer"
	"claimsheet/importer/cli/load"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/yamlpatch"
)

// A preview shows the first rows, and counts over some more.
const (
	previewShown   = 20
	previewCounted = 2000
)

type previewJSON struct {
	Rows     []previewRowJSON `json:"rows"`
	Usable   int              `json:"usable"`
	Errors   int              `json:"errors"`
	Warned   int              `json:"warned"` // of the usable ones
	Empty    int              `json:"empty"`
	Type     string           `json:"type"`
	Readings []readingJSON    `json:"readings"`
	Error    *problemJSON     `json:"error,omitempty"` // why the rule cannot be tried
}

type previewRowJSON struct {
	Row     int             `json:"row"`
	Source  string          `json:"source"`
	Result  *string         `json:"result"`
	Problem *rowProblemJSON `json:"problem"`
	Warning *rowProblemJSON `json:"warning"`
}

// readingJSON is how the same cells are read with another date format.
type readingJSON struct {
	Format string           `json:"format"`
	Rows   []previewRowJSON `json:"rows"`
	Usable int              `json:"usable"`
	Errors int              `json:"errors"`
}

// dateFormats are the formats that a date in a text is tried with.
var dateFormats = []string{"dd/mm/yyyy", "mm/dd/yyyy", "dd.mm.yyyy", "dd-mm-yyyy", "mm-dd-yyyy", "dd/mm/yy", "mm/dd/yy", "d mmm yyyy",
	"dd mmm yyyy", "yyyy/mm/dd", "dd/mm/yyyy hh:mm"}

// getPreview answers with what a rule would make of the first rows.
func getPreview(v view, r *http.Request) (any, error) {
	var in struct {
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if len(in.Value) == 0 || len(tokens(in.Path)) == 0 {
		return nil, failure{http.StatusBadRequest, "bad-request", "a preview needs the path of a rule and its value", ""}
	}
	if in.Path == "/client/key" {
		return v.previewKey(r.Context(), in.Value)
	}
	if path, value, ok := asField(in.Path, in.Value, load.Today(v.mapping), v.book); ok {
		in.Path, in.Value = path, value
	}
	rule := yamlpatch.Operation{Op: "add", Path: in.Path, Value: in.Value}
	made, err := v.preview(rule)
	if typ := convert.Type(made.Type); err != nil || typ != convert.Date && typ != convert.DateTime || made.Error != nil {
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
			made.Readings = append(made.Readings, readingJSON{format, other.Rows, other.Usable, other.Errors})
		}
	}
	slices.SortStableFunc(made.Readings, func(a, b readingJSON) int { return a.Errors - b.Errors })
	made.Readings = made.Readings[:min(len(made.Readings), 4)]
	return made, nil
}

// try analyses the text with operations applied to it. What a rule does not need of the
// rest of the mapping may have mistakes.
func (v view) try(operations ...yamlpatch.Operation) (*analysis, error) {
	text, err := apply(v.text, v.options.Service, operations)
	if err != nil {
		return nil, err
	}
	return analyse(v.mapping.File, text, v.book, v.options.Service), nil
}

// keyJSON is what a key of clients makes of the whole sheet.
type keyJSON struct {
	Rows     int          `json:"rows"`
	Empty    int          `json:"empty"` // rows whose key cannot be read, and those that are skipped
	Clients  int          `json:"clients"`
	Disagree int          `json:"disagree"` // clients whose rows differ where they must agree
	Error    *problemJSON `json:"error,omitempty"`
}

// previewKey counts the clients that another key makes of the whole sheet.
func (v view) previewKey(ctx context.Context, key json.RawMessage) (any, error) {
	const path = "/client/key"
	a, err := v.try(yamlpatch.Operation{Op: "add", Path: path, Value: key})
	if err != nil {
		return nil, err
	}
	if a.bound == nil || a.bound.Keyless {
		return keyJSON{Error: a.complaint(path)}, nil
	}
	survey, err := importer.Take(ctx, a.bound.Binding, v.book.rows, false)
	if err != nil {
		return nil, err
	}
	made := keyJSON{Rows: survey.Rows, Clients: survey.Clients}
	for plan, err := range survey.Plans(a.bound.Binding, v.book.rows) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if plan.Number == 0 {
			made.Empty++
		}
		if slices.ContainsFunc(plan.Problems, func(p problem.Problem) bool { return p.Code == "conflict" }) {
			made.Disagree++
		}
	}
	return made, nil
}

// asField returns a rule that no row is read for by itself, a condition or the text of a
// claim's or a workflow's name, as a field of the client that reads the same; ok is false
// for other rules.
func asField(path string, rule json.RawMessage, today string, b *book) (field string, value json.RawMessage, ok bool) {
	list := tokens(path)
	var text string
	if json.Unmarshal(rule, &text) != nil || isValue(list) {
		return "", nil, false
	}
	kind, last := "text", list[len(list)-1]
	switch {
	case last == "when":
		kind, text = "expr", "("+text+") ? \"yes\" : \"no\""
	case last == "name" && len(list) > 1 && list[0] != "sheet":
		sheet := ""
		if len(b.tables) > 0 {
			sheet = b.tables[0].Name
		}
		text = strings.NewReplacer("{run.date}", today, "{sheet}", sheet).Replace(text)
	default:
		return "", nil, false
	}
	value, err := json.Marshal(map[string]string{kind: text, "type": "Text"})
	return "/client/fields/preview", value, err == nil
}

// withFormat returns a rule with another format.
func withFormat(rule json.RawMessage, format string) json.RawMessage {
	var column string
	object := map[string]json.RawMessage{}
	if json.Unmarshal(rule, &column) == nil {
		object["column"] = rule
	} else if json.Unmarshal(rule, &object) != nil {
		return rule
	}
	object["format"] = cell.QuoteJSON(format)
	data, _ := json.Marshal(object) // it was JSON
	return data
}

// preview tries the rule of the first operation on the first rows.
func (v view) preview(operations ...yamlpatch.Operation) (previewJSON, error) {
	made := previewJSON{Rows: []previewRowJSON{}, Readings: []readingJSON{}}
	a, err := v.try(operations...)
	if err != nil {
		return made, err
	}
	at := -1
	wanted := resolve(a.doc, tokens(operations[0].Path))
	if a.bound != nil {
		at = slices.IndexFunc(a.bound.Targets, func(t mapping.Target) bool { return slices.Equal(t.Path, wanted) })
	}
	if at < 0 {
		made.Error = a.complaint(yamlpatch.Pointer(wanted...))
		return made, nil
	}
	made.Type = string(a.bound.Targets[at].Type)
	return made, v.book.rows.Read(v.book.places[:min(len(v.book.places), previewCounted)], func(record cell.Record) {
		for _, reading := range a.bound.Convert(record).Readings {
			if reading.Target == at {
				made.add(v.book, record, reading)
				break
			}
		}
	})
}

// add counts a reading, and shows it when it is among the first.
func (made *previewJSON) add(b *book, record cell.Record, reading mapping.Reading) {
	one := previewRowJSON{Row: record.Row, Source: strings.Join(reading.Source.Texts, " | ")}
	switch {
	case reading.Wrong != nil:
		made.Errors++
		shown := b.show(*reading.Wrong)
		one.Problem = &shown
	case reading.Value.IsZero():
		made.Empty++
	default:
		made.Usable++
		one.Result = &reading.Value.Literal
	}
	if reading.Doubt != nil {
		made.Warned++
		shown := b.show(*reading.Doubt)
		one.Warning = &shown
	}
	if len(made.Rows) < previewShown {
		made.Rows = append(made.Rows, one)
	}
}

// complaint says why the rule at a path cannot be tried.
func (a *analysis) complaint(path string) *problemJSON {
	shown := a.show(a.problems)
	for i := range shown {
		if at := shown[i].Path; at != nil && (*at == path || strings.HasPrefix(*at, path+"/") || strings.HasPrefix(path, *at+"/")) {
			return &shown[i]
		}
	}
	if len(shown) > 0 {
		return &shown[0]
	}
	return &problemJSON{Code: "not-tried", Message: "this is not read from the rows, so there is nothing to try"}
}
