package studio

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// view is what the looking endpoints work with: it does not change, except for the
// verdict, which has its own lock.
type view struct {
	*analysis
	verdict *verdict // of the same book; nil when nothing is judged

	routes   apiclient.Routes
	linkBody json.RawMessage
}

// errReading asks the page to come again.
var errReading = failure{http.StatusServiceUnavailable, "not-ready", "the sheet is being read", "it is shown as soon as that is done"}

// looking answers a request from a view, whose book stays open meanwhile.
func (s *Server) looking(answer func(view, *http.Request) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		v, err := s.view()
		if err != nil {
			return nil, err
		}
		defer v.book.use.RUnlock()
		return answer(v, r)
	}
}

// view returns what there is to look at, with its book in use; it fails while the rows
// are not read.
func (s *Server) view() (view, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := view{analysis: s.now, verdict: s.verdict, routes: s.options.Routes, linkBody: s.options.LinkBody}
	if v.verdict != nil && v.verdict.of.book != v.book {
		v.verdict = nil
	}
	switch b := v.book; {
	case b.opening:
		return v, errReading
	case b.err != nil:
		return v, failure{http.StatusUnprocessableEntity, "no-sheet", "the sheet cannot be read as the mapping says", "choose another sheet or header row"}
	case !b.reading() && b.failed != nil:
		return v, failure{http.StatusUnprocessableEntity, "no-sheet", "the sheet's rows cannot be read", "look at what is wrong with the sheet"}
	case !b.isReady():
		return v, errReading
	}
	v.book.use.RLock()
	return v, nil
}

// number reads a number of a query.
func number(r *http.Request, name string, usual int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, failure{http.StatusBadRequest, "bad-request", name + " must be a number", ""}
	}
	return n, nil
}

// mostValues bounds the distinct texts of an answer, and countedValues those that are
// told apart.
const (
	mostValues    = 500
	countedValues = 20_000
)

type valueJSON struct {
	Text    string  `json:"text"`
	Count   int     `json:"count"`
	To      *string `json:"to"`      // what is sent; null when nothing is
	Problem *string `json:"problem"` // the code
	Warning *string `json:"warning"` // the code, of a text that is sent all the same
}

