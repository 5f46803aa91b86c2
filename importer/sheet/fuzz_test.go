package sheet_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/sheet"
	"claimsheet/mapping/problem"
)

// FuzzOpen reads any bytes as a file.
func FuzzOpen(f *testing.F) {
	f.Add(workbook(rows(`<row r="2"><c r="A2"><v>1</v></c></row>`)).zip())
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := save(t, data)
		if _, _, err := read(path, sheet.Options{}); err != nil {
			code(t, err, path)
		}
	})
}

// FuzzSheet reads any XML as a sheet, in a sound zip file: the tokenizer and
// all that stands on it. Rows come in order, and two passes give the same; so
// does the sheet with its cells written otherwise.
func FuzzSheet(f *testing.F) {
	f.Add(rows(`<row r="2"><c r="A2"><v>1</v></c></row>`))
	f.Add(rows(`<row><c t="str"><f>x</f><v>a&amp;<![CDATA[b]]><!-- c --></v></c></row>`))
	f.Add(`<?xml version="1.0"?><x:worksheet xmlns:x='y'><x:sheetData/></x:worksheet>`)
	f.Fuzz(func(t *testing.T, xml string) {
		path := filepath.Join(t.TempDir(), "fuzz.xlsx")
		if err := os.WriteFile(path, workbook(xml).zip(), 0o600); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(xml, "<!") && !strings.Contains(xml, "<?") {
			if diff := cmp.Diff(readAny(path), readAny(save(t, workbook(unplain(xml)).zip()))); diff != "" {
				t.Errorf("cells written otherwise: %s", diff)
			}
		}
		r, err := sheet.Open(path, sheet.Options{})
		if err != nil {
			code(t, err, path)
			return
		}
		defer r.Close()
		first, err1 := collect(r)
		second, err2 := collect(r)
		if dump(first) != dump(second) || (err1 == nil) != (err2 == nil) {
			t.Errorf("two passes differ")
		}
		for i := range first {
			if before := r.Sheet().HeaderRow; first[i].Row <= before || i > 0 && first[i].Row <= first[i-1].Row {
				t.Errorf("row %d is out of order", first[i].Row)
			}
		}
	})
}

// FuzzCSV reads any bytes as a CSV file. What is read without an error is what
// a plainer reader makes of the same file; rows come in order, and two passes
// give the same.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b\n1,\"x\ny\"\n\n2,\n"), uint8(0))
	f.Add([]byte("a;b\r\n1;2\r\n"), uint8(1))
	f.Add([]byte("\xFF\xFEa\x00\t\x00b\x00\n\x001\x00"), uint8(2))
	f.Add([]byte("N\xE4me\r1\r"), uint8(5))
	f.Add(gzipped("a,b\n1,2\n"), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, how uint8) {
		path := saveAs(t, "leads.csv", data)
		o := sheet.Options{Delimiter: []string{"", ",", ";", "\t"}[how%4]}
		if how/4%2 == 1 {
			o.Encoding = "windows-1252"
		}
		r, err := sheet.Open(path, o)
		if err != nil {
			refusedCSV(t, err)
			return
		}
		defer r.Close()
		first, err1 := collect(r)
		second, err2 := collect(r)
		if err1 != nil || err2 != nil {
			t.Fatalf("a file that was found sound gives %v, %v", err1, err2)
		}
		if dump(first) != dump(second) {
			t.Error("two passes differ")
		}
		for i := range first {
			if first[i].Row <= 1 || i > 0 && first[i].Row <= first[i-1].Row {
				t.Errorf("row %d is out of order", first[i].Row)
			}
		}
		if want, ok := plainCSV(data, o); ok && want != len(first) {
			t.Errorf("%d rows, want %d", len(first), want)
		}
	})
}

// refusedCSV holds an error to be problems, each with a place.
func refusedCSV(t *testing.T, err error) {
	var list problem.List
	if p, ok := err.(problem.Problem); ok {
		list = problem.List{p}
	} else if list, ok = err.(problem.List); !ok {
		t.Fatalf("%T is no problem: %v", err, err)
	}
	for _, p := range list {
		if p.Code == "" || p.Where.String() == "" || strings.Contains(p.Error(), "\n") {
			t.Errorf("%q has no code or no place, or is more than a line", p.Error())
		}
	}
}

// plainCSV counts the rows with a value of a file in plain ASCII with a declared
// delimiter; ok is false for any other.
func plainCSV(data []byte, o sheet.Options) (rows int, ok bool) {
	if o.Delimiter == "" || bytes.ContainsRune(data, '\r') || bytes.ContainsFunc(data, func(r rune) bool { return r > '~' }) ||
		bytes.HasPrefix(data, []byte("PK")) {
		return 0, false
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.FieldsPerRecord = rune(o.Delimiter[0]), -1
	all, err := r.ReadAll()
	if err != nil {
		return 0, false
	}
	for _, record := range all[1:] {
		if strings.Join(record, "") != "" {
			rows++
		}
	}
	return rows, true
}

// FuzzCompound reads any bytes as an encrypted workbook.
func FuzzCompound(f *testing.F) {
	f.Add(readOther(f, "encrypted-agile.xlsx"), "password")
	f.Add(readOther(f, "encrypted-libreoffice.xlsx"), "pässword 1")
	f.Add(readOther(f, "old.xls"), "x")
	f.Fuzz(func(t *testing.T, data []byte, password string) {
		path := save(t, append([]byte("\xD0\xCF\x11\xE0"), data[min(4, len(data)):]...))
		if _, _, err := read(path, sheet.Options{Password: password}); err != nil {
			code(t, err, path)
		}
	})
}
