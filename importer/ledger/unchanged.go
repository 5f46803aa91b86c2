package ledger

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"database/sql"
	"encoding/binary"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"claimsheet/importer/result"
	"claimsheet/mapping/problem"
)

// Unchanged is a client for whom a run found nothing new: every row is unchanged, or
// skipped. The zero Owner is for rows without a client.
type Unchanged struct {
	Client int // the client's number in the run; 0 for rows without a client
	Owner  ClientKey
	Steps  []Step // as Ledger.Steps returned them, in the order of the sheet Steps
	Rows   []result.Row
}

// AddUnchanged records the rows and the steps of a client in a few bytes: the ledger
// makes them again from the client's steps when somebody asks for them. ok is false,
// and nothing is recorded, when they cannot be made from the steps: then the caller
// uses AddRows and AddRunSteps. It queues them like AddRows.
func (l *Ledger) AddUnchanged(run string, u Unchanged) (ok bool, err error) {
	if l.write == nil {
		return false, ErrReadOnly
	}
	e, ok := u.entry()
	if !ok {
		return false, nil
	}
	if e.owner != 0 || u.Owner == (ClientKey{}) {
		return true, l.lists.add(run, e, l.write)
	}
	return true, l.write.submit(false, func(t *transaction) error {
		owner, err := t.client(u.Owner)
		if err != nil {
			return err
		}
		e.owner = owner.client
		return l.lists.addWithin(t, run, e)
	})
}

// unchangedEntry is one client of a list.
type unchangedEntry struct {
	client int
	owner  int64 // in clients; 0 for rows without a client
	status byte  // an index of unchangedStatuses
	steps  []int64
	rows   []unchangedRow
	ids    uint32 // the sum of the clients' and claims' ids that the rows show
	url    uint32 // the sum of the redirect url; 0 for none
}

// unchangedRow is a row of an entry. claims are indexes of the entry's steps; all
// stands for every claim among them.
type unchangedRow struct {
	row    int
	advice string
	all    bool
	claims []int
}

// unchangedStatuses are the statuses that rows of a list may have. Their places are
// stored: new ones go to the end.
var unchangedStatuses = []result.Status{result.Unchanged, result.Skipped}

// entry returns the client's entry; ok is false when the rows do not follow from it.
func (u Unchanged) entry() (e unchangedEntry, ok bool) {
	e = unchangedEntry{client: u.Client}
	if len(u.Rows) == 0 {
		return e, false
	}
	status := slices.Index(unchangedStatuses, u.Rows[0].Status)
	if status < 0 {
		return e, false
	}
	e.status = byte(status)
	facts := make([]stepFacts, len(u.Steps))
	for i, s := range u.Steps {
		if s.Ref == (Ref{}) || s.To != Done {
			return e, false
		}
		e.owner, e.steps = s.Ref.Owner, append(e.steps, s.Ref.Step)
		facts[i] = stepFacts{Step: result.Step{Kind: s.Kind, ID: s.ID}, url: s.URL}
	}
	for _, r := range u.Rows {
		row, ok := unchangedRowOf(r, facts)
		if !ok {
			return e, false
		}
		e.rows = append(e.rows, row)
	}
	made := e.results(facts)
	for i, r := range u.Rows {
		if !sameRow(made[i], r) {
			return e, false
		}
	}
	e.ids, e.url = sumsOfRows(made)
	return e, true
}

// unchangedRowOf finds the claims of a row among its client's steps.
func unchangedRowOf(r result.Row, facts []stepFacts) (row unchangedRow, ok bool) {
	row = unchangedRow{row: r.Row, advice: r.Advice}
	claims, from := 0, 0
	for _, s := range facts {
		if s.Kind == KindClaim {
			claims++
		}
	}
	for _, id := range r.ClaimIDs {
		at := slices.IndexFunc(facts[from:], func(s stepFacts) bool { return s.Kind == KindClaim && s.ID == id })
		if at < 0 {
			return row, false
		}
		row.claims = append(row.claims, from+at)
		from += at + 1
	}
	if row.all = len(row.claims) == claims; row.all {
		row.claims = nil
	}
	return row, true
}

