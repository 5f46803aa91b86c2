//go:build unix

package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stranger is the number of a user who is neither root nor the tests'.
const stranger = 65533

// giveAway makes files another user's. Only root can.
func giveAway(t *testing.T, paths ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	for _, path := range paths {
		must(t, os.Lchown(path, stranger, stranger))
	}
}

// configured is a scene in which every kind of configuration file is used.
func configured(t *testing.T) *scene {
	t.Helper()
	s := newScene(t, stepThree, leads(1))
	write(t, s.path("secret-key"), "key\n")
	write(t, s.path("secret-program"), "#!/bin/sh\necho other\n")
	must(t, os.Chmod(s.path("secret-key"), 0o600))
	must(t, os.Chmod(s.path("secret-program"), 0o700))
	s.environment("headers: {X-Api-Key: 'file:secret-key', X-Other: 'cmd:./secret-program'}")
	return s
}

// C-7: configuration that another user wrote, or can write, is refused before anything of it is done: a mapping, an
// environments file, a secret, the program that prints one.
func TestC7_ConfigurationOfOthersIsRefused(t *testing.T) {
	t.Parallel()
	configured(t).mustRun(0)
	for _, name := range []string{"mapping.yaml", "environments.yaml", "secret-key", "secret-program"} {
		for what, change := range map[string]func(t *testing.T, path string){
			"another owner": func(t *testing.T, path string) { giveAway(t, path) },
			"writable by others": func(t *testing.T, path string) {
				info, err := os.Stat(path)
				must(t, err)
				must(t, os.Chmod(path, info.Mode().Perm()|0o002))
			},
			"a link of another owner": func(t *testing.T, path string) {
				must(t, os.Rename(path, path+"-real"))
				must(t, os.Symlink(path+"-real", path))
				giveAway(t, path)
			},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				s := configured(t)
				change(t, s.path(name))
				for _, p := range []played{s.run("--dry-run"), s.run()} {
					said := strings.Contains(p.err, "another user") || strings.Contains(p.err, "other users can write") && strings.Contains(p.err, "chmod o-w")
					if p.code != 2 || !said || !strings.Contains(p.err, name) || len(p.calls) > 0 {
						t.Errorf("exit code %d, %d calls\n%s", p.code, len(p.calls), p.err)
					}
				}
			})
		}
	}
}

// C-7: files of root's, links of the user's own to them, and files that the user's own group can write to are not of
// others.
func TestC7_OwnConfigurationIsTaken(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := configured(t)
	must(t, os.Rename(s.path("secret-key"), s.path("secret-real")))
	must(t, os.Symlink("secret-real", s.path("secret-key")))
	if os.Getegid() == os.Geteuid() {
		must(t, os.Chmod(s.path("mapping.yaml"), 0o664))
	}
	s.mustRun(0)
}

// P-6: a state folder, a ledger, a file that belongs to it, or a kept lock that is another user's is refused, and
// nothing is sent.
func TestP6_StateOfOthersIsRefused(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, name := range []string{".claimsheet", ".claimsheet/ledger.db", ".claimsheet/ledger.db-wal", ".claimsheet/ledger.db-shm", ".claimsheet/ledger.db.lock"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := configured(t)
			s.mustRun(0)
			if _, err := os.Lstat(s.path(name)); errors.Is(err, os.ErrNotExist) {
				write(t, s.path(name), "")
			}
			giveAway(t, s.path(name))
			s.sheet(leads(2))
			runs := []played{s.run()}
			if !strings.HasSuffix(name, ".lock") { // a dry run takes none
				runs = append(runs, s.run("--dry-run"))
			}
			for _, p := range runs {
				if p.code != 2 || !strings.Contains(p.err, "another user") || len(p.posts()) > 0 {
					t.Errorf("exit code %d, %v\n%s", p.code, p.posts(), p.err)
				}
			}
		})
	}
}

// P-6: a lock file that is a link is not followed, and a pipe in its place is not waited for.
func TestP6_PlantedLocks(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, plant := range map[string]func(path string) error{
		"link": func(path string) error { return os.Symlink(filepath.Join(t.TempDir(), "victim"), path) },
		"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := configured(t)
			must(t, os.Mkdir(s.path(".claimsheet"), 0o700))
			must(t, plant(s.path(".claimsheet/ledger.db.lock")))
			p := s.soon(func() played { return s.run() })
			if p.code != 2 || len(p.posts()) > 0 || !strings.Contains(p.err, "ledger.db.lock") {
				t.Errorf("exit code %d, %v\n%s", p.code, p.posts(), p.err)
			}
		})
	}
}

