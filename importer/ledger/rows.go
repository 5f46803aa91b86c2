package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"iter"
	"slices"

	"claimsheet/importer/result"
)

// AddRows records the results of a client's rows in a run; the owner is zero
// for rows without a client. It only queues them: a row that could not be
// written stops the ledger, and the next Append or Flush returns the error. A
// later result of the same row replaces the earlier one. The run must have been
// started.
func (l *Ledger) AddRows(run string, owner ClientKey, rows ...result.Row) error {
	if l.write == nil {
		return ErrReadOnly
	}
	rows = slices.Clone(rows)
	claims := make([]string, len(rows))
	for i, r := range rows {
		ids, err := json.Marshal(slices.Concat([]string{}, r.ClaimIDs)) // [] rather than null
		if err != nil {
			return err
		}
		claims[i] = string(ids)
	}
	return l.write.submit(false, func(t *transaction) error {
		var id int64
		if owner != (ClientKey{}) {
			var err error
			if id, err = t.owner(owner); err != nil {
				return err
			}
		}
		for i, r := range rows {
			_, err := t.addRow.ExecContext(context.Background(), run, r.Row, string(r.Status), number(id), r.Client,
				r.ClientID, claims[i], r.URL, r.FailedStep, r.Error, r.Advice)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// maxSteps bounds the steps of one client in a run: a step's number in the
// table is the client's number times maxSteps plus its place in the plan, so
// that clients can be added in any order.
const maxSteps = 1 << 24

// AddRunSteps records the steps of a run's plan for the client with this number
// (1-based), in order. It queues them, as AddRows does.
func (l *Ledger) AddRunSteps(run string, client int, steps ...RunStep) error {
	if l.write == nil {
		return ErrReadOnly
	}
	steps = slices.Clone(steps)
	return l.write.submit(false, func(t *transaction) error {
		for i, s := range steps {
			owner, err := t.owner(s.ClientKey)
			if err != nil {
				return err
			}
			_, err = t.addRunStep.ExecContext(context.Background(), run, client*maxSteps+i+1, owner, s.Mapping, s.Step, s.Kind, s.Title)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Flush returns when all that was queued before it is durable.
func (l *Ledger) Flush() error {
	if l.write == nil {
		return ErrReadOnly
	}
	return l.write.submit(true, func(*transaction) error { return nil })
}

// Rows are the results of a run's rows in the order of the sheet, read from the
// file as the loop asks for them. All are as they were when the first was read.
// An error ends the loop. Table is 0: a run of several sheets has a run for
// each.
func (l *Ledger) Rows(ctx context.Context, run string) iter.Seq2[result.Row, error] {
	return func(yield func(result.Row, error) bool) {
		for r, err := range stream(ctx, l.read, scanRow, `
			SELECT `+rowColumns+` FROM run_rows r WHERE r.run = ? ORDER BY r.source_row`, run) {
			if !yield(r.Result, err) {
				return
			}
		}
	}
}

// rowColumns are the columns of run_rows r that scanRow takes.
const rowColumns = `r.run, r.source_row, r.status, r.number, r.client_id, r.claim_ids, r.url, r.failed_step, r.error, r.advice`

func scanRow(rows *sql.Rows) (RunRow, error) {
	var row RunRow
	var claims []byte
	r := &row.Result
	err := rows.Scan(&row.Run, &r.Row, (*string)(&r.Status), &r.Client, &r.ClientID, &claims, &r.URL, &r.FailedStep, &r.Error, &r.Advice)
	if err == nil {
		err = json.Unmarshal(claims, &r.ClaimIDs)
	}
	if len(r.ClaimIDs) == 0 {
		r.ClaimIDs = nil
	}
	return row, err
}

// RunSteps are the steps of a run's plan by client and in the order of the
// plan, each with its current state. They are read as Rows reads rows.
func (l *Ledger) RunSteps(ctx context.Context, run string) iter.Seq2[result.Step, error] {
	return inOrder(stream(ctx, l.read, scanRunStep, `
		SELECT `+runStepColumns+`
		FROM run_steps r
		JOIN owners o ON o.id = r.owner
		LEFT JOIN step_now s ON s.owner = r.owner AND s.mapping = r.mapping AND s.step = r.step
		WHERE r.run = ? ORDER BY r.number`, run))
}

// runStepColumns are the columns that scanRunStep takes: a run's step r, its
// owner o and the state of the step s, if it has one.
const runStepColumns = `r.number, o.client, r.step, r.kind, r.title,
	coalesce(s.state, ''), coalesce(s.created, ''), coalesce(s.attempts, 0), coalesce(s.status, 0), s.at`

func scanRunStep(rows *sql.Rows) (result.Step, error) {
	var s result.Step
	var number int
	err := rows.Scan(&number, &s.ClientKey, &s.Step, &s.Kind, &s.Title, &s.State, &s.ID, &s.Attempts, &s.Status, (*moment)(&s.At))
	s.Client = number / maxSteps
	s.State = cmp.Or(s.State, string(result.Planned))
	return s, err
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
