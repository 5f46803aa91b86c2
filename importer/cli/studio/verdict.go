package studio

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"claimsheet/importer"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// verdict is what the rows of the sheet are by a mapping. It does not change once it is made.
type verdict struct {
	of       *analysis
	found    problem.List // what is wrong with the mapping by what the rows hold
	warnings problem.List // the same
	skipped  []bool       // by record
	marks    [][]mark     // by record
	columns  []tallyJSON
	targets  []tallyJSON
	all      tallyJSON
	sum      judgementJSON
	keyed    int // rows whose client is known
	survey   *importer.Survey
	together map[int]problem.List // by record: errors that only rows together show, at most maxTogether

	mu sync.Mutex // rows are seen by several goroutines
}

const maxTogether = 20_000

// mark is a problem of a record in a column, -1 for the row as a whole.
type mark struct {
	column int
	code   string
}

// has reports whether a record has an error in a column and with a code; "" stands for any.
func (v *verdict) has(record int, column, code string) bool {
	return slices.ContainsFunc(v.marks[record], func(m mark) bool {
		return (column == "" || m.column == cell.ColumnAt(column)) && (code == "" || m.code == code)
	})
}

// add counts a problem by its code; the first cell of the sheet is the example.
func (t *tallyJSON) add(row cell.Row, p problem.Problem) {
	i := slices.IndexFunc(t.Problems, func(e errorJSON) bool { return e.Code == p.Code })
	if i < 0 {
		i = len(t.Problems)
		t.Problems = append(t.Problems, errorJSON{Code: p.Code, at: row + 1})
	}
	one := &t.Problems[i]
	one.Count++
	if row < one.at {
		one.Message, one.Example, one.at = inPageWords(p.Message), problem.OneLine(sample(p.Seen)), row
	}
}

// sort puts the most frequent errors first.
func (t *tallyJSON) sort() {
	t.Problems = append([]errorJSON{}, t.Problems...)
	slices.SortFunc(t.Problems, func(a, b errorJSON) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Code, b.Code)) })
}

// judge goes through the rows once. done counts them.
func judge(ctx context.Context, a *analysis, done *atomic.Int64) *verdict {
	n := len(a.book.records)
	v := &verdict{of: a, skipped: make([]bool, n), marks: make([][]mark, n), columns: make([]tallyJSON, len(a.book.columns)),
		targets: make([]tallyJSON, len(a.bound.Targets)), together: map[int]problem.List{}}
	err := v.plan(ctx, done)
	for i := range v.columns {
		v.columns[i].sort()
	}
	for i := range v.targets {
		v.targets[i].sort()
	}
	v.all.sort()
	v.sum.Codes, v.sum.Partial = v.all.Problems, a.bound.Partial
	if err != nil {
		v.sum.Error = "The rows could not be judged: " + err.Error()
		return v
	}
	v.sum.Complete = true
	for i, isSkipped := range v.skipped {
		switch {
		case isSkipped:
			v.sum.Skipped++
		case v.has(i, "", ""):
			v.sum.Errors++
		default:
			v.sum.Usable++
		}
	}
	if v.survey != nil {
		v.sum.Clients = v.survey.Clients
	}
	return v
}

// plan plans each client, and judges its rows by themselves and together.
func (v *verdict) plan(ctx context.Context, done *atomic.Int64) (err error) {
	defer func() { // a row that panics does not end the session
		if caught := recover(); caught != nil {
			err = importer.Caught(caught)
		}
	}()
	book, bound := v.of.book, v.of.bound
	survey, err := importer.NewSurvey(ctx, bound, book.rows, false)
	if err != nil {
		return err
	}
	v.found, v.warnings = bound.CheckCells(survey.Notes)
	v.warnings = append(book.watch.Warnings(), v.warnings...)
	if !bound.Keyless {
		v.survey = survey
	}
	see := func(record cell.Record, row mapping.ConvertedRow) {
		v.see(record, row)
		done.Add(1)
	}
	for plan, err := range survey.PlansSeen(bound, book.rows, see) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if !bound.Keyless {
			v.addTogether(plan.Rows[0], importer.RowProblems(bound, plan))
		}
	}
	return nil
}

