//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// outputs is a scene that has run once, with files of every kind that a log must not
// be written to.
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

// P-10: a log is appended only to a file of its own, and a trace is only a new one; anything else is refused before a request is sent, and left
// as it was.
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

// P-10: the next night's log goes where that of the night before is; a log may go to the terminal or nowhere.
func TestP10_OutputsOfTheirOwn(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := configured(t)
	write(t, s.path("empty.log"), "")
	must(t, os.Symlink(s.path("empty.log"), s.path("link.log")))
	for _, log := range []string{s.path("text.log"), s.path("empty.log"), s.path("link.log"), "/dev/null", "/dev/stderr"} {
		for range 2 {
			s.mustRun(0, "--log-file", log)
		}
	}
	s.mustRun(0, "--log-file", s.path("json.log"), "--log-format", "json")
	s.mustRun(0, "--log-file", s.path("json.log"), "--log-format", "json")
	if n := strings.Count(readText(t, s.path("text.log")), "run started"); n != 2 {
		t.Errorf("%d runs are in the log, want 2", n)
	}
}
