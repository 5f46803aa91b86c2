package postgres

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"claimsheet/mapping/problem"
)

// connections are a pool. Those that only read say so to the server.
func (a Address) connections(reads bool) *sql.DB {
	config := a.config.Copy()
	config.DialFunc = a.dial
	if reads {
		config.RuntimeParams["default_transaction_read_only"] = "on"
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(maxReaders)
	db.SetMaxIdleConns(maxReaders)
	return db
}

// maxReaders is how many connections of a process read at the same time.
const maxReaders = 2

// patience is how long a connection waits for the server. One that does not answer stops
// the ledger: what was sent until then is kept elsewhere.
const patience = time.Minute

// impatient is a connection on which no read and no write waits longer than its patience. A
// statement whose context has ended sets a deadline of its own.
type impatient struct {
	net.Conn
	patience time.Duration

	mu    sync.Mutex
	ended bool // a deadline was set from outside
}

func (c *impatient) Read(b []byte) (int, error) {
	c.limit(c.Conn.SetReadDeadline)
	return c.Conn.Read(b)
}

func (c *impatient) Write(b []byte) (int, error) {
	c.limit(c.Conn.SetWriteDeadline)
	return c.Conn.Write(b)
}

func (c *impatient) limit(set func(time.Time) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		_ = set(time.Now().Add(c.patience)) // fails on a closed connection, as what follows does
	}
}

func (c *impatient) SetDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = !at.IsZero()
	return c.Conn.SetDeadline(at)
}

// withoutValues is an error of the server without what it may quote of the ledger or names the user:
// it keeps the code, and the server's words where they name only tables and settings.
func withoutValues(err error) error {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		kept := &pgconn.PgError{Severity: said.Severity, Code: said.Code, Message: said.Message}
		switch said.Code[:min(2, len(said.Code))] {
		case "22", "23": // a value, or a constraint
			kept.Message = "the server refuses a value"
		case "28":
			kept.Message = "the server does not let this user in"
		}
		return kept
	}
	if failed, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return fmt.Errorf("no connection to the server: %w", problem.Cause(failed)) // what is around the cause names the user
	}
	return err
}

// answers reports whether the server has answered with an SQLSTATE.
func answers(err error, state string) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	return ok && said.Code == state
}

// isUnique and isDeadlock are those of ledger.Server.
func isUnique(err error) bool   { return answers(err, uniqueViolation) }
func isDeadlock(err error) bool { return answers(err, deadlockDetected) }
