package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"
)

// TestInitFindsTheSheet: init finds the encoding and the delimiter of a text file, and
// the sheet of a workbook that holds leads. check takes the result, and the schema that
// its first line names is what the schema command prints.
func TestInitFindsTheSheet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := charmap.Windows1252.NewEncoder().String("Kundenliste März\nKundennr.;E-Mail;Vorname;Nachname;Geb.-Datum;Straße\nK1;a@example.com;Jörg;Groß;31.12.1980;Am Markt\nK2;b@example.com;Ann;Koch;01.02.1990;Weg\n")
	if err != nil {
		t.Fatal(err)
	}
	german := filepath.Join(dir, "german.csv")
	if err := os.WriteFile(german, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f := excelize.NewFile()
	rows := map[string][][]any{
		"Sheet1": {{"Read me"}, {"This workbook holds leads."}},
		"Leads":  {{"Lead no", "E-mail", "First name", "Surname"}, {"L1", "a@example.com", "Ann", "Archer"}, {"L2", "b@example.com", "Bob", "Baker"}},
	}
	_, err = f.NewSheet("Leads")
	for name, lines := range rows {
		for i := range lines {
			cell, _ := excelize.CoordinatesToCellName(1, i+1)
			if e := f.SetSheetRow(name, cell, &lines[i]); e != nil {
				err = e
			}
		}
	}
	book := filepath.Join(dir, "book.xlsx")
	if e := f.SaveAs(book); err != nil || e != nil {
		t.Fatal(err, e)
	}
	for path, want := range map[string][]string{
		german: {`encoding: windows-1252   # the file is not in UTF-8`, `header_row: 2   # `, `{column: Geb.-Datum, type: Date, format: dd.mm.yyyy}`},
		book:   {`name: Leads   # of 2 sheets; 4 of its 4 headers are known words`, "key: E-mail"},
	} {
		out := filepath.Join(dir, filepath.Base(path)+".yaml")
		said, diagnostics, code := printed(t, "init", "-e", "sandbox", "--state", t.TempDir(), "-o", out, path)
		if code != 0 || diagnostics != "" {
			t.Fatalf("%s: exit code %d\n%s", path, code, diagnostics)
		}
		_, next, _ := strings.Cut(said, "\n  claimsheet ")
		if _, diagnostics, code := printed(t, strings.Fields(next)...); code != 0 {
			t.Errorf("the next line of\n%s\nends with exit code %d\n%s", said, code, diagnostics)
		}
		made := readText(t, out)
		for _, line := range want {
			if !strings.Contains(made, line) {
				t.Errorf("%s has no %s:\n%s", path, line, made)
			}
		}
		if !strings.HasPrefix(made, "# yaml-language-server: $schema=mapping.schema.json\n") || !strings.Contains(made, "\n# The first line is for editors; this makes the file that it names: claimsheet schema mapping > mapping.schema.json\n") {
			t.Errorf("%s does not begin with the schema:\n%s", path, made)
		}
		if _, diagnostics, code := printed(t, "check", "-m", out, path); code != 0 {
			t.Errorf("check: exit code %d\n%s", code, diagnostics)
		}
	}
}

// TestInitSeparatorLine: init finds the header below a line sep=;, in any encoding; check takes the result.
func TestInitSeparatorLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := charmap.Windows1252.NewEncoder().String("sep=;\r\nRef;E-mail;First name;Amount\r\n1;a@example.com;Jürgen;5\r\n2;b@example.com;Ann;6\r\n")
	if err != nil {
		t.Fatal(err)
	}
	path, out := filepath.Join(dir, "sep.csv"), filepath.Join(dir, "mapping.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, diagnostics, code := printed(t, "init", "-o", out, path); code != 0 || diagnostics != "" {
		t.Fatalf("exit code %d\n%s", code, diagnostics)
	}
	made := readText(t, out)
	for _, line := range []string{"  header_row: 2   # the first row that names", "  encoding: windows-1252   # the file is not in UTF-8", "    firstName: First name"} {
		if !strings.Contains(made, line) || strings.Contains(made, "delimiter") { // which a run finds in the header
			t.Errorf("no %s, or a delimiter, in\n%s", line, made)
		}
	}
	if _, diagnostics, code := printed(t, "check", "-m", out, path); code != 0 {
		t.Errorf("check: exit code %d\n%s", code, diagnostics)
	}
}
