// Package pgtest starts a PostgreSQL server for tests, from Debian's package: on a Unix
// socket in a temporary folder, without TCP.
package pgtest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Server is a running server. Its methods may be called from any goroutine, but not
// while the server is stopped.
type Server struct {
	bin, data, sockets string
	settings           []string
	mu                 sync.Mutex
	process            *exec.Cmd
	ledgers            atomic.Int64
}

// URL is the url of a ledger of the test's own: a schema that does not exist yet.
func (s *Server) URL() string {
	return s.URLOf(fmt.Sprintf("ledger_%d", s.ledgers.Add(1)))
}

// URLOf is the url of the ledger in a schema.
func (s *Server) URLOf(schema string) string {
	return "postgres://postgres@/postgres?" + url.Values{"host": {s.sockets}, "search_path": {schema}}.Encode()
}

// Sockets is the folder of the server's socket.
func (s *Server) Sockets() string { return s.sockets }

var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// Shared returns the server that the tests of a process share, which does not wait for
// the disk. It is skipped where PostgreSQL is not installed. Main ends it.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = start("fsync=off", "full_page_writes=off") })
	return usable(t, shared.server, shared.err)
}

// Main is for TestMain of the packages that use Shared: it runs the tests and ends the
// server.
func Main(m *testing.M) int {
	code := m.Run()
	if shared.server != nil {
		shared.server.remove()
	}
	return code
}

// Own starts a server for one test, which ends it. It waits for the disk.
func Own(t testing.TB) *Server {
	t.Helper()
	s, err := start()
	s = usable(t, s, err)
	t.Cleanup(s.remove)
	return s
}

var errMissing = errors.New("PostgreSQL is not installed here: apt-get install postgresql")

func usable(t testing.TB, s *Server, err error) *Server {
	t.Helper()
	if errors.Is(err, errMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start makes a cluster and starts its server.
func start(settings ...string) (*Server, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return nil, errMissing
	}
	folder, err := os.MkdirTemp("", "pgtest-") // short: a socket's path has at most 107 bytes
	if err != nil {
		return nil, err
	}
	s := &Server{bin: filepath.Dir(slices.Max(found)), data: filepath.Join(folder, "data"), sockets: folder, settings: settings}
	if err := s.initialise(); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	return s, s.Start()
}

func (s *Server) initialise() error {
	if who := account(); who != nil {
		if err := os.Chown(s.sockets, int(who.Uid), int(who.Gid)); err != nil {
			return err
		}
	}
	if err := os.Chmod(s.sockets, 0o755); err != nil {
		return err
	}
	out, err := s.command("initdb", "-D", s.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// account is the user as whom the server runs; nil for the present one. The server does
// not run as root.
func account() *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		return nil
	}
	uid, _ := strconv.ParseUint(who.Uid, 10, 32)
	gid, _ := strconv.ParseUint(who.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = s.sockets
	c.SysProcAttr = &syscall.SysProcAttr{Credential: account()}
	return c
}

// Start starts the server, and returns when it takes connections.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(s.sockets, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"-D", s.data, "-k", s.sockets, "-c", "listen_addresses=", "-c", "max_connections=200", "-c", "shared_buffers=32MB", "-c", "autovacuum_naptime=3600"}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	process := s.command("postgres", args...)
	process.Stdout, process.Stderr = log, log
	if err := process.Start(); err != nil {
		return err
	}
	s.process = process
	for range 3000 {
		if s.command("pg_isready", "-q", "-h", s.sockets).Run() == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	return fmt.Errorf("the server does not start:\n%s", text)
}

// Stop ends the server at once, as a crash does: without writing what is in its memory.
func (s *Server) Stop() {
	s.end(syscall.SIGQUIT)
}

func (s *Server) end(signal os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		_ = s.process.Process.Signal(signal)
		_ = s.process.Wait()
		s.process = nil
	}
}

func (s *Server) remove() {
	s.end(syscall.SIGQUIT)
	_ = os.RemoveAll(s.sockets)
}

// Exec runs statements as the server's administrator, and returns what they print.
func (s *Server) Exec(t testing.TB, text string) string {
	t.Helper()
	out, err := s.command("psql", "-h", s.sockets, "-U", "postgres", "-qAt", "-v", "ON_ERROR_STOP=1", "-c", text).CombinedOutput()
	if err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}