// see judges a row by itself.
func (v *verdict) see(record cell.Record, row mapping.ConvertedRow) {
	v.mu.Lock()
	defer v.mu.Unlock()
	i := v.of.book.record(row.Row)
	if row.Skipped != "" {
		v.skipped[i] = true
		return
	}
	for c := range v.columns {
		if record.Cell(c).IsEmpty() {
			v.columns[c].Empty++
		} else {
			v.columns[c].Usable++
		}
	}
	if row.Client != (mapping.Identity{}) {
		v.keyed++
	}
	for _, p := range row.Problems {
		if !v.of.bound.Keyless || p.Code != "empty-key" {
			v.mark(i, p)
		}
	}
	for readings := row.Readings; len(readings) > 0; {
		n := slices.IndexFunc(readings, func(r mapping.Reading) bool { return r.Target != readings[0].Target })
		if n < 0 {
			n = len(readings)
		}
		v.read(row.Row, readings[:n]) // several of an attribute that is on several claims
		readings = readings[n:]
	}
}

// read counts what a target makes of a row.
func (v *verdict) read(row cell.Row, readings []mapping.Reading) {
	var wrong *problem.Problem
	filled := false
	for _, r := range readings {
		wrong = cmp.Or(r.Wrong, wrong)
		filled = filled || !r.Value.IsZero()
	}
	t := &v.targets[readings[0].Target]
	switch {
	case wrong != nil:
		t.Errors++
		t.add(row, *wrong)
	case filled:
		t.Usable++
	default:
		t.Empty++
	}
}

// mark notes a problem of a record, once; it reports whether it is new.
func (v *verdict) mark(record int, p problem.Problem) bool {
	made, row, others := mark{columnOf(p.Where), p.Code}, v.of.book.records[record], v.marks[record]
	if slices.Contains(others, made) {
		return false
	}
	v.marks[record] = append(others, made)
	v.all.add(row, p)
	if made.column < 0 || made.column >= len(v.columns) {
		return true
	}
	tally := &v.columns[made.column]
	tally.add(row, p)
	isHere := func(m mark) bool { return m.column == made.column }
	isFilled := func(m mark) bool { return isHere(m) && m.code != "required" && m.code != "empty-key" }
	if isHere(made) && !slices.ContainsFunc(others, isHere) {
		tally.Errors++
	}
	if isFilled(made) && tally.Usable > 0 && !slices.ContainsFunc(others, isFilled) {
		tally.Usable--
	}
	return true
}

// addTogether counts what only the rows of a client together show.
func (v *verdict) addTogether(first cell.Row, found problem.List) {
	v.mu.Lock()
	defer v.mu.Unlock()
	disagree := false
	for _, p := range found {
		row := first
		if p.Where.Row > 0 {
			row = cell.RowOf(0, p.Where.Row)
		}
		record := v.of.book.record(row)
		if record < 0 || !v.mark(record, p) {
			continue
		}
		disagree = disagree || p.Code == "conflict"
		if len(v.together) < maxTogether {
			v.together[record] = append(v.together[record], p)
		}
		v.moveToErrors(row, p)
	}
	if disagree {
		v.sum.Disagree++
	}
}

// moveToErrors counts a problem that rows together have for the targets of its column, which took the cell for usable, or for empty.
func (v *verdict) moveToErrors(row cell.Row, p problem.Problem) {
	column, isRequired := columnOf(p.Where), p.Code == "required"
	for i, t := range v.of.bound.Targets {
		tally := &v.targets[i]
		from := &tally.Usable
		if isRequired {
			from = &tally.Empty
		}
		if slices.Contains(t.Columns, column) && (t.Required || !isRequired) && *from > 0 {
			*from--
			tally.Errors++
			tally.add(row, p)
		}
	}
}
