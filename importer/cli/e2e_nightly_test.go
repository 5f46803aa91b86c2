package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
	"claimsheet/reports"
)

// TestNotices holds what is posted when: after every run, or only when a person
// is needed, also when the run could not start.
func TestNotices(t *testing.T) {
	t.Parallel()
	hook := newReceiver(t)
	bad := lead(2, "A-2")
	bad[3] = "yesterday"
	busy := func(call apitest.Call) apitest.Fault {
		if call.Kind == "claim" {
			return apitest.CreateThen(apitest.JSON(500, "{}"))
		}
		return apitest.Fault{}
	}
	cases := []struct {
		name   string
		rows   [][]any
		play   func(apitest.Call) apitest.Fault
		flags  []string
		code   int
		always bool   // a summary is in the notice
		said   string // what is in its error
	}{
		{"done", leads(1), nil, nil, 0, true, ""},
		{"some invalid", [][]any{lead(1, "A-1"), bad}, nil, nil, 1, true, ""},
		{"bad flag", leads(1), nil, []string{"--max-failures", "many"}, 2, false, "--max-failures takes a number"},
		{"too short", leads(1), nil, []string{"--min-rows", "5"}, 3, false, "rows in the sheet: 1, fewer than --min-rows 5"},
		{"uncertain", leads(1), busy, nil, 4, true, ""},
	}
	for _, c := range cases {
		for _, on := range []string{"always", "problems"} {
			t.Run(c.name+" "+on, func(t *testing.T) {
				s := newScene(t, stepThree, c.rows)
				if c.play != nil {
					s.service.Play(c.play)
				}
				p := s.runContext(t.Context(), append(c.flags, "--json", "--notify", hook.url, "--notify-on", on)...)
				if p.code != c.code {
					t.Fatalf("exit code %d, want %d\n%s", p.code, c.code, p.err)
				}
				got := hook.take()
				if on == "problems" && c.code == 0 {
					if got != nil {
						t.Errorf("posted although all is well: %q", got)
					}
					return
				}
				if len(got) != 1 {
					t.Fatalf("%d notices, want 1: %q", len(got), got)
				}
				var n reports.Notice
				if err := json.Unmarshal([]byte(got[0]), &n); err != nil {
					t.Fatal(err)
				}
				if n.ExitCode != c.code || n.Environment != "uat" || n.Mapping != "step-three" || (n.Summary != nil) != c.always || !strings.Contains(n.Error, c.said) {
					t.Errorf("the notice is %s", got[0])
				}
				if c.always {
					if diff := cmp.Diff(p.summary.Rows, n.Summary.Rows); diff != "" || n.Run != p.summary.Run || n.UncertainSteps == nil {
						t.Errorf("the notice is not that of --json: %s", got[0])
					}
				}
				if c.code == 4 && *n.UncertainSteps != 1 {
					t.Errorf("%d uncertain steps, want 1", *n.UncertainSteps)
				}
			})
		}
	}
}

// TestNoticeOfASignal also holds that metrics are written then, and that the
// sheet stays.
func TestNoticeOfASignal(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(5))
	hook := newReceiver(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.service.Play(func(call apitest.Call) apitest.Fault {
		if call.Kind == "claim" {
			cancel()
		}
		return apitest.Fault{}
	})
	must(t, os.Mkdir(s.path("done"), 0o700))
	p := s.runContext(ctx, "--notify", hook.url, "--metrics", s.path("m.prom"), "--archive", s.path("done"))
	if p.code != 130 {
		t.Fatalf("exit code %d\n%s", p.code, p.err)
	}
	if got := strings.Join(hook.take(), ""); !strings.Contains(got, `"exitCode":130`) {
		t.Errorf("the notice is %q", got)
	}
	if m := readText(t, s.path("m.prom")); !strings.Contains(m, "exit_code{environment=\"uat\",mapping=\"step-three\"} 130\n") {
		t.Errorf("the metrics are\n%s", m)
	}
	if _, err := os.Stat(s.path("leads.xlsx")); err != nil {
		t.Error("the sheet of a run that was stopped is put away:", err)
	}
}

