// Package dispatch hands the clients of a run over to workers, processes on any machine that use the same ledger in a PostgreSQL database.
// One process coordinates the run: it inserts the plans, learns which are carried out, and is the only one that knows the sheet.
//
// River (riverqueue.com) is the dispatcher: one job for each group of clients, in the ledger's database, with the plans in its args. A job
// whose worker is gone becomes available again. The ledger has what was done, so a job that is worked twice does no harm. Beside River's
// tables is one row for each run, with the rules by which it stops.
//
// Plans are bytes here; package importer knows what they say.
package dispatch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/mapping/problem"
)

// Broker is where the coordinators and the workers of runs meet: tables beside a ledger. It is safe for concurrent use, and must be closed.
//
// Its errors are a problem (dispatch-rights) where the user lacks rights, and otherwise
// ledger.ErrServer. A call waits for up to three minutes for a server that does not answer.
type Broker struct {
	pool    *pgxpool.Pool
	session int64         // of this process in the ledger
	silence time.Duration // for which others wait for a session
	river   *river.Client[pgx.Tx]
}

// Open returns the broker beside the ledger at an address, for the process that has opened l there. It makes River's tables.
func Open(ctx context.Context, a postgres.Address, l *ledger.Ledger) (*Broker, error) {
	pool, err := a.Pool(ctx)
	if err != nil {
		return nil, err
	}
	b := &Broker{pool: pool}
	b.session, b.silence = l.Session()
	if err = b.again(ctx, b.makeTables); err == nil {
		b.river, err = river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet}) // it only inserts
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Close closes the connections.
func (b *Broker) Close() { b.pool.Close() }

// quiet is the log of what River does in the coordinator: errors are returned.
var quiet = slog.New(slog.DiscardHandler)

// tablesLock is the first number of the advisory lock under which the tables are made; the second is that of the ledger's schema.
const tablesLock = 0x434C4152

// makeTables makes River's tables, or brings those of an older River to the present version. Those of a newer one stay as they are.
func (b *Broker) makeTables(ctx context.Context) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(b.pool), &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SELECT set_config('idle_in_transaction_session_timeout', '0', true),
			pg_advisory_xact_lock($1, (SELECT oid FROM pg_namespace WHERE nspname = current_schema())::bigint::bit(32)::int)`, tablesLock)
		if err == nil {
			_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil) // not in this transaction: it uses values of a type that it has changed
		}
		return err
	})
}

// again calls do up to three times: a connection of the pool may be cut, or two transactions may have
// waited for each other. do must be safe to repeat.
func (b *Broker) again(ctx context.Context, do func(ctx context.Context) error) error {
	const most, pause = 3, 200 * time.Millisecond
	for n := 1; ; n++ {
		limited, cancel := context.WithTimeout(ctx, patience)
		err := do(limited)
		cancel()
		if err == nil || n == most || ctx.Err() != nil || errors.Is(err, ErrEnded) {
			return refused(err)
		}
		time.Sleep(pause)
	}
}

// patience is how long the server may take for one statement.
const patience = time.Minute

// refused is the error of a statement for those who call this package.
func refused(err error) error {
	said, answered := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil || errors.Is(err, ErrEnded):
		return err
	case answered && said.Code == "42501": // insufficient privilege
		return problem.New("dispatch-rights", "this user may not use the tables by which runs and workers meet: %s", said.Message).
			Hinted("give this user CREATE and USAGE on the schema of the ledger, or let the user who owns the ledger run once with --workers and then give rights on the new tables; docs/scale.md has the commands")
	case answered:
		err = said
	}
	return ledger.ServerFailed(fmt.Errorf("the ledger's server cannot be used: %w", problem.Cause(err)))
}

// ErrEnded says that a run is not carried out any more.
var ErrEnded = errors.New("the run has ended")

// exec executes a statement.
func (b *Broker) exec(ctx context.Context, statement string, args ...any) error {
	return b.again(ctx, func(ctx context.Context) error {
		_, err := b.pool.Exec(ctx, statement, args...)
		return err
	})
}

// rulesPatience is how long a process waits for the rules before it sends nothing more.
const rulesPatience = 10 * time.Second

// Change changes the stop rules of the run, as importer.SharedRules has it; all processes that carry the
// run out change them. When they say that the run stops, nothing of it is begun any more. The error is ErrEnded for a run that is not there, else as of Broker.
func (r *Run) Change(update func(*importer.StopRules)) error {
	ctx, cancel := context.WithTimeout(context.Background(), rulesPatience)
	defer cancel()
	return r.broker.again(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, r.broker.pool, func(tx pgx.Tx) error {
			var was []byte
			err := tx.QueryRow(ctx, `SELECT rules FROM dispatched_runs WHERE run = $1 FOR NO KEY UPDATE`, r.run).Scan(&was)
			if errors.Is(err, pgx.ErrNoRows) {
				return ErrEnded
			}
			var rules importer.StopRules
			if err == nil {
				err = json.Unmarshal(was, &rules)
			}
			if err != nil {
				return err
			}
			update(&rules)
			now, err := json.Marshal(rules)
			if err == nil && !bytes.Equal(now, was) {
				_, err = tx.Exec(ctx, `UPDATE dispatched_runs SET rules = $2, stopped = stopped OR $3 WHERE run = $1`, r.run, now, rules.Stop != "")
			}
			return err
		})
	})
}

// groupArgs are the args of a job. The plans are JSON within a text, which the server keeps byte by byte and does not index.
type groupArgs struct {
	Run    string `json:"run"`
	Number int64  `json:"number"`
	Plans  string `json:"plans"`
}

// Kind is the kind of River's job.
func (groupArgs) Kind() string { return "claimsheet_group" }

// QueueName is River's queue of the runs in one environment; scope is the ledger's name for that,
// of any length and with any characters. Workers take what has their own version (importer.HandOver) only.
func QueueName(scope string) string {
	sum := sha256.Sum256([]byte(scope))
	return fmt.Sprintf("claimsheet-%d-%x", importer.HandOver, sum[:8])
}