// soon is what run comes to, which must not wait for anything.
func (s *scene) soon(run func() played) played {
	s.t.Helper()
	done := make(chan played, 1)
	go func() { done <- run() }()
	select {
	case p := <-done:
		return p
	case <-time.After(20 * time.Second):
		s.t.Fatal("the command waits for ever")
	}
	return played{}
}

// C-8: a mapping, an environments file, reference data or a sheet that is a pipe, a device or endless is refused at
// once.
func TestC8_OnlyFilesAreRead(t *testing.T) {
	t.Parallel()
	s := configured(t)
	fifo := s.path("pipe")
	must(t, syscall.Mkfifo(fifo, 0o600))
	for _, path := range []string{fifo, "/dev/zero", s.dir} {
		for name, args := range map[string][]string{
			"mapping":      {"run", "--dry-run", "-m", path, s.path("leads.xlsx")},
			"check":        {"check", "-m", path},
			"environments": {"run", "--dry-run", "-m", s.path("mapping.yaml"), "--environments", path, s.path("leads.xlsx")},
			"templates":    {"run", "--dry-run", "-m", s.path("mapping.yaml"), "-e", "sandbox", "--templates", path, s.path("leads.xlsx")},
			"sheet":        {"run", "--dry-run", "-m", s.path("mapping.yaml"), path},
			"rerun":        {"rerun", "--dry-run", "-m", s.path("mapping.yaml"), path},
			"init":         {"init", path},
		} {
			p := s.soon(func() played {
				got := claimsheet(t, args...)
				return played{code: got.code, err: got.err}
			})
			if p.code != 2 || !strings.Contains(p.err, path) {
				t.Errorf("%s %s: exit code %d\n%s", name, path, p.code, p.err)
			}
		}
	}
}

// outputs is a scene that has run once, with files of every kind that a log must not be written to.
func outputs(t *testing.T) (s *scene, places map[string]string) {
	t.Helper()
	s = configured(t)
	s.mustRun(0)
	write(t, s.path("notes.txt"), "precious\n")
	must(t, os.Symlink(s.path("notes.txt"), s.path("link")))
	must(t, syscall.Mkfifo(s.path("pipe"), 0o600))
	write(t, s.path("theirs"), "")
	if os.Geteuid() == 0 {
		giveAway(t, s.path("theirs"))
	} else {
		must(t, os.Remove(s.path("theirs")))
		must(t, os.Mkdir(s.path("theirs"), 0o700))
	}
	return s, map[string]string{
		"a file of the user's": s.path("notes.txt"), "the mapping": s.path("mapping.yaml"), "the environments file": s.path("environments.yaml"),
		"the sheet": s.path("leads.xlsx"), "the results": s.path("leads.results.xlsx"), "the ledger": s.path(".claimsheet/ledger.db"),
		"its log": s.path(".claimsheet/ledger.db-wal"), "a new file in the state folder": s.path(".claimsheet/new"),
		"a new file below the state folder": s.path(".claimsheet/inputs/new"),
		"a link":                            s.path("link"), "a pipe": s.path("pipe"), "a device": "/dev/zero", "a folder": s.dir, "another user's": s.path("theirs"),
	}
}

// P-10: a log is appended only to a file of its own, and a trace is only a new one; anything else is refused before a
// request is sent, and left as it was.
func TestP10_OutputsReplaceNothingElse(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--log-file", "--trace"} {
		s, places := outputs(t)
		for name, path := range places {
			before := snapshot(t, path)
			p := s.soon(func() played { return s.run(flag, path) })
			if p.code != 2 || len(p.calls) > 0 || !strings.Contains(p.err, filepath.Base(path)) {
				t.Errorf("%s, %s: exit code %d, %d calls\n%s", flag, name, p.code, len(p.calls), p.err)
			}
			if snapshot(t, path) != before {
				t.Errorf("%s, %s: the file was changed", flag, name)
			}
		}
	}
}

// snapshot is what a file holds; "" for what is no file.
func snapshot(t *testing.T, path string) string {
	t.Helper()
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return readText(t, path)
}
