package workbook_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/xuri/excelize/v2"

	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/sheet"
	"claimsheet/mapping"
)

func TestBindingsComeBack(t *testing.T) {
	b := workbook.Results{Path: "leads.results.xlsx", Run: "r1", Environment: "https://uat.example.com/api", EnvironmentName: "uat",
		Mapping: "loans", MappingFile: "/m/mapping.yaml", MappingDigest: "d", KeySpace: "email", Sheet: "Leads", Sheets: 2,
		Input: "/in/leads.xlsx", InputDigest: "i", Ledger: "/s/ledger.db", Started: time.Date(2026, 11, 20, 12, 0, 0, 5, time.UTC), Steps: -1, Contacts: true}
	got := workbook.FromProperties(b.Path, b.Properties())
	if diff := cmp.Diff(&b, got, cmpopts.IgnoreUnexported(workbook.Results{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCheckEnvironment(t *testing.T) {
	b := &workbook.Results{Path: "w.xlsx", Environment: "https://uat.example.com/api", EnvironmentName: "uat"}
	if err := b.CheckEnvironment("uat", "https://uat.example.com/api"); err != nil {
		t.Errorf("its own environment is refused: %v", err)
	}
	for name, scope := range map[string]string{"uat": "https://moved.example.com/api", "live": "https://live.example.com/api"} {
		if err := b.CheckEnvironment(name, scope); err == nil || !strings.Contains(err.Error(), "other-environment") {
			t.Errorf("%s at %s: %v", name, scope, err)
		}
	}
}

// TestWithoutSourceRows: rows of a results workbook may have been sorted. Only the column Source row shows it, so without
// it no empty cell takes the one above.
func TestWithoutSourceRows(t *testing.T) {
	for name, refused := range map[string]bool{"Source row": false, "Row": true} {
		path, f := filepath.Join(t.TempDir(), "leads.results.xlsx"), excelize.NewFile()
		err := f.SetSheetName("Sheet1", "Results")
		if err == nil {
			err = f.SetSheetRow("Results", "A1", &[]any{"E-mail", "Agreement", "Import status", name})
		}
		if err == nil {
			err = f.SaveAs(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		m, _ := mapping.Parse("m.yaml", []byte("name: a\napi: v2\nsheet: {fill_down: [E-mail]}\nclient: {key: E-mail, existing: create, fields: {email: E-mail}}\nworkflow: {name: w}\n"))
		table, err := workbook.Open(func(o sheet.Options) (*sheet.Reader, error) { return sheet.Open(path, o) }, m, &workbook.Results{Path: path})
		if refused != (err != nil && strings.Contains(err.Error(), "no column “Source row” any more")) {
			t.Errorf("with the column %s: %v", name, err)
		}
		if err == nil {
			_ = table.Close()
		}
	}
}
