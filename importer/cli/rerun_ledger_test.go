package cli_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
)

// TestRerunFollowsDecisions: an operator's word in the column Settle is carried
// out before anything is sent, and the steps behind it go on.
func TestRerunFollowsDecisions(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, test := range []struct {
		word   string
		code   int
		status string
		claims int // how often the uncertain claim was sent, in all
		follow bool
	}{
		{"created CLAIM4", 1, "done", 1, true},
		{"  NOT  created ", 1, "done", 2, true},
		{"give up", 1, "failed", 1, false},
	} {
		t.Run(test.word, func(t *testing.T) {
			t.Parallel()
			s := newRerunScene(t)
			id := s.service.Created()[claim4][0].ID
			s.edit(func(f *excelize.File) {
				must(t, f.SetCellValue("Steps", stepCell(t, f, "c4@example.com", "claim/loan/00904", "Settle"), strings.Replace(test.word, "CLAIM4", id, 1)))
				must(t, f.InsertCols("Steps", "B", 2))
			})
			p := s.rerun()
			row := shown(t, s.results())["c4@example.com"]
			if p.code != test.code || row["Import status"] != test.status {
				t.Errorf("exit code %d, want %d; the row says %v\n%s", p.code, test.code, row, p.err)
			}
			if n := len(s.service.Created()[claim4]); n != test.claims {
				t.Errorf("the claim was sent %d times, want %d", n, test.claims)
			}
			if n := len(s.service.Created()["link c4@example.com"]); (n == 1) != test.follow {
				t.Errorf("the link was sent %d times", n)
			}
			onClaim := func(c apitest.Call) bool { return c.Query == "claimId="+id }
			if test.word == "created CLAIM4" && (row["claimIds"] != id || !slices.ContainsFunc(s.creations(), onClaim)) {
				t.Errorf("the claim's id is %q, want %q; calls %v", row["claimIds"], id, s.creations())
			}
		})
	}
}

// TestRerunRefusesDecisions: a word that cannot be followed names its cell, and
// nothing at all is done.
func TestRerunRefusesDecisions(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newRerunScene(t)
	untouched, err := os.ReadFile(s.results())
	must(t, err)
	for _, test := range []struct{ name, client, step, word, code string }{
		{"not a word", "c4@example.com", "claim/loan/00904", "perhaps", "[unknown-decision]"},
		{"no id", "c4@example.com", "claim/loan/00904", "created", "[no-id]"},
		{"done", "c1@example.com", "claim/loan/00901", "not created", "[not-uncertain]"},
		{"never sent", "c4@example.com", "link", "give up", "[not-uncertain]"},
		{"another claim's id", "c4@example.com", "claim/loan/00904", "created CLAIM1", "[id-taken]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			must(t, os.WriteFile(s.results(), untouched, 0o600))
			claim1 := shown(t, s.results())["c1@example.com"]["claimIds"]
			at := ""
			s.edit(func(f *excelize.File) {
				set(t, f, "Amount", 4, 250.25)
				at = stepCell(t, f, test.client, test.step, "Settle")
				must(t, f.SetCellValue("Steps", at, strings.Replace(test.word, "CLAIM1", claim1, 1)))
			})
			sent := s.sent()
			p := s.rerun()
			if p.code != 2 || !strings.Contains(p.err, "Steps!"+at) || !strings.Contains(p.err, test.code) {
				t.Errorf("exit code %d, want 2 and %s at Steps!%s\n%s", p.code, test.code, at, p.err)
			}
			if s.sent() != sent {
				t.Errorf("%d requests were sent", s.sent()-sent)
			}
		})
	}
}

// TestRerunWithoutLedger: the workbook is enough by itself, once somebody has
// said so; what is done or undecided is not sent again.
func TestRerunWithoutLedger(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, typed string
		flags       []string
	}{
		{"yes", "yes\n", nil},
		{"--yes", "", []string{"--yes"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newRerunScene(t)
			before := shown(t, s.results())
			s.edit(func(f *excelize.File) { set(t, f, "Amount", 4, 250.25) })
			s.loseLedger()
			p := s.main(test.typed, append(append([]string{"rerun", "--json", "-m", s.path("mapping.yaml")}, test.flags...), s.results())...)
			if p.code != 4 {
				t.Fatalf("exit code %d, want 4\n%s", p.code, p.err)
			}
			s.createdOnce(all("c1@example.com", "00901"), all("c2@example.com", "00902"), all("c3@example.com", "00903"), client4)
			s.checkResults(before, shown(t, s.results()), "")
			if again := s.rerun(); again.code != 4 || again.summary.Rows.Unchanged != 3 {
				t.Errorf("run once more: exit code %d, rows %+v\n%s", again.code, again.summary.Rows, again.err)
			}
		})
	}
}

