package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"time"

	"claimsheet/importer/ledger"
)

// ledgersNumber is the first number of the advisory lock of a session: that of the
// ledger's schema, because other schemas of the database have sessions with the same
// numbers. The second is the session's.
const ledgersNumber = `(SELECT CAST(oid AS bigint) FROM pg_namespace WHERE nspname = current_schema())`

// IsConnected is in a statement whether the connection of a row s of the table sessions lasts.
const IsConnected = `EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND CAST(l.classid AS bigint) = ` + ledgersNumber + ` AND CAST(l.objid AS bigint) = s.id % 2147483647 AND l.objsubid = 2
	AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND l.granted)`

// join makes this process one of the sessions of the ledger, in which what it locks ends with its
// connection, and returns its number and that of the server's process that has the connection.
func (a Address) join(ctx context.Context, conn *sql.Conn, silence time.Duration) (id, backend int64, err error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	if _, err = conn.ExecContext(ctx, `DELETE FROM sessions s WHERE s.until < `+ledger.ServerTime+` AND NOT `+IsConnected); err != nil {
		return 0, 0, err
	}
	err = conn.QueryRowContext(ctx, `INSERT INTO sessions (host, pid, started, until) VALUES ($1, $2, $3, `+ledger.ServerTime+` + $4) RETURNING id, pg_backend_pid()`,
		host, os.Getpid(), time.Now().Unix(), silence.Microseconds()).Scan(&id, &backend)
	if err == nil {
		_, err = conn.ExecContext(ctx, `SELECT pg_advisory_lock(CAST(CAST(`+ledgersNumber+` AS bit(32)) AS int), CAST(CAST($1 AS bigint) % 2147483647 AS int))`, id)
	}
	return id, backend, err
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
