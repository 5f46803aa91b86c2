package cli_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

// The tests of this file are those of item P-6 of docs/security.md.

// P-6: whatever the umask, folders that we make are for their owner alone, and so are files.
func TestP6_Private(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	s := newScene(t, stepThree, leads(2))
	s.service.Play(apitest.Once(onStep("claim c2@example.com/Loan A-2"), apitest.CreateThenDrop())) // left uncertain
	before := map[string]bool{}
	look := func(note func(path string, info fs.FileInfo)) {
		_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
			if info, statErr := os.Lstat(path); err == nil && statErr == nil {
				note(path, info)
			}
			return nil
		})
	}
	look(func(path string, _ fs.FileInfo) { before[path] = true })
	for _, args := range [][]string{s.args(), s.args("--dry-run"), s.args("-e", "sandbox", "-o", s.path("sandbox.results.xlsx")), s.args()} {
		cmd := exec.Command("sh", append([]string{"-c", `umask 000; exec claimsheet "$@"`, "sh"}, args...)...)
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() > 4 {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	made := 0
	look(func(path string, info fs.FileInfo) {
		if before[path] {
			return
		}
		made++
		want := fs.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, want %v", path, info.Mode().Perm(), want)
		}
	})
	if made < 8 {
		t.Errorf("only %d files were made", made)
	}
}

// P-6: links planted where the program writes are refused, not followed.
func TestP6_PlantedLinks(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	for name, place := range map[string]string{
		"ledger": ".claimsheet/ledger.db", "results": "leads.results.xlsx", "kept inputs": ".claimsheet/inputs",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(2))
			victim := filepath.Join(t.TempDir(), "victim")
			if name == "kept inputs" {
				must(t, os.Mkdir(victim, 0o755))
			} else {
				write(t, victim, "precious")
			}
			must(t, os.MkdirAll(s.path(".claimsheet"), 0o700))
			must(t, os.Symlink(victim, s.path(place)))
			p := s.run()
			if p.code != 2 || len(p.posts()) > 0 || !strings.Contains(p.err, "link") && !strings.Contains(p.err, "not a regular file") {
				t.Errorf("exit code %d, %v\n%s", p.code, p.posts(), p.err)
			}
			if entries, _ := os.ReadDir(victim); len(entries) > 0 {
				t.Errorf("files were written through the link")
			}
			if text, err := os.ReadFile(victim); err == nil && string(text) != "precious" {
				t.Errorf("the link's target holds %q", text)
			}
		})
	}
}
