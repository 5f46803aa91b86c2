// Package postgres keeps a ledger in a schema of a PostgreSQL database. Package ledger has the
// statements and makes every decision; so a ledger here promises what one in a file does, and
// passes the same tests. This package has the connections, the schema and the lock of the whole.
//
// The lock of the ledger, and what several processes lock of it, are advisory locks of the one
// connection that writes. It is never replaced: a process that has lost it cannot write. An Append
// returns when the COMMIT was answered, with synchronous_commit on; any error of the connection stops
// the ledger (ledger.ErrStopped), and what of it was recorded the next Open finds out.
//
// Times are those of the process, as in a file; only a Limiter goes by the server's clock. Bytes of
// removed data in the server's write-ahead log and its backups are the server's own matter.
//
// No error, and no Address, has the user, the password or the url.
package postgres

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// schema creates the tables of an empty ledger.
//
//go:embed schema.sql
var schema string

// oldestServer is the first version of PostgreSQL that a ledger may be on.
const oldestServer = 130000

// usualSchema is the schema of the database in which a ledger is when its url does not
// say otherwise with search_path.
const usualSchema = "claimsheet"

// Address is where a ledger is: a connection url, with what it needs to be used for a
// ledger. It formats without user and password.
type Address struct {
	config   *pgx.ConnConfig
	schema   string
	patience time.Duration // how long a connection waits for the server; 0 for ever
}

// IsAddress reports whether a text is meant as the url of a PostgreSQL database, and not
// as the path of a file.
func IsAddress(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// plainName is a schema's name that needs no quotes.
var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// Parse reads a connection url. Its parameters are those of libpq, and those of the
// server's session; search_path names the ledger's schema. The error quotes nothing of
// the url.
func Parse(url string) (Address, error) {
	const hint = "Write postgres://USER:PASSWORD@HOST:PORT/DATABASE; docs/scale.md describes it."
	unusable := func(format string, args ...any) error {
		return problem.New("ledger-url", "the url of the ledger cannot be used: "+format, args...).Hinted(hint)
	}
	if !IsAddress(url) {
		return Address{}, unusable("it does not begin with postgres://")
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return Address{}, unusable("it is not a connection url as libpq takes it")
	}
	a := Address{config, config.RuntimeParams["search_path"], patience}
	if a.schema == "" {
		a.schema = usualSchema
	}
	if !plainName.MatchString(a.schema) || strings.HasPrefix(a.schema, "pg_") {
		return Address{}, unusable("search_path names the ledger's schema: lower-case letters, digits and _, and one schema only")
	}
	for name, value := range map[string]string{
		"search_path": a.schema, "client_encoding": "UTF8", "timezone": "UTC", "standard_conforming_strings": "on",
		"tcp_keepalives_idle": "15", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3", "tcp_user_timeout": "60000", // the lock of a machine that is gone ends within about a minute
		"idle_in_transaction_session_timeout": "120s",
		"enable_seqscan":                      "off", // else the server keeps a plan that it made while the tables were empty
		"jit":                                 "off", // compiling a query takes longer than these queries do
	} {
		config.RuntimeParams[name] = value
	}
	if config.RuntimeParams["application_name"] == "" {
		host, _ := os.Hostname()
		config.RuntimeParams["application_name"] = fmt.Sprintf("claimsheet, process %d on %s", os.Getpid(), host)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	config.StatementCacheCapacity = 512
	return a, nil
}

// dialer notices within about a minute that the server's machine is gone.
var dialer = &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}}

// dial connects to the server.
func (a Address) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil || a.patience == 0 {
		return conn, err
	}
	return &impatient{Conn: conn, patience: a.patience}, nil
}

// String names the ledger without the user and the password.
func (a Address) String() string {
	return fmt.Sprintf("postgres %s, database %s, schema %s", net.JoinHostPort(a.config.Host, strconv.Itoa(int(a.config.Port))),
		a.config.Database, a.schema)
}

// Beside begins the names of the files that a machine keeps for the ledger in a folder.
func (a Address) Beside(folder string) string {
	sum := sha256.Sum256([]byte(a.String()))
	return filepath.Join(folder, "ledger-"+hex.EncodeToString(sum[:8]))
}