// TestNoticeThatFails holds that a receiver that is broken changes no exit code
// and is told of without its url.
func TestNoticeThatFails(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	s := newScene(t, stepThree, leads(1))
	p := s.runContext(t.Context(), "--notify", server.URL+"/canary-hook", "--json")
	want := "claimsheet: the notice could not be posted: the receiver answered HTTP 404 [notice]\n" +
		"  hint: the run is not affected; check the url of --notify and its receiver\n"
	if p.code != 0 || p.err != want || p.summary.Rows.Done != 1 {
		t.Errorf("exit code %d\n%s%s", p.code, p.out, p.err)
	}
}

// TestArchive moves sheets, and leaves those that must stay.
func TestArchive(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need rights")
	}
	elsewhere := t.TempDir()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() { // another file system
		dir, err := os.MkdirTemp("/dev/shm", "claimsheet-test-*")
		must(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		elsewhere = dir
	}
	cases := []struct {
		name   string
		folder string
		before func(t *testing.T, s *scene)
		during func(t *testing.T, s *scene) // while the run sends
		moved  bool
		said   string
	}{
		{"to another file system", elsewhere, nil, nil, true, ""},
		{"a name that is taken", "", func(t *testing.T, s *scene) { write(t, s.path("done/leads.xlsx"), "earlier") }, nil, true, ""},
		{"changed meanwhile", "", nil, func(t *testing.T, s *scene) { write(t, s.path("leads.xlsx"), "tonight's next export") }, false,
			"it has changed since it was imported"},
		{"gone meanwhile", "", nil, func(t *testing.T, s *scene) { must(t, os.Remove(s.path("leads.xlsx"))) }, false, "no such file"},
		{"a symbolic link", "", func(t *testing.T, s *scene) {
			must(t, os.Rename(s.path("leads.xlsx"), s.path("export.xlsx")))
			must(t, os.Symlink("export.xlsx", s.path("leads.xlsx")))
		}, nil, false, "it is a symbolic link"},
		{"a folder that goes", "", nil, func(t *testing.T, s *scene) { must(t, os.RemoveAll(s.path("done"))) }, false, "no such file"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(1))
			must(t, os.Mkdir(s.path("done"), 0o700))
			if c.folder == "" {
				c.folder = s.path("done")
			}
			if c.before != nil {
				c.before(t, s)
			}
			s.service.Play(func(call apitest.Call) apitest.Fault {
				if c.during != nil && call.Kind == "link" {
					c.during(t, s)
				}
				return apitest.Fault{}
			})
			sheet, err := os.ReadFile(s.path("leads.xlsx"))
			must(t, err)
			earlier, _ := filepath.Glob(filepath.Join(c.folder, "*"))
			p := s.runContext(t.Context(), "--archive", c.folder)
			if p.code != 0 || !strings.Contains(p.err, c.said) || (p.err == "") != c.moved {
				t.Errorf("exit code %d, want 0, and %q on stderr:\n%s", p.code, c.said, p.err)
			}
			now, _ := filepath.Glob(filepath.Join(c.folder, "*"))
			if !c.moved {
				if len(now) != len(earlier) {
					t.Errorf("the archive holds %v", now)
				}
				return
			}
			if _, err := os.Lstat(s.path("leads.xlsx")); err == nil {
				t.Error("the sheet is still there")
			}
			if len(now) != len(earlier)+1 {
				t.Fatalf("the archive holds %v", now)
			}
			got := readText(t, now[0]) // leads-TIME.xlsx is before leads.xlsx
			if got != string(sheet) {
				t.Errorf("what is archived is not the sheet: %d bytes, want %d", len(got), len(sheet))
			}
			if c.before != nil && readText(t, s.path("done/leads.xlsx")) != "earlier" {
				t.Error("another file was overwritten")
			}
			s.mustRerun(0)
		})
	}
}

// mustRerun shows that nothing is missing although the sheet is put away.
func (s *scene) mustRerun(code int) {
	s.t.Helper()
	p := runMain(s.t, "", "rerun", "--json", "-m", s.path("mapping.yaml"), s.path("leads.results.xlsx"))
	if p.code != code || p.summary.Rows.Unchanged != p.summary.Rows.Total {
		s.t.Errorf("the rerun: exit code %d, %s", p.code, fmt.Sprint(p.summary.Rows))
	}
}
