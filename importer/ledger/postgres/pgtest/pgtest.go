//go:build linux

// Package pgtest starts a PostgreSQL server for tests, from Debian's package: on a Unix
// socket in a temporary folder, without TCP.
package pgtest

import (
	"errors"
	"fmt"
	"io"
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
	shared             bool                // it removes its folder when it ends
	account            *syscall.Credential // of its user; nil for the present one
	mu                 sync.Mutex
	process            *exec.Cmd
	stop               io.Closer // ends the process
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

var shared = sync.OnceValues(func() (*Server, error) { return start(true, "fsync=off", "full_page_writes=off") })

// Shared returns the server that the tests of a process share, which does not wait for
// the disk. It ends with the process. A test is skipped where PostgreSQL is not installed.
func Shared(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	return usable(t, s, err)
}

// Own starts a server for one test, which ends it. It waits for the disk.
func Own(t testing.TB) *Server {
	t.Helper()
	s, err := start(false)
	s = usable(t, s, err)
	t.Cleanup(func() {
		s.Stop()
		_ = os.RemoveAll(s.sockets)
	})
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
func start(shared bool, settings ...string) (*Server, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return nil, errMissing
	}
	folder, err := os.MkdirTemp("/tmp", "pgtest-") // short, because a socket's path has at most 107 bytes, and open to the server's user
	if err != nil {
		return nil, err
	}
	s := &Server{bin: filepath.Dir(slices.Max(found)), data: filepath.Join(folder, "data"), sockets: folder, settings: settings, shared: shared}
	if err := s.initialise(); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	return s, s.Start()
}

// initialise makes the cluster. A new one is kept from one test process to the next: to copy it
// takes a tenth of what initdb takes.
func (s *Server) initialise() error {
	uid := uint32(os.Getuid())
	if uid == 0 { // the server does not run as root
		who, err := user.Lookup("postgres")
		if err != nil {
			return err
		}
		id, _ := strconv.ParseUint(who.Uid, 10, 32)
		group, _ := strconv.ParseUint(who.Gid, 10, 32)
		uid, s.account = uint32(id), &syscall.Credential{Uid: uint32(id), Gid: uint32(group)}
		if err := os.Chown(s.sockets, int(id), int(group)); err != nil {
			return err
		}
	}
	if err := os.Chmod(s.sockets, 0o755); err != nil {
		return err
	}
	kept := filepath.Join("/tmp", fmt.Sprintf("pgtest-cluster-%s-%d", filepath.Base(filepath.Dir(s.bin)), uid))
	if info, err := os.Lstat(kept); err != nil || !info.IsDir() || info.Sys().(*syscall.Stat_t).Uid != uid {
		if err := s.run("initdb", "-D", s.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
			return err
		}
		if os.Rename(s.data, kept) != nil { // another process has kept one meanwhile, or it is on another disk
			return nil
		}
	}
	return s.run("/bin/cp", "-a", kept, s.data)
}

// command is a program as the user as whom the server runs.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.bin, name)
	}
	c := exec.Command(name, args...)
	c.Dir = s.sockets
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.account}
	return c
}

func (s *Server) run(name string, args ...string) error {
	out, err := s.command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// untilEOF runs a program until its own input ends, as it does when the test's process
// has ended, however it did. Then it removes the folder that is its name, if that is one.
const untilEOF = `"$@" & server=$!; read -r _; kill -QUIT $server; wait $server; [ ! -d "$0" ] || rm -rf "$0"`

// Start starts the server, and returns when it takes connections.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(s.sockets, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	left := "-"
	if s.shared {
		left = s.sockets
	}
	args := []string{"-c", untilEOF, left, filepath.Join(s.bin, "postgres"), "-D", s.data, "-k", s.sockets, "-c", "listen_addresses=", "-c",
		"max_connections=500", "-c", "shared_buffers=32MB", "-c", "autovacuum_naptime=3600"}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	process := s.command("/bin/sh", args...)
	process.Stdout, process.Stderr = log, log
	if s.stop, err = process.StdinPipe(); err != nil {
		return err
	}
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

// StopFast ends the server as an administrator does it: transactions that are open are
// rolled back, and all connections end.
func (s *Server) StopFast() error {
	err := s.run("pg_ctl", "stop", "-D", s.data, "-m", "fast", "-w")
	if err == nil {
		s.Stop()
	}
	return err
}

// Stop ends the server at once, as a crash does: without writing what is in its memory.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		_ = s.stop.Close()
		_ = s.process.Wait()
		s.process = nil
	}
}

// Exec is ExecIn in the database of the ledgers.
func (s *Server) Exec(t testing.TB, text string) string {
	t.Helper()
	return s.ExecIn(t, "postgres", text)
}

// ExecIn runs statements in a database as the administrator, and returns what they print.
func (s *Server) ExecIn(t testing.TB, database, text string) string {
	t.Helper()
	out, err := s.command("psql", "-h", s.sockets, "-U", "postgres", "-d", database, "-qAt", "-v", "ON_ERROR_STOP=1", "-c", text).CombinedOutput()
	if err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}