// results makes the rows of an entry from the facts of its steps, which are in its
// order.
func (e unchangedEntry) results(facts []stepFacts) []result.Row {
	client, url := "", ""
	var claims []int // indexes of facts
	for k, s := range facts {
		if s.Kind == KindClient {
			client = s.ID
		}
		if s.Kind == KindClaim {
			claims = append(claims, k)
		}
		if s.url != "" {
			url = s.url
		}
	}
	rows := make([]result.Row, len(e.rows))
	for i, r := range e.rows {
		rows[i] = result.Row{Row: r.row, Client: e.client, Status: unchangedStatuses[e.status], ClientID: client, URL: url, Advice: r.advice}
		shown := r.claims
		if r.all {
			shown = claims
		}
		for _, k := range shown {
			if k < len(facts) && facts[k].Kind == KindClaim && facts[k].ID != "" {
				rows[i].ClaimIDs = append(rows[i].ClaimIDs, facts[k].ID)
			}
		}
	}
	return rows
}

// sameRow reports whether two rows show the same. Table is not stored.
func sameRow(a, b result.Row) bool {
	return a.Row == b.Row && a.Client == b.Client && a.Status == b.Status && a.ClientID == b.ClientID && slices.Equal(a.ClaimIDs, b.ClaimIDs) && slices.Equal(a.Contacts, b.Contacts) &&
		a.URL == b.URL && a.FailedStep == b.FailedStep && a.Error == b.Error && a.Advice == b.Advice
}

// sumsOfRows returns the sum of the ids that a client's rows show, and that of the
// redirect url.
func sumsOfRows(rows []result.Row) (ids, url uint32) {
	var shown checksum
	for _, r := range rows {
		shown = shown.text(r.ClientID).number(int64(len(r.ClaimIDs)))
		for _, id := range r.ClaimIDs {
			shown = shown.text(id)
		}
	}
	return sumOf(shown), sumOf([]byte(rows[0].URL))
}

// The words of a row that the ledger can no longer make as it was.
const (
	adviceIDsChanged = "the ids that this row showed have been corrected since, so they are left out; claimsheet history shows what is known of the client"
	adviceURLGone    = "the redirect url that this row showed is no longer kept"
)

// checked returns the rows as they were: without the ids or the url when those are
// not the ones that the rows showed.
func (e unchangedEntry) checked(rows []result.Row) []result.Row {
	ids, url := sumsOfRows(rows)
	if ids == e.ids && url == e.url {
		return rows
	}
	for i := range rows {
		switch r := &rows[i]; {
		case ids != e.ids:
			r.ClientID, r.ClaimIDs, r.URL, r.Advice = "", nil, "", adviceIDsChanged
		default:
			r.URL, r.Advice = "", adviceURLGone
		}
	}
	return rows
}

// append adds the entry's bytes. Numbers are from 0; steps and rows that follow the
// first one of a client are written as differences, which are small.
func (e unchangedEntry) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(e.client))
	b = binary.AppendUvarint(b, uint64(e.owner))
	b = append(b, e.status)
	b = binary.AppendUvarint(b, uint64(len(e.steps)))
	last := int64(0)
	for _, id := range e.steps {
		b, last = binary.AppendVarint(b, id-last), id
	}
	b = binary.AppendUvarint(b, uint64(len(e.rows)))
	last = 0
	for _, r := range e.rows {
		b, last = binary.AppendVarint(b, int64(r.row)-last), int64(r.row)
		b = binary.AppendUvarint(b, uint64(len(r.advice)))
		b = append(b, r.advice...)
		if r.all {
			b = append(b, 0)
			continue
		}
		b = binary.AppendUvarint(b, uint64(len(r.claims)+1))
		for _, k := range r.claims {
			b = binary.AppendUvarint(b, uint64(k))
		}
	}
	b = binary.LittleEndian.AppendUint32(b, e.ids)
	return binary.LittleEndian.AppendUint32(b, e.url)
}

// entryReader reads entries. After a failure every value is 0.
type entryReader struct {
	data []byte
	at   int
	bad  bool
}

// readNumber reads a number as decode of encoding/binary does.
func readNumber[N int64 | uint64](r *entryReader, decode func([]byte) (N, int)) N {
	n, size := decode(r.data[min(r.at, len(r.data)):])
	if size <= 0 {
		r.bad, n = true, 0
	}
	r.at += max(size, 0)
	return n
}

func (r *entryReader) uvarint() uint64 { return readNumber(r, binary.Uvarint) }

func (r *entryReader) varint() int64 { return readNumber(r, binary.Varint) }

