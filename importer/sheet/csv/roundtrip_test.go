package csv_test

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"claimsheet/importer/sheet/csv"
	"claimsheet/mapping/cell"
)

// What encoding/csv writes is read back cell by cell, with any delimiter and in any
// encoding.
func TestRoundTripCSV(t *testing.T) {
	field := rapid.StringOfN(rapid.RuneFrom([]rune("ab0=,;\t\"' é€\n#")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 6).Draw(t, "columns")
		header := make([]string, columns)
		for i := range header {
			header[i] = "Head " + cell.ColumnName(i)
		}
		table := rapid.SliceOfN(rapid.SliceOfN(field, columns, columns), 0, 12).Draw(t, "rows")
		comma := rapid.SampledFrom([]rune{',', ';', '\t'}).Draw(t, "delimiter")
		var text bytes.Buffer
		w := stdcsv.NewWriter(&text)
		w.Comma, w.UseCRLF = comma, rapid.Bool().Draw(t, "CRLF")
		if err := errors.Join(w.Write(header), w.WriteAll(table)); err != nil {
			t.Fatal(err)
		}
		o, data := encodeCSV(t, text.String())
		if columns == 1 || rapid.Bool().Draw(t, "declared") { // one column does not show its delimiter
			o.Delimiter = string(comma)
		}
		gotHeader, all, err := read(data, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(header, gotHeader); diff != "" {
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

// encodeCSV encodes a text in a random encoding.
func encodeCSV(t *rapid.T, text string) (csv.Options, []byte) {
	switch rapid.IntRange(0, 4).Draw(t, "encoding") {
	case 0:
		return csv.Options{}, append([]byte("\xEF\xBB\xBF"), text...)
	case 1:
		return csv.Options{}, inUTF16(unicode.LittleEndian, text)
	case 2:
		return csv.Options{}, inUTF16(unicode.BigEndian, text)
	case 3:
		data := []byte(strings.NewReplacer("é", "\xE9", "€", "\x80").Replace(text))
		if !utf8.Valid(data) || text == string(data) { // “é€€” is a letter of UTF-8 by chance, and such a file is refused
			return csv.Options{Encoding: "windows-1252"}, data
		}
	}
	return csv.Options{}, []byte(text)
}
