package workbook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claimsheet/importer/cli/workbook"
)

func TestBindingsComeBack(t *testing.T) {
	b := workbook.Binding{Path: "leads.results.xlsx", Run: "r1", Environment: "https://uat.example.com/api", EnvironmentName: "uat",
		Mapping: "loans", MappingFile: "/m/mapping.yaml", MappingDigest: "d", KeySpace: "email", Sheet: "Leads", Sheets: 2,
		Input: "/in/leads.xlsx", InputDigest: "i", Ledger: "/s/ledger.db", Started: time.Date(2026, 11, 20, 12, 0, 0, 5, time.UTC), Steps: -1, Contacts: true}
	got := workbook.FromProperties(b.Path, b.Properties())
	if diff := cmp.Diff(&b, got, cmpopts.IgnoreUnexported(workbook.Binding{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCheckEnvironment(t *testing.T) {
	b := &workbook.Binding{Path: "w.xlsx", Environment: "https://uat.example.com/api", EnvironmentName: "uat"}
	if err := b.CheckEnvironment("uat", "https://uat.example.com/api"); err != nil {
		t.Errorf("its own environment is refused: %v", err)
	}
	for name, scope := range map[string]string{"uat": "https://moved.example.com/api", "live": "https://live.example.com/api"} {
		if err := b.CheckEnvironment(name, scope); err == nil || !strings.Contains(err.Error(), "other-environment") {
			t.Errorf("%s at %s: %v", name, scope, err)
		}
	}
}

func TestIsOwnOutput(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]bool{
		"leads.xlsx": false, "~$leads.xlsx": true, ".leads.xlsx": true, "leads.results.csv": false,
		"business.plan.xlsx": false, // a sheet that is only named like a plan
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := workbook.IsOwnOutput(path); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestFindAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leads.xlsx")
	if b, err := workbook.Find(path); b != nil || err != nil {
		t.Errorf("a missing file: %v, %v", b, err)
	}
	if _, err := workbook.Read(path, ""); err == nil || !strings.Contains(err.Error(), "no-file") {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := workbook.Find(path); b != nil || err != nil {
		t.Errorf("a text file: %v, %v", b, err)
	}
	if _, err := workbook.Read(path, ""); err == nil || !strings.Contains(err.Error(), "not-results") {
		t.Errorf("a text file: %v", err)
	}
}
