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

// verdict is what the rows of the sheets are by a mapping. It does not change once it is made.
type verdict struct {
	of       *analysis
	failed   error        // why the rows could not be judged
	found    problem.List // what is wrong with the mapping by what the rows hold
	warnings problem.List // the same
	skipped  []bool       // by record
	marks    [][]mark     // by record
	columns  []tallyJSON
	targets  []tallyJSON
	sum      judgementJSON
	keyed    int // rows whose client is known
	survey   *importer.Survey
	together map[int]problem.List // by record: errors that only rows together show, at most mostTogether

	mu       sync.Mutex // rows are seen by several goroutines
	byColumn mistakes
	byTarget mistakes
}

const mostTogether = 20_000

// mark is a problem or a warning of a record in a column of the first sheet, -1 for the row
// as a whole.
type mark struct {
	column    int
	code      string
	isWarning bool
}

// has reports whether a record has an error, or a warning, in a column and with a code;
// "" stands for any.
func (v *verdict) has(record int, column, code string, isWarning bool) bool {
	return slices.ContainsFunc(v.marks[record], func(m mark) bool {
		return m.isWarning == isWarning && (column == "" || m.column == cell.ColumnAt(column)) && (code == "" || m.code == code)
	})
}

// mistakes are problems and warnings by code and place: a column, a target, or everywhere.
type mistakes map[mark]*mistake

const everywhere = -2

type mistake struct {
	errorJSON
	first cell.Row
}

// add counts a problem; the first cell of the sheets is the example.
func (all mistakes) add(place int, row cell.Row, p problem.Problem) {
	of := mark{place, p.Code, p.Warning}
	m := all[of]
	if m == nil {
		m = &mistake{first: row + 1}
		all[of] = m
	}
	count := m.Count + 1
	if row < m.first {
		*m = mistake{errorJSON{Code: p.Code, Message: inPageWords(p.Message), Example: problem.OneLine(sample(p.Seen)), Row: row.Number()}, row}
	}
	m.Count = count
}

// list returns the errors, or the warnings, of a place, the most frequent first.
func (all mistakes) list(place int, isWarning bool) []errorJSON {
	list := []errorJSON{}
	for of, m := range all {
		if of.column == place && of.isWarning == isWarning {
			list = append(list, m.errorJSON)
		}
	}
	slices.SortFunc(list, func(a, b errorJSON) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Code, b.Code)) })
	return list
}

// judge goes through the rows once. done counts them.
func judge(ctx context.Context, a *analysis, done *atomic.Int64) *verdict {
	n := len(a.book.records)
	v := &verdict{of: a, skipped: make([]bool, n), marks: make([][]mark, n), columns: make([]tallyJSON, len(a.book.columns)),
		targets: make([]tallyJSON, len(a.bound.Targets)), together: map[int]problem.List{}, byColumn: mistakes{}, byTarget: mistakes{}}
	v.failed = v.plan(ctx, done)
	v.sumUp()
	return v
}

func (v *verdict) sumUp() {
	for i := range v.columns {
		v.columns[i].Problems, v.columns[i].Warnings = v.byColumn.list(i, false), v.byColumn.list(i, true)
	}
	for i := range v.targets {
		v.targets[i].Problems, v.targets[i].Warnings = v.byTarget.list(i, false), v.byTarget.list(i, true)
	}
	v.sum.Codes, v.sum.Warnings = v.byColumn.list(everywhere, false), v.byColumn.list(everywhere, true)
	v.sum.Partial = v.of.bound.Partial
	if v.failed != nil {
		v.sum.Error = "The rows could not be judged: " + v.failed.Error()
		return
	}
	v.sum.Complete = true
	for i, isSkipped := range v.skipped {
		switch {
		case isSkipped:
			v.sum.Skipped++
		case v.has(i, "", "", false):
			v.sum.Errors++
		default:
			v.sum.Usable++
		}
	}
	if v.survey != nil {
		v.sum.Clients = v.survey.Clients
	}
}

