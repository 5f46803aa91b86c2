package postgres

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"sync"
	"time"

	"claimsheet/apiclient/rate"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// Limiter keeps the rate and the pause of one service for all processes that use a
// ledger: it is their rate.Limiter. What the rate is, that package decides;
// this one keeps it in a row, which a transaction locks while it is changed, and tells the
// server's time.
//
// It has a connection of its own, which is opened anew when it breaks: what was not kept
// then are departures, which are lost. A process that is stopped while it has the row
// locked loses the connection within a second or two, and the others go on.
//
// Where there is no ledger yet, and so no table, nobody else has sent anything: then the
// process keeps the state for itself, until the table is there.
type Limiter struct {
	address Address
	service string
	db      *sql.DB

	mu    sync.Mutex
	alone rate.State
}

// NewLimiter makes the limiter of a service, as apiclient.ServiceKey names it, beside the
// ledger at an address. It does not connect yet, and must be closed.
func NewLimiter(a Address, service string) *Limiter {
	a.config = a.config.Copy()
	for name, value := range map[string]string{
		"synchronous_commit":                  "local", // departures that were given stay given when the server crashes; it waits for no replica
		"idle_in_transaction_session_timeout": "1s",
		"lock_timeout":                        "3s",
	} {
		a.config.RuntimeParams[name] = value
	}
	db := a.pool(false)
	db.SetMaxOpenConns(1)
	return &Limiter{address: a, service: service, db: db}
}

// Close ends the connection.
func (l *Limiter) Close() error { return l.db.Close() }

// ServerTime is the server's clock in a statement: microseconds since 1970, as in the table
// sessions.
const ServerTime = `CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)`

// stateColumns are what a State is kept in, in the order of stateOf and values.
const stateColumns = `last, rate, quick, step, restore, cuts, refusals, good, paused_until, reason, ceiling, ceiling_until, second, count, before`

// The statements of a Limiter. The row is locked before the clock is read.
const (
	readState   = `SELECT ` + ServerTime + `, ` + stateColumns + ` FROM pace WHERE service = ?`
	lockState   = `WITH locked AS MATERIALIZED (SELECT * FROM pace WHERE service = ? FOR UPDATE) SELECT ` + ServerTime + `, ` + stateColumns + ` FROM locked`
	insertState = `INSERT INTO pace (service) VALUES (?) ON CONFLICT DO NOTHING`
	updateState = `UPDATE pace SET (` + stateColumns + `) = (CAST(? AS bigint), CAST(? AS double precision), CAST(? AS double precision), CAST(? AS double precision), CAST(? AS double precision), CAST(? AS bigint), CAST(? AS bigint), CAST(? AS bigint),
		CAST(? AS bigint), CAST(? AS text), CAST(? AS double precision), CAST(? AS bigint), CAST(? AS bigint), CAST(? AS bigint), CAST(? AS bigint)) WHERE service = ?`
)

// Read returns the state of the service, and the server's time.
func (l *Limiter) Read(ctx context.Context) (s rate.State, now time.Time, err error) {
	err = l.twice(ctx, func() error {
		s, now, err = stateOf(l.db.QueryRowContext(ctx, readState, l.service))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) || answers(err, undefinedTable) {
		l.mu.Lock()
		defer l.mu.Unlock()
		s = l.alone
		now, err = l.time(ctx)
	}
	return s, now, l.refuse(err)
}

// Change lets change change the state of the service, while no other process does.
func (l *Limiter) Change(ctx context.Context, change func(s *rate.State, now time.Time)) error {
	err := l.twice(ctx, func() error { return l.change(ctx, change) })
	if answers(err, undefinedTable) {
		l.mu.Lock()
		defer l.mu.Unlock()
		var now time.Time
		if now, err = l.time(ctx); err == nil {
			change(&l.alone, now)
		}
	}
	return l.refuse(err)
}

// change is Change on one connection.
func (l *Limiter) change(ctx context.Context, change func(*rate.State, time.Time)) (err error) {
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err = conn.ExecContext(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED"); err != nil {
		return err
	}
	defer func() {
		if err != nil { // fails where the connection is lost, and the transaction with it
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	s, now, err := stateOf(conn.QueryRowContext(ctx, lockState, l.service))
	if errors.Is(err, sql.ErrNoRows) {
		if _, err = conn.ExecContext(ctx, insertState, l.service); err == nil {
			s, now, err = stateOf(conn.QueryRowContext(ctx, lockState, l.service))
		}
		if s.Last.IsZero() && s.Cuts == 0 { // nobody else was faster
			l.mu.Lock()
			s = l.alone
			l.mu.Unlock()
		}
	}
	if err != nil {
		return err
	}
	change(&s, now)
	if _, err = conn.ExecContext(ctx, updateState, append(valuesOf(s), l.service)...); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

// twice does something again where it failed, on a new connection if the first one broke:
// the server may have been started again since the last time.
func (l *Limiter) twice(ctx context.Context, do func() error) error {
	err := do()
	if err == nil || errors.Is(err, sql.ErrNoRows) || answers(err, undefinedTable) || answers(err, insufficientPrivilege) || ctx.Err() != nil {
		return err
	}
	return do()
}

// time is the server's time.
func (l *Limiter) time(ctx context.Context) (time.Time, error) {
	var now int64
	err := l.db.QueryRowContext(ctx, `SELECT `+ServerTime).Scan(&now)
	return time.UnixMicro(now), err
}

// undefinedTable is PostgreSQL's code for it.
const undefinedTable = "42P01"

// refuse is why nothing may be sent.
func (l *Limiter) refuse(err error) error {
	switch {
	case err == nil:
		return nil
	case answers(err, insufficientPrivilege):
		return l.address.trouble(nil, "Give this user SELECT, INSERT and UPDATE on the table pace in the schema "+l.address.schema+": all processes that send agree there how fast they may.",
			"this user may not change the rate that all processes share: %v", err)
	}
	cause := problem.Cause(err)
	if errors.Is(err, context.DeadlineExceeded) {
		cause = errors.New("it does not answer in time")
	}
	return l.address.trouble(errors.Join(ledger.ErrStopped, err), "See that the server runs and can be reached from here, and that the user and the password in the url are right; claimsheet doctor shows more.",
		"the ledger's server cannot be used: %v", cause)
}

// stateOf reads the time and a state.
func stateOf(row *sql.Row) (s rate.State, now time.Time, err error) {
	var at, last, paused, ceiling int64
	d := &s.Departures
	err = row.Scan(&at, &last, &s.Rate, &s.Quick, &s.Step, &s.Restore, &s.Cuts, &s.Refusals, &s.Good, &paused, &s.PauseReason, &s.Ceiling, &ceiling, &d.Second, &d.Count, &d.Before)
	s.Last, s.PausedUntil, s.CeilingUntil = timeOf(last), timeOf(paused), timeOf(ceiling)
	return s, time.UnixMicro(at), err
}

// valuesOf are the values of stateColumns.
func valuesOf(s rate.State) []any {
	d := s.Departures
	return []any{microseconds(s.Last), s.Rate, s.Quick, s.Step, s.Restore, s.Cuts, s.Refusals, s.Good, microseconds(s.PausedUntil), s.PauseReason,
		s.Ceiling, microseconds(s.CeilingUntil), d.Second, d.Count, d.Before}
}

// timeOf is the time that microseconds has made a number; zero for 0.
func timeOf(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n)
}

func microseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

var _ rate.Limiter = (*Limiter)(nil)
