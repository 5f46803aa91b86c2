// Package dispatch hands the clients of a run over to workers, processes on any machine
// that use the same ledger in a PostgreSQL database. One process coordinates the run: it
// adds the plans, collects the outcomes, and is the only one that knows the sheet.
//
// River (riverqueue.com) is the dispatcher: one job for each client, in the ledger's
// database. It delivers a job at least once, and is asked for nothing more. Beside its
// tables are the plans themselves, with who has begun them, and the rules by which the run
// stops. Nothing of all that is needed to know what was done, which is in the ledger: a plan
// that is delivered twice, or again after its worker was killed, finds there what is left
// to do. A process that begins makes the tables that are missing; during a run its coordinator
// makes them where a statement of its own fails without them. The coordinators fill them again.
//
// Plans and outcomes are bytes here; package importer knows what they say.
package dispatch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/mapping/problem"
)

// format is the version of what is handed over. Workers take what has their own version
// only, so those of another one may work beside them.
const format = 1

// Broker is where the coordinators and the workers of runs meet: tables beside a ledger. It
// is safe for concurrent use, and must be closed.
//
// Its errors are ledger.ErrServer where the server cannot be used at present, a problem
// (dispatch-rights) where the user lacks rights, and otherwise what the server answered. A
// call waits for up to three minutes for a server that does not answer.
type Broker struct {
	pool    *pgxpool.Pool
	session int64 // of this process in the ledger
	river   *river.Client[pgx.Tx]
	busy    sync.Map // clientArgs of what this process carries out
}

// Open returns the broker beside the ledger at an address, for the process that has a
// session there (ledger.Ledger.Session). It makes tables that are missing.
func Open(ctx context.Context, a postgres.Address, session int64) (*Broker, error) {
	pool, err := a.Pool(ctx)
	if err != nil {
		return nil, err
	}
	b := &Broker{pool: pool, session: session}
	if err := b.prepare(ctx); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Close closes the connections.
func (b *Broker) Close() { b.pool.Close() }

// quiet is the log of what River does in the coordinator: errors are returned.
var quiet = slog.New(slog.DiscardHandler)

// again calls do up to three times: a connection of the pool may be cut because the server was
// started again, or may hold a statement that was prepared for tables which were made again
// since. do must be safe to repeat.
func (b *Broker) again(ctx context.Context, do func(ctx context.Context) error) error {
	const most, pause = 3, 200 * time.Millisecond
	for n := 1; ; n++ {
		limited, cancel := context.WithTimeout(ctx, patience)
		err := do(limited)
		cancel()
		if err == nil || n == most || ctx.Err() != nil || answered(err) || errors.Is(err, ErrEnded) {
			return refused(err)
		}
		if outdated(err) {
			b.pool.Reset()
		}
		time.Sleep(pause)
	}
}

// patience is how long the server may take for one statement.
const patience = time.Minute

// answered reports whether an error is the server's answer to a statement, and not a lost
// connection.
func answered(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || len(said.Code) < 2 {
		return ok
	}
	// The connection was ended by an operator, or failed; there are too many; transactions
	// waited for each other; a lock was not given, or the transaction was idle for too long; a
	// process whose connection was cut was still making the same table.
	class := said.Code[:2]
	return !slices.Contains([]string{"57", "08", "53", "40"}, class) && !slices.Contains([]string{"55P03", "25P03", "23505"}, said.Code) && !outdated(err)
}

// outdated reports whether a connection has prepared a statement whose tables were made
// again since then.
func outdated(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	return ok && said.Code == "0A000"
}

// refused is the error of a statement for those who call this package: one that says that
// the server has failed, unless the server has answered.
func refused(err error) error {
	said, answer := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil || errors.Is(err, ErrEnded) || missing(err) || foreign(err):
		return err
	case answer && said.Code == "42501": // insufficient privilege
		return problem.New("dispatch-rights", "this user may not use the tables by which runs and workers meet: %s", said.Message).
			Hinted("give this user CREATE and USAGE on the schema of the ledger, or let the user who owns the ledger run once with --workers and then give rights on the new tables; docs/scale.md has the commands")
	case answered(err):
		return fmt.Errorf("the ledger's server refuses a statement: %w", said)
	}
	return ledger.ServerFailed(fmt.Errorf("the ledger's server cannot be used: %w", problem.Cause(err)))
}

// missing reports whether a statement failed because tables are missing.
func missing(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (said.Code == "42P01" || said.Code == "42704") // a table, a type
}

// inTransaction calls do in a transaction, and again as Broker.again does.
func (b *Broker) inTransaction(ctx context.Context, do func(ctx context.Context, tx pgx.Tx) error) error {
	return b.again(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error { return do(ctx, tx) })
	})
}

// Rules calls change with the stop rules of a run and stores what it returns. No other process
// changes them meanwhile. When change returns stopped, no plan of the run is begun any more;
// that cannot be undone. One call of Rules may call change several times. The error is ErrEnded
// for a run that is not there, else as of Broker.
func (b *Broker) Rules(ctx context.Context, run string, change func(rules []byte) (now []byte, stopped bool, err error)) error {
	return b.inTransaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var was []byte
		var stoppedBefore bool
		err := tx.QueryRow(ctx, `SELECT rules, stopped FROM dispatched_runs WHERE run = $1 FOR NO KEY UPDATE`, run).Scan(&was, &stoppedBefore)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrEnded
		}
		if err != nil {
			return err
		}
		now, stopped, err := change(was)
		if err != nil || string(now) == string(was) && stopped == stoppedBefore {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE dispatched_runs SET rules = $2, stopped = stopped OR $3 WHERE run = $1`, run, now, stopped)
		return err
	})
}

// ErrEnded says that a run is not carried out any more.
var ErrEnded = errors.New("the run has ended")

// clientArgs is what a job of River's says: nothing of the client.
type clientArgs struct {
	Run    string `json:"run"`
	Number int64  `json:"number"`
}

// Kind is the kind of River's job.
func (clientArgs) Kind() string { return "claimsheet_client" }

// QueueName is River's queue of the runs in one environment; scope is the ledger's name
// for that, of any length and with any characters.
func QueueName(scope string) string {
	sum := sha256.Sum256([]byte(scope))
	return fmt.Sprintf("claimsheet-%d-%x", format, sum[:8])
}
