package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"claimsheet/mapping/problem"
)

// ledgersNumber is the first number of the advisory lock of a session: that of the
// ledger's schema, because other schemas of the database have sessions with the same
// numbers. The second is the session's.
const ledgersNumber = `(SELECT CAST(oid AS bigint) FROM pg_namespace WHERE nspname = current_schema())`

// IsConnected is in a statement whether the connection of a row s of the table sessions lasts.
const IsConnected = `EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND CAST(l.classid AS bigint) = ` + ledgersNumber + ` AND CAST(l.objid AS bigint) = s.id % 2147483647 AND l.objsubid = 2
	AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND l.granted)`

// session is the connection by which this process writes, and its row in the table of sessions.
// What it locks ends with it.
type session struct {
	conn    *sql.Conn
	id      int64
	backend int64 // the process of the server that has the connection
	silence time.Duration
	name    string // of the ledger
}

// join makes this process one of the sessions of the ledger.
func (a Address) join(ctx context.Context, conn *sql.Conn, silence time.Duration) (*session, error) {
	s := &session{conn: conn, silence: cmp.Or(silence, usualSilence), name: a.String()}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	if err := s.exec(ctx, `DELETE FROM sessions s WHERE s.until < `+ServerTime+` AND NOT `+IsConnected); err != nil {
		return nil, err
	}
	err = conn.QueryRowContext(ctx, `INSERT INTO sessions (host, pid, started, until) VALUES ($1, $2, $3, `+ServerTime+` + $4) RETURNING id, pg_backend_pid()`,
		host, os.Getpid(), time.Now().Unix(), s.silence.Microseconds()).Scan(&s.id, &s.backend)
	if err != nil {
		return nil, err
	}
	return s, s.exec(ctx, `SELECT pg_advisory_lock(CAST(CAST(`+ledgersNumber+` AS bit(32)) AS int), CAST(CAST($1 AS bigint) % 2147483647 AS int))`, s.id)
}

// The methods that follow are the functions of ledger.Server.

func (s *session) numbers(ctx context.Context) (n int64, err error) {
	var backend int64
	err = s.conn.QueryRowContext(ctx, `SELECT nextval('versions'), pg_backend_pid()`).Scan(&n, &backend)
	if err == nil && backend != s.backend {
		err = problem.At(problem.Where{File: s.name}, "ledger-server", "the session with the ledger's server is another one than before, and has not its lock").
			Hinted("Connect to the server itself, or to a pooler in session mode: the lock belongs to the session.")
	}
	return n, withoutValues(err)
}

// tryLock gives back in the same statement what it has got, unless that is all: the server writes a
// warning where something is given back that is not locked.
func (s *session) tryLock(ctx context.Context, keys []int64) (locked bool, err error) {
	var givenBack int
	err = s.conn.QueryRowContext(ctx, `WITH tried AS MATERIALIZED (SELECT k, pg_try_advisory_lock(k) AS locked FROM unnest($1::bigint[]) k), verdict AS (SELECT bool_and(locked) AS locked FROM tried)
		SELECT v.locked, count(CASE WHEN t.locked AND NOT v.locked THEN pg_advisory_unlock(t.k) END) FROM tried t, verdict v GROUP BY v.locked`, keys).Scan(&locked, &givenBack)
	return locked, withoutValues(err)
}

func (s *session) unlock(ctx context.Context, keys []int64) error {
	return s.exec(ctx, `SELECT count(pg_advisory_unlock(k)) FROM unnest($1::bigint[]) k`, keys)
}

// endSilent ends the sessions of the same user that hold one of the keys and have said nothing for
// as long as silence.
func (s *session) endSilent(ctx context.Context, keys []int64) error {
	return s.exec(ctx, `SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a WHERE a.usename = current_user AND a.pid <> pg_backend_pid()
		AND a.state_change < clock_timestamp() - $2 * interval '1 microsecond'
		AND a.pid IN (SELECT l.pid FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
			AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND (CAST(l.classid AS bigint) << 32) | CAST(l.objid AS bigint) = ANY ($1::bigint[]))`, keys, s.silence.Microseconds())
}

func (s *session) speak(ctx context.Context) error {
	var id int64
	err := s.conn.QueryRowContext(ctx, `UPDATE sessions SET until = `+ServerTime+` + $1 WHERE id = $2 RETURNING id`, s.silence.Microseconds(), s.id).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = errors.New("the table sessions has lost this process")
	}
	return withoutValues(err)
}

func (s *session) leave(ctx context.Context) error {
	return s.exec(ctx, `DELETE FROM sessions WHERE id = $1`, s.id)
}

func (s *session) numbered(ctx context.Context) error {
	for _, table := range []string{"environments", "names", "clients", "steps", "tracked"} {
		if err := s.exec(ctx, `SELECT setval('`+table+`_id_seq', coalesce(max(id), 0) + 1, false) FROM `+table); err != nil {
			return err
		}
	}
	return s.exec(ctx, `SELECT setval('versions', greatest((SELECT max(version) FROM steps), (SELECT max(version) FROM history), 0) + 1, false)`)
}

func (s *session) exec(ctx context.Context, text string, args ...any) error {
	_, err := s.conn.ExecContext(ctx, text, args...)
	return withoutValues(err)
}

// writers are the sessions that write now, in words for a message, with a space before;
// "" when they are not known.
func (a Address) writers(ctx context.Context, conn *sql.Conn) string {
	rows, err := conn.QueryContext(ctx, `SELECT s.pid, s.host, s.started FROM sessions s WHERE `+IsConnected+` ORDER BY s.id`)
	if err != nil {
		return ""
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var host string
		var pid, started int64
		if rows.Scan(&pid, &host, &started) == nil {
			all = append(all, fmt.Sprintf("process %d on %s, since %s", pid, host, time.Unix(started, 0).Local().Format(time.DateTime)))
		}
	}
	if len(all) == 0 || rows.Err() != nil {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}
