package studio

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"time"

	"claimsheet/importer"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// verdict is what the whole of the sheets is by a mapping. It grows while the rows are
// gone through: first each row by itself, then the rows of each client together.
type verdict struct {
	of *analysis

	mu       sync.Mutex
	done     int // rows that were converted
	complete bool
	failed   error        // why the rows could not be judged
	found    problem.List // what is wrong with the mapping by what the rows hold
	warnings problem.List // the same
	skipped  int
	keyed    int   // rows whose client is known
	filled   []int // cells of each column, in the rows so far that are not skipped
	trouble  bitmap
	left     bitmap // records that are skipped
	kinds    map[kindOfTrouble]*trouble
	doubts   map[kindOfTrouble]*trouble // warnings of cells, which are sent all the same
	targets  []tally                    // of the bound targets
	clients  int
	disagree int // clients whose rows differ where they must agree
	survey   *importer.Survey
	together map[int]problem.List // by record: problems that only rows together show; bounded
	kept     int                  // how many they are
	took     time.Duration
}

// kindOfTrouble is a code in a column of the first sheet; -1 for the row as a whole.
type kindOfTrouble struct {
	column int
	code   string
}

// trouble is the cells of a column that have the same problem.
type trouble struct {
	count   int
	rows    bitmap // records that have it
	example string // the first cell's text
	row     cell.Row
	message string
}

// tally is what the rows give for a target.
type tally struct {
	usable, trouble, empty int
	kinds, doubts          map[string]*trouble // by code, without the rows
}

// mostTogether bounds the problems of verdict.together.
const mostTogether = 20_000

// mostKinds bounds the kinds of trouble; each takes a bit for every row.
const mostKinds = 2000

func newVerdict(a *analysis) *verdict {
	return &verdict{of: a, kinds: map[kindOfTrouble]*trouble{}, doubts: map[kindOfTrouble]*trouble{}, together: map[int]problem.List{},
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

func (b bitmap) count() int {
	n := 0
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
	err := v.plan(ctx, shown)
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
	v.mu.Lock()
	for i := range book.tables {
		wrong, warnings := book.headers[i].Verdict(v.of.mapping.Sheet.HeaderRowGiven)
		v.found = append(v.found, wrong...)
		v.warnings = slices.Concat(v.warnings, warnings, book.dates[i].Warnings())
	}
	found, warnings := bound.CheckTypes(survey.Typed)
	v.found, v.warnings = append(v.found, found...), append(v.warnings, warnings...)
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
			v.addPlan(plan.Rows[0], found)
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
	readings := v.of.bound.Readings(row)
	i := v.of.book.record(row.Row)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.done++; row.Skipped != "" {
		v.skipped++
		v.left.set(i)
		return
	}
	for c, at := range v.of.book.at[record.Table] {
		if !record.Cell(at).IsEmpty() { // there is none at -1
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
		v.note(v.doubts, i, p)
	}
	for len(readings) > 0 {
		n := 1
		for n < len(readings) && readings[n].Target == readings[0].Target { // an attribute may be on several claims
			n++
		}
		v.targets[readings[0].Target].add(row.Row, readings[:n])
		readings = readings[n:]
	}
}

// add counts what a row gives for the target.
func (t *tally) add(row cell.Row, readings []mapping.Reading) {
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
	switch {
	case wrong != nil:
		t.trouble++
		note(&t.kinds, row, *wrong)
	case filled:
		t.usable++
	default:
		t.empty++
	}
	if doubt != nil {
		note(&t.doubts, row, *doubt)
	}
}

// note counts a problem of a target by its code.
func note(kinds *map[string]*trouble, row cell.Row, p problem.Problem) {
	if *kinds == nil {
		*kinds = map[string]*trouble{}
	}
	k := (*kinds)[p.Code]
	if k == nil {
		k = &trouble{}
		(*kinds)[p.Code] = k
	}
	k.count++
	k.exemplify(row, p)
}

// exemplify makes a cell the example of its kind when it is the first one of the sheets.
func (t *trouble) exemplify(row cell.Row, p problem.Problem) {
	if t.count == 1 || row < t.row {
		t.row, t.example, t.message = row, sample(p.Seen), p.Message
	}
}

// note notes a problem or a warning of a record, once; it reports whether it is new. The
// caller holds the lock.
func (v *verdict) note(kinds map[kindOfTrouble]*trouble, record int, p problem.Problem) bool {
	if !p.Warning {
		v.trouble.set(record)
	}
	kind := v.kind(p)
	k := kinds[kind]
	if k == nil {
		if len(kinds) >= mostKinds {
			return false
		}
		k = &trouble{}
		kinds[kind] = k
	}
	if k.rows.has(record) {
		return false
	}
	k.rows.set(record)
	k.count++
	k.exemplify(v.of.book.records[record], p)
	return true
}

// kind returns the column and code of a problem of a row.
func (v *verdict) kind(p problem.Problem) kindOfTrouble {
	return kindOfTrouble{v.of.book.columnOf(p.Where), p.Code}
}

// columnOf returns the first sheet's column of a cell; -1 for the row as a whole.
func (b *book) columnOf(at problem.Where) int {
	i := slices.IndexFunc([]rune(at.Cell), func(r rune) bool { return r < 'A' })
	if i <= 0 {
		return -1
	}
	return b.ours(at.Table, columnIndex(at.Cell[:i]))
}

// addPlan counts what only the rows of a client together show.
func (v *verdict) addPlan(first cell.Row, found problem.List) {
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
		if v.kept < mostTogether {
			v.together[record] = append(v.together[record], p)
			v.kept++
		}
		v.moveToTrouble(row, p)
	}
	if disagree {
		v.disagree++
	}
}

// moveToTrouble counts a problem that rows together have for the targets of its column,
// which took the cell for usable, or for empty.
func (v *verdict) moveToTrouble(row cell.Row, p problem.Problem) {
	column, isRequired := v.kind(p).column, p.Code == "required"
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
			tally.trouble++
			note(&tally.kinds, row, p)
		}
	}
}
