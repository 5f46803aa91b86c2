package cli_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// TestAQuietNight: a night with nothing new shows every row and every step, its
// report is the same again, and its workbook can take the place of a lost ledger.
func TestAQuietNight(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(5))
	s.mustRun(0)
	first, lines := s.results(), s.steps()
	p := s.mustRun(0)
	if p.summary.Rows.Unchanged != 5 || len(p.posts()) > 0 {
		t.Fatalf("rows %+v, created %v", p.summary.Rows, p.posts())
	}
	for _, r := range first {
		if r["Import status"] != "done" || r["redirectUrl"] == "" || r["claimIds"] == "" {
			t.Fatalf("the first night: %v", r)
		}
		r["Import status"] = "unchanged"
	}
	if diff := cmp.Diff(first, s.results()); diff != "" {
		t.Errorf("rows (-first night +second):\n%s", diff)
	}
	if diff := cmp.Diff(lines, s.steps()); diff != "" {
		t.Errorf("steps (-first night +second):\n%s", diff)
	}
	quiet := keep(t, s.path("leads.results.xlsx"), s.path("quiet.xlsx"))
	if code, _, said := s.claimsheet("report", "--environments", s.path("environments.yaml")); code != 0 {
		t.Fatalf("report: exit code %d\n%s", code, said)
	}
	if diff := cmp.Diff(parts(t, quiet), parts(t, s.path("leads.results.xlsx"))); diff != "" {
		t.Errorf("report (-first writing +again):\n%s", diff)
	}

	s.restoreState("")
	if code, said := s.rerun("--yes", "leads.results.xlsx"); code != 0 {
		t.Fatalf("the rerun after the loss: exit code %d\n%s", code, said)
	}
	if calls, _ := s.service.Since(s.seen); len(played{calls: calls}.posts()) > 0 {
		t.Errorf("after the loss created %v", played{calls: calls}.posts())
	}
	s.checkPromise()
}

// TestAQuietNightAfterDoubt: the workbook of a night with nothing new is what the
// ledger says, also of a client whom a look-up found after an answer that left it
// open, and of rows without a client's steps.
func TestAQuietNightAfterDoubt(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, strings.Replace(stepThree, "sheet: {", "sheet: {when: 'col(\"E-mail\") != \"c4@example.com\"', ", 1), leads(5))
	s.service.Play(apitest.OnceEach(map[string]apitest.Fault{"client c2@example.com": apitest.CreateThen(apitest.JSON(500, `{"said": "no"}`))}))
	s.mustRun(0)
	s.service.Play(nil)
	if p := s.mustRun(0); p.summary.Rows.Unchanged != 4 || p.summary.Rows.Skipped != 1 {
		t.Fatalf("rows %+v", p.summary.Rows)
	}
	quiet := keep(t, s.path("leads.results.xlsx"), s.path("quiet.xlsx"))
	if code, _, said := s.claimsheet("report", "--environments", s.path("environments.yaml")); code != 0 {
		t.Fatalf("report: exit code %d\n%s", code, said)
	}
	if diff := cmp.Diff(parts(t, quiet), parts(t, s.path("leads.results.xlsx"))); diff != "" {
		t.Errorf("report (-first writing +again):\n%s", diff)
	}
	s.checkPromise()
}

// TestADamagedLedgerIsFound: doctor refuses a ledger in which a byte has changed, and no
// command takes a ledger that is gone for a new one.
func TestADamagedLedgerIsFound(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	place := []string{"--environments", s.path("environments.yaml")}
	s.mustRun(0)
	path := s.path(".claimsheet/ledger.db")
	data, err := os.ReadFile(path)
	must(t, err)
	data[bytes.Index(data, []byte("c2@example.com"))] = 'd'
	must(t, os.WriteFile(path, data, 0o600))
	if code, out, said := s.claimsheet(append([]string{"doctor"}, place...)...); code != 3 || !strings.Contains(said, "[ledger-damaged]") {
		t.Errorf("a changed byte: exit code %d\n%s%s", code, out, said)
	}
	must(t, os.Remove(path))
	for _, command := range [][]string{{"history"}, {"report"}, {"settle"}, {"copy-ledger", "--to", s.path("copy.db")}} {
		if code, out, said := s.claimsheet(append(command, place...)...); code != 3 || !strings.Contains(said, "[ledger-missing]") || strings.Contains(out+said, "nothing was ever run") {
			t.Errorf("%q without a ledger: exit code %d\n%s%s", command, code, out, said)
		}
	}
	for _, words := range [][]string{{}, {"a.db"}, {"--to", "a.db", "b.db"}} {
		if code, out, said := s.claimsheet(append([]string{"copy-ledger"}, words...)...); code != 2 {
			t.Errorf("%q: exit code %d\n%s%s", words, code, out, said)
		}
	}
}
