package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
)

// stepColumns are the columns of step_now that stepTargets takes, the names and
// then the facts.
const (
	stepColumns = `environment, space, client, mapping, step, ` + factColumns
	factColumns = `state, at, boot, uptime, run, kind, via, status, reason, data, digest, answer, created, url, attempts`
)

// Steps are the known steps of a client, by the step's name: the step client,
// which all mappings share, and the steps of one mapping.
func (l *Ledger) Steps(ctx context.Context, owner ClientKey, mapping string) (map[string]Step, error) {
	rows, err := l.steps.QueryContext(ctx, owner.Environment, owner.Space, owner.Client, mapping)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	steps := map[string]Step{}
	for rows.Next() {
		var s Step
		_, facts := stepTargets(&s)
		if err := rows.Scan(slices.Concat([]any{&s.Mapping, &s.Event.Step}, facts)...); err != nil {
			return nil, err
		}
		s.ClientKey = owner
		steps[s.Event.Step] = s
	}
	return steps, rows.Err()
}

// stepsOfOwner is what Steps asks. It is prepared, because a run asks it for
// every client, and most of its cost would be to have it read by SQLite.
const stepsOfOwner = `
	SELECT mapping, step, ` + factColumns + ` FROM step_now
	WHERE environment = ? AND space = ? AND client = ? AND mapping IN ('', ?)`

// Uncertain are the steps of an environment that are uncertain or parked, the
// longest waiting first; otherwise it is as Rows.
func (l *Ledger) Uncertain(ctx context.Context, environment string) iter.Seq2[Step, error] {
	return stream(ctx, l.read, scanStep, `
		SELECT `+stepColumns+` FROM step_now
		WHERE state IN ('intent', 'uncertain', 'parked') AND state <> 'intent' AND environment = ?
		ORDER BY at, last`, environment)
}

// AnswerStatus is the HTTP status of a step's Answer, 0 where none is kept. It is
// the Status of the step only while nothing has happened to it since.
func (l *Ledger) AnswerStatus(ctx context.Context, id StepID) (status int, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT e.status FROM owners o JOIN steps s ON s.owner = o.id JOIN events e ON e.id = s.answered
		WHERE o.environment = ? AND o.space = ? AND o.client = ? AND s.mapping = ? AND s.step = ?`,
		id.Environment, id.Space, id.Client, id.Mapping, id.Step).Scan(&status)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return status, err
}

// Events are all that happened to a step, oldest first; none for a step that is
// not known.
func (l *Ledger) Events(ctx context.Context, id StepID) ([]Event, error) {
	var events []Event
	for s, err := range stream(ctx, l.read, scanStep, `
		SELECT o.environment, o.space, o.client, s.mapping, s.step,
			e.state, e.at, e.boot, e.uptime, e.run, s.kind, e.via, e.status, e.reason, e.data, e.digest, e.answer, e.created, e.url, 0
		FROM owners o JOIN steps s ON s.owner = o.id JOIN events e ON e.step = s.id
		WHERE o.environment = ? AND o.space = ? AND o.client = ? AND s.mapping = ? AND s.step = ?
		ORDER BY e.id`, id.Environment, id.Space, id.Client, id.Mapping, id.Step) {
		if err != nil {
			return nil, err
		}
		events = append(events, s.Event)
	}
	return events, nil
}

func scanStep(rows *sql.Rows) (Step, error) {
	var s Step
	names, facts := stepTargets(&s)
	err := rows.Scan(slices.Concat(names, facts)...)
	return s, err
}

// stepTargets are where the columns of a step go: its names, then its facts.
func stepTargets(s *Step) (names, facts []any) {
	return []any{&s.Environment, &s.Space, &s.Client, &s.Mapping, &s.Event.Step},
		[]any{&s.To, (*moment)(&s.At), &s.Boot, (*span)(&s.Uptime), &s.Run, &s.Kind, &s.Via, &s.Status, &s.Reason,
			&s.Data, &s.Digest, &s.Answer, &s.ID, &s.URL, &s.Attempts}
}

// moment reads a stored time; NULL is the zero time.
type moment time.Time

// Scan implements sql.Scanner.
func (m *moment) Scan(stored any) error {
	switch v := stored.(type) {
	case nil:
		*m = moment{}
	case int64:
		*m = moment(time.UnixMicro(v).UTC())
	default:
		return fmt.Errorf("a time is stored as %T", stored)
	}
	return nil
}

// span reads a stored length of time.
type span time.Duration

// Scan implements sql.Scanner.
func (s *span) Scan(stored any) error {
	n, ok := stored.(int64)
	if !ok {
		return fmt.Errorf("a length of time is stored as %T", stored)
	}
	*s = span(time.Duration(n) * time.Microsecond)
	return nil
}

// stream yields the rows of a query as they are asked for, until an error.
func stream[T any](ctx context.Context, db *sql.DB, scan func(*sql.Rows) (T, error), query string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := db.QueryContext(ctx, query, args...)
		if err != nil {
			yield(none, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				yield(none, err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, err)
		}
	}
}
