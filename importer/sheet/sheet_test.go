package sheet_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/sheet"
	"claimsheet/importer/sheet/sheettest"
	"claimsheet/importer/testform"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// read opens a file and returns all of its records.
func read(path string, o sheet.Options) (cell.Sheet, []cell.Record, error) {
	r, err := sheet.Open(path, o)
	if err != nil {
		return cell.Sheet{}, nil, err
	}
	defer r.Close()
	all, err := sheettest.Collect(r.Records())
	return r.Sheet(), all, err
}

// code is the code of the problem that an error must be, about the file.
func code(t testing.TB, err error, path string) string {
	t.Helper()
	if p, ok := err.(problem.Problem); ok && p.Where.File != path {
		t.Errorf("problem %q: want one about %s", p.Error(), path)
	}
	return testform.Code(t, err)
}

// The first bytes of a file say what it is; only a CSV file needs its name.
func TestKinds(t *testing.T) {
	workbook := sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2"><v>1</v></c></row>`)).Zip()
	const number, text = "2 | A number \"1\"\n", "2 | A text \"1\"\n"
	for _, tt := range []struct {
		name string
		data string
		want string // the records, or the code of the problem
	}{
		{"leads.xlsx", string(workbook), number},
		{"leads.csv", string(workbook), number},
		{"leads", string(workbook), number},
		{"leads.csv", "a\n1\n", text},
		{"leads.CSV", "<a href='x'>a</a>\n1\n", text},
		{"leads.csv.gz", "\x1F\x8B\x08\x00", "not-a-workbook"},
		{"leads.xlsx", "Name,Amount\nAnn,1\n", "not-a-workbook"},
		{"leads.xlsx", "<html><table>", "not-a-workbook"},
		{"leads.xlsx", "\x01\x02\x03\x04", "not-a-workbook"},
		{"leads.xlsx", "", "not-a-workbook"},
		{"leads.xlsx", "PK\x03\x04", "damaged-workbook"},
		{"leads.xlsx", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and so on", "encrypted-workbook"},
	} {
		path := sheettest.Save(t, tt.name, []byte(tt.data))
		s, all, err := read(path, sheet.Options{Name: "Leads"}) // a CSV file has one sheet, whatever its name
		got := sheettest.Dump(all)
		if err != nil {
			got = code(t, err, path)
		}
		if got != tt.want {
			t.Errorf("%s of %.20q: got %q (%v), want %q", tt.name, tt.data, got, err, tt.want)
		}
		if err == nil && s.File != path {
			t.Errorf("%s: its sheet is of %s", tt.name, s.File)
		}
	}
	dir := t.TempDir()
	for path, want := range map[string]string{dir: "not-a-file", filepath.Join(dir, "none.xlsx"): "no-file"} {
		if _, _, err := read(path, sheet.Options{}); code(t, err, path) != want {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

// A sheet is chosen by its name, or is the first visible one. Its header has no trailing columns without a name.
func TestChooseSheet(t *testing.T) {
	t.Parallel()
	book := sheettest.Workbook(`<worksheet><sheetData><row r="3"><c t="str"><v>Name</v></c><c r="C3" t="str"><v>C</v></c><c t="str"><v> </v></c></row></sheetData></worksheet>`)
	book["xl/workbook.xml"] = `<workbook xmlns:r="x"><sheets><sheet name="Sheet1" state="hidden" r:id="r1"/><sheet name="Leads" r:id="r1"/><sheet name="Old leads" r:id="r1"/></sheets></workbook>`
	book["_rels/.rels"] = strings.Replace(book["_rels/.rels"], "</", `<Relationship Id="r2" Type="http://x/custom-properties" Target="custom.xml"/></`, 1)
	book["custom.xml"] = `<Properties><property name="Run"><lpwstr>r-1</lpwstr></property></Properties>`
	path := sheettest.Save(t, "leads.xlsm", book.Zip())
	for ask, want := range map[string]string{"": "Leads", "Sheet1": "Sheet1", "old LEADS": "Old leads"} {
		r, err := sheet.Open(path, sheet.Options{Name: ask, HeaderRow: 3})
		must(t, err)
		wantSheet := cell.Sheet{File: path, Name: want, HeaderRow: 3, Header: []string{"Name", "", "C"}}
		if diff := cmp.Diff(wantSheet, r.Sheet()); diff != "" || r.Properties["Run"] != "r-1" || fmt.Sprint(r.SheetNames) != "[Leads Old leads]" || r.Close() != nil {
			t.Error(diff, r.Properties, r.SheetNames)
		}
	}
	_, err := sheet.Open(path, sheet.Options{Name: "Laeds", HeaderRow: 3})
	if got := code(t, err, path); got != "sheet-not-found" || !strings.Contains(err.Error(), `"Old leads"`) || !strings.Contains(err.(problem.Problem).Hint, `"Leads"`) {
		t.Errorf("got %v", err)
	}
}
