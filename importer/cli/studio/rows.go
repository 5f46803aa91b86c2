package studio

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// view is what an answer about the rows is made from. It does not change.
type view struct {
	*analysis
	verdict *verdict // nil when nothing is judged
	options *Options
}

func (s *Server) looking(answer func(view, *http.Request) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		s.mu.Lock()
		v := view{s.now, s.judgedBy(), &s.options}
		s.mu.Unlock()
		if v.book.err != nil {
			return nil, cannot("no-sheet", "the sheet cannot be read as the mapping says", "choose another sheet or header row")
		}
		return answer(v, r)
	}
}

func number(r *http.Request, name string) int {
	n, _ := strconv.Atoi(r.URL.Query().Get(name))
	return max(0, n)
}

// maxValues bounds the distinct texts of an answer, and countedValues those that are told apart.
const (
	maxValues     = 500
	countedValues = 20_000
)

type valueJSON struct {
	Text    string  `json:"text"`
	Count   int     `json:"count"`
	To      *string `json:"to"`      // what is sent; null when nothing is
	Problem *string `json:"problem"` // the code

	isRead bool // the target takes it in a row
}

// getColumn answers with the distinct texts of columns, the most frequent first, and with what the target at a path makes of each in the
// first row; a target of several cells gives no text a meaning of its own.
func getColumn(v view, r *http.Request) (any, error) {
	var columns []int
	for letter := range strings.SplitSeq(r.URL.Query().Get("letter"), ",") {
		columns = append(columns, cell.ColumnAt(letter))
	}
	target := -1
	if path := tokens(r.URL.Query().Get("path")); v.bound != nil {
		target = slices.IndexFunc(v.bound.Targets, func(t mapping.Target) bool { return t.OneCell && slices.Equal(path, t.Path) })
	}
	known, values, more := map[string]*valueJSON{}, []*valueJSON{}, 0
	for record, err := range v.book.rows.Records() {
		if err == nil {
			err = r.Context().Err()
		}
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			text := strings.TrimSpace(record.Cell(c).Shown)
			value := known[text]
			switch {
			case text == "":
				continue
			case value == nil && len(values) == countedValues:
				more++
				continue
			case value == nil:
				value = &valueJSON{Text: strings.Clone(text)}
				known[value.Text], values = value, append(values, value)
			}
			if value.Count++; target >= 0 && !value.isRead {
				v.addMeaning(value, record, target, c)
			}
		}
	}
	slices.SortStableFunc(values, func(a, b *valueJSON) int { return b.Count - a.Count })
	more += max(0, len(values)-maxValues)
	return map[string]any{"values": values[:min(len(values), maxValues)], "more": more}, nil
}

// addMeaning adds what a target makes of a text in a record, if it takes it from a column.
func (v view) addMeaning(value *valueJSON, record cell.Record, target, column int) {
	for _, reading := range v.bound.Convert(record).Readings {
		if reading.Target != target || reading.Source.From() != column {
			continue // also that of another claim's column
		}
		if reading.Wrong != nil {
			value.Problem = &reading.Wrong.Code
		} else if !reading.Value.IsZero() {
			value.To = &reading.Value.Literal
		}
		value.isRead = true
		return
	}
}

const maxRows = 1000

// getRows answers with up to count of the rows that show selects, with the total of the selected rows, and with the place of the first
// row of the answer among them. The answer begins at the place from, or later: at the first selected row with at least the number row that
// find selects too. If no row is found, rows is empty, and place is that of the last selected row.
func getRows(v view, r *http.Request) (any, error) {
	from, row, count := number(r, "from"), cell.RowOf(0, number(r, "row")), min(cmp.Or(number(r, "count"), 100), maxRows)
	isShown, isFound := v.filter(r, r.URL.Query().Get("show")), v.filter(r, cmp.Or(r.URL.Query().Get("find"), "all"))
	rows, total, place := []map[string]any{}, 0, 0
	for i, at := range v.book.records {
		if !isShown(i) {
			continue
		}
		if len(rows) == 0 {
			place = total
		}
		if total++; len(rows) < count && total > from && (len(rows) > 0 || at >= row && isFound(i)) {
			one, err := v.row(i)
			if err != nil {
				return nil, err
			}
			rows = append(rows, one)
		}
	}
	return map[string]any{"total": total, "rows": rows, "place": place}, nil
}

// filter returns which records are asked for: show is all, usable or errors; the query has the column and the code of an error, or "".
func (v view) filter(r *http.Request, show string) func(record int) bool {
	column, code := r.URL.Query().Get("column"), r.URL.Query().Get("code")
	if show == "" && (column != "" || code != "") {
		show = "errors"
	}
	return func(i int) bool {
		switch {
		case show == "all", show == "":
			return true
		case v.verdict == nil:
			return show == "usable"
		case show == "usable":
			return !v.verdict.skipped[i] && !v.verdict.has(i, column, code)
		}
		return v.verdict.has(i, column, code)
	}
}

func (v view) row(i int) (shown map[string]any, err error) {
	cells, problems := []string{}, []problemJSON{}
	err = v.book.rows.Read(v.book.places[i:i+1], func(record cell.Record) {
		for i := range v.book.columns {
			cells = append(cells, record.Cell(i).Shown)
		}
		var row mapping.ConvertedRow
		if v.bound != nil {
			row = v.bound.Convert(record)
		}
		found := row.Problems
		if v.verdict != nil {
			found = append(found, v.verdict.together[i]...)
		}
		for _, p := range found {
			if !v.bound.Keyless || p.Code != "empty-key" {
				problems = append(problems, inPage(p))
			}
		}
		shown = map[string]any{"row": record.Row, "skipped": row.Skipped, "cells": cells, "problems": problems}
	})
	return shown, err
}
