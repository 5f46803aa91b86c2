package studio

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"time"

	"claimsheet/importer"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// verdict is what the whole of the sheets is by a mapping. It grows while the rows are
// gone through.
type verdict struct {
	of *analysis

	mu          sync.Mutex
	done        int // rows that were judged
	complete    bool
	failed      error        // why the rows could not be judged
	found       problem.List // what is wrong with the mapping by what the rows hold
	warnings    problem.List // the same
	skipped     int
	keyed       int    // rows whose client is known
	filled      []int  // cells of each column, in the rows so far that are not skipped
	wrong       bitmap // records with an error
	skippedRows bitmap
	kinds       kinds // errors of cells by column
	warned      kinds // warnings of cells, which are sent all the same
	targets     []tally
	ofTargets   kinds // errors by target
	toLookAt    kinds // warnings by target
	clients     int
	disagree    int // clients whose rows differ where they must agree
	survey      *importer.Survey
	together    map[int]problem.List // by record: errors that only rows together show; bounded
	stored      int                  // how many they are
	took        time.Duration
}

// tally is what the rows give for a target.
type tally struct{ usable, errors, empty int }

// kind is a code in a column of the first sheet, -1 for the row as a whole, or in a target.
type kind struct {
	at   int
	code string
}

// cellErrors are the cells that have the same problem.
type cellErrors struct {
	count   int
	rows    bitmap // records that have it; none by target
	example string // the first cell's text
	row     cell.Row
	message string
}

type kinds map[kind]*cellErrors

const (
	mostTogether = 20_000 // bounds the problems of verdict.together
	mostKinds    = 2000   // bounds the kinds; each takes a bit for every row
)

// note counts a problem; the first cell of the sheets is the example.
func (k kinds) note(at int, row cell.Row, p problem.Problem) *cellErrors {
	of := kind{at, p.Code}
	if k[of] == nil && len(k) >= mostKinds {
		return &cellErrors{}
	} else if k[of] == nil {
		k[of] = &cellErrors{}
	}
	e := k[of]
	if e.count++; e.count == 1 || row < e.row {
		e.row, e.example, e.message = row, sample(p.Seen), p.Message
	}
	return e
}

// everywhere is the place of all columns.
const everywhere = -2

// list returns the errors of a column or a target, or of all, the most frequent first.
func (k kinds) list(at int) []errorJSON {
	sums := map[string]*cellErrors{}
	for of, e := range k {
		if at != everywhere && of.at != at {
			continue
		}
		if sums[of.code] == nil {
			sums[of.code] = &cellErrors{row: e.row, example: e.example, message: e.message}
		}
		sum := sums[of.code]
		if sum.count += e.count; e.row < sum.row {
			sum.row, sum.example, sum.message = e.row, e.example, e.message
		}
	}
	list := []errorJSON{}
	for code, e := range sums {
		list = append(list, errorJSON{code, inPageWords(e.message), e.count, problem.OneLine(e.example), e.row.Number()})
	}
	slices.SortFunc(list, func(a, b errorJSON) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Code, b.Code)) })
	return list
}

// column is the verdict over a column of the first sheet. The caller holds the lock.
func (v *verdict) column(i int) tallyJSON {
	var all, filled bitmap // records with an error in the column, and those of them whose cell is filled
	for of, e := range v.kinds {
		if of.at == i {
			all.add(e.rows)
		}
		if of.at == i && of.code != "required" && of.code != "empty-key" {
			filled.add(e.rows)
		}
	}
	return tallyJSON{max(0, v.filled[i]-filled.count()), all.count(), v.done - v.skipped - v.filled[i], v.kinds.list(i), v.warned.list(i)}
}

func newVerdict(a *analysis) *verdict {
	return &verdict{of: a, kinds: kinds{}, warned: kinds{}, ofTargets: kinds{}, toLookAt: kinds{}, together: map[int]problem.List{},
		targets: make([]tally, len(a.bound.Targets)), filled: make([]int, len(a.book.columns))}
}

// bitmap has a bit for each record.
type bitmap []uint64

func (b *bitmap) set(i int) {
	for len(*b) <= i>>6 {
		*b = append(*b, 0)
	}
	(*b)[i>>6] |= 1 << (i & 63)
}

func (b *bitmap) add(other bitmap) {
	for len(*b) < len(other) {
		*b = append(*b, 0)
	}
	for i, word := range other {
		(*b)[i] |= word
	}
}

