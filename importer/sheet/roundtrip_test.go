package sheet_test

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/xuri/excelize/v2"
	"pgregory.net/rapid"

	"claimsheet/importer/sheet"
	"claimsheet/mapping/cell"
)

// What excelize writes is read back with its types: texts, numbers, bools and
// dates of both date systems, in sparse rows.
func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leads.xlsx")
	rapid.Check(t, func(t *rapid.T) {
		f := excelize.NewFile()
		defer f.Close()
		date1904 := rapid.Bool().Draw(t, "1904")
		if err := f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &date1904}); err != nil {
			t.Fatal(err)
		}
		code := "dd/mm/yyyy hh:mm"
		dates, err := f.NewStyle(&excelize.Style{CustomNumFmt: &code})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.SetCellStr("Sheet1", "A1", "Head"); err != nil {
			t.Fatal(err)
		}
		want := map[string]cell.Cell{}
		for range rapid.IntRange(0, 20).Draw(t, "cells") {
			ref, err := excelize.CoordinatesToCellName(rapid.IntRange(1, 40).Draw(t, "column"), rapid.IntRange(2, 60).Draw(t, "row"))
			if err != nil {
				t.Fatal(err)
			}
			if _, taken := want[ref]; taken {
				continue
			}
			want[ref] = writeCell(t, f, ref, dates, code, date1904)
		}
		if err := f.SaveAs(path); err != nil {
			t.Fatal(err)
		}
		s, all, err := read(path, sheet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]cell.Cell{}
		for _, r := range all {
			for i, c := range r.Cells {
				if c.Kind != cell.Empty {
					got[cell.ColumnName(i)+strconv.Itoa(r.Row)] = c
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || s.Date1904 != date1904 {
			t.Fatal(diff, s)
		}
	})
}

// writeCell draws a value, writes it, and gives the cell it must be read as.
func writeCell(t *rapid.T, f *excelize.File, ref string, dates int, code string, date1904 bool) cell.Cell {
	var err error
	var want cell.Cell
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab<>&\"' é😀\n\t_x0041")), 1, 30, -1).Draw(t, "text")
		want = cell.Cell{Kind: cell.Text, Raw: text, Shown: text}
		err = f.SetCellStr("Sheet1", ref, text)
	case 1:
		n := rapid.IntRange(-1e15+1, 1e15-1).Draw(t, "number")
		text := strconv.Itoa(n)
		want = cell.Cell{Kind: cell.Number, Raw: text, Shown: text}
		err = f.SetCellInt("Sheet1", ref, int64(n))
	case 2:
		b := rapid.Bool().Draw(t, "bool")
		want = cell.Cell{Kind: cell.Bool, Raw: "0", Shown: "FALSE"}
		if b {
			want = cell.Cell{Kind: cell.Bool, Raw: "1", Shown: "TRUE"}
		}
		err = f.SetCellBool("Sheet1", ref, b)
	case 3:
		minutes := rapid.IntRange(0, 100*365*24*60).Draw(t, "minutes")
		at := time.Date(1910, 1, 1, 0, minutes, 0, 0, time.UTC)
		epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
		if date1904 {
			epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		serial := at.Sub(epoch).Minutes() / (24 * 60)
		literal := strconv.FormatFloat(serial, 'f', -1, 64)
		want = cell.Cell{Kind: cell.Date, Raw: literal, Shown: at.Format("2006-01-02T15:04:05"), Format: code}
		if err = f.SetCellFloat("Sheet1", ref, serial, -1, 64); err == nil {
			err = f.SetCellStyle("Sheet1", ref, ref, dates)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func TestChooseSheet(t *testing.T) {
	f := excelize.NewFile()
	defer f.Close()
	for _, name := range []string{"Leads", "Old leads"} {
		if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Sheet1", "Leads", "Old leads"} {
		if err := f.SetSheetRow(name, "A3", &[]any{"Head of " + name, nil, "C", " "}); err != nil {
			t.Fatal(err)
		}
	}
	f.SetActiveSheet(1)
	if err := f.SetSheetVisible("Sheet1", false); err != nil {
		t.Fatal(err)
	}
	if err := f.SetCustomProps(excelize.CustomProperty{Name: "Run", Value: "r-1"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "leads.xlsm")
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	for ask, want := range map[string]string{"": "Leads", "Sheet1": "Sheet1", "old LEADS": "Old leads"} {
		r, err := sheet.Open(path, sheet.Options{Name: ask, HeaderRow: 3})
		if err != nil {
			t.Fatal(err)
		}
		wantSheet := cell.Sheet{File: path, Name: want, HeaderRow: 3, Header: []string{"Head of " + want, "", "C"}}
		if diff := cmp.Diff(wantSheet, r.Sheet()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]string{"Run": "r-1"}, r.Properties()); diff != "" {
			t.Error(diff)
		}
		r.Close()
	}
	_, err := sheet.Open(path, sheet.Options{Name: "Laeds", HeaderRow: 3})
	if got := code(t, err, path); got != "sheet-not-found" || !strings.Contains(err.Error(), `"Old leads"`) {
		t.Errorf("got %v", err)
	}
	if hint := hintOf(err); !strings.Contains(hint, `"Leads"`) {
		t.Errorf("the hint %q suggests nothing", hint)
	}
}

// What encoding/csv writes is read back, cell by cell, by any delimiter and in
// any encoding.
func TestRoundTripCSV(t *testing.T) {
	dir := t.TempDir()
	field := rapid.StringOfN(rapid.RuneFrom([]rune("ab0=,;\t\"' é€\n#")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "leads.csv")
		columns := rapid.IntRange(1, 6).Draw(t, "columns")
		header := make([]string, columns)
		for i := range header {
			header[i] = "Head " + cell.ColumnName(i)
		}
		table := rapid.SliceOfN(rapid.SliceOfN(field, columns, columns), 0, 12).Draw(t, "rows")
		comma := rapid.SampledFrom([]rune{',', ';', '\t'}).Draw(t, "delimiter")
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		w.Comma, w.UseCRLF = comma, rapid.Bool().Draw(t, "CRLF")
		if err := errors.Join(w.Write(header), w.WriteAll(table)); err != nil {
			t.Fatal(err)
		}
		o, data := encodeCSV(t, text.String())
		if columns == 1 || rapid.Bool().Draw(t, "declared") { // one column tells nothing
			o.Delimiter = string(comma)
		}
		if rapid.Bool().Draw(t, "packed") {
			data, path = gzipped(string(data)), path+".gz"
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, all, err := read(path, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(header, s.Header); diff != "" {
			t.Fatal(diff)
		}
		got := make([][]string, len(table))
		for i := range got {
			got[i] = make([]string, columns)
		}
		for _, r := range all {
			for i, c := range r.Cells {
				got[r.Row-2][i] = c.Raw
			}
		}
		if diff := cmp.Diff(table, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// encodeCSV draws an encoding and writes a text in it.
func encodeCSV(t *rapid.T, text string) (sheet.Options, []byte) {
	switch rapid.IntRange(0, 4).Draw(t, "encoding") {
	case 0:
		return sheet.Options{}, append([]byte("\xEF\xBB\xBF"), text...)
	case 1:
		return sheet.Options{}, inUTF16(binary.LittleEndian, text)
	case 2:
		return sheet.Options{}, inUTF16(binary.BigEndian, text)
	case 3:
		return sheet.Options{Encoding: "windows-1252"}, []byte(strings.NewReplacer("é", "\xE9", "€", "\x80").Replace(text))
	}
	return sheet.Options{}, []byte(text)
}