// plan plans each client, and judges its rows by themselves and together.
func (v *verdict) plan(ctx context.Context, done *atomic.Int64) (err error) {
	defer func() { // a row that panics does not end the session
		if caught := recover(); caught != nil {
			err = importer.Caught(caught)
		}
	}()
	book, bound := v.of.book, v.of.bound
	survey, err := importer.Take(ctx, bound.Binding, book.rows, false)
	if err != nil {
		return err
	}
	v.found, v.warnings = bound.CheckCells(survey.Notes)
	for i := range book.tables {
		wrong, doubts := book.headers[i].Verdict(v.of.mapping.Sheet.HeaderRowGiven)
		v.found, v.warnings = append(wrong, v.found...), slices.Concat(doubts, book.dates[i].Warnings(), v.warnings)
	}
	if !bound.Keyless {
		v.survey = survey
	}
	see := func(record cell.Record, row mapping.ConvertedRow) {
		v.see(record, row)
		done.Add(1)
	}
	for plan, err := range survey.PlansSeen(bound.Binding, book.rows, see) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if !bound.Keyless {
			v.addTogether(plan.Rows[0], survey.RowProblems(bound.Binding, plan))
		}
	}
	return nil
}

func (v *verdict) see(record cell.Record, row mapping.ConvertedRow) {
	i := v.of.book.record(row.Row)
	v.mu.Lock()
	defer v.mu.Unlock()
	if row.Skipped != "" {
		v.skipped[i] = true
		return
	}
	for c, at := range v.of.book.at[record.Table] {
		if record.Cell(at).IsEmpty() { // a cell at -1 is empty
			v.columns[c].Empty++
		} else {
			v.columns[c].Usable++
		}
	}
	if row.Client != (mapping.Identity{}) {
		v.keyed++
	}
	for _, p := range slices.Concat(row.Problems, row.Warnings) {
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

func (v *verdict) read(row cell.Row, readings []mapping.Reading) {
	at := readings[0].Target
	var wrong, doubt *problem.Problem
	filled := false
	for _, r := range readings {
		wrong, doubt = cmp.Or(r.Wrong, wrong), cmp.Or(doubt, r.Doubt)
		filled = filled || !r.Value.IsZero()
	}
	switch t := &v.targets[at]; {
	case wrong != nil:
		t.Errors++
		v.byTarget.add(at, row, *wrong)
	case filled:
		t.Usable++
	default:
		t.Empty++
	}
	if doubt != nil {
		v.byTarget.add(at, row, *doubt)
	}
}

// mark notes a problem or a warning of a record, once; it reports whether it is new.
func (v *verdict) mark(record int, p problem.Problem) bool {
	made := mark{v.of.book.columnOf(p.Where), p.Code, p.Warning}
	others := v.marks[record]
	if slices.Contains(others, made) {
		return false
	}
	v.marks[record] = append(others, made)
	v.byColumn.add(made.column, v.of.book.records[record], p)
	v.byColumn.add(everywhere, v.of.book.records[record], p)
	isHere := func(m mark) bool { return m.column == made.column && !m.isWarning }
	isFilled := func(m mark) bool { return m.code != "required" && m.code != "empty-key" }
	if made.column >= 0 && made.column < len(v.columns) && !p.Warning {
		tally := &v.columns[made.column]
		if !slices.ContainsFunc(others, isHere) {
			tally.Errors++
		}
		if isFilled(made) && tally.Usable > 0 && !slices.ContainsFunc(others, func(m mark) bool { return isHere(m) && isFilled(m) }) {
			tally.Usable--
		}
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
			row = cell.RowOf(p.Where.Table, p.Where.Row)
		}
		record := v.of.book.record(row)
		if record < 0 || !v.mark(record, p) {
			continue
		}
		disagree = disagree || p.Code == "conflict"
		if len(v.together) < mostTogether {
			v.together[record] = append(v.together[record], p)
		}
		v.moveToErrors(row, p)
	}
	if disagree {
		v.sum.Disagree++
	}
}

// moveToErrors counts a problem that rows together have for the targets of its column,
// which took the cell for usable, or for empty.
func (v *verdict) moveToErrors(row cell.Row, p problem.Problem) {
	column, isRequired := v.of.book.columnOf(p.Where), p.Code == "required"
	for i, t := range v.of.bound.Targets {
		if !slices.Contains(t.Columns, column) || isRequired && !t.Required {
			continue
		}
		tally := &v.targets[i]
		from := &tally.Usable
		if isRequired {
			from = &tally.Empty
		}
		if *from > 0 {
			*from--
			tally.Errors++
			v.byTarget.add(i, row, p)
		}
	}
}