// Pool returns two connections to the server for tables beside the ledger's, of which nothing
// needs to last: the last commits may be lost when the server crashes. A transaction ends
// when nothing is done in it for 2 seconds; a statement may else take as long as its context
// lets it.
func (a Address) Pool(ctx context.Context) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(a.config.ConnString())
	if err != nil {
		return nil, err
	}
	config.ConnConfig = a.config.Copy()
	config.ConnConfig.DialFunc = a.dial
	for name, value := range map[string]string{
		"synchronous_commit":                  "off",
		"idle_in_transaction_session_timeout": "2s", // a process that is stopped within a transaction keeps others waiting
		"lock_timeout":                        "10s",
	} {
		config.ConnConfig.RuntimeParams[name] = value
	}
	config.MaxConns = 2
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err == nil {
		if err = pool.Ping(ctx); err != nil {
			pool.Close()
		}
	}
	if err != nil {
		return nil, a.unreachable(err)
	}
	return pool, nil
}

// trouble reports that a ledger on a server cannot be used now.
func (a Address) trouble(kind error, hint, format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = problem.Cause(withoutValues(err))
		}
	}
	return problem.At(problem.Where{File: a.String()}, "ledger-server", format, args...).By(kind).Hinted("%s", hint)
}

// unreachable reports that the server does not answer as it should.
func (a Address) unreachable(err error) error {
	return a.trouble(errors.Join(ledger.ErrStopped, withoutValues(err)), tryServer+" Nothing was sent.", "the ledger's server cannot be used: %v", err)
}

// tryServer is what a user does about a server that does not answer.
const tryServer = "See that the server runs and can be reached from here, and that the user and the password in the url are right; claimsheet doctor shows more."

// Open opens the ledger at an address for reading and writing, and makes its schema and
// its tables when they are missing.
//
// Until the ledger is closed, or its connection ends, no other process can open it for
// writing: Open fails with a problem of the class Locked, and names the processes that have it.
func Open(ctx context.Context, a Address) (*ledger.Ledger, error) {
	return a.open(ctx, 0)
}

// OpenShared is Open for one of several processes that write at the same time. Each
// locks the clients for which it sends something; see ledger.Ledger.Lock. silence is how long others
// wait for a process that holds what they want and says nothing, before they end its session; 0 is the
// usual time. It fails with a problem of the class Locked while a process has the ledger for itself.
func OpenShared(ctx context.Context, a Address, silence time.Duration) (*ledger.Ledger, error) {
	return a.open(ctx, cmp.Or(silence, usualSilence))
}

// usualSilence is long enough for a commit that takes its time, and for a short break of the
// network.
const usualSilence = time.Minute

// open is OpenShared, or Open where silence is 0.
func (a Address) open(ctx context.Context, silence time.Duration) (*ledger.Ledger, error) {
	db := a.connections(false)
	conn, err := db.Conn(ctx)
	if err == nil {
		err = a.own(ctx, conn, silence)
	}
	if err != nil {
		if conn != nil {
			_ = conn.Close()
		}
		_ = db.Close()
		return nil, a.refused(err)
	}
	l, err := ledger.OnServer(ledger.Server{
		Name: a.String(), Read: a.connections(true), Write: conn, Shared: silence > 0,
		Silence: cmp.Or(silence, usualSilence), LockSpace: a.schema,
		Explain: withoutValues, IsUnique: isUnique, IsDeadlock: isDeadlock, Compact: a.compact, Close: db.Close,
	})
	if err != nil {
		return nil, a.refused(err)
	}
	return l, nil
}

// refused is why a ledger cannot be used.
func (a Address) refused(err error) error {
	if _, said := errors.AsType[problem.Problem](err); said {
		return err
	}
	if answers(err, insufficientPrivilege) {
		return a.trouble(nil,
			"Let an administrator create the schema "+a.schema+" and give this user USAGE and CREATE on it, SELECT, INSERT, UPDATE and DELETE on its tables, and USAGE on its sequences; "+
				"to read the ledger, USAGE and SELECT are enough. docs/scale.md has the commands.", "this user lacks rights: %v", err)
	}
	return a.unreachable(err)
}

