package cli_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
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
	onlyLong(t)
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
					for _, flags := range [][]string{{"--dry-run"}, v.flags(), {"--accept", "new-identity"}} {
						p := s.mustRun(3, flags...)
						if len(p.posts()) > 0 || !strings.Contains(p.err, "claimsheet rerun -m "+s.path("mapping.yaml")) || !strings.Contains(p.err, "--accept new-ledger") {
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

// TestANewLedgerBesideAWorkbook: --accept new-ledger, given once, creates everything again.
func TestANewLedgerBesideAWorkbook(t *testing.T) {
	t.Parallel()
	s := newScene(t, creating, leads(2))
	s.mustRun(0)
	s.restoreState("")
	if p := s.mustRun(0, "--dry-run", "--accept", "new-ledger"); p.summary.Requests.Client != 2 {
		t.Errorf("%+v", p.summary.Requests)
	}
	if p := s.mustRun(0, "--accept", "new-ledger"); p.posts()["client"] != 2 {
		t.Errorf("%v", p.posts())
	}
	s.mustRun(0)
}

// TestAWorkbookOfAnotherEnvironment in the new one's place says nothing of the
// ledger: it was imported elsewhere first, or tried in the sandbox.
func TestAWorkbookOfAnotherEnvironment(t *testing.T) {
	t.Parallel()
	onlyLong(t)
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

// advised returns the command that a refusal ends with.
func advised(t *testing.T, said string) []string {
	t.Helper()
	found := regexp.MustCompile(`claimsheet ((?:run|rerun) [^;\n]*)`).FindStringSubmatch(said)
	if found == nil {
		t.Fatalf("no command is advised:\n%s", said)
	}
	return strings.Fields(found[1])
}

// copiedInTheMiddle runs with flags, and leaves the ledger as it was in the middle of
// the run.
func (s *scene) copiedInTheMiddle(flags ...string) {
	s.t.Helper()
	ledger, middle := s.path(".claimsheet/ledger.db"), s.path("middle.db")
	var once sync.Once
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind == "claim" {
			once.Do(func() {
				if code, out, said := s.claimsheet("copy-ledger", "--environments", s.path("environments.yaml"), "--to", middle); code != 0 {
					s.t.Errorf("the copy: exit code %d\n%s%s", code, out, said)
				}
			})
		}
		return apitest.Fault{}
	})
	s.mustRun(0, flags...)
	s.service.Play(nil)
	s.restoreState("")
	must(s.t, os.Mkdir(s.path(".claimsheet"), 0o700))
	must(s.t, os.Rename(middle, ledger))
}

// TestAWorkbookFromBeforeTheMiddleOfARun: the ledger was copied while a run worked whose
// workbook has a name of its own, and put back after its end. The workbook before is
// not enough then; with that of the run nothing is created again.
func TestAWorkbookFromBeforeTheMiddleOfARun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	s.mustRun(0)
	s.sheet(leads(5))
	second := s.path("second.xlsx")
	s.copiedInTheMiddle("-o", second)
	before := len(s.service.Calls())
	for _, flags := range [][]string{{"--dry-run"}, nil} {
		if p := s.mustRun(3, flags...); !strings.Contains(p.err, "[lost-run]") || !strings.Contains(p.err, second) {
			t.Errorf("run %q:\n%s", flags, p.err)
		}
	}
	code, said := s.rerun("--yes", "leads.results.xlsx")
	if code != 3 || !strings.Contains(said, "[lost-run]") {
		t.Fatalf("rerun: exit code %d\n%s", code, said)
	}
	if code, said := s.rerun("--yes", "leads.results.xlsx", "second.xlsx"); code != 0 {
		t.Fatalf("the advised command: exit code %d\n%s", code, said)
	}
	s.expectUnchanged(5, before)
}

