package postgres

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"claimsheet/importer/ledger"
)

// Limiter keeps how fast requests may leave to one service, for all processes that use a
// ledger: it is an apiclient.Limiter. What the state means, that package decides; this one keeps it
// in a row, which is changed only as it was read, and tells the server's time.
//
// It has a connection of its own, which is opened again when it breaks: what was not kept
// then are departures, which are lost.
//
// Where there is no ledger yet, and so no table, nobody else has sent anything: then the
// process keeps the state for itself, until the table is there.
type Limiter struct {
	address Address
	service string
	db      *sql.DB

	mu    sync.Mutex
	alone []byte
}

// NewLimiter makes the limiter of a service, as apiclient.ServiceKey names it, beside the
// ledger at an address. It does not connect yet, and must be closed.
func NewLimiter(a Address, service string) *Limiter {
	a.config = a.config.Copy()
	a.config.RuntimeParams["synchronous_commit"] = "local" // departures that were given stay given when the server crashes; it waits for no replica
	db := a.connections(false)
	db.SetMaxOpenConns(1)
	return &Limiter{address: a, service: service, db: db}
}

// Close ends the connection.
func (l *Limiter) Close() error { return l.db.Close() }

// read returns the state of the service, the server's time, and the version of the row. The
// version is 0 if the row is missing and -1 if the table is; then the state is the process's own.
func (l *Limiter) read(ctx context.Context) (state []byte, now time.Time, version int64, err error) {
	var at int64
	err = l.db.QueryRowContext(ctx,
		`SELECT `+ledger.ServerTime+`, p.state, coalesce(p.version, 0) FROM (SELECT 1) one LEFT JOIN pace p ON p.service = $1`, l.service).
		Scan(&at, &state, &version)
	if answers(err, undefinedTable) {
		version = -1
		err = l.db.QueryRowContext(ctx, `SELECT `+ledger.ServerTime).Scan(&at)
	}
	if version <= 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		state = l.alone
	}
	return state, time.UnixMicro(at), version, err
}

// Change calls change with the state of the service, and again as often as another process has
// changed it meanwhile. Where change returns nil, nothing is written.
func (l *Limiter) Change(ctx context.Context, change func(state []byte, now time.Time) []byte) error {
	return l.twice(ctx, func() error {
		for {
			state, now, version, err := l.read(ctx)
			if err != nil {
				return err
			}
			if state = change(state, now); state == nil {
				return nil
			}
			if version < 0 {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.alone = state
				return nil
			}
			statement := `UPDATE pace SET state = $2, version = $3 + 1 WHERE service = $1 AND version = $3`
			if version == 0 {
				statement = `INSERT INTO pace (service, state, version) VALUES ($1, $2, $3 + 1) ON CONFLICT DO NOTHING`
			}
			done, err := l.db.ExecContext(ctx, statement, l.service, string(state), version)
			if err != nil {
				return err
			}
			if n, err := done.RowsAffected(); err != nil || n == 1 {
				return err
			}
		}
	})
}

// twice does something again where it failed, on a new connection if the first one broke:
// the server may have been started again since the last time. The error says why nothing may be sent.
func (l *Limiter) twice(ctx context.Context, do func() error) error {
	err := do()
	if err != nil && !answers(err, insufficientPrivilege) && ctx.Err() == nil {
		err = do()
	}
	if err == nil {
		return nil
	}
	if answers(err, insufficientPrivilege) {
		return l.address.refused(err) // all processes that send agree in the table pace how fast they may
	}
	why := err
	if errors.Is(err, context.DeadlineExceeded) {
		why = errors.New("it does not answer in time")
	}
	return l.address.trouble(errors.Join(ledger.ErrStopped, withoutValues(err)), tryServer, "the ledger's server cannot be used: %v", why)
}

// undefinedTable is PostgreSQL's code for it.
const undefinedTable = "42P01"