func (r *entryReader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.data)-r.at) {
		r.bad = true
		return make([]byte, 4)
	}
	r.at += int(n)
	return r.data[r.at-int(n) : r.at]
}

// count reads how many things follow, each of at least one byte.
func (r *entryReader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.data)-min(r.at, len(r.data))) {
		r.bad, n = true, 0
	}
	return int(n)
}

func (r *entryReader) entry() (e unchangedEntry) {
	e.client, e.owner = int(r.uvarint()), int64(r.uvarint())
	e.status = r.take(1)[0]
	last := int64(0)
	for range r.count() {
		last += r.varint()
		e.steps = append(e.steps, last)
	}
	last = 0
	for range r.count() {
		last += r.varint()
		row := unchangedRow{row: int(last), advice: string(r.take(r.uvarint()))}
		claims := r.count()
		row.all = claims == 0
		for range claims - 1 {
			row.claims = append(row.claims, int(r.uvarint()))
		}
		e.rows = append(e.rows, row)
	}
	e.ids, e.url = binary.LittleEndian.Uint32(r.take(4)), binary.LittleEndian.Uint32(r.take(4))
	r.bad = r.bad || int(e.status) >= len(unchangedStatuses) || len(e.rows) == 0
	return e
}

// unchangedLists gathers the entries of the runs that go on, until they fill a part.
type unchangedLists struct {
	mu    sync.Mutex
	parts map[string][]byte // by run
}

// partSize is from which size on a part of a list is written.
const partSize = 1 << 16

// add gathers an entry, and queues the part that it fills.
func (p *unchangedLists) add(run string, e unchangedEntry, w *writer) error {
	if err := w.stopped(); err != nil {
		return err
	}
	part := p.gather(run, e)
	if part == nil {
		return nil
	}
	return w.submit(false, func(t *transaction) error { return t.addUnchanged(run, part) })
}

// addWithin is add inside a transaction.
func (p *unchangedLists) addWithin(t *transaction, run string, e unchangedEntry) error {
	if part := p.gather(run, e); part != nil {
		return t.addUnchanged(run, part)
	}
	return nil
}

// gather adds an entry to its run's part, and returns the part when it is full.
func (p *unchangedLists) gather(run string, e unchangedEntry) (full []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parts == nil {
		p.parts = map[string][]byte{}
	}
	part := e.append(p.parts[run])
	if len(part) < partSize {
		p.parts[run] = part
		return nil
	}
	delete(p.parts, run)
	return part
}

// write writes what is gathered.
func (p *unchangedLists) write(t *transaction) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for run, part := range p.parts {
		if err := t.addUnchanged(run, part); err != nil {
			return err
		}
	}
	p.parts = nil
	return nil
}

