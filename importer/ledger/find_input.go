package ledger

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// EarlierRun is a finished run over an input that another run reads again.
type EarlierRun struct {
	ID      string
	Started time.Time
	Rows    int // how many of its rows had the status asked for
}

// SameInput is the latest finished run over the same input as r's, for the same
// mapping in the same environment, r itself aside, with how many of its rows
// had a status; ok is false when there is none. A run that was killed has not
// finished.
func (l *Ledger) SameInput(ctx context.Context, r Run, status string) (e EarlierRun, ok bool, err error) {
	var started int64
	err = l.read.QueryRowContext(ctx, `
		SELECT id, started, (SELECT count(*) FROM run_rows WHERE run = runs.id AND status = ?) FROM runs
		WHERE environment = ? AND mapping = ? AND input_digest = ? AND finished IS NOT NULL AND id <> ?
		ORDER BY finished DESC LIMIT 1`, status, r.Environment, r.Mapping, r.InputDigest, r.ID).Scan(&e.ID, &started, &e.Rows)
	if errors.Is(err, sql.ErrNoRows) {
		return EarlierRun{}, false, nil
	}
	e.Started = time.UnixMicro(started).UTC()
	return e, err == nil, err
}

// CountUnsettled is how many steps of an environment are uncertain or parked:
// those of a mapping, and the clients, which no mapping owns.
func (l *Ledger) CountUnsettled(ctx context.Context, environment, mapping string) (n int, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT count(*) FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.state IN ('intent', 'uncertain', 'parked') AND s.state <> 'intent' AND o.environment = ? AND s.mapping IN ('', ?)`,
		environment, mapping).Scan(&n)
	return n, err
}
