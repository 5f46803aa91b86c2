package ledger

import (
	"context"
	"database/sql"
	"iter"
	"slices"
)

// Unsettled is a step that is uncertain or parked.
type Unsettled struct {
	// Number names this state of this step: it is that of the event which led
	// to it. It stays while others are settled, and is gone for good when the
	// step leaves the state, so a number from an old list never means another
	// step, nor a later attempt at the same one.
	Number int64
	Step
}

// Unsettled are the steps of an environment that are uncertain or parked, the
// longest waiting first. They are those of the moment when the first is read.
func (l *Ledger) Unsettled(ctx context.Context, environment string) iter.Seq2[Unsettled, error] {
	return stream(ctx, l.read, func(rows *sql.Rows) (Unsettled, error) {
		var u Unsettled
		names, facts := stepTargets(&u.Step)
		err := rows.Scan(slices.Concat([]any{&u.Number}, names, facts)...)
		return u, err
	}, `
		SELECT last, `+stepColumns+` FROM step_now
		WHERE state IN ('intent', 'uncertain', 'parked') AND state <> 'intent' AND environment = ?
		ORDER BY at, last`, environment)
}

// Decided are the steps of an environment whose latest event came about by an
// operator, the latest first. Their Number is that of this event.
func (l *Ledger) Decided(ctx context.Context, environment string) iter.Seq2[Unsettled, error] {
	return stream(ctx, l.read, func(rows *sql.Rows) (Unsettled, error) {
		var u Unsettled
		names, facts := stepTargets(&u.Step)
		err := rows.Scan(slices.Concat([]any{&u.Number}, names, facts)...)
		return u, err
	}, `
		SELECT last, `+stepColumns+` FROM step_now
		WHERE via = ? AND state IN ('done', 'failed', 'given up') AND environment = ?
		ORDER BY last DESC`, ViaOperator, environment)
}

// IDs are the ids that steps of a kind are done with in an environment, the
// newest first, n at most.
func (l *Ledger) IDs(ctx context.Context, environment, kind string, n int) ([]string, error) {
	return gather(stream(ctx, l.read, func(rows *sql.Rows) (id string, err error) {
		err = rows.Scan(&id)
		return id, err
	}, `
		SELECT s.created FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.kind = ? AND s.state = 'done' AND s.created <> '' AND o.environment = ?
		ORDER BY s.id DESC LIMIT ?`, kind, environment, n))
}

// UndecidedClients are the client steps of an environment of which nobody knows
// yet whether the client was created: uncertain, parked, or left in flight by a
// run that was killed. Those that were asked for first come first.
func (l *Ledger) UndecidedClients(ctx context.Context, environment string) iter.Seq2[Step, error] {
	return stream(ctx, l.read, scanStep, `
		SELECT `+stepColumns+` FROM step_now n
		WHERE state IN ('intent', 'uncertain', 'parked') AND kind = 'client' AND environment = ?
		ORDER BY (SELECT coalesce(asked, last) FROM steps WHERE owner = n.owner AND kind = 'client'), last`, environment)
}

// WasUnsettled tells whether the number is or was that of an Unsettled.
func (l *Ledger) WasUnsettled(ctx context.Context, number int64) (was bool, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM events WHERE id = ? AND state IN ('uncertain', 'parked'))`, number).Scan(&was)
	return was, err
}
