//go:build unix

package cli_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"claimsheet/apiclient/apitest"
)

// The tests of this file are those of items P-6, C-7 and P-10 of docs/security.md.

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
	must(t, os.WriteFile(s.path("secret-key"), []byte("key\n"), 0o600))
	must(t, os.WriteFile(s.path("secret-program"), []byte("#!/bin/sh\necho other\n"), 0o700))
	s.environment("headers: {X-Api-Key: 'file:secret-key', X-Other: 'cmd:./secret-program'}")
	return s
}

// C-7: configuration that others can write is refused before anything of it is done: a mapping, an environments file, a
// secret, the program that prints one. What another user owns is refused at the door of safefile, through which all are read.
func TestC7_ConfigurationOfOthersIsRefused(t *testing.T) {
	t.Parallel()
	configured(t).mustRun(0)
	for _, name := range []string{"mapping.yaml", "environments.yaml", "secret-key", "secret-program"} {
		s := configured(t)
		info, err := os.Stat(s.path(name))
		must(t, err)
		must(t, os.Chmod(s.path(name), info.Mode().Perm()|0o002))
		for _, p := range []played{s.run("--dry-run"), s.run()} {
			if expect(t, p.err, name, "other users can write", "chmod o-w"); p.code != 2 || len(p.calls) > 0 {
				t.Errorf("%s: exit code %d, %d calls", name, p.code, len(p.calls))
			}
		}
	}
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

// P-6: links planted where the program writes are not followed, and a pipe in the place of a lock is not waited for.
func TestP6_Planted(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for place, plant := range map[string]func(path, victim string) error{
		"inputs":                func(path, victim string) error { return os.Symlink(victim, path) },
		"ledger.db":             func(path, victim string) error { return os.Symlink(filepath.Join(victim, "ledger.db"), path) },
		"ledger.db.lock":        func(path, victim string) error { return os.Symlink(filepath.Join(victim, "lock"), path) },
		"../leads.results.xlsx": func(path, victim string) error { return os.Symlink(filepath.Join(victim, "results.xlsx"), path) },
		"./ledger.db.lock":      func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		s, victim := configured(t), t.TempDir()
		must(t, os.Mkdir(s.path(".claimsheet"), 0o700))
		must(t, plant(s.path(".claimsheet/"+place), victim))
		if p := s.run(); p.code != 2 || len(p.posts()) > 0 || !strings.Contains(p.err, filepath.Base(place)) {
			t.Errorf("%s: exit code %d, %v\n%s", place, p.code, p.posts(), p.err)
		}
		if len(names(t, victim)) > 0 {
			t.Errorf("%s: files were written through the link", place)
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
			p := s.run(flag, path)
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

// P-6: whatever the umask, folders that we make are for their owner alone, and so are files.
func TestP6_Private(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(2))
	s.service.Play(apitest.Once(onStep("claim c2@example.com/Loan A-2"), apitest.CreateThenDrop())) // left uncertain
	files := func() map[string]fs.FileMode {
		modes := map[string]fs.FileMode{}
		_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
			if info, statErr := os.Lstat(path); err == nil && statErr == nil {
				modes[path] = info.Mode()
			}
			return nil
		})
		return modes
	}
	before := files()
	for _, args := range [][]string{s.args("--trace", s.path("trace")), s.args("--dry-run"), s.args("-e", "sandbox", "-o", s.path("sandbox.results.xlsx")), s.args()} {
		cmd := exec.Command("sh", append([]string{"-c", `umask 000; exec claimsheet "$@"`, "sh"}, args...)...)
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() > 4 {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	after := files()
	maps.DeleteFunc(after, func(path string, _ fs.FileMode) bool { _, old := before[path]; return old })
	for path, mode := range after {
		if want := map[bool]fs.FileMode{false: 0o600, true: 0o700}[mode.IsDir()]; mode.Perm() != want {
			t.Errorf("%s has the mode %v, want %v", path, mode.Perm(), want)
		}
	}
	if len(after) < 8 {
		t.Errorf("only %d files were made", len(after))
	}
}
