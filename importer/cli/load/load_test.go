package load_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/cli/load"
	"claimsheet/mapping/cell"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const mappingText = "name: loans\napi: v2\nclient:\n  key: E-mail\n  lookup: {email: E-mail}\n  fields: {email: E-mail}\n"

// TestProblemsTogether: one Open reports what is wrong with the mapping and with
// every sheet, and removes its copies.
func TestProblemsTogether(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	mapping := write(t, filepath.Join(dir, "mapping.yaml"), mappingText+"unknown: 1\n")
	good := write(t, filepath.Join(dir, "good.csv"), "E-mail,Name\na@example.com,Ann\n")
	other := write(t, filepath.Join(dir, "other.csv"), "Name\nAnn\n")
	s, err := load.Open(t.Context(), load.Options{Where: load.Where{Mapping: mapping}, Sheets: []string{good, other, filepath.Join(dir, "none.csv")}})
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	for _, want := range []string{"“unknown”", "none.csv: there is no such file", "other.csv"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the problems lack %q:\n%v", want, err)
		}
	}
	if s.Mapping.Name.Text != "loans" {
		t.Errorf("the mapping's name is %q", s.Mapping.Name.Text)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("copies are left: %v", left)
	}
}

func TestOpenWithoutEnvironment(t *testing.T) {
	dir := t.TempDir()
	mapping := write(t, filepath.Join(dir, "mapping.yaml"), mappingText)
	sheet := write(t, filepath.Join(dir, "leads.csv"), "E-mail\na@example.com\nb@example.com\n")
	s, err := load.Open(t.Context(), load.Options{Where: load.Where{Mapping: mapping}, Sheets: []string{sheet}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write(t, sheet, "overwritten while the run reads")
	rows := 0
	for _, err := range s.Records() {
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	if rows != 2 || s.Binding == nil || s.Client != nil {
		t.Errorf("%d rows, binding %v, client %v", rows, s.Binding, s.Client)
	}
}

func TestSandboxState(t *testing.T) {
	mapping := write(t, filepath.Join(t.TempDir(), "mapping.yaml"), mappingText)
	s, wrong, err := load.OpenConfiguration(load.Where{Mapping: mapping, Env: "sandbox"})
	if err != nil || len(wrong) > 0 {
		t.Fatal(err, wrong)
	}
	if want := filepath.Join(filepath.Dir(mapping), ".claimsheet", "sandbox"); s.State != want || s.Version("") != "v2" || s.Version("v1") != "v1" {
		t.Errorf("state %s, version %s", s.State, s.Version(""))
	}
	t.Chdir(t.TempDir())
	if s, err := load.OpenEnvironment(load.Where{Env: "sandbox"}); err != nil || s.State != "" {
		t.Errorf("without a file the state folder is %q (%v)", s.State, err)
	}
}

func TestSheets(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.csv", "a.csv", "~$a.csv"} {
		write(t, filepath.Join(dir, name), "x")
	}
	pattern := filepath.Join(dir, "*.csv")
	got, err := load.Sheets([]string{pattern})
	if err != nil || strings.Join(cell.BookNames(got), " ") != "a.csv b.csv" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := load.Sheets([]string{pattern, filepath.Join(dir, "a.csv")}); err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("a sheet that is given twice: %v", err)
	}
	if _, err := load.Sheets([]string{filepath.Join(dir, "*.xlsx")}); err == nil || !strings.Contains(err.Error(), "no sheet matches") {
		t.Errorf("a pattern without a match: %v", err)
	}
}
