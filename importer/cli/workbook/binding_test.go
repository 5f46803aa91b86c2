package workbook_test

import (
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
