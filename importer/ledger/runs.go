package ledger

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"claimsheet/importer/result"
)

// StartRun records the start of a run. It is durable when it returns. An id that
// the ledger has already is an error.
func (l *Ledger) StartRun(r Run) error {
	return l.submit(true, func(t *transaction) error {
		n, err := t.changes(`INSERT INTO runs (id, environment, environment_name, mapping, mapping_file, mapping_digest,
				input, input_digest, kept_input, version, started, finished, output, output_digest, summary)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			r.ID, r.Environment, r.EnvironmentName, r.Mapping, r.MappingFile, r.MappingDigest,
			r.Input, r.InputDigest, r.KeptInput, r.Version, r.Started.UnixMicro(), stamp(r.Finished), r.Output, r.OutputDigest, blob(r.Summary))
		if err == nil && n == 0 {
			err = rejected{fmt.Errorf("run %s is in the ledger already", r.ID)}
		}
		return err
	})
}

// FinishRun records a run's end, its summary and the workbook that it wrote. It is
// durable when it returns. It may be called again for the same run, when its
// workbook is written again. It uses only ID, Finished, Summary, Output and
// OutputDigest of r.
func (l *Ledger) FinishRun(r Run) error {
	return l.submit(true, func(t *transaction) error {
		if err := l.lists.write(t); err != nil {
			return err
		}
		n, err := t.changes(`UPDATE runs SET finished = ?, output = ?, output_digest = ?, summary = ? WHERE id = ?`,
			stamp(r.Finished), r.Output, r.OutputDigest, blob(r.Summary), r.ID)
		if err == nil && n == 0 {
			err = rejected{fmt.Errorf("run %s is not in the ledger", r.ID)}
		}
		if err != nil || r.Output == "" {
			return err
		}
		return t.exec(noteOutput, r.Output, r.ID, r.OutputDigest)
	})
}

// noteOutput stores the workbook that is at a path now.
const noteOutput = `INSERT INTO outputs (path, run, digest) VALUES (?, ?, ?)
	ON CONFLICT (path) DO UPDATE SET run = excluded.run, digest = excluded.digest`

// runColumns are the columns of runs for runTargets.
const runColumns = `id, environment, environment_name, mapping, mapping_file, mapping_digest,
	input, input_digest, kept_input, version, started, finished, output, output_digest, summary`

func runTargets(r *Run) []any {
	return []any{&r.ID, &r.Environment, &r.EnvironmentName, &r.Mapping, &r.MappingFile, &r.MappingDigest,
		&r.Input, &r.InputDigest, &r.KeptInput, &r.Version, (*instant)(&r.Started), (*instant)(&r.Finished),
		&r.Output, &r.OutputDigest, &r.Summary}
}

func scanRun(rows *sql.Rows) (r Run, err error) {
	err = rows.Scan(runTargets(&r)...)
	return r, err
}

// Run returns the run with an id; ok is false when there is none.
func (l *Ledger) Run(ctx context.Context, id string) (r Run, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs WHERE id = ?`, id).Scan(runTargets(&r)...)
	ok, err = found(err)
	return r, ok, err
}

// LastOutput returns the digest of the workbook that a run last wrote to path, by
// which an edited one is recognised. ok is false when no run did. Paths are
// compared as they were given to FinishRun.
func (l *Ledger) LastOutput(ctx context.Context, path string) (digest string, ok bool, err error) {
	ok, err = found(l.read.QueryRowContext(ctx, `SELECT digest FROM outputs WHERE path = ?`, path).Scan(&digest))
	return digest, ok, err
}

// AddRows records the results of a client's rows in a run; the owner is zero for
// rows without a client. It only queues them: when they cannot be written the ledger
// stops, and the next Append or Flush returns the error. A later result of a row
// replaces the earlier one. The run must have been started.
func (l *Ledger) AddRows(run string, owner ClientKey, rows ...result.Row) error {
	if l.write == nil {
		return ErrReadOnly
	}
	rows = slices.Clone(rows)
	shown := make([]string, len(rows))
	for i, r := range rows {
		ids, err := packIDs(r)
		if err != nil {
			return err
		}
		shown[i] = string(ids)
	}
	return l.write.submit(false, func(t *transaction) error {
		run, err := t.startedRun(run)
		var client any // NULL for none
		if err == nil && owner != (ClientKey{}) {
			var n clientNumber
			n, err = t.client(owner)
			client = n.client
		}
		if err != nil {
			return err
		}
		for i, r := range rows {
			_, err := t.addRunRow.exec(run, int64(r.Row), string(r.Status), client, int64(r.Client),
				r.ClientID, shown[i], r.URL, r.FailedStep, r.Error, r.Advice)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// maxSteps bounds the steps of one client in a run: a step's number in the table is
// the client's number times maxSteps plus its place in the plan, so that clients can
// be added in any order.
const maxSteps = 1 << 24

// AddRunSteps records the steps of a run's plan for the client with this number
// (1-based), in order. It queues them like AddRows.
func (l *Ledger) AddRunSteps(run string, client int, steps ...RunStep) error {
	if l.write == nil {
		return ErrReadOnly
	}
	steps = slices.Clone(steps)
	return l.write.submit(false, func(t *transaction) error {
		run, err := t.startedRun(run)
		if err != nil {
			return err
		}
		for i, s := range steps {
			owner, err1 := t.client(s.ClientKey)
			mapping, err2 := t.name(s.Mapping)
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			kind := code(kinds, s.Kind)
			if s.Skipped {
				kind += stepSkipped
			}
			_, err = t.addRunStep.exec(run, int64(client*maxSteps+i+1), owner.client, mapping, s.Step, kind, s.Title)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Flush returns when everything that was queued before it is durable.
func (l *Ledger) Flush() error {
	return l.submit(true, l.lists.write)
}

// Newest is the number of an event that no ledger reaches: as of Newest, everything
// is as it is now.
const Newest = math.MaxInt64

// Rows yields the results of a run's rows in the order of the sheet, as they were
// when an event was the newest; see LastEvent. They are read from the file one by
// one, all as they were when the first was read. The rows of AddUnchanged are made
// from the steps again: where the ledger has another id or url by now than the row
// showed, or none, the row is without it and says so. An error ends the loop. Table
// is 0: an import of several sheets has a run for each.
func (l *Ledger) Rows(ctx context.Context, run string, event int64) iter.Seq2[result.Row, error] {
	return func(yield func(result.Row, error) bool) {
		list, err := l.unchangedOf(ctx, run)
		if err != nil {
			yield(result.Row{}, err)
			return
		}
		l.RowsWith(ctx, run, l.unchangedRows(ctx, list, event))(yield)
	}
}

// RowsWith is Rows for a caller who still has the rows that it gave to AddUnchanged,
// and yields them in the order of the sheet: they need not be made again.
func (l *Ledger) RowsWith(ctx context.Context, run string, unchanged iter.Seq2[result.Row, error]) iter.Seq2[result.Row, error] {
	stored := func(yield func(result.Row, error) bool) {
		for r, err := range stream(ctx, l.read, func(rows *sql.Rows) (RunRow, error) { return scanRow(rows) }, `
				SELECT `+rowColumns+` FROM run_rows r JOIN names n ON n.id = r.run WHERE n.name = ? ORDER BY r.source_row`, run) {
			if !yield(r.Result, err) {
				return
			}
		}
	}
	return merged(stored, unchanged, func(a, b result.Row) bool { return a.Row < b.Row })
}

// rowColumns are the columns of run_rows r and names n for scanRow, which takes more after them.
const rowColumns = `n.name, r.source_row, r.status, r.number, r.client_id, r.claim_ids, r.url, r.failed_step, r.error, r.advice`

func scanRow(rows *sql.Rows, more ...any) (RunRow, error) {
	var row RunRow
	var shown []byte
	r := &row.Result
	err := rows.Scan(append([]any{&row.Run, &r.Row, (*string)(&r.Status), &r.Client, &r.ClientID, &shown, &r.URL, &r.FailedStep, &r.Error, &r.Advice}, more...)...)
	if err == nil {
		err = unpackIDs(shown, r)
	}
	return row, err
}

// idsWithContacts is what the column claim_ids holds of a row that shows further
// contacts, as JSON. Of other rows it holds the list of the claims.
type idsWithContacts struct {
	Claims   []string `json:"claims,omitempty"`
	Contacts []string `json:"contacts"` // as in result.Row
}

// packIDs returns a row's claims and further contacts as they are stored.
func packIDs(r result.Row) ([]byte, error) {
	if len(r.Contacts) > 0 {
		return json.Marshal(idsWithContacts{r.ClaimIDs, r.Contacts})
	}
	return json.Marshal(slices.Concat([]string{}, r.ClaimIDs)) // [] rather than null
}

// unpackIDs is the inverse of packIDs.
func unpackIDs(stored []byte, r *result.Row) error {
	var ids idsWithContacts
	var to any = &ids.Claims
	if bytes.HasPrefix(stored, []byte("{")) {
		to = &ids
	}
	err := json.Unmarshal(stored, to)
	if r.Contacts = ids.Contacts; len(ids.Claims) > 0 {
		r.ClaimIDs = ids.Claims
	}
	return err
}

// RunSteps yields the steps of a run's plan by client and in the order of the plan,
// each as it was when an event was the newest; see LastEvent. It reads like Rows.
func (l *Ledger) RunSteps(ctx context.Context, run string, event int64) iter.Seq2[result.Step, error] {
	return func(yield func(result.Step, error) bool) {
		list, err := l.unchangedOf(ctx, run)
		if err != nil {
			yield(result.Step{}, err)
			return
		}
		inOrder(byClient(l.storedSteps(ctx, event, ofRun, run), l.unchangedSteps(ctx, list, event)))(yield)
	}
}

// RunStepsWith is RunSteps for a caller who still has the lines of all clients but
// some, given by their numbers, and yields them by client and in the order of the plan.
func (l *Ledger) RunStepsWith(ctx context.Context, run string, event int64, some []int64, others iter.Seq2[result.Step, error]) iter.Seq2[result.Step, error] {
	if len(some) == 0 {
		return inOrder(others)
	}
	stored := l.storedSteps(ctx, event, ofRun+` AND r.number / ? IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`, run, maxSteps, numbers(slices.Sorted(slices.Values(some))))
	return inOrder(byClient(stored, others))
}

// byClient merges steps that are in the order of clients.
func byClient(a, b iter.Seq2[result.Step, error]) iter.Seq2[result.Step, error] {
	return merged(a, b, func(a, b result.Step) bool { return a.Client < b.Client })
}

// ofRun is the condition of storedSteps for all steps of a run, with the run's id.
const ofRun = `r.run = (SELECT id FROM names WHERE name = ?)`

// storedSteps yields the steps that AddRunSteps has recorded and that fulfil a condition.
func (l *Ledger) storedSteps(ctx context.Context, event int64, condition string, args ...any) iter.Seq2[result.Step, error] {
	return l.withStates(ctx, stream(ctx, l.read, scanRunStep, runSteps+`WHERE `+condition+` ORDER BY r.number`, args...), event)
}

// runSteps begins a query for steps of runs' plans, for scanRunStep.
const runSteps = `
	SELECT r.number, c.space, c.client, r.step, r.kind, r.title, s.id
	FROM run_steps r
	JOIN clients c ON c.id = r.client
	LEFT JOIN steps s ON s.client = r.client AND s.mapping = r.mapping AND s.step = r.step `

// runStep is a step of a run's plan, with the number of its row in steps, if it has
// one. Of a contact ClientKey is that of the contact's client.
type runStep struct {
	result.Step
	id sql.NullInt64
}

// ContactsOf yields the further contacts in the plans of a run, in the order of the sheet.
// A plan of which everything was done before is not among them.
func (l *Ledger) ContactsOf(ctx context.Context, run string) iter.Seq2[RunContact, error] {
	return stream(ctx, l.read, func(rows *sql.Rows) (c RunContact, err error) {
		err = rows.Scan(&c.Entry, &c.Contact.Environment, &c.Contact.Space, &c.Contact.Client, &c.Client.Space, &c.Client.Client)
		c.Client.Environment = c.Contact.Environment
		return c, err
	}, `SELECT r.title, e.name, c.space, c.client, oc.space, oc.client
		FROM names n JOIN run_steps r ON r.run = n.id JOIN clients c ON c.id = r.client JOIN environments e ON e.id = c.environment
		JOIN run_steps o ON o.run = r.run AND o.kind = 1 AND o.number BETWEEN r.number / ?2 * ?2 AND r.number / ?2 * ?2 + ?2 - 1
		JOIN clients oc ON oc.id = o.client
		WHERE n.name = ?1 AND r.kind = 5 ORDER BY r.number`, run, maxSteps)
}

// ContactStep is the name of the step of a client for one of its contacts: contact,
// the contact's key space, in which a slash is written %2F, and its key.
func ContactStep(contact ClientKey) string {
	return contactPrefix + strings.NewReplacer("%", "%25", "/", "%2F").Replace(contact.Space) + "/" + contact.Client
}

const contactPrefix = KindContact + "/"

// ofClients yields steps in the order of clients, with the steps of contacts under
// the key of the client who has them. A client's own steps come first.
func ofClients(steps iter.Seq2[runStep, error]) iter.Seq2[runStep, error] {
	return func(yield func(runStep, error) bool) {
		var last runStep
		for s, err := range steps {
			if s.Kind == KindContact {
				s.ClientKey = ""
				if s.Client == last.Client {
					s.ClientKey = last.ClientKey
				}
			}
			if last = s; !yield(s, err) {
				return
			}
		}
	}
}

func scanRunStep(rows *sql.Rows) (s runStep, err error) {
	var number int
	var kind int64
	var space string
	err = rows.Scan(&number, &space, &s.ClientKey, &s.Step.Step, &kind, &s.Title, &s.id)
	s.Client, s.Kind = number/maxSteps, word(kinds, kind&^stepSkipped)
	if s.Kind == KindContact {
		s.Step.Step = ContactStep(ClientKey{Space: space, Client: s.ClientKey})
	}
	s.State = string(result.Planned)
	if kind&stepSkipped != 0 {
		s.State = result.StepSkipped
	}
	return s, err
}

// withStates yields steps of a run's plan with their states as they were when an
// event was the newest.
func (l *Ledger) withStates(ctx context.Context, steps iter.Seq2[runStep, error], event int64) iter.Seq2[result.Step, error] {
	return func(yield func(result.Step, error) bool) {
		var chunk []runStep
		flush := func() bool {
			var ids []int64
			for _, s := range chunk {
				if s.id.Valid {
					ids = append(ids, s.id.Int64)
				}
			}
			known, err := l.factsOf(ctx, ids, event)
			if err != nil {
				return yield(result.Step{}, err)
			}
			for _, s := range chunk {
				if then, ok := known[s.id.Int64]; ok && s.id.Valid {
					skipped := s.State == result.StepSkipped && (then.State == string(Failed) || then.State == string(NotSent))
					if !skipped {
						s.State = then.State
					}
					s.ID, s.Attempts, s.Status, s.At = then.ID, then.Attempts, then.Status, then.At
				}
				if !yield(s.Step, nil) {
					return false
				}
			}
			chunk = chunk[:0]
			return true
		}
		for s, err := range ofClients(steps) {
			if err != nil {
				yield(result.Step{}, err)
				return
			}
			chunk = append(chunk, s)
			if len(chunk) == entriesAtOnce && !flush() {
				return
			}
		}
		flush()
	}
}

// inOrder numbers the steps from 1 as lines of the sheet Steps.
func inOrder(steps iter.Seq2[result.Step, error]) iter.Seq2[result.Step, error] {
	return func(yield func(result.Step, error) bool) {
		number := 0
		for s, err := range steps {
			number++
			s.Number = number
			if !yield(s, err) {
				return
			}
		}
	}
}

// Runs yields the runs in these environments, the newest first. It reads like Rows.
func (l *Ledger) Runs(ctx context.Context, environments []string) iter.Seq2[Run, error] {
	return stream(ctx, l.read, scanRun, `
		SELECT `+runColumns+` FROM runs WHERE environment IN (SELECT value FROM json_each(?))
		ORDER BY started DESC, id`, list(environments))
}

// OutputOf returns the run that last wrote a workbook to path; ok is false when
// none did. Paths are compared as they were given to FinishRun.
func (l *Ledger) OutputOf(ctx context.Context, path string) (run string, ok bool, err error) {
	ok, err = found(l.read.QueryRowContext(ctx, `SELECT run FROM outputs WHERE path = ?`, path).Scan(&run))
	return run, ok, err
}

// NoteOutput records that a run's workbook was written again, to path. It is
// durable when it returns, and changes nothing that FinishRun recorded.
func (l *Ledger) NoteOutput(run, path, digest string) error {
	return l.submit(true, func(t *transaction) error {
		return t.exec(noteOutput, path, run, digest)
	})
}

// LatestOutputs returns every path at which a workbook of the newest run of a mapping
// in an environment was last written, by the run itself or by NoteOutput. A run that
// wrote none does not count.
func (l *Ledger) LatestOutputs(ctx context.Context, environment, mapping string) ([]string, error) {
	const written = `FROM outputs o JOIN runs r ON r.id = o.run WHERE r.environment = ?1 AND r.mapping = ?2`
	return gather(stream(ctx, l.read, scanText,
		`SELECT o.path `+written+` AND r.started = (SELECT max(r.started) `+written+`) ORDER BY o.path`, environment, mapping))
}

// RunAfter returns the run of the same mapping and environment that began first after
// r; ok is false when none did.
func (l *Ledger) RunAfter(ctx context.Context, r Run) (next Run, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs WHERE environment = ? AND mapping = ? AND started > ?
		ORDER BY started, id LIMIT 1`, r.Environment, r.Mapping, r.Started.UnixMicro()).Scan(runTargets(&next)...)
	ok, err = found(err)
	return next, ok, err
}

// LastEvent returns the number of the newest event, 0 when there is none: it
// identifies the present state of the ledger, for Rows and RunSteps.
func (l *Ledger) LastEvent(ctx context.Context) (number int64, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT event FROM counter`).Scan(&number)
	return number, err
}

// EarlierRun is a finished run over the same input as another run.
type EarlierRun struct {
	ID      string
	Started time.Time
	Summary []byte // as Run.Summary
}

// SameInput returns the latest finished run other than r with the same input,
// mapping and environment; ok is false when there is none. A run that was killed
// has not finished.
func (l *Ledger) SameInput(ctx context.Context, r Run) (e EarlierRun, ok bool, err error) {
	var started int64
	err = l.read.QueryRowContext(ctx, `
		SELECT id, started, summary FROM runs
		WHERE environment = ? AND mapping = ? AND input_digest = ? AND finished IS NOT NULL AND id <> ?
		ORDER BY finished DESC LIMIT 1`, r.Environment, r.Mapping, r.InputDigest, r.ID).Scan(&e.ID, &started, &e.Summary)
	if ok, err = found(err); ok {
		e.Started = time.UnixMicro(started).UTC()
	}
	return e, ok, err
}

// RowsOfClient returns the rows that runs have recorded for a client, the oldest run
// first. Of the rows of AddUnchanged it has the number, the status and the advice,
// not the ids and the url. Where such rows are damaged it returns all others, with an
// error that wraps ErrDamaged and names the runs.
func (l *Ledger) RowsOfClient(ctx context.Context, owner ClientKey) ([]RunRow, error) {
	type dated struct {
		RunRow
		started int64
	}
	all, err := gather(stream(ctx, l.read, func(rows *sql.Rows) (d dated, err error) {
		d.RunRow, err = scanRow(rows, &d.started)
		return d, err
	}, `SELECT `+rowColumns+`, u.started
		FROM clients c JOIN run_rows r ON r.client = c.id JOIN names n ON n.id = r.run JOIN runs u ON u.id = n.name
		WHERE `+ofClient, owner.Environment, owner.Client, owner.Space))
	if err != nil {
		return nil, err
	}
	var number int64
	if ok, err := found(l.read.QueryRowContext(ctx, `SELECT c.id FROM clients c WHERE `+ofClient,
		owner.Environment, owner.Client, owner.Space).Scan(&number)); !ok || err != nil {
		return nil, err
	}
	started := map[string]int64{}
	var bad []string
	for p, err := range unchangedParts(ctx, l.read, "") {
		if err != nil {
			return nil, err
		}
		if bad = p.note(bad); p.bad {
			continue
		}
		for _, e := range p.entries() {
			if e.owner != number {
				continue
			}
			if _, known := started[p.run]; !known {
				var at int64
				if err := l.read.QueryRowContext(ctx, `SELECT started FROM runs WHERE id = ?`, p.run).Scan(&at); err != nil {
					return nil, err
				}
				started[p.run] = at
			}
			for _, r := range e.rows {
				all = append(all, dated{RunRow{p.run, result.Row{Row: r.row, Client: e.client, Status: unchangedStatuses[e.status], Advice: r.advice}}, started[p.run]})
			}
		}
	}
	slices.SortFunc(all, func(a, b dated) int {
		return cmp.Or(cmp.Compare(a.started, b.started), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Result.Row, b.Result.Row))
	})
	rows := make([]RunRow, len(all))
	for i, d := range all {
		rows[i] = d.RunRow
	}
	if len(bad) > 0 {
		return rows, damagedLists(l.path, bad...)
	}
	return rows, nil
}

// PlanOfClient returns the steps of the newest plan that a run of a mapping recorded
// for the client, in order, each with its current state; none when there is no such
// plan. A plan is recognised by its step link, which every plan of version 2 has;
// the list of steps that a run records for a client with invalid rows has none. A
// plan of which everything was done before is not among them.
func (l *Ledger) PlanOfClient(ctx context.Context, owner ClientKey, mapping string) ([]result.Step, error) {
	var run, number int64
	ok, err := found(l.read.QueryRowContext(ctx, `
		SELECT w.run, w.number FROM clients c
		JOIN run_rows w ON w.client = c.id
		JOIN run_steps r ON r.run = w.run AND r.number BETWEEN w.number * ?5 AND w.number * ?5 + ?5 - 1
		JOIN names n ON n.id = w.run JOIN runs u ON u.id = n.name
		WHERE c.environment = (SELECT id FROM environments WHERE name = ?1) AND c.client = ?2 AND c.space = ?3
			AND r.client = c.id AND r.kind = 4 AND r.mapping = (SELECT id FROM names WHERE name = ?4)
		ORDER BY u.started DESC LIMIT 1`, owner.Environment, owner.Client, owner.Space, mapping, maxSteps).Scan(&run, &number))
	if !ok || err != nil {
		return nil, err
	}
	return gather(inOrder(l.withStates(ctx, stream(ctx, l.read, scanRunStep, runSteps+`
		WHERE r.run = ? AND r.number BETWEEN ? AND ? AND r.mapping IN (0, (SELECT id FROM names WHERE name = ?)) ORDER BY r.number`,
		run, number*maxSteps, (number+1)*maxSteps-1, mapping), Newest)))
}
