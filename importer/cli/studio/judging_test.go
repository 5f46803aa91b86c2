package studio_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/cli/studio"
)

// A workbook without the sheet that the mapping names is shown with its first one, to
// choose from.
func TestSheetOfAnotherName(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "leads.xlsx")
	f := excelize.NewFile()
	_, err := f.NewSheet("Leads")
	err = errors.Join(err, f.SetSheetName("Sheet1", "Notes"), f.SetSheetRow("Notes", "A1", &[]string{"a", "b"}),
		f.SetSheetRow("Leads", "A1", &[]string{"No", "Surname"}), f.SetSheetRow("Leads", "A2", &[]string{"1", "Archer"}), f.SaveAs(path), f.Close())
	must(t, err)
	const text = "name: x\napi: v2\nsheet: {name: Lead}\nclient: {key: No, existing: create, fields: {n: Surname}}\n"
	b := begin(t, text, sheetText, func(o *studio.Options) { o.Sheets = []string{path} })
	b.get("/api/state").has(t, "sheet.names", []string{"Notes", "Leads"}, "sheet.problems.0.code", "sheet-not-found")
	st := b.post("/api/patch", 200, "version", 1, "label", "x", "operations", []any{op("add", "/sheet/name", "Leads")})
	st.has(t, "mapping.text", strings.Replace(text, "name: Lead}", "name: Leads}", 1))
	b.judged().has(t, "judgement.rows", 1)
}

// Without a mapping the page begins with what the rows propose, read as the session found
// out.
func TestFirstMappingIsProposed(t *testing.T) {
	t.Parallel()
	draft := filepath.Join(t.TempDir(), "x.json")
	b := begin(t, "", "Lead no;E-mail;Surname;Notes\n1;ann@example.com;Archer;\n2;bob@example.com;Brown;\n", func(o *studio.Options) {
		o.Suggest.Name, o.Suggest.API, o.Suggest.Delimiter.Value = "spring", "v2", ";"
		o.Propose, o.Proposed, o.Autosave = true, o.Suggest.Beginning(), draft
	})
	st := b.judged()
	text := st.at("mapping.text").(string)
	if !strings.Contains(text, "email: ") || !strings.Contains(text, "delimiter: \";\"") {
		t.Errorf("proposed is\n%s", text)
	}
	st.has(t, "mapping.history", []string{"proposed from the sheet"}, "judgement.clients", 2)
	expect(t, "the diff", b.get("/api/diff")["lines"], []string{})
	b.post("/api/patch", 200, "version", 1, "label", "x", "operations", []any{op("replace", "/name", "autumn")})
	b.post("/api/history", 200, "version", 2, "to", 0)
	b.post("/api/save", 200, "version", 3)
	b.holds(b.file, text)
	if _, err := os.Stat(draft); !os.IsNotExist(err) {
		t.Errorf("what was proposed is kept as unsaved: %v", err)
	}
}