// addUnchanged writes a part of a run's list.
func (t *transaction) addUnchanged(run string, part []byte) error {
	if _, err := t.startedRun(run); err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(part)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO run_unchanged (run, list, sum) VALUES (?, ?, ?)`, run, packed.Bytes(),
		int64(crc32.Checksum(packed.Bytes(), castagnoli)))
}

// unchangedList is the list of a run in memory: its bytes, and where in them the
// entries of the rows and of the clients begin.
type unchangedList struct {
	data          []byte
	rows, clients []place
}

// place is where the entry of a row or of a client begins.
type place struct{ number, at int32 }

// unchangedPart is a part of a run's list.
type unchangedPart struct {
	id   int64
	run  string
	data []byte
	bad  bool // it is damaged: the disk has changed it, or it does not consist of entries
}

// unchangedParts yields the parts of the lists of some runs: those of a run, or of
// every run for "". A damaged part is one of them, so that the others can be read.
func unchangedParts(ctx context.Context, db querier, run string) iter.Seq2[unchangedPart, error] {
	const query = `SELECT id, run, list, sum FROM run_unchanged`
	if run == "" {
		return stream(ctx, db, scanUnchanged, query+` ORDER BY id`)
	}
	return stream(ctx, db, scanUnchanged, query+` WHERE run = ? ORDER BY id`, run)
}

func scanUnchanged(rows *sql.Rows) (p unchangedPart, err error) {
	var packed sql.RawBytes
	var written int64
	if err := rows.Scan(&p.id, &p.run, &packed, &written); err != nil {
		return p, err
	}
	p.data, err = io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	p.bad = err != nil || written != int64(crc32.Checksum(packed, castagnoli))
	if r := (entryReader{data: p.data}); !p.bad {
		for r.at < len(p.data) && !r.bad {
			r.entry()
		}
		p.bad = r.bad
	}
	return p, nil
}

// damagedLists reports that the lists of some runs are damaged in the ledger at path.
// No step depends on them, only what runs have shown.
func damagedLists(path string, runs ...string) error {
	named := "run " + runs[0]
	if len(runs) > 1 {
		named = "the runs " + strings.Join(runs, ", ")
	}
	p := problem.At(problem.Where{File: path}, "ledger-damaged", "the list of the unchanged rows of %s is damaged, so those rows cannot be shown; no step is in the list", named)
	return refusal{p.Hinted("Check the disk, and restore the ledger from a backup, with the files beside it that end in -wal and -shm if there are any. " +
		"Do not delete it: it is what keeps things from being created twice. The list goes with the other rows of an old run when that is pruned."), ErrDamaged}
}

// entries yields the entries of a part that is not damaged, each with where it begins.
func (p unchangedPart) entries() iter.Seq2[int, unchangedEntry] {
	return func(yield func(int, unchangedEntry) bool) {
		r := entryReader{data: p.data}
		for r.at < len(p.data) {
			at := r.at
			if e := r.entry(); !yield(at, e) {
				return
			}
		}
	}
}

// unchangedOf reads the list of a run.
func (l *Ledger) unchangedOf(ctx context.Context, run string) (*unchangedList, error) {
	list := new(unchangedList)
	for p, err := range unchangedParts(ctx, l.read, run) {
		if err == nil && (p.bad || len(list.data)+len(p.data) > math.MaxInt32) {
			err = damagedLists(l.path, run)
		}
		if err != nil {
			return nil, err
		}
		base := len(list.data)
		list.data = append(list.data, p.data...)
		for at, e := range p.entries() {
			at := int32(base + at)
			list.clients = append(list.clients, place{int32(e.client), at})
			for _, r := range e.rows {
				list.rows = append(list.rows, place{int32(r.row), at})
			}
		}
	}
	byNumber := func(a, b place) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.at, b.at)) }
	slices.SortFunc(list.rows, byNumber)
	slices.SortFunc(list.clients, byNumber)
	return list, nil
}

// entry returns the entry that begins at a place.
func (u *unchangedList) entry(at int32) unchangedEntry {
	r := entryReader{data: u.data, at: int(at)}
	return r.entry()
}

// stepFacts are the facts of a step that rows and lines of the sheet Steps show.
type stepFacts struct {
	result.Step
	url string
}

// entriesAtOnce is for how many rows or clients the steps are read by one query.
const entriesAtOnce = 500

// withFacts yields the entries at some places in their order, each with the facts
// of its steps as they were when an event was the newest. An entry with several rows
// stands at several places, and is made once for those that are near each other.
func (l *Ledger) withFacts(ctx context.Context, list *unchangedList, places []place, event int64) iter.Seq2[placedEntry, error] {
	return func(yield func(placedEntry, error) bool) {
		for chunk := range slices.Chunk(places, entriesAtOnce) {
			entries := map[int32]*factEntry{} // by where they begin
			var ids []int64
			for _, p := range chunk {
				if entries[p.at] == nil {
					entries[p.at] = &factEntry{unchangedEntry: list.entry(p.at)}
					ids = append(ids, entries[p.at].steps...)
				}
			}
			known, err := l.factsOf(ctx, ids, event)
			if err != nil {
				yield(placedEntry{}, err)
				return
			}
			for _, e := range entries {
				for _, id := range e.steps {
					e.facts = append(e.facts, known[id])
				}
			}
			for _, p := range chunk {
				if !yield(placedEntry{int(p.number), entries[p.at]}, nil) {
					return
				}
			}
		}
	}
}

// placedEntry is an entry with the number of its place.
type placedEntry struct {
	number int
	*factEntry
}

// factEntry is an entry with the facts of its steps.
type factEntry struct {
	unchangedEntry
	facts []stepFacts
	made  []result.Row // by row; nil until somebody asks
}

// row returns the entry's row with a number.
func (e *factEntry) row(number int) result.Row {
	if e.made == nil {
		e.made = e.checked(e.results(e.facts))
	}
	return e.made[slices.IndexFunc(e.rows, func(r unchangedRow) bool { return r.row == number })]
}

// factsOf returns the facts of steps, by the steps' numbers, as they were when an
// event was the newest.
func (l *Ledger) factsOf(ctx context.Context, ids []int64, event int64) (map[int64]stepFacts, error) {
	known := make(map[int64]stepFacts, len(ids))
	slices.Sort(ids)
	err := snapshot(ctx, l.read, func(db querier) error { return l.rows.facts(ctx, db, ids, event, known) })
	return known, err
}

// facts adds what factsOf returns to known.
func (rr rowReader) facts(ctx context.Context, db querier, ids []int64, event int64, known map[int64]stepFacts) error {
	for r, err := range stream(ctx, db, rr.scan, stepsOf+`WHERE s.id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`, numbers(ids)) {
		if err != nil {
			return err
		}
		then, ok, err := rr.asOf(ctx, db, r, event)
		if err != nil {
			return err
		}
		facts := stepFacts{Step: result.Step{ClientKey: r.Client, Step: r.Step, Kind: r.kind, State: string(result.Planned)}}
		if ok {
			facts.State, facts.ID, facts.Attempts, facts.Status, facts.url = string(then.state), then.remoteID, then.attempts, then.status, then.url
			facts.At = time.UnixMicro(then.last.at).UTC()
		}
		known[r.id] = facts
	}
	return nil
}

// unchangedRows yields the rows of a run's list in the order of the sheet.
func (l *Ledger) unchangedRows(ctx context.Context, list *unchangedList, event int64) iter.Seq2[result.Row, error] {
	return func(yield func(result.Row, error) bool) {
		for e, err := range l.withFacts(ctx, list, list.rows, event) {
			if err != nil {
				yield(result.Row{}, err)
				return
			}
			if !yield(e.row(e.number), nil) {
				return
			}
		}
	}
}

// unchangedSteps yields the steps of a run's list by client and in the order of the
// plan.
func (l *Ledger) unchangedSteps(ctx context.Context, list *unchangedList, event int64) iter.Seq2[result.Step, error] {
	return func(yield func(result.Step, error) bool) {
		for e, err := range l.withFacts(ctx, list, list.clients, event) {
			if err != nil {
				yield(result.Step{}, err)
				return
			}
			for _, s := range e.facts {
				s.Client = e.client
				if !yield(s.Step, nil) {
					return
				}
			}
		}
	}
}

// merged yields what two streams yield, which are both in the order of less, in that
// order. An error ends it.
func merged[T any](a, b iter.Seq2[T, error], less func(a, b T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		next, stop := iter.Pull2(b)
		defer stop()
		second, err, more := next()
		for first, e := range a {
			for e == nil && more && (err != nil || less(second, first)) {
				if !yield(second, err) || err != nil {
					return
				}
				second, err, more = next()
			}
			if !yield(first, e) || e != nil {
				return
			}
		}
		for more {
			if !yield(second, err) || err != nil {
				return
			}
			second, err, more = next()
		}
	}
}

// checkLists reads all lists.
func checkLists(ctx context.Context, db querier, path string) error {
	var bad []string
	for p, err := range unchangedParts(ctx, db, "") {
		if err != nil {
			return err
		}
		bad = p.note(bad)
	}
	if len(bad) > 0 {
		return damagedLists(path, bad...)
	}
	return nil
}

// note adds the part's run to those with damaged lists, if it is damaged.
func (p unchangedPart) note(bad []string) []string {
	if p.bad && !slices.Contains(bad, p.run) {
		bad = append(bad, p.run)
	}
	return bad
}

// listsHolding are the runs in whose lists a client stands, or may stand.
type listsHolding struct {
	runs []string
	rows int // of the client in the lists
	bad  []unchangedPart
}

// listsHolding finds the lists in which a client stands, or a row without a client,
// and the parts that are damaged, in which anybody may stand.
func (t *transaction) listsHolding(owner int64) (found listsHolding, err error) {
	for p, err := range unchangedParts(context.Background(), t.conn, "") {
		if err != nil {
			return found, err
		}
		holds := p.bad
		if p.bad {
			found.bad = append(found.bad, p)
			p.data = nil
		}
		for _, e := range p.entries() {
			if e.owner == owner {
				found.rows += len(e.rows)
			}
			holds = holds || e.owner == owner || e.owner == 0
		}
		if holds && !slices.Contains(found.runs, p.run) {
			found.runs = append(found.runs, p.run)
		}
	}
	return found, nil
}
