package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"iter"
	"slices"
)

// AddRows records what a run says of rows. It only queues them: a row that
// could not be written stops the ledger, which the next Append or Flush tells.
// Saying something else of the same row replaces what was said. The run must
// have been started.
func (l *Ledger) AddRows(rows ...Row) error {
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
		for i, r := range rows {
			if err := t.putRow(r, claims[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *transaction) putRow(r Row, claims string) error {
	var owner int64
	if r.Owner != (Owner{}) {
		var err error
		if owner, err = t.owner(r.Owner); err != nil {
			return err
		}
	}
	_, err := t.addRow.ExecContext(context.Background(), r.Run, r.Row, r.Status, number(owner), r.Number,
		r.ClientID, claims, r.URL, r.FailedStep, r.Error, r.Advice)
	return err
}

// AddRunSteps records the steps of a run's plan; otherwise it is as AddRows.
func (l *Ledger) AddRunSteps(steps ...RunStep) error {
	if l.write == nil {
		return ErrReadOnly
	}
	steps = slices.Clone(steps)
	return l.write.submit(false, func(t *transaction) error {
		for _, s := range steps {
			owner, err := t.owner(s.Owner)
			if err != nil {
				return err
			}
			_, err = t.addRunStep.ExecContext(context.Background(), s.Run, s.Number, owner, s.Mapping, s.Step, s.Kind, s.Title)
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

// Rows are a run's rows in the order of the sheet, read as they are asked for.
// They are those of the moment when the first is read. After an error there is
// nothing more.
func (l *Ledger) Rows(ctx context.Context, run string) iter.Seq2[Row, error] {
	return stream(ctx, l.read, scanRow, `
		SELECT r.run, r.source_row, r.status, coalesce(o.environment, ''), coalesce(o.space, ''), coalesce(o.client, ''),
			r.number, r.client_id, r.claim_ids, r.url, r.failed_step, r.error, r.advice
		FROM run_rows r LEFT JOIN owners o ON o.id = r.owner
		WHERE r.run = ? ORDER BY r.source_row`, run)
}

func scanRow(rows *sql.Rows) (Row, error) {
	var r Row
	var claims []byte
	err := rows.Scan(&r.Run, &r.Row, &r.Status, &r.Owner.Environment, &r.Owner.Space, &r.Owner.Client,
		&r.Number, &r.ClientID, &claims, &r.URL, &r.FailedStep, &r.Error, &r.Advice)
	if err == nil {
		err = json.Unmarshal(claims, &r.ClaimIDs)
	}
	if len(r.ClaimIDs) == 0 {
		r.ClaimIDs = nil
	}
	return r, err
}

// RunSteps are the steps of a run's plan by Number, each with its current
// state; otherwise it is as Rows.
func (l *Ledger) RunSteps(ctx context.Context, run string) iter.Seq2[RunStepState, error] {
	return stream(ctx, l.read, scanRunStep, `
		SELECT `+runStepColumns+`
		FROM run_steps r
		JOIN owners o ON o.id = r.owner
		LEFT JOIN step_now s ON s.owner = r.owner AND s.mapping = r.mapping AND s.step = r.step
		WHERE r.run = ? ORDER BY r.number`, run)
}

// runStepColumns are what scanRunStep takes, of a run's step r, its owner o and
// what has become of it, s, if anything has.
const runStepColumns = `r.run, r.number, r.kind, r.title, o.environment, o.space, o.client, r.mapping, r.step,
	coalesce(s.state, ''), s.at, coalesce(s.boot, ''), coalesce(s.uptime, 0), coalesce(s.run, ''), coalesce(s.kind, ''), coalesce(s.via, ''), coalesce(s.status, 0),
	coalesce(s.reason, ''), s.data, coalesce(s.digest, ''), s.answer, coalesce(s.created, ''), coalesce(s.url, ''), coalesce(s.attempts, 0)`

func scanRunStep(rows *sql.Rows) (RunStepState, error) {
	var s RunStepState
	names, facts := stepTargets(&s.Step)
	err := rows.Scan(slices.Concat([]any{&s.RunStep.Run, &s.Number, &s.RunStep.Kind, &s.Title}, names, facts)...)
	s.RunStep.StepID = s.Step.StepID
	return s, err
}
