package cli_test

import (
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"
)

// TestInitFindsTheSheet: init finds the encoding of a text file, its delimiter, also in a line sep=;, the header below
// other lines, and the sheet of a workbook that holds leads. check takes the result, and the schema that its first line
// names is what the schema command prints.
func TestInitFindsTheSheet(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, nil)
	for name, text := range map[string]string{
		"german.csv": "Kundenliste März\nKundennr.;E-Mail;Vorname;Nachname;Geb.-Datum;Straße\nK1;a@example.com;Jörg;Groß;31.12.1980;Am Markt\nK2;b@example.com;Ann;Koch;01.02.1990;Weg\n",
		"sep.csv":    "sep=;\r\nRef;E-mail;First name;Amount\r\n1;a@example.com;Jürgen;5\r\n2;b@example.com;Ann;6\r\n",
	} {
		encoded, err := charmap.Windows1252.NewEncoder().String(text)
		must(t, err)
		write(t, s.path(name), encoded)
	}
	f := excelize.NewFile()
	_, err := f.NewSheet("Leads")
	must(t, err)
	must(t, f.SetSheetRow("Sheet1", "A1", &[]any{"Read me: this workbook holds leads."}))
	must(t, f.SetSheetRow("Leads", "A1", &[]any{"Lead no", "E-mail", "First name", "Surname"}))
	must(t, f.SetSheetRow("Leads", "A2", &[]any{"L1", "a@example.com", "Ann", "Archer"}))
	must(t, f.SetSheetRow("Leads", "A3", &[]any{"L2", "b@example.com", "Bob", "Baker"}))
	must(t, f.SaveAs(s.path("book.xlsx")))
	for name, want := range map[string][]string{
		"german.csv": {`encoding: windows-1252   # the file is not in UTF-8`, `header_row: 2   # `, `{column: Geb.-Datum, type: Date, format: dd.mm.yyyy}`},
		"sep.csv":    {"  header_row: 2   # the first row that names", "  encoding: windows-1252   # the file is not in UTF-8", "    firstName: First name"},
		"book.xlsx":  {`name: Leads   # of 2 sheets; 4 of its 4 headers are known words`, "key: E-mail"},
	} {
		out := s.path(name + ".yaml")
		p := claimsheet(t, "init", "-e", "sandbox", "--state", s.path("state"), "-o", out, s.path(name))
		if p.code != 0 || p.err != "" {
			t.Fatalf("%s: exit code %d\n%s", name, p.code, p.err)
		}
		_, next, _ := strings.Cut(p.out, "\n  claimsheet ")
		for _, words := range [][]string{strings.Fields(next), {"check", "-m", out, s.path(name)}} {
			if got := claimsheet(t, words...); got.code != 0 {
				t.Errorf("%q, after\n%s\nends with exit code %d\n%s", words, p.out, got.code, got.err)
			}
		}
		made := readText(t, out)
		expect(t, made, want...)
		expect(t, made, "\n# The first line is for editors; this makes the file that it names: claimsheet schema mapping > mapping.schema.json\n")
		if !strings.HasPrefix(made, "# yaml-language-server: $schema=mapping.schema.json\n") || strings.Contains(made, "delimiter") { // which a run finds in the header
			t.Errorf("%s:\n%s", name, made)
		}
	}
}
