package sheet_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"claimsheet/importer/sheet"
	"claimsheet/mapping/cell"
)

// What encoding/csv writes is read back cell by cell, with any delimiter and in any
// encoding.
func TestRoundTripCSV(outer *testing.T) {
	field := rapid.StringOfN(rapid.RuneFrom([]rune("ab0=,;\t\"' é€\n#")), 0, 8, -1)
	rapid.Check(outer, func(t *rapid.T) {
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
		must(t, errors.Join(w.Write(header), w.WriteAll(table)))
		encode := rapid.SampledFrom([]func(string) []byte{
			func(text string) []byte { return []byte(text) },
			func(text string) []byte { return []byte("\uFEFF" + text) },
			func(text string) []byte { return inUTF16(unicode.LittleEndian, text) },
			func(text string) []byte { return inUTF16(unicode.BigEndian, text) },
		}).Draw(t, "encoding")
		o := sheet.Options{}
		if columns == 1 || rapid.Bool().Draw(t, "declared") { // one column does not show its delimiter
			o.Delimiter = string(comma)
		}
		gotHeader, all, err := readCSV(outer, encode(text.String()), o)
		if diff := cmp.Diff(header, gotHeader); diff != "" || err != nil {
			t.Fatal(diff, err)
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