// expectUnchanged runs once more: all rows are unchanged, and since the first before
// calls nothing was sent.
func (s *scene) expectUnchanged(rows, before int) {
	s.t.Helper()
	if p := s.mustRun(0); p.summary.Rows.Unchanged != rows {
		s.t.Errorf("rows %+v", p.summary.Rows)
	}
	if calls := s.service.Calls()[before:]; postsTo(calls) > 0 {
		s.t.Errorf("something was sent\n%s", transcript(calls))
	}
	s.checkPromise()
}

// TestALedgerFromTheMiddleOfARun: the ledger was copied while a run worked, and put back
// after the run had ended. It knows that the run began; its workbook says what came
// after.
func TestALedgerFromTheMiddleOfARun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	s.mustRun(0)
	s.sheet(leads(5))
	s.copiedInTheMiddle()
	before := len(s.service.Calls())
	p := s.mustRun(3)
	code, out, said := s.claimsheet(advised(t, p.err)...)
	if code != 3 || !strings.Contains(said, "--yes") {
		t.Fatalf("the advised command: exit code %d\n%s%s", code, out, said)
	}
	if code, out, said = s.claimsheet(advised(t, said)...); code != 0 {
		t.Fatalf("the command that it advises: exit code %d\n%s%s", code, out, said)
	}
	s.expectUnchanged(5, before)
}

// TestPersonWithSeveralLines: without the ledger, a client who is a contact of other
// clients too has several lines in the sheet Steps; a rerun takes the step over once, and
// a decision may stand beside any of the lines, and beside all.
func TestPersonWithSeveralLines(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const bob = "client b@example.com"
	for name, rows := range map[string][]string{
		"a contact first": {"a@ | Ann | A-1 | b@ | Bob", "b@ | Bob | B-1 | |", "c@ | Cid | C-1 | b@ | Bob"},
		"a client first":  {"b@ | Bob | B-1 | |", "a@ | Ann | A-1 | b@ | Bob"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newJoint(t, rows...)
			s.mustRun(0)
			s.restoreState("")
			s.since()
			for range 2 {
				if code, said := s.rerun("--yes", "leads.results.xlsx"); code != 0 {
					t.Fatalf("exit code %d\n%s", code, said)
				}
			}
			if p := s.since(); len(p.posts()) > 0 {
				t.Errorf("the reruns sent\n%s", transcript(p.calls))
			}
			for _, row := range s.results() {
				if row["Import status"] != "unchanged" {
					t.Errorf("the row of %s says %v", row["E-mail"], row)
				}
			}
		})
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in doubt, the ledger is lost: %v", name, lost), func(t *testing.T) {
				t.Parallel()
				s := newJoint(t, rows...)
				s.inDoubt(bob, apitest.CreateThen(apitest.JSON(500, `{}`)))
				s.mustRun(4, "--max-failures", "100%")
				s.service.Play(nil)
				id, decided := s.service.Created()[bob][0].ID, 0
				steps := s.steps()
				editWorkbook(t, s.path("leads.results.xlsx"), func(f *excelize.File) {
					for i, line := range steps {
						if line["Client key"]+" "+line["Step"] == "b@example.com client" || strings.HasSuffix(line["Step"], "/b@example.com") {
							must(t, f.SetCellValue("Steps", cellAt(t, f, "Steps", "Settle", i+2), "created "+id))
							decided++
						}
					}
				})
				if decided != len(rows) {
					t.Fatalf("%d lines were decided", decided)
				}
				if lost {
					s.restoreState("")
				}
				if code, said := s.rerun("--yes", "leads.results.xlsx"); code != 0 {
					t.Fatalf("exit code %d\n%s", code, said)
				}
				if made := s.service.Created()[bob]; len(made) != 1 {
					t.Errorf("the client was created %d times", len(made))
				}
				for _, row := range s.results() {
					if row["Import status"] != "done" || row["E-mail"] == "b@example.com" && row["contactId"] != id {
						t.Errorf("the row of %s says %v", row["E-mail"], row)
					}
				}
			})
		}
	}
}