// own gives a connection the right to write the ledger, alone or beside others that are not silent
// for too long, and makes a ledger that is not there yet.
func (a Address) own(ctx context.Context, conn *sql.Conn, silence time.Duration) error {
	err := a.checkServer(ctx, conn)
	if err == nil {
		err = a.create(ctx, conn)
	}
	if err == nil {
		err = a.lock(ctx, conn, silence > 0)
	}
	if err == nil && silence > 0 { // a process that is stopped within a transaction keeps all others waiting
		_, err = conn.ExecContext(ctx, fmt.Sprintf(`SET idle_in_transaction_session_timeout = %d`, (silence/6).Milliseconds()))
	}
	return err
}

// create makes the schema and the tables where they are missing. Of several processes that do so at the
// same time all but one fail, and find what that one has made.
func (a Address) create(ctx context.Context, conn *sql.Conn) error {
	version, err := a.version(ctx, conn)
	if version > 0 || err != nil {
		return err
	}
	statements, there := schema, false
	if err = conn.QueryRowContext(ctx, `SELECT to_regnamespace($1) IS NOT NULL`, a.schema).Scan(&there); err == nil && !there {
		statements = "CREATE SCHEMA " + a.schema + ";\n" + schema
	}
	if _, err = conn.ExecContext(ctx, "START TRANSACTION;\n"+statements+"\nEND;"); err != nil {
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
		if version, _ := a.version(ctx, conn); version > 0 {
			return nil
		}
	}
	return err
}

// Codes of PostgreSQL's.
const (
	insufficientPrivilege = "42501"
	uniqueViolation       = "23505"
	deadlockDetected      = "40P01"
)

// checkServer refuses a server on which a ledger cannot be, and sees that commits are
// durable.
func (a Address) checkServer(ctx context.Context, conn *sql.Conn) error {
	s, err := a.settings(ctx, conn)
	if err != nil {
		return err
	}
	if why, hint := s.unfit(); why != "" {
		return a.trouble(nil, hint, "%s", why)
	}
	_, err = conn.ExecContext(ctx, `SET synchronous_commit = on`) // in any case: the server's default may change while the session lasts
	if err == nil && s.Version >= 140000 {                        // older ones do not have it
		_, err = conn.ExecContext(ctx, `SET idle_session_timeout = 0`) // it would end the lock while the service is waited for
	}
	return err
}

// settings are what matters of a server, for checkServer and Examine.
type settings struct {
	Version           int
	VersionName       string
	Encoding          string
	Standby           bool
	SynchronousCommit string
	Fsync             string
}

func (a Address) settings(ctx context.Context, conn querier) (s settings, err error) {
	err = conn.QueryRowContext(ctx, `SELECT CAST(current_setting('server_version_num') AS bigint), current_setting('server_version'), current_setting('server_encoding'),
		pg_is_in_recovery(), current_setting('synchronous_commit'), current_setting('fsync')`).Scan(&s.Version, &s.VersionName, &s.Encoding, &s.Standby, &s.SynchronousCommit, &s.Fsync)
	return s, err
}

// unfit says why a ledger cannot be on a server, and what to do; "" where it can.
func (s settings) unfit() (why, hint string) {
	switch {
	case s.Version < oldestServer:
		return fmt.Sprintf("the server has version %s; %d or newer is expected", s.VersionName, oldestServer/10000), "Use a newer server."
	case s.Encoding != "UTF8":
		return fmt.Sprintf("the database has the encoding %s; UTF8 is expected", s.Encoding), "Make a database with ENCODING 'UTF8'."
	case s.Standby:
		return "the server is a standby, which cannot be written", "Name the primary server in the url."
	}
	return "", ""
}

// querier is a connection or a pool of them.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version returns the version of the ledger; 0 without one, or without its schema.
func (a Address) version(ctx context.Context, conn querier) (version int64, err error) {
	var there bool
	if err = conn.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, a.schema+".ledger").Scan(&there); !there || err != nil {
		return 0, err
	}
	if err = conn.QueryRowContext(ctx, `SELECT version FROM `+a.schema+`.ledger`).Scan(&version); err != nil {
		return 0, err
	}
	if version != ledger.SchemaVersion {
		return 0, ledger.OfAnotherVersion(a.String(), version, "name another schema with search_path in the url")
	}
	return version, nil
}

