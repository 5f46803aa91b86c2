package dispatch

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// beside creates the tables beside River's own.
//
//go:embed dispatch.sql
var beside string

// riversTables are the tables of River's present version. Older ones had river_client and
// river_client_queue too.
var riversTables = []string{"river_job", "river_migration", "river_leader", "river_queue", "river_notification"}

// prepare makes the tables, unless they are there, and a client of River's that only inserts.
func (b *Broker) prepare(ctx context.Context) (err error) {
	driver := riverpgxv5.New(b.pool)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return err
	}
	err = b.again(ctx, func(ctx context.Context) error { return b.makeTables(ctx, migrator) })
	if err != nil || b.river != nil {
		return err
	}
	b.river, err = river.NewClient(driver, &river.Config{Logger: quiet})
	return err
}

// tablesLock is an advisory lock under which the tables are made; it ends with the connection
// where it is not given back within unlockTime.
const (
	tablesLock = 0x434C4152
	unlockTime = 10 * time.Second
)

// makeTables makes the tables that are missing. Of several processes one does it.
func (b *Broker) makeTables(ctx context.Context, migrator *rivermigrate.Migrator[pgx.Tx]) (err error) {
	conn, err := b.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if is, err := find(ctx, conn); err != nil || is.complete(migrator) {
		return err
	}
	if _, err = conn.Exec(ctx, `SELECT pg_advisory_lock($1, (SELECT oid FROM pg_namespace WHERE nspname = current_schema())::bigint::bit(32)::int)`, tablesLock); err != nil {
		return err
	}
	defer func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTime)
		defer cancel()
		_, unlocked := conn.Exec(limited, `SELECT pg_advisory_unlock_all()`)
		err = errors.Join(err, unlocked)
	}()
	is, err := find(ctx, conn)
	if err != nil || is.complete(migrator) { // another process has made them meanwhile
		return err
	}
	if err = makeRivers(ctx, conn, migrator, is); err == nil && !is.beside {
		_, err = conn.Exec(ctx, beside)
	}
	return err
}

// makeRivers makes River's tables, or brings those of an older version to the present one.
// Where one was lost, all are made anew, because those that are left would say that all are
// there; their jobs are lost with them, and the coordinators add these again. The tables of a
// newer version are left as they are.
func makeRivers(ctx context.Context, conn *pgxpool.Conn, migrator *rivermigrate.Migrator[pgx.Tx], is found) error {
	migrate := func() error {
		_, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
		return err
	}
	present := presentVersion(migrator)
	if is.version > present || is.rivers && is.version == present {
		return nil
	}
	if is.version > 0 && is.version < present {
		err := migrate()
		if err != nil && !misfits(err) {
			return err
		}
		if now, found := find(ctx, conn); found != nil || err == nil && now.rivers {
			return found
		}
	}
	_, err := conn.Exec(ctx, `DROP TABLE IF EXISTS river_client, river_client_queue, `+strings.Join(riversTables, ", ")+` CASCADE; DROP TYPE IF EXISTS river_job_state CASCADE`)
	if err != nil {
		return err
	}
	return migrate()
}

// misfits reports whether a migration failed because the tables are not those of their
// version: one is missing, or there already.
func misfits(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains([]string{"42P01", "42703", "42704", "42P07", "42701", "42710"}, said.Code)
}

// presentVersion is the newest version of River's tables that this program knows.
func presentVersion(migrator *rivermigrate.Migrator[pgx.Tx]) int {
	all := migrator.AllVersions() // the oldest first
	return all[len(all)-1].Version
}

// found is what is there of the tables.
type found struct {
	rivers  bool // all of riversTables
	version int  // of River's tables as river_migration says, 0 for none
	beside  bool // both of dispatch.sql
}

// complete reports whether nothing is to be made.
func (f found) complete(migrator *rivermigrate.Migrator[pgx.Tx]) bool {
	present := presentVersion(migrator)
	return f.beside && (f.version > present || f.rivers && f.version == present)
}

// find looks which tables are there.
func find(ctx context.Context, conn *pgxpool.Conn) (is found, err error) {
	err = conn.QueryRow(ctx, `SELECT NOT EXISTS (SELECT 1 FROM unnest($1::text[]) t WHERE to_regclass(t) IS NULL),
		to_regclass('dispatched_runs') IS NOT NULL AND to_regclass('dispatched_clients') IS NOT NULL`, riversTables).Scan(&is.rivers, &is.beside)
	if err != nil {
		return is, err
	}
	err = conn.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM river_migration`).Scan(&is.version)
	if missing(err) { // or another process makes it again at this moment
		return is, nil
	}
	return is, err
}
