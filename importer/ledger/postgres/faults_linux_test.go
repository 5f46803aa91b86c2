package postgres_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/ledger/postgres/pgtest"
	"claimsheet/importer/testform"
	"claimsheet/mapping/problem"
)

// address is a ledger of the test's own.
func address(t *testing.T, server *pgtest.Server) (postgres.Address, string) {
	t.Helper()
	url := server.URL()
	a, err := postgres.Parse(url)
	do(t, err)
	_, schema, _ := strings.Cut(url, "search_path=")
	return a, schema
}

var do = testform.NoError

// open opens a ledger that was closed before. It tries again while the server has not yet ended the
// old connection.
func open(t *testing.T, a postgres.Address) *ledger.Ledger {
	t.Helper()
	l, err := postgres.Open(t.Context(), a)
	for range 60 {
		if problem.ClassOf(err) != problem.Locked {
			break
		}
		l, err = postgres.Open(t.Context(), a)
	}
	do(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestConnectionCut: whenever the connection is cut, the ledger stops, what was
// acknowledged is there, and so is nothing that was refused.
func TestConnectionCut(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	server := pgtest.Shared(t)
	a, schema := address(t, server)
	before := 0 // intents of the rounds before
	for round := range 5 {
		l := open(t, a)
		var acknowledged atomic.Int64
		var all sync.WaitGroup
		for caller := range 4 {
			all.Go(func() {
				for i := range 1000 {
					switch err := l.Append(event((round*4+caller)*1000+i, ledger.Sent)); {
					case err == nil:
						acknowledged.Add(1)
					case !errors.Is(err, ledger.ErrStopped):
						t.Errorf("got %v, want ErrStopped", err)
						return
					default:
						return
					}
				}
			})
		}
		for acknowledged.Load() < 20 {
			time.Sleep(time.Millisecond)
		}
		server.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = (SELECT oid FROM pg_namespace WHERE nspname = '`+schema+`')`)
		all.Wait()
		if err := l.Append(event(999_999, ledger.Sent)); !errors.Is(err, ledger.ErrStopped) {
			t.Errorf("afterwards: got %v, want ErrStopped", err)
		}
		if err := l.Close(); !errors.Is(err, ledger.ErrStopped) {
			t.Errorf("Close: got %v, want ErrStopped", err)
		}
		again := open(t, a)
		do(t, again.Check(t.Context()))
		n, err := again.CountUncertain(t.Context(), who(1).Environment, "m")
		do(t, err)
		if known, are := int(acknowledged.Load()), n-before; are < known || are > known+4 {
			t.Errorf("%d intents were acknowledged, and %d are there", known, are)
		}
		before = n
		do(t, again.Close())
	}
}

// TestServerHangs: a server that does not answer any more ends what waits for it, and
// stops the ledger.
func TestServerHangs(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	server := pgtest.Own(t)
	a, _ := address(t, server)
	l := open(t, a.WithPatience(5*time.Second))
	do(t, l.Append(event(1, ledger.Sent)))
	if _, err := l.Steps(t.Context(), who(1), "m"); err != nil {
		t.Fatal(err)
	}
	signal := func(s syscall.Signal) {
		for _, pid := range strings.Fields(server.Exec(t, `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'claimsheet%'`)) {
			n, err := strconv.Atoi(pid)
			do(t, err)
			do(t, syscall.Kill(n, s))
		}
	}
	signal(syscall.SIGSTOP)
	defer signal(syscall.SIGCONT)
	if _, err := l.Steps(t.Context(), who(1), "m"); err == nil {
		t.Error("steps are read from a server that hangs")
	}
	if err := l.Append(event(2, ledger.Sent)); !errors.Is(err, ledger.ErrStopped) {
		t.Errorf("got %v, want ErrStopped", err)
	}
}

// TestUserIsNotNamed: what the server says of a user that it does not let in has no name.
func TestUserIsNotNamed(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	a, err := postgres.Parse("postgres://canary@/postgres?host=" + server.Sockets())
	do(t, err)
	if _, err := postgres.Open(t.Context(), a); err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "does not let this user in") {
		t.Errorf("got %v", err)
	}
	if found := postgres.Examine(t.Context(), a); said(found, "canary") {
		t.Errorf("the doctor says %+v", found)
	}
}

// TestValuesAreNotQuoted: what the server says of a statement has nothing of its values.
func TestValuesAreNotQuoted(t *testing.T) {
	t.Parallel()
	for code, message := range map[string]string{"23505": "canary", "22P02": "canary", "28P01": "canary", "42501": "permission denied for table steps"} {
		said := &pgconn.PgError{Severity: "ERROR", Code: code, Message: message, Detail: "Key (client)=(canary) already exists.", Hint: "canary",
			Where: "canary", InternalQuery: "canary", ConstraintName: "canary"}
		err := postgres.WithoutValues(fmt.Errorf("canary: %w", said))
		if text := fmt.Sprintf("%v %#v", err, err); strings.Contains(text, "canary") || !strings.Contains(err.Error(), code) {
			t.Errorf("got %s", text)
		}
	}
}

// TestDurable: what was acknowledged is there after the server has crashed and was started again: a
// session that writes waits for the disk, whatever the server's default, and also when that changes
// while the ledger is open.
func TestDurable(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	server := pgtest.Own(t)
	a, _ := address(t, server)
	l := open(t, a)
	server.Exec(t, "ALTER SYSTEM SET synchronous_commit = off")
	server.Exec(t, "SELECT pg_reload_conf()")
	do(t, l.Append(event(1000, ledger.Sent))) // before the next, in which the session takes the change up
	do(t, l.Append(event(1001, ledger.Sent)))
	server.Stop()
	stopped := func(when string, err error) {
		t.Helper()
		if !errors.Is(err, ledger.ErrStopped) {
			t.Errorf("%s: got %v, want ErrStopped", when, err)
		}
	}
	stopped("while the server is away", l.Append(event(1002, ledger.Sent)))
	for range 2 { // by a connection that was open, and by a new one
		if _, err := l.Steps(t.Context(), who(1), "m"); !errors.Is(err, ledger.ErrServer) || !strings.HasPrefix(err.Error(), "the ledger cannot be read: ") {
			t.Errorf("got %v, want ErrServer", err)
		}
	}
	_, err := postgres.Open(t.Context(), a)
	stopped("opened while the server is away", err)
	do(t, server.Start())
	stopped("when the server is back", l.Append(event(1002, ledger.Sent)))
	found := postgres.Examine(t.Context(), a)
	if !said(found, "synchronous_commit is off") {
		t.Errorf("the doctor does not say that commits are not durable: %+v", found)
	}
	for n := range 5 {
		l = open(t, a)
		if steps, err := l.CountUncertain(t.Context(), who(1).Environment, "m"); err != nil || steps != n+2 {
			t.Fatalf("after a crash %d steps are there, %v; want %d", steps, err, n+2)
		}
		do(t, l.Append(event(n, ledger.Sent)))
		server.Stop() // loses what is not on the disk
		do(t, server.Start())
	}
}

// TestRefused: a ledger that another process has, and one of another version, are refused with a reason.
func TestRefused(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	a, schema := address(t, server)
	l := open(t, a)
	refused := func(want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want “%s”", err, want)
		}
	}
	_, err := postgres.Open(t.Context(), a)
	refused("another run holds the ledger (claimsheet, process", err)
	do(t, l.Close())
	server.Exec(t, "UPDATE "+schema+".ledger SET version = 99")
	_, err = postgres.Open(t.Context(), a)
	refused("version 99, and version 7 is expected", err)
	_, err = postgres.OpenReadOnly(t.Context(), a)
	refused("version 99, and version 7 is expected", err)
}

// TestRights: a user without rights is told which; one with those of docs/scale.md can
// make a ledger and use it, and one who may only read can read it and takes no departures.
func TestRights(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	server := pgtest.Own(t)
	server.Exec(t, "CREATE ROLE importer LOGIN; CREATE ROLE auditor LOGIN")
	server.Exec(t, "CREATE DATABASE leads ENCODING 'UTF8'")
	of := func(user string) postgres.Address {
		a, err := postgres.Parse("postgres://" + user + "@/leads?host=" + server.Sockets())
		do(t, err)
		return a
	}
	if _, err := postgres.Open(t.Context(), of("importer")); err == nil || !strings.Contains(err.Error(), "this user lacks rights: ERROR: permission denied for database") {
		t.Errorf("got %v", err)
	}
	server.ExecIn(t, "leads", "CREATE SCHEMA claimsheet AUTHORIZATION importer")
	l := open(t, of("importer"))
	do(t, l.Append(event(1, ledger.Sent)))
	if _, err := postgres.OpenReadOnly(t.Context(), of("auditor")); err == nil || !strings.Contains(err.Error(), "this user lacks rights: ERROR: permission denied for schema") {
		t.Errorf("an auditor without rights: got %v", err)
	}
	if found := postgres.Examine(t.Context(), of("auditor")); !said(found, "this user lacks rights: ERROR: permission denied for schema") {
		t.Errorf("the doctor says %+v", found)
	}
	server.ExecIn(t, "leads", "GRANT USAGE ON SCHEMA claimsheet TO auditor; GRANT SELECT ON ALL TABLES IN SCHEMA claimsheet TO auditor")
	r, err := postgres.OpenReadOnly(t.Context(), of("auditor"))
	do(t, err)
	steps, err := r.StepsOfClient(t.Context(), who(1))
	if err != nil || len(steps) != 1 {
		t.Errorf("an auditor sees %d steps, %v", len(steps), err)
	}
	do(t, r.Close())
	limiter := postgres.NewLimiter(of("auditor"), "s")
	defer limiter.Close()
	err = limiter.Change(t.Context(), func([]byte, time.Time) []byte { return []byte("{}") })
	if err == nil || !strings.Contains(err.Error(), "this user lacks rights: ERROR: permission denied for table pace") || strings.Contains(err.Error(), "auditor") {
		t.Errorf("an auditor who takes departures: got %v", err)
	}
}

// said reports whether a finding has a text.
func said(found []postgres.Finding, text string) bool {
	for _, f := range found {
		if strings.Contains(f.Text, text) {
			return true
		}
	}
	return false
}

// TestParse: a url that cannot be used is refused, and never quoted.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"canary", "mysql://u:canary@h/d", "postgres://u:canary@h:port/d", "postgres://u:canary@h/d?sslmode=canary",
		"postgres://u:canary@h/d?search_path=a,b", "postgres://u:canary@h/d?search_path=pg_temp", "postgres://u:canary@h/d?search_path=a%22b",
	} {
		if _, err := postgres.Parse(url); err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "canary") {
			t.Errorf("%s: got %v", url, err)
		}
	}
	a, err := postgres.Parse("postgresql://user:canary@db.example.com:6543/leads?search_path=uat")
	do(t, err)
	if got, want := a.String(), "postgres db.example.com:6543, database leads, schema uat"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if text := fmt.Sprint(a); strings.Contains(text, "canary") {
		t.Errorf("the address formats as %s", text)
	}
}
