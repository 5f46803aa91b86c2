package load_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"claimsheet/importer/cli/load"
	"claimsheet/mapping/cell"
)

// TestOverwrittenWhileRead: a session reads its copy of the sheet.
func TestOverwrittenWhileRead(t *testing.T) {
	mapping, sheet := filepath.Join(t.TempDir(), "mapping.yaml"), filepath.Join(t.TempDir(), "leads.csv")
	text := "name: loans\napi: v2\nclient: {key: E-mail, lookup: {email: E-mail}, fields: {email: E-mail}}\n"
	err := errors.Join(os.WriteFile(mapping, []byte(text), 0o600), os.WriteFile(sheet, []byte("E-mail\na@example.com\nb@example.com\n"), 0o600))
	must(t, err)
	s, err := load.Open(t.Context(), load.Options{Where: load.Where{Mapping: mapping}, Sheets: []string{sheet}})
	must(t, err)
	defer s.Close()
	must(t, os.WriteFile(sheet, []byte("overwritten while the run reads"), 0o600))
	rows := 0
	if _, _, err := s.Survey(t.Context(), t.TempDir(), true, func(cell.Record) { rows++ }); err != nil {
		t.Fatal(err)
	}
	if rows != 2 || s.Binding == nil || s.Client != nil {
		t.Errorf("%d rows, binding %v, client %v", rows, s.Binding, s.Client)
	}
}
