package postgres

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"claimsheet/importer/ledger"
)

// Sharing says how a process shares the ledger with others.
type Sharing struct {
	// Lease is how long others wait for a process that does not renew its leases; 0 is
	// usualLease.
	Lease time.Duration
	// Request is how long a request of the process may last, from its first byte to the
	// end of its answer. Others wait so much longer.
	Request time.Duration
	// Clock is time.Now where it is nil.
	Clock func() time.Time
}

// usualLease is long enough for a commit that takes its time, and for a short break of the
// network.
const usualLease = 30 * time.Second

// ledgersNumber is the first number of the advisory lock of a session: that of the
// ledger's schema, because other schemas of the database have sessions with the same
// numbers. The second is the session's.
const ledgersNumber = `(SELECT CAST(oid AS bigint) FROM pg_namespace WHERE nspname = current_schema())`

// session is this process in the table of sessions. It has the ledger's leases.
type session struct {
	conn *sql.Conn
	id   int64
	last time.Duration
}

// join makes this process one of the sessions of the ledger. Its leases last from the
// first call of Renew.
func (a Address) join(ctx context.Context, conn *sql.Conn, sharing *Sharing) (*session, error) {
	s := &session{conn: conn, last: usualLease}
	var grace time.Duration
	if sharing != nil {
		grace = sharing.Request
		if sharing.Lease > 0 {
			s.last = sharing.Lease
		}
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	err = conn.QueryRowContext(ctx, `INSERT INTO sessions (machine, host, pid, started, until, grace) VALUES (?, ?, ?, ?, `+ServerTime+`, ?) RETURNING id`,
		machine(), host, os.Getpid(), time.Now().Unix(), grace.Microseconds()).Scan(&s.id)
	if err != nil {
		return nil, err
	}
	_, err = conn.ExecContext(ctx, `SELECT pg_advisory_lock(CAST(CAST(`+ledgersNumber+` AS bit(32)) AS int), CAST(CAST(? AS bigint) % 2147483647 AS int))`, s.id)
	return s, err
}

// machine identifies where process numbers mean this process: the start of the machine
// and, in a container, its namespace; "" where that is not known.
func machine() string {
	namespace, err := os.Readlink("/proc/self/ns/pid")
	boot, err2 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || err2 != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + namespace
}

// IsConnected is in a statement whether the connection of a row s of the table sessions lasts.
const IsConnected = `EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND CAST(l.classid AS bigint) = ` + ledgersNumber + ` AND CAST(l.objid AS bigint) = s.id % 2147483647
	AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND l.granted)`

// The methods that follow are those of ledger.Leases.

func (s *session) Renew() error {
	var id int64
	err := s.conn.QueryRowContext(context.Background(), `UPDATE sessions SET until = `+ServerTime+` + ? WHERE id = ? RETURNING id`, s.last.Microseconds(), s.id).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = errors.New("the table sessions has lost this process")
	}
	return err
}

func (s *session) TTL() time.Duration { return s.last }

func (s *session) Own() ([]ledger.LeaseName, error) {
	return s.names(`SELECT encode(name, 'hex') FROM leases WHERE session = ?`, s.id)
}

