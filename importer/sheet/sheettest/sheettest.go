// Package sheettest builds files for tests of packages that read sheets, and prints
// what was read.
package sheettest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claimsheet/mapping/cell"
)

// Parts are the parts of a workbook, by name.
type Parts map[string]string

// Workbook returns the smallest workbook around the XML of a worksheet. It has three
// styles (General, a date, 00000) and three shared strings.
func Workbook(worksheet string) Parts {
	return Parts{
		"_rels/.rels":                `<Relationships><Relationship Id="r1" Type="http://x/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml":            `<workbook xmlns:r="x"><sheets><sheet name="Leads" sheetId="1" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="r1" Type="http://x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="http://x/styles" Target="styles.xml"/><Relationship Id="r3" Type="http://x/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
		"xl/styles.xml":              `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="00000"/></numFmts><cellXfs><xf/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>`,
		"xl/sharedStrings.xml":       `<sst><si><t>shared</t></si><si><r><t>ri</t></r><rPh sb="0"><t>NO</t></rPh><r><t xml:space="preserve">ch </t></r></si><si><t/></si></sst>`,
		"xl/worksheets/sheet1.xml":   worksheet,
	}
}

// With returns the workbook with a part replaced; an empty text removes it.
func (p Parts) With(name, text string) Parts {
	p = maps.Clone(p)
	if text == "" {
		delete(p, name)
	} else {
		p[name] = text
	}
	return p
}

// Zip returns the workbook as a file.
func (p Parts) Zip() []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		f, _ := w.Create(name)
		_, _ = f.Write([]byte(p[name]))
	}
	_ = w.Close()
	return b.Bytes()
}

// Rows returns a worksheet with these rows below a header in row 1.
func Rows(xml string) string {
	return `<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>Head</t></is></c></row>` + xml + `</sheetData></worksheet>`
}

// Save writes a file of this name into a folder of the test.
func Save(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Collect returns all records up to the first error.
func Collect(records iter.Seq2[cell.Record, error]) ([]cell.Record, error) {
	var all []cell.Record
	for rec, err := range records {
		if err != nil {
			return all, err
		}
		rec.Cells = slices.Clone(rec.Cells)
		all = append(all, rec)
	}
	return all, nil
}

// Dump prints records, one line per row: 2 | C number "12" "12.00" {0.00}.
func Dump(all []cell.Record) string {
	kinds := map[cell.Kind]string{
		cell.Text: "text", cell.Number: "number", cell.Date: "date", cell.Bool: "bool",
		cell.Error: "error", cell.Uncomputed: "uncomputed",
	}
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%d", r.Row)
		if r.Hidden {
			b.WriteString(" hidden")
		}
		for i, c := range r.Cells {
			if c.Kind == cell.Empty {
				continue
			}
			fmt.Fprintf(&b, " | %s %s", cell.ColumnName(i), kinds[c.Kind])
			if c.Raw != "" {
				fmt.Fprintf(&b, " %q", c.Raw)
			}
			if c.Shown != c.Raw {
				fmt.Fprintf(&b, " %q", c.Shown)
			}
			if c.Format != "" {
				fmt.Fprintf(&b, " {%s}", c.Format)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