// TestRerunWithoutLedgerAsks: nothing is taken over on the program's own word.
func TestRerunWithoutLedgerAsks(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newRerunScene(t)
	s.loseLedger()
	sent := s.sent()
	command := "claimsheet rerun --yes -m " + s.path("mapping.yaml") + " " + s.results()
	for _, test := range []struct {
		name, typed, says string
		flags             []string
	}{
		{"nobody answers", "", command, nil},
		{"no", "no\n", command, nil},
		{"a dry run", "yes\n", "[dry-run-ledger]", []string{"--yes", "--dry-run"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := s.main(test.typed, append(append([]string{"rerun", "--json", "-m", s.path("mapping.yaml")}, test.flags...), s.results())...)
			if p.code != 3 || !strings.Contains(p.err, test.says) || s.sent() != sent {
				t.Errorf("exit code %d, want 3 and %s; %d sent\n%s", p.code, test.says, s.sent()-sent, p.err)
			}
		})
	}
}

// TestRerunWithoutLedgerNeedsAll: a line of the sheet Steps that is gone would
// be a step that is sent again.
func TestRerunWithoutLedgerNeedsAll(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newRerunScene(t)
	untouched, err := os.ReadFile(s.results())
	must(t, err)
	s.loseLedger()
	for name, change := range map[string]func(t *testing.T, f *excelize.File){
		"a line": func(t *testing.T, f *excelize.File) { must(t, f.RemoveRow("Steps", 3)) },
		"the last": func(t *testing.T, f *excelize.File) {
			rows, _ := f.GetRows("Steps")
			must(t, f.RemoveRow("Steps", len(rows)))
		},
		"the sheet": func(t *testing.T, f *excelize.File) { must(t, f.DeleteSheet("Steps")) },
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(s.results(), untouched, 0o600))
			s.edit(func(f *excelize.File) { change(t, f) })
			sent := s.sent()
			if p := s.rerunWithout("--yes"); p.code != 2 || !strings.Contains(p.err, "[steps-missing]") || s.sent() != sent {
				t.Errorf("exit code %d, %d sent\n%s", p.code, s.sent()-sent, p.err)
			}
		})
	}
}

// TestRerunWithoutLedgerKeepsWhatLostItsID: a client that is done and whose id
// was erased is not made again; an operator gives the id back.
func TestRerunWithoutLedgerKeepsWhatLostItsID(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newRerunScene(t)
	erase := func(f *excelize.File) {
		set(t, f, "claimIds", 2, nil)
		must(t, f.SetCellValue("Steps", stepCell(t, f, "c1@example.com", "claim/loan/00901", "Id"), nil))
	}
	s.edit(erase)
	s.loseLedger()
	sent := s.sent()
	if p := s.rerunWithout("--yes"); p.code != 4 || p.summary.Rows.Uncertain != 2 || s.sent() != sent {
		t.Fatalf("exit code %d, rows %+v, %d sent\n%s", p.code, p.summary.Rows, s.sent()-sent, p.err)
	}
}

// TestRerunFlagsTampering: ids and keys that contradict the ledger hold their
// client back, and only that one.
func TestRerunFlagsTampering(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, test := range []struct {
		name  string
		wrong string // a cell that is named
		edit  func(t *testing.T, f *excelize.File)
	}{
		{"a client's id", "Results!I5", func(t *testing.T, f *excelize.File) { set(t, f, "contactId", 5, "ID-1") }},
		{"a claim's id", "Results!J5", func(t *testing.T, f *excelize.File) { set(t, f, "claimIds", 5, "ID-1") }},
		{"the id of a step", "Steps!E", func(t *testing.T, f *excelize.File) {
			must(t, f.SetCellValue("Steps", stepCell(t, f, "c4@example.com", "client", "Id"), "ID-1"))
		}},
		{"an id for a step that has none", "knows of none for this step", func(t *testing.T, f *excelize.File) {
			must(t, f.SetCellValue("Steps", stepCell(t, f, "c4@example.com", "claim/loan/00904", "Id"), "ID-1"))
		}},
		{"the client key", "Results!I5", func(t *testing.T, f *excelize.File) { set(t, f, "E-mail", 5, "c9@example.com") }},
		{"the client key, ids erased", "Results!H5", func(t *testing.T, f *excelize.File) {
			set(t, f, "E-mail", 5, "c9@example.com")
			set(t, f, "contactId", 5, nil)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newRerunScene(t)
			s.edit(func(f *excelize.File) {
				set(t, f, "Amount", 4, 250.25)
				test.edit(t, f)
			})
			p := s.rerun()
			if p.code != 1 || p.summary.Rows.Invalid != 1 || p.summary.Rows.Done != 1 || !strings.Contains(p.err, "[id-conflict]") || !strings.Contains(p.err, test.wrong) {
				t.Errorf("exit code %d, want 1 and %s; rows %+v\n%s", p.code, test.wrong, p.summary.Rows, p.err)
			}
			if strings.Contains(p.err, "ID-1") || strings.Contains(p.err, "example.com") {
				t.Errorf("ids or personal data are told:\n%s", p.err)
			}
			s.createdOnce(all("c1@example.com", "00901"), all("c2@example.com", "00902"), all("c3@example.com", "00903"), client4)
		})
	}
}
