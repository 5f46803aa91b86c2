package studio

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// view is what an answer about the rows is made from. It does not change, except for the
// verdict, which has its own lock.
type view struct {
	*analysis
	verdict *verdict // of the same book; nil when nothing is judged
	options *Options
}

// errReading tells the page to retry.
var errReading = failure{http.StatusServiceUnavailable, "not-ready", "the sheet is being read", "it is shown as soon as that is done"}

// looking answers a request from a view, whose book stays open meanwhile.
func (s *Server) looking(answer func(view, *http.Request) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		s.mu.Lock()
		v := view{s.now, s.verdict, &s.options}
		if v.verdict != nil && v.verdict.of.book != v.book {
			v.verdict = nil
		}
		var err error
		switch b := v.book; {
		case b.opening:
			err = errReading
		case b.err != nil:
			err = cannot("no-sheet", "the sheet cannot be read as the mapping says", "choose another sheet or header row")
		case !b.reading() && b.failed != nil:
			err = cannot("no-sheet", "the sheet's rows cannot be read", "look at what is wrong with the sheet")
		case !b.isReady():
			err = errReading
		}
		if err == nil {
			v.book.use.RLock()
			defer v.book.use.RUnlock()
		}
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
		return answer(v, r)
	}
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
		if target := targetOf(v.bound, c, r.URL.Query().Get("path")); target >= 0 && v.bound.Targets[target].OneCell {
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
		text := strings.TrimSpace(record.Cell(v.book.at[record.Table][c.index]).Shown)
		if text != "" && !do(record, text) {
			return nil
		}
	}
	return nil
}

// addMeanings adds what a target makes of the texts of a column, each by the first row in
// which the target takes it. A target that is made of several cells gives no text a meaning
// of its own.
func (v view) addMeanings(ctx context.Context, c *column, target int, values []valueJSON) error {
	left := map[string]*valueJSON{}
	for i := range values {
		left[values[i].Text] = &values[i]
	}
	return v.cells(ctx, c, func(record cell.Record, text string) bool {
		value := left[text]
		if value == nil {
			return true
		}
		for _, reading := range v.bound.Convert(record).Readings {
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
	chosen, total := v.choose(q.Get("show"), q.Get("column"), q.Get("code"), from, min(count, mostRows))
	rows := []rowJSON{}
	for _, i := range chosen {
		if err := v.book.rows.Read(v.book.places[i:i+1], func(record cell.Record) { rows = append(rows, v.row(i, record)) }); err != nil {
			return nil, err
		}
	}
	return map[string]any{"total": total, "rows": rows}, nil
}

// choose returns the records from a place on among those that a filter shows, and how many
// these are. show is all, usable, errors or warned; column and code, which may be "", are
// those of an error or a warning.
func (v view) choose(show, column, code string, from, count int) (chosen []int, total int) {
	if v.verdict != nil {
		v.verdict.mu.Lock()
		defer v.verdict.mu.Unlock()
	}
	has := func(in kinds) (found bitmap) {
		for of, t := range in {
			if (column == "" || of.at == cell.ColumnAt(column)) && (code == "" || of.code == code) {
				found.add(t.rows)
			}
		}
		return found
	}
	var wrong, skipped bitmap
	switch {
	case v.verdict == nil:
	case show == "warned":
		wrong = has(v.verdict.warned)
	case column == "" && code == "":
		wrong, skipped = v.verdict.wrong, v.verdict.skippedRows
	default:
		wrong, skipped = has(v.verdict.kinds), v.verdict.skippedRows
	}
	all := show == "all" || show == "" && column == "" && code == ""
	for i := range v.book.records {
		if !all && (show == "usable") == (wrong.has(i) || show == "usable" && skipped.has(i)) {
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
	one := rowJSON{Row: record.Row, Table: record.Table, Cells: []string{}}
	for _, c := range v.book.columns {
		one.Cells = append(one.Cells, record.Cell(v.book.at[record.Table][c.index]).Shown)
	}
	var row mapping.ConvertedRow
	if v.bound != nil {
		row = v.bound.Convert(record)
	}
	found := row.Problems
	if one.Skipped = string(row.Skipped); v.verdict != nil && v.verdict.of == v.analysis {
		v.verdict.mu.Lock()
		defer v.verdict.mu.Unlock()
		found = append(found, v.verdict.together[i]...)
		if v.verdict.survey != nil {
			one.Client = v.verdict.survey.Client(i)
		}
	}
	one.Problems = v.book.showAll(slices.DeleteFunc(found, func(p problem.Problem) bool { return v.bound.Keyless && p.Code == "empty-key" }))
	one.Warnings = v.book.showAll(row.Warnings)
	return one
}

func (b *book) showAll(list problem.List) []rowProblemJSON {
	shown := []rowProblemJSON{}
	for _, p := range list {
		shown = append(shown, b.show(p))
	}
	return shown
}

// show returns a problem of a row as the page gets it.
func (b *book) show(p problem.Problem) rowProblemJSON {
	shown := rowProblemJSON{Code: p.Code, Message: inPageWords(p.Message), Hint: inPageWords(p.Hint)}
	if c := b.columnOf(p.Where); c >= 0 {
		shown.Column = cell.ColumnName(c)
	}
	return shown
}