func (b bitmap) has(i int) bool { return i>>6 < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

func (b bitmap) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// showEvery is how often a page learns how far a judgement is.
const showEvery = 250 * time.Millisecond

// judge goes through the rows once. shown is called from time to time, and at the end.
func (v *verdict) judge(ctx context.Context, shown func()) {
	began := time.Now()
	err := func() (err error) {
		defer func() {
			if caught := recover(); caught != nil {
				err = importer.Caught(caught)
			}
		}()
		return v.plan(ctx, shown)
	}()
	v.mu.Lock()
	v.took, v.complete = time.Since(began), err == nil
	if ctx.Err() == nil {
		v.failed = err
	}
	v.mu.Unlock()
	shown()
}

// plan plans each client, and judges its rows by themselves and together.
func (v *verdict) plan(ctx context.Context, shown func()) error {
	book, bound := v.of.book, v.of.bound
	survey, err := importer.Take(ctx, bound.Binding, book.rows, false)
	if err != nil {
		return err
	}
	found, warnings := bound.CheckCells(survey.Notes)
	for i := range book.tables {
		wrong, doubts := book.headers[i].Verdict(v.of.mapping.Sheet.HeaderRowGiven)
		found, warnings = append(wrong, found...), slices.Concat(doubts, book.dates[i].Warnings(), warnings)
	}
	v.mu.Lock()
	v.found, v.warnings = found, warnings
	if !bound.Keyless {
		v.survey, v.clients = survey, survey.Clients
	}
	v.mu.Unlock()
	next := time.Now().Add(showEvery)
	for plan, err := range survey.PlansSeen(bound.Binding, book.rows, v.see) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if found := survey.RowProblems(bound.Binding, plan); len(found) > 0 && !bound.Keyless {
			v.addTogether(plan.Rows[0], found)
		}
		if time.Now().After(next) {
			shown()
			next = time.Now().Add(showEvery)
		}
	}
	return nil
}

// see counts a row by itself.
func (v *verdict) see(record cell.Record, row mapping.ConvertedRow) {
	readings := row.Readings
	i := v.of.book.record(row.Row)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.done++; row.Skipped != "" {
		v.skipped++
		v.skippedRows.set(i)
		return
	}
	for c, at := range v.of.book.at[record.Table] {
		if !record.Cell(at).IsEmpty() { // a cell at -1 is empty
			v.filled[c]++
		}
	}
	if row.Client != (mapping.Identity{}) {
		v.keyed++
	}
	for _, p := range row.Problems {
		if !v.of.bound.Keyless || p.Code != "empty-key" {
			v.note(v.kinds, i, p)
		}
	}
	for _, p := range row.Warnings {
		v.note(v.warned, i, p)
	}
	for len(readings) > 0 {
		n := 1
		for n < len(readings) && readings[n].Target == readings[0].Target { // an attribute may be on several claims
			n++
		}
		v.read(row.Row, readings[:n])
		readings = readings[n:]
	}
}

// read counts what a row gives for one target. The caller holds the lock.
func (v *verdict) read(row cell.Row, readings []mapping.Reading) {
	at := readings[0].Target
	var wrong, doubt *problem.Problem
	filled := false
	for _, r := range readings {
		if r.Wrong != nil {
			wrong = r.Wrong
		}
		filled = filled || !r.Value.IsZero()
		if doubt == nil {
			doubt = r.Doubt
		}
	}
	switch t := &v.targets[at]; {
	case wrong != nil:
		t.errors++
		v.ofTargets.note(at, row, *wrong)
	case filled:
		t.usable++
	default:
		t.empty++
	}
	if doubt != nil {
		v.toLookAt.note(at, row, *doubt)
	}
}

// note notes a problem or a warning of a record, once; it reports whether it is new. The
// caller holds the lock.
func (v *verdict) note(in kinds, record int, p problem.Problem) bool {
	if !p.Warning {
		v.wrong.set(record)
	}
	column := v.of.book.columnOf(p.Where)
	if known := in[kind{column, p.Code}]; known != nil && known.rows.has(record) {
		return false
	}
	in.note(column, v.of.book.records[record], p).rows.set(record)
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
		if record < 0 || !v.note(v.kinds, record, p) {
			continue
		}
		disagree = disagree || p.Code == "conflict"
		if v.stored < mostTogether {
			v.together[record] = append(v.together[record], p)
			v.stored++
		}
		v.moveToErrors(row, p)
	}
	if disagree {
		v.disagree++
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
		from := &tally.usable
		if isRequired {
			from = &tally.empty
		}
		if *from > 0 {
			*from--
			tally.errors++
			v.ofTargets.note(i, row, p)
		}
	}
}
