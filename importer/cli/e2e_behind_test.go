package cli_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// creating is a mapping without look-ups: every client is created.
const creating = "name: m\napi: v2\nclient:\n  key: E-mail\n  existing: create\n  fields: {email: {column: E-mail, type: Email}}\n"

// rerun runs claimsheet rerun over workbooks of the scene.
func (s *scene) rerun(books ...string) (code int, said string) {
	s.t.Helper()
	words := []string{"rerun", "--environments", s.path("environments.yaml"), "-m", s.path("mapping.yaml")}
	for _, word := range books {
		if strings.HasSuffix(word, ".xlsx") {
			word = s.path(word)
		}
		words = append(words, word)
	}
	code, out, diagnostics := s.claimsheet(words...)
	return code, out + diagnostics
}

// saveState keeps a copy of the state folder, as a backup does.
func (s *scene) saveState(name string) {
	s.t.Helper()
	if err := os.CopyFS(s.path(name), os.DirFS(s.path(".claimsheet"))); err != nil {
		s.t.Fatal(err)
	}
}

// restoreState puts a backup in the place of the state folder; "" leaves none.
func (s *scene) restoreState(name string) {
	s.t.Helper()
	if err := os.RemoveAll(s.path(".claimsheet")); err != nil {
		s.t.Fatal(err)
	}
	if name == "" {
		return
	}
	if err := os.CopyFS(s.path(".claimsheet"), os.DirFS(s.path(name))); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chmod(s.path(".claimsheet"), 0o700); err != nil {
		s.t.Fatal(err)
	}
}

// TestALedgerBehindItsWorkbook: the results workbook in the place of the new one is of
// a run that the ledger does not know. The ledger was lost or an older one was
// restored, so everything since would be created again: the run is refused. A rerun of
// that workbook takes its ids over, and what was in doubt stays in doubt.
func TestALedgerBehindItsWorkbook(t *testing.T) {
	for i, clients := range []int{1, 4, 25} {
		ways, orders := append([]string{"done"}, everyWay...), bothOrders
		if clients != 4 {
			ways, orders = nil, bothOrders[i%2:][:1]
		}
		for j, mapping := range []string{stepThree, creating} {
			if clients == 4 && j == 1 {
				continue // alternates with the other
			}
			t.Run(fmt.Sprint([]string{"reuse", "create"}[j], " ", clients), func(t *testing.T) {
				inEveryVariant(t, ways, orders, func(t *testing.T, v variant) {
					mapping, restored := mapping, ""
					if v.odd == (j == 0) {
						restored = "backup"
					}
					if clients == 4 && v.order == "below" {
						mapping = creating
					}
					s := newScene(t, mapping, leads(1))
					s.mustRun(0)
					s.saveState("backup")
					rows := leads(clients)
					if restored != "" {
						rows = append(rows, lead(77, "A-77"))
					}
					s.sheet(rows)
					code, unchanged := 0, len(rows)
					if v.way == "" || v.way == "done" {
						s.mustRun(0, v.flags()...)
					} else {
						v.doubt(s, "link c2@example.com")
						p := s.mustRun(4, v.flags()...) // a run that was killed has no workbook
						code, unchanged = 4, unchanged-p.summary.Rows.Uncertain
					}
					s.restoreState(restored)
					if v.order == "above" {
						slices.Reverse(rows)
						s.sheet(rows)
					}
					for _, flags := range [][]string{{"--dry-run"}, v.flags(), {"--new-identity"}} {
						p := s.mustRun(3, flags...)
						if len(p.posts()) > 0 || !strings.Contains(p.err, "claimsheet rerun -m "+s.path("mapping.yaml")) || !strings.Contains(p.err, "--new-ledger") {
							t.Errorf("%q: created %v\n%s", flags, p.posts(), p.err)
						}
					}
					if got, said := s.rerun("--yes", "leads.results.xlsx"); got != code {
						t.Fatalf("rerun: exit code %d, want %d\n%s", got, code, said)
					}
					if p := s.foretold(code, v.flags()...); len(p.posts()) > 0 || p.summary.Rows.Unchanged != unchanged {
						t.Errorf("made again: %v, rows %+v", p.posts(), p.summary.Rows)
					}
				})
			})
		}
	}
}

// TestANewLedgerBesideAWorkbook: --new-ledger, given once, creates everything again.
func TestANewLedgerBesideAWorkbook(t *testing.T) {
	t.Parallel()
	s := newScene(t, creating, leads(2))
	s.mustRun(0)
	s.restoreState("")
	if p := s.mustRun(0, "--dry-run", "--new-ledger"); p.summary.Requests.Client != 2 {
		t.Errorf("%+v", p.summary.Requests)
	}
	if p := s.mustRun(0, "--new-ledger"); p.posts()["client"] != 2 {
		t.Errorf("%v", p.posts())
	}
	s.mustRun(0)
}

// TestAWorkbookOfAnotherEnvironment in the new one's place says nothing of the
// ledger: it was imported elsewhere first, or tried in the sandbox.
func TestAWorkbookOfAnotherEnvironment(t *testing.T) {
	t.Parallel()
	s := newScene(t, creating, leads(2))
	s.mustRun(0, "-e", "sandbox")
	s.mustRun(0)
	first := s.url
	other := s.moved()
	write(t, s.path("environments.yaml"), "default: live\nenvironments: {live: {base_url: '"+s.url+"'}, uat: {base_url: '"+first+"'}}\n")
	s.mustRun(0, "--state", s.path("other"))
	if n := postsTo(other.Calls()); n != 4 {
		t.Errorf("%d things were made", n)
	}
	// The sandbox keeps its data beside its ledger: both begin again.
	s.mustRun(0, "-e", "sandbox")
	s.restoreState("")
	s.mustRun(0, "-e", "sandbox")
}