// Away asks for the sessions that have one of the names. A session that has ended by
// its time, or whose process is known to be gone, has nothing any more.
func (s *session) Away(names []ledger.LeaseName) (others map[ledger.LeaseName]bool, reserved map[ledger.LeaseName]ledger.LeaseName, err error) {
	others, reserved = map[ledger.LeaseName]bool{}, map[ledger.LeaseName]ledger.LeaseName{}
	if len(names) == 0 {
		return others, reserved, nil
	}
	living, err := s.living()
	if err != nil {
		return nil, nil, err
	}
	rows, err := s.conn.QueryContext(context.Background(), `SELECT encode(name, 'hex'), session IN (SELECT CAST(value AS bigint) FROM json_each(?)), CASE WHEN until > `+ServerTime+` AND settler <> ? THEN encode(client, 'hex') ELSE '' END
		FROM leases WHERE name IN (SELECT decode(value, 'hex') FROM json_each(?))`, living, s.id, spelt(names))
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, client string
		var away bool
		err := rows.Scan(&name, &away, &client)
		if err != nil {
			return nil, nil, err
		}
		what, err := leaseName(name)
		if err == nil && away {
			others[what] = true
		}
		if err == nil && client != "" {
			reserved[what], err = leaseName(client)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return others, reserved, rows.Err()
}

func (s *session) Take(names []ledger.LeaseName) (stolen bool, err error) {
	if len(names) == 0 {
		return false, nil
	}
	taken, err := s.conn.ExecContext(context.Background(), `UPDATE counter SET takeovers = takeovers + 1 WHERE EXISTS
		(SELECT 1 FROM leases WHERE session NOT IN (?, 0) AND name IN (SELECT decode(value, 'hex') FROM json_each(?)))`, s.id, spelt(names))
	if err != nil {
		return false, err
	}
	err = s.exec(`INSERT INTO leases (name, session) SELECT decode(value, 'hex'), CAST(? AS bigint) FROM json_each(?)
		ON CONFLICT (name) DO UPDATE SET session = excluded.session`, s.id, spelt(names))
	n, err2 := taken.RowsAffected()
	return n > 0, errors.Join(err, err2)
}

// living are the other sessions that may still send something.
func (s *session) living() (ids texts, err error) {
	rows, err := s.conn.QueryContext(context.Background(), `SELECT s.id, s.machine, s.pid, `+IsConnected+` FROM sessions s WHERE s.id <> ? AND s.until + s.grace > `+ServerTime, s.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, pid int64
		var on string
		var connected bool
		if err := rows.Scan(&id, &on, &pid, &connected); err != nil {
			return nil, err
		}
		ended := gone(int(pid)) || int(pid) == os.Getpid() // what this process has opened before, and lost
		if connected || on == "" || on != machine() || !ended {
			ids = append(ids, strconv.FormatInt(id, 10))
		}
	}
	return ids, rows.Err()
}

func (s *session) Release(names []ledger.LeaseName) error {
	if len(names) == 0 {
		return nil
	}
	return errors.Join(
		s.exec(`UPDATE leases SET session = 0 WHERE session = ? AND until > `+ServerTime+` AND name IN (SELECT decode(value, 'hex') FROM json_each(?))`, s.id, spelt(names)),
		s.exec(`DELETE FROM leases WHERE session = ? AND name IN (SELECT decode(value, 'hex') FROM json_each(?))`, s.id, spelt(names)))
}

func (s *session) Reserve(names []ledger.LeaseName, client ledger.LeaseName, time time.Duration) error {
	return s.exec(`UPDATE leases SET settler = ?, client = decode(?, 'hex'), until = `+ServerTime+` + ? WHERE name IN (SELECT decode(value, 'hex') FROM json_each(?))`,
		s.id, hex.EncodeToString(client[:]), time.Microseconds(), spelt(names))
}

// undisturbed executes statements in a transaction of the ledger's.
func (s *session) undisturbed(ctx context.Context, statements string) error {
	_, err := s.conn.ExecContext(ctx, "START TRANSACTION;\nSELECT event FROM counter FOR UPDATE;\n"+statements+"\nEND;")
	return err
}

func (s *session) End() error {
	return s.undisturbed(context.Background(), fmt.Sprintf("UPDATE leases SET session = 0 WHERE session = %d AND until > "+ServerTime+";\nDELETE FROM leases WHERE session = %d;\nDELETE FROM sessions WHERE id = %d;", s.id, s.id, s.id))
}

// clean removes sessions that have ended long ago, with what they had leased, and names
// whose reservation has ended.
func (s *session) clean(ctx context.Context) error {
	const long = 24 * time.Hour
	return s.undisturbed(ctx, `WITH ended AS (DELETE FROM sessions s WHERE s.until + s.grace + `+fmt.Sprint(long.Microseconds())+` < `+ServerTime+` AND NOT `+IsConnected+` RETURNING s.id)
		DELETE FROM leases WHERE session IN (SELECT id FROM ended);
		DELETE FROM leases WHERE session = 0 AND until < `+ServerTime+`;`)
}

func (s *session) exec(text string, args ...any) error {
	_, err := s.conn.ExecContext(context.Background(), text, args...)
	return err
}

func (s *session) names(text string, args ...any) (names []ledger.LeaseName, err error) {
	rows, err := s.conn.QueryContext(context.Background(), text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var digits string
		if err := rows.Scan(&digits); err != nil {
			return nil, err
		}
		name, err := leaseName(digits)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// leaseName is a name from its hex digits.
func leaseName(digits string) (name ledger.LeaseName, err error) {
	if n, err := hex.Decode(name[:], []byte(digits)); err != nil || n != len(name) {
		return name, fmt.Errorf("a lease has a name of %d digits", len(digits))
	}
	return name, nil
}

// texts is a list as an argument of a statement; see ledger.Server.
type texts []string

// Texts is the value for the server.
func (t texts) Texts() []string { return t }

func spelt(names []ledger.LeaseName) texts {
	list := make(texts, 0, len(names))
	for _, name := range names {
		list = append(list, hex.EncodeToString(name[:]))
	}
	return list
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