// getColumn answers with the distinct texts of a column, the most frequent first, and
// with what the target that it fills makes of them.
func getColumn(v view, r *http.Request) (any, error) {
	c := v.book.column(r.URL.Query().Get("letter"))
	if c == nil {
		return nil, failure{http.StatusNotFound, "no-such-column", "the sheet has no such column", ""}
	}
	at, values, more := map[string]int{}, []valueJSON{}, 0
	err := v.cells(r.Context(), c, func(_ cell.Record, text string) bool {
		switch n, known := at[text]; {
		case known:
			values[n].Count++
		case len(values) < countedValues:
			text = strings.Clone(text)
			at[text] = len(values)
			values = append(values, valueJSON{Text: text, Count: 1})
		default:
			more++
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(values, func(a, b valueJSON) int { return b.Count - a.Count })
	if len(values) > mostValues {
		more += len(values) - mostValues
		values = values[:mostValues]
	}
	if v.bound != nil {
		if target := targetOf(v.bound, c, r.URL.Query().Get("path")); target >= 0 {
			err = v.addMeanings(r.Context(), c, target, values)
		}
	}
	return map[string]any{"values": values, "more": more}, err
}

// cells calls do with each record that has a text in a column, until it returns false.
func (v view) cells(ctx context.Context, c *column, do func(cell.Record, string) bool) error {
	for record, err := range v.book.rows.Records() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		place := v.book.at[record.Table][c.index]
		if place < 0 || record.Cell(place).IsEmpty() {
			continue
		}
		if text := strings.TrimSpace(record.Cell(place).Shown); text != "" && !do(record, text) {
			return nil
		}
	}
	return nil
}

// addMeanings adds what a target makes of the texts of a column, each by the first row in
// which the target takes it. Where a target is made of several cells, no text has a
// meaning of its own.
func (v view) addMeanings(ctx context.Context, c *column, target int, values []valueJSON) error {
	if !v.bound.Targets[target].OneCell {
		return nil
	}
	left := map[string]*valueJSON{}
	for i := range values {
		left[values[i].Text] = &values[i]
	}
	return v.cells(ctx, c, func(record cell.Record, text string) bool {
		value := left[text]
		if value == nil {
			return true
		}
		for _, reading := range v.bound.Readings(v.bound.Convert(record)) {
			if reading.Target != target || reading.Source.From() != v.book.at[record.Table][c.index] {
				continue // also that of another claim's column
			}
			if reading.Wrong != nil {
				value.Problem = &reading.Wrong.Code
			} else if !reading.Value.IsZero() {
				value.To = &reading.Value.Literal
			}
			if reading.Doubt != nil {
				value.Warning = &reading.Doubt.Code
			}
			delete(left, text)
			break
		}
		return len(left) > 0
	})
}

// targetOf returns the target that a column's texts are shown for: the one with a path, for
// "" the first that the column alone fills, else the first that it fills with others; -1
// for none.
func targetOf(b *mapping.Part, c *column, path string) int {
	first := -1
	for i, t := range b.Targets {
		switch {
		case path != "":
			if slices.Equal(tokens(path), t.Path) {
				return i
			}
		case len(t.Columns) == 1 && t.Columns[0] == c.index:
			return i
		case first < 0 && slices.Contains(t.Columns, c.index):
			first = i
		}
	}
	return first
}

type rowJSON struct {
	Row      int              `json:"row"`
	Table    int              `json:"table"`
	Client   int              `json:"client"` // 0 while it is not known, or for none
	Skipped  string           `json:"skipped,omitempty"`
	Cells    []string         `json:"cells"`
	Problems []rowProblemJSON `json:"problems"`
	Warnings []rowProblemJSON `json:"warnings"` // of cells that are sent all the same
}

type rowProblemJSON struct {
	Column  string `json:"column"` // "" for the row as a whole
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// mostRows bounds the rows of an answer.
const mostRows = 1000

// getRows answers with some rows of those that are asked for, and how many these are.
func getRows(v view, r *http.Request) (any, error) {
	from, err := number(r, "from", 0)
	if err != nil {
		return nil, err
	}
	count, err := number(r, "count", 100)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	wanted := filter{q.Get("show"), q.Get("column"), q.Get("code")}
	chosen, total := v.choose(wanted, from, min(count, mostRows))
	rows := []rowJSON{}
	for _, i := range chosen {
		err := v.book.rows.Read(v.book.places[i:i+1], func(record cell.Record) { rows = append(rows, v.row(i, record)) })
		if err != nil {
			return nil, err
		}
	}
	return map[string]any{"total": total, "rows": rows}, nil
}

// filter says which rows are asked for.
type filter struct {
	show   string // all, usable, trouble or warned
	column string // its letter; "" for any
	code   string // of the trouble or the warning; "" for any
}

// shows returns the test of a record for being among the rows that a filter shows. The
// caller holds the verdict's lock while it uses it.
func (v view) shows(f filter) func(record int) bool {
	narrow := f.column != "" || f.code != ""
	switch {
	case f.show == "warned":
		return v.has(f, func() map[kindOfTrouble]*trouble { return v.verdict.doubts })
	case f.show != "usable" && f.show != "trouble" && (f.show != "" || !narrow):
		return func(int) bool { return true }
	}
	inTrouble := v.has(f, func() map[kindOfTrouble]*trouble { return v.verdict.kinds })
	if v.verdict != nil && !narrow {
		inTrouble = v.verdict.trouble.has
	}
	if f.show == "usable" {
		return func(i int) bool { return !inTrouble(i) && (v.verdict == nil || !v.verdict.left.has(i)) }
	}
	return inTrouble
}

// has returns the test of a record for one of the kinds that a filter names.
func (v view) has(f filter, kinds func() map[kindOfTrouble]*trouble) func(record int) bool {
	if v.verdict == nil {
		return func(int) bool { return false }
	}
	var found []bitmap
	for kind, t := range kinds() {
		if (f.column == "" || kind.column == columnIndex(f.column)) && (f.code == "" || kind.code == f.code) {
			found = append(found, t.rows)
		}
	}
	return func(i int) bool { return slices.ContainsFunc(found, func(b bitmap) bool { return b.has(i) }) }
}

// lock holds the verdict, if there is one, until the function that it returns is called.
func (v view) lock() (unlock func()) {
	if v.verdict == nil {
		return func() {}
	}
	v.verdict.mu.Lock()
	return v.verdict.mu.Unlock
}

// choose returns the records from a place on among those that a filter shows, and how
// many these are.
func (v view) choose(f filter, from, count int) (chosen []int, total int) {
	defer v.lock()()
	isIn := v.shows(f)
	for i := range v.book.records {
		if !isIn(i) {
			continue
		}
		if total >= from && len(chosen) < count {
			chosen = append(chosen, i)
		}
		total++
	}
	return chosen, total
}

// row returns a row as the page shows it.
func (v view) row(i int, record cell.Record) rowJSON {
	one := rowJSON{Row: record.Row, Table: record.Table, Cells: []string{}, Problems: []rowProblemJSON{}, Warnings: []rowProblemJSON{}}
	for _, c := range v.book.columns {
		text := ""
		if at := v.book.at[record.Table][c.index]; at >= 0 {
			text = record.Cell(at).Shown
		}
		one.Cells = append(one.Cells, text)
	}
	if v.bound == nil {
		return one
	}
	row := v.bound.Convert(record)
	found := row.Problems
	if one.Skipped = string(row.Skipped); v.verdict != nil && v.verdict.of == v.analysis {
		v.verdict.mu.Lock()
		defer v.verdict.mu.Unlock()
		found = append(found, v.verdict.together[i]...)
		if v.verdict.survey != nil {
			one.Client = v.verdict.survey.Client(i)
		}
	}
	for _, p := range found {
		if v.bound.Keyless && p.Code == "empty-key" {
			continue
		}
		one.Problems = append(one.Problems, v.book.show(p))
	}
	for _, p := range row.Warnings {
		one.Warnings = append(one.Warnings, v.book.show(p))
	}
	return one
}

// show returns a problem of a row as the page gets it.
func (b *book) show(p problem.Problem) rowProblemJSON {
	shown := rowProblemJSON{Code: p.Code, Message: inPageWords(p.Message), Hint: inPageWords(p.Hint)}
	if c := b.columnOf(p.Where); c >= 0 {
		shown.Column = cell.ColumnName(c)
	}
	return shown
}

type stepJSON struct {
	Step   string          `json:"step"`
	Kind   string          `json:"kind"`
	Title  string          `json:"title"`
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"` // null for a request without one
	Rows   []int           `json:"rows"`
}

// getClient answers with what would be sent for the client of a row, or of a number.
func getClient(v view, r *http.Request) (any, error) {
	row, err := number(r, "row", 0)
	if err != nil {
		return nil, err
	}
	table, err := number(r, "table", 0)
	if err != nil {
		return nil, err
	}
	client, err := number(r, "number", 0)
	if err != nil {
		return nil, err
	}
	if v.verdict == nil || v.verdict.of != v.analysis || v.bound.Keyless {
		return nil, failure{http.StatusUnprocessableEntity, "not-judged", "the mapping does not say yet which rows are one client, or has a mistake there", "choose the client's key, or correct what is marked"}
	}
	v.verdict.mu.Lock()
	survey := v.verdict.survey
	v.verdict.mu.Unlock()
	if survey == nil {
		return nil, failure{http.StatusServiceUnavailable, "not-ready", "the rows of each client are being found", "it is shown as soon as that is done"}
	}
	var records []int
	if row > 0 {
		i := v.book.record(cell.RowOf(table, row))
		if i < 0 {
			return nil, failure{http.StatusNotFound, "no-such-row", "the sheet has no such row", ""}
		}
		if client = survey.Client(i); client == 0 { // it is a plan of its own
			records = []int{i}
		}
	}
	if client > 0 {
		for i := range v.book.records {
			if survey.Client(i) == client {
				records = append(records, i)
			}
		}
	}
	if len(records) == 0 {
		return nil, failure{http.StatusNotFound, "no-such-client", "there is no such client", ""}
	}
	return v.client(client, survey.Clients, records[:min(len(records), mostRows)])
}

// client plans one client.
func (v view) client(number, of int, records []int) (any, error) {
	var leads []mapping.ConvertedRow
	for _, i := range records {
		if err := v.book.rows.Read(v.book.places[i:i+1], func(record cell.Record) {
			record.Cells = slices.Clone(record.Cells)
			leads = append(leads, v.bound.Convert(record))
		}); err != nil {
			return nil, err
		}
	}
	plan := v.bound.Plan(number, leads)
	v.standIns(&plan)
	steps := []stepJSON{}
	routes := v.routes
	routes.Version = v.version()
	for i, request := range importer.Preview(plan, routes, v.linkBody) {
		step := plan.Steps[i]
		one := stepJSON{Step: step.Key, Kind: string(step.Kind), Title: step.Title, Method: request.Method, Path: "/" + strings.Join(request.Path, "/"), Rows: []int{}}
		if len(request.Query) > 0 {
			var pairs []string
			for name, values := range request.Query {
				pairs = append(pairs, name+"="+strings.Join(values, ","))
			}
			one.Path += "?" + strings.Join(pairs, "&")
		}
		if !request.NoBody {
			one.Body = request.Body
		}
		for _, row := range step.Rows {
			one.Rows = append(one.Rows, row.Number())
		}
		steps = append(steps, one)
	}
	rows, tables := []int{}, []int{}
	for _, row := range plan.Rows {
		rows, tables = append(rows, row.Number()), append(tables, row.Table())
	}
	return map[string]any{"number": number, "of": of, "rows": rows, "tables": tables, "why": v.why(plan, rows), "skipped": string(plan.Skipped), "names": names(plan),
		"problems": v.show(plan.Problems), "steps": steps}, nil
}

// names are the names of the templates whose ids are in a plan's bodies.
func names(plan mapping.Plan) map[string]string {
	list := map[string]string{}
	for _, step := range plan.Steps {
		if step.Activity == nil {
			continue
		}
		list[step.Activity.TemplateID] = step.Activity.TemplateName
		for _, a := range step.Activity.Attributes {
			list[a.TemplateID] = a.Name
		}
	}
	return list
}

// standIns fills in the ids of templates that no environment was asked for.
func (v view) standIns(plan *mapping.Plan) {
	for i := range plan.Steps {
		a := plan.Steps[i].Activity
		if a == nil {
			continue
		}
		a.TemplateID = cmp.Or(a.TemplateID, "«id of the template "+a.TemplateName+"»")
		a.Workflow.TemplateIdentifier = cmp.Or(a.Workflow.TemplateIdentifier, "«identifier of the workflow's template»")
		for k := range a.Attributes {
			attr := &a.Attributes[k]
			attr.TemplateID = cmp.Or(attr.TemplateID, "«id of the attribute "+attr.Name+"»")
		}
	}
}

// why says why rows are one client.
func (v view) why(plan mapping.Plan, rows []int) string {
	var names []string
	for _, key := range v.mapping.Client.Key {
		names = append(names, key.Text)
	}
	switch key := strings.Join(names, " and "); {
	case plan.Skipped != "":
		return "This row is skipped"
	case plan.Client == (mapping.Identity{}):
		return fmt.Sprintf("Row %d belongs to no client: its key, %s, cannot be read", rows[0], key)
	case len(rows) == 1:
		return fmt.Sprintf("Only row %d has the key %s: %s", rows[0], key, plan.Client.Key)
	default:
		return fmt.Sprintf("%d rows have the same key, %s: %s", len(rows), key, plan.Client.Key)
	}
}

// getDiff answers with the lines that differ from the text when the session began, or how
// the file on the disk or what an earlier session left unsaved differs from the text now.
func (s *Server) getDiff(r *http.Request) (any, error) {
	before, after, err := s.compared(r.URL.Query().Get("with"))
	if err != nil {
		return nil, err
	}
	return map[string]any{"lines": diff(lines(string(before)), lines(string(after)))}, nil
}

// compared returns the texts that a diff is between: for "" that of the session's beginning
// and that of now.
func (s *Server) compared(with string) (before, after []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if with == "" {
		return s.session.begin, s.session.text(), nil
	}
	after, err = s.session.other(with)
	return s.session.text(), after, err
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

type lineJSON struct {
	Kind string `json:"kind"` // same, add or del
	Text string `json:"text"`
	Line int    `json:"line"` // of the new text, or for del of the old one
}

// mostCompared bounds the table of a diff; texts that differ more are shown as a whole.
const mostCompared = 4 << 20

// diff compares two texts by their longest common lines.
func diff(a, b []string) []lineJSON {
	list := []lineJSON{}
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for i := range start {
		list = append(list, lineJSON{"same", b[i], i + 1})
	}
	list = append(list, diffMiddle(a[start:len(a)-end], b[start:len(b)-end], start)...)
	for i := len(b) - end; i < len(b); i++ {
		list = append(list, lineJSON{"same", b[i], i + 1})
	}
	return list
}

func diffMiddle(a, b []string, before int) (list []lineJSON) {
	width := len(b) + 1
	var common []int // by what is left of a and b, the length of the longest common lines
	if len(a)*len(b) <= mostCompared {
		common = make([]int, (len(a)+1)*width)
		for i := len(a) - 1; i >= 0; i-- {
			for k := len(b) - 1; k >= 0; k-- {
				if a[i] == b[k] {
					common[i*width+k] = common[(i+1)*width+k+1] + 1
				} else {
					common[i*width+k] = max(common[(i+1)*width+k], common[i*width+k+1])
				}
			}
		}
	}
	i, k := 0, 0
	for i < len(a) || k < len(b) {
		switch {
		case common != nil && i < len(a) && k < len(b) && a[i] == b[k]:
			list = append(list, lineJSON{"same", b[k], before + k + 1})
			i++
			k++
		case i < len(a) && (k == len(b) || common == nil || common[(i+1)*width+k] >= common[i*width+k+1]):
			list = append(list, lineJSON{"del", a[i], before + i + 1})
			i++
		default:
			list = append(list, lineJSON{"add", b[k], before + k + 1})
			k++
		}
	}
	return list
}
