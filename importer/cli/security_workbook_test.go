package cli_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// The tests of this file are those of item C-6 of docs/security.md: a workbook
// is data, and chooses no configuration.

// baited is a scene of an attacker: its results workbook names its mapping,
// beside which an environments file makes a file when a secret is resolved.
func baited(t *testing.T) (s *scene, bait string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no touch")
	}
	s = newScene(t, stepThree, leads(2))
	s.mustRun(0)
	bait = filepath.Join(t.TempDir(), "touched")
	s.environment("headers: {X-Api-Key: 'cmd:touch " + bait + "'}")
	return s, bait
}

// in runs the program as a process in a folder.
func in(t *testing.T, dir string, args ...string) (code int, printed string) {
	t.Helper()
	p := child(programName, args)
	p.Dir = dir
	return p.end(t)
}

// everyCommand are command lines with a workbook as argument.
func everyCommand(workbook string) [][]string {
	return [][]string{
		{"rerun", workbook}, {"rerun", "--dry-run", workbook}, {"rerun", "--yes", workbook}, {"rerun", "-e", "uat", workbook},
		{"run", workbook}, {"run", "--dry-run", workbook}, {"check", workbook}, {"doctor", workbook}, {"init", workbook},
		{"report", workbook}, {"settle", workbook}, {"settle", "--created", workbook}, {"link", workbook}, {"history", workbook},
	}
}

// C-6: no command takes a mapping, or the environments file beside it, from a
// workbook that it is given.
func TestC6_WorkbooksRunNoCommands(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	attacker, bait := baited(t)
	empty := t.TempDir()
	copied := filepath.Join(empty, "leads.results.xlsx")
	keep(t, attacker.path("leads.results.xlsx"), copied)
	for _, workbook := range []string{copied, attacker.path("leads.results.xlsx")} {
		for _, args := range everyCommand(workbook) {
			if args[0] != "rerun" && workbook != copied {
				continue // rerun alone could look beside it
			}
			code, printed := in(t, empty, args...)
			if _, err := os.Lstat(bait); err == nil {
				t.Fatalf("%s ran the command of an environments file that the workbook led to\n%s", strings.Join(args, " "), printed)
			}
			if args[0] == "rerun" && (code != 2 || !strings.Contains(printed, "claimsheet rerun -m mapping.yaml")) {
				t.Errorf("%s: exit code %d, want 2 and the line with -m\n%s", strings.Join(args, " "), code, printed)
			}
		}
	}
}

// C-6: a workbook that claims to be of a run of this user's own gets this
// user's configuration, not the one that it names.
func TestC6_ForgedRunsGetTheLedgersMapping(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	attacker, bait := baited(t)
	victim := newScene(t, stepThree, leads(2))
	p := victim.mustRun(0)
	forged := filepath.Join(victim.dir, "forged.results.xlsx")
	keep(t, attacker.path("leads.results.xlsx"), forged)
	editWorkbook(t, forged, func(f *excelize.File) {
		must(t, f.SetCustomProps(excelize.CustomProperty{Name: "claimsheet.run", Value: p.summary.Run}))
	})
	for _, args := range everyCommand(forged) {
		_, printed := in(t, victim.dir, args...)
		if _, err := os.Lstat(bait); err == nil {
			t.Fatalf("%s ran the command of an environments file that the workbook led to\n%s", strings.Join(args, " "), printed)
		}
	}
	code, printed := in(t, victim.dir, "rerun", "leads.results.xlsx")
	if code != 0 {
		t.Errorf("a rerun of the victim's own workbook: exit code %d\n%s", code, printed)
	}
}

// C-6: rerun takes mapping and environment from the ledger: that of --state,
// that beside --environments or -m, or that of the working directory; the
// workbook's folder is no such place.
func TestC6_WhereRerunFindsItsRun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	s.mustRun(0)
	elsewhere := t.TempDir()
	workbook := s.path("leads.results.xlsx")
	for name, test := range map[string]struct {
		dir   string
		flags []string
		code  int
	}{
		"working directory": {s.dir, nil, 0},
		"state":             {elsewhere, []string{"--state", s.path(".claimsheet")}, 0},
		"environments":      {elsewhere, []string{"--environments", s.path("environments.yaml")}, 0},
		"mapping":           {elsewhere, []string{"-m", s.path("mapping.yaml")}, 0},
		"nowhere":           {elsewhere, nil, 2},
		"another ledger":    {s.dir, []string{"--state", filepath.Join(elsewhere, "state")}, 2},
	} {
		code, printed := in(t, test.dir, append(append([]string{"rerun", "--dry-run"}, test.flags...), workbook)...)
		if code != test.code || code == 2 && !strings.Contains(printed, "claimsheet rerun -m mapping.yaml") {
			t.Errorf("%s: exit code %d, want %d\n%s", name, code, test.code, printed)
		}
	}
}
