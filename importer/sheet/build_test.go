package sheet_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claimsheet/importer/sheet"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// parts are the parts of a workbook made by hand.
type parts map[string]string

// workbook is the smallest workbook around the XML of a worksheet.
func workbook(worksheet string) parts {
	return parts{
		"_rels/.rels":                `<Relationships><Relationship Id="r1" Type="http://x/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml":            `<workbook xmlns:r="x"><sheets><sheet name="Leads" sheetId="1" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="r1" Type="http://x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="http://x/styles" Target="styles.xml"/><Relationship Id="r3" Type="http://x/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
		"xl/styles.xml":              `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="00000"/></numFmts><cellXfs><xf/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>`,
		"xl/sharedStrings.xml":       `<sst><si><t>shared</t></si><si><r><t>ri</t></r><rPh sb="0"><t>NO</t></rPh><r><t xml:space="preserve">ch </t></r></si><si><t/></si></sst>`,
		"xl/worksheets/sheet1.xml":   worksheet,
	}
}

// with is the workbook with a part replaced; an empty text removes it.
func (p parts) with(name, text string) parts {
	p = maps.Clone(p)
	if text == "" {
		delete(p, name)
	} else {
		p[name] = text
	}
	return p
}

func (p parts) zip() []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		f, _ := w.Create(name)
		_, _ = f.Write([]byte(p[name]))
	}
	_ = w.Close()
	return b.Bytes()
}

// declaring is the workbook with a directory that gives a part, of 1 MB in
// truth, another size.
func (p parts) declaring(name string, size uint64) []byte {
	text := make([]byte, 1<<20)
	var packed bytes.Buffer
	d, _ := flate.NewWriter(&packed, flate.DefaultCompression)
	_, _ = d.Write(text)
	_ = d.Close()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, _ := w.CreateRaw(&zip.FileHeader{
		Name: name, Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(text),
		CompressedSize64: uint64(packed.Len()), UncompressedSize64: size,
	})
	_, _ = f.Write(packed.Bytes())
	for other, text := range p.with(name, "") {
		f, _ := w.Create(other)
		_, _ = f.Write([]byte(text))
	}
	_ = w.Close()
	return b.Bytes()
}

// rows wraps rows in a worksheet, with a header in row 1.
func rows(xml string) string {
	return `<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>Head</t></is></c></row>` + xml + `</sheetData></worksheet>`
}

func save(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "leads.xlsx")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// read opens a file and takes all of its records.
func read(path string, o sheet.Options) (cell.Sheet, []cell.Record, error) {
	r, err := sheet.Open(path, o)
	if err != nil {
		return cell.Sheet{}, nil, err
	}
	defer r.Close()
	all, err := collect(r)
	return r.Sheet(), all, err
}

func collect(r *sheet.Reader) ([]cell.Record, error) {
	var all []cell.Record
	for rec, err := range r.Records() {
		if err != nil {
			return all, err
		}
		rec.Cells = slices.Clone(rec.Cells)
		all = append(all, rec)
	}
	return all, nil
}

// dump writes records one line per row: C2 Number 12 "12.00" {0.00}.
func dump(all []cell.Record) string {
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

// code is the code of the problem that an error must be.
func code(t testing.TB, err error, path string) string {
	t.Helper()
	if err == nil {
		return ""
	}
	p, ok := err.(problem.Problem)
	if !ok {
		t.Fatalf("%T is no problem: %v", err, err)
	}
	if p.Where.File != path || strings.Contains(p.Error(), "\n") {
		t.Errorf("problem %q: want one line about %s", p.Error(), path)
	}
	return p.Code
}

func hintOf(err error) string {
	var p problem.Problem
	errors.As(err, &p)
	return p.Hint
}