// How long a lock that another process has is tried again. The server takes a moment to
// see that a process is gone; and what has the ledger alone while runs share it is a
// short command.
const (
	lockPatience = 2 * time.Second
	lockPause    = 20 * time.Millisecond
)

// lock takes the lock of the ledger for the connection, until that ends.
func (a Address) lock(ctx context.Context, conn *sql.Conn, shared bool) error {
	try := "pg_try_advisory_lock"
	if shared {
		try = "pg_try_advisory_lock_shared"
	}
	for began := time.Now(); ; time.Sleep(lockPause) {
		var taken bool
		err := conn.QueryRowContext(ctx, fmt.Sprintf(`SELECT %s(%d, CAST(CAST(CAST(to_regnamespace('%s') AS bigint) AS bit(32)) AS int))`, try,
			lockClass, a.schema)).Scan(&taken)
		if taken || err != nil {
			return err
		}
		if time.Since(began) > lockPatience {
			return problem.At(problem.Where{File: a.String()}, "ledger-locked", "another run holds the ledger%s", a.writers(ctx, conn)).Of(problem.Locked).
				Hinted("Wait until it has finished. If it hangs, stop that process: the lock ends with it.")
		}
	}
}

// lockClass is the first number of the advisory lock; the second is that of the schema.
const lockClass = 0x434C414D

// writers are the processes that have the lock of the ledger, in words for a message, with a space
// before; "" when they are not known.
func (a Address) writers(ctx context.Context, conn *sql.Conn) (words string) {
	_ = conn.QueryRowContext(ctx, `SELECT coalesce(' (' || string_agg(a.application_name || ', since ' || to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS') || ' UTC', '; ') || ')', '')
		FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND l.classid = $1 AND l.objid = to_regnamespace($2) AND l.objsubid = 2 AND l.granted`, lockClass, a.schema).Scan(&words)
	return words
}

// compactPatience is how long compact waits for others to end what they read of a table.
const compactPatience = "600s"

// compact rewrites the tables without the rows that were removed or replaced. The
// server's write-ahead log and its backups have them until they expire.
func (a Address) compact(ctx context.Context) error {
	a.patience = 0 // rewriting a table takes its time
	db := a.connections(false)
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err = conn.ExecContext(ctx, `SET lock_timeout = '`+compactPatience+`'`); err != nil {
		return err
	}
	if err := a.clearDispatched(ctx, conn); err != nil {
		return err
	}
	for _, table := range []string{"clients", "steps", "history", "runs", "tracked"} {
		if _, err := conn.ExecContext(ctx, `VACUUM (FULL, ANALYZE) `+table); err != nil {
			return fmt.Errorf("the table %s could not be rewritten without the removed data: %w", table, err)
		}
	}
	return nil
}

// clearDispatched removes what runs have handed over to workers and left, as when they
// were killed; see package dispatch.
func (a Address) clearDispatched(ctx context.Context, conn *sql.Conn) error {
	var there bool
	err := conn.QueryRowContext(ctx, `SELECT to_regclass('river_job') IS NOT NULL`).Scan(&there)
	if err == nil && there {
		_, err = conn.ExecContext(ctx, `TRUNCATE dispatched_runs, river_job`)
	}
	return err
}

// OpenReadOnly opens the ledger at an address for reading; another process may write it
// at the same time. It changes nothing; where there is no ledger it gives an empty one.
func OpenReadOnly(ctx context.Context, a Address) (*ledger.Ledger, error) {
	readers := a.connections(true)
	version, err := a.version(ctx, readers)
	if version == 0 || err != nil {
		_ = readers.Close()
		if err == nil {
			return ledger.Empty()
		}
		return nil, a.refused(err)
	}
	l, err := ledger.OnServer(ledger.Server{
		Name: a.String(), Read: readers, Explain: withoutValues, Close: func() error { return nil },
	})
	if err != nil {
		return nil, a.refused(err)
	}
	return l, nil
}

// Exists reports whether there is a ledger at an address.
func Exists(ctx context.Context, a Address) (bool, error) {
	db := a.connections(true)
	version, err := a.version(ctx, db)
	if err = errors.Join(err, db.Close()); err != nil {
		return false, a.refused(err)
	}
	return version > 0, nil
}
