package sheet_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"

	"claimsheet/importer/sheet"
	"claimsheet/importer/sheet/sheettest"
	"claimsheet/mapping/cell"
)

// inUTF16 encodes a text with a byte order mark.
func inUTF16(order unicode.Endianness, text string) []byte {
	encoded, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		panic(err)
	}
	return []byte(encoded)
}

// readCSV returns a file's header and all of its records.
func readCSV(t testing.TB, data []byte, o sheet.Options) ([]string, []cell.Record, error) {
	o.As = "a.csv"
	s, all, err := read(sheettest.Save(t, "data", data), o)
	return s.Header, all, err
}

func TestCSV(t *testing.T) {
	cp1252 := sheet.Options{Encoding: "windows-1252"}
	semicolon := sheet.Options{Delimiter: ";"}
	for _, tt := range []struct {
		name    string
		data    []byte
		options sheet.Options
		header  []string
		want    string
	}{
		{"texts as they stand", []byte("No,Day,Sum\n00123,1/2/2026,=1+1\n 7.7E9 ,TRUE,#N/A\n"), sheet.Options{},
			[]string{"No", "Day", "Sum"}, "2 | A text \"00123\" | B text \"1/2/2026\" | C text \"=1+1\"\n3 | A text \" 7.7E9 \" | B text \"TRUE\" | C error \"#N/A\"\n"},
		{"semicolons", []byte("Name;Sum\nAnn;1,50\n"), sheet.Options{}, []string{"Name", "Sum"}, "2 | A text \"Ann\" | B text \"1,50\"\n"},
		{"tabs", []byte("Name\tSum\nAnn\t1,50\n"), sheet.Options{}, []string{"Name", "Sum"}, "2 | A text \"Ann\" | B text \"1,50\"\n"},
		{"tab declared", []byte("Name, first\tSum\nAnn\t1\n"), sheet.Options{Delimiter: "\t"}, []string{"Name, first", "Sum"}, "2 | A text \"Ann\" | B text \"1\"\n"},
		{"delimiter in a quoted header", []byte("\"Name; first\",Sum\nAnn,1;2\n"), sheet.Options{}, []string{"Name; first", "Sum"}, "2 | A text \"Ann\" | B text \"1;2\"\n"},
		{"delimiter declared against the header", []byte("a,b;c,d\n1,2;3,4\n"), semicolon, []string{"a,b", "c,d"}, "2 | A text \"1,2\" | B text \"3,4\"\n"},
		{"one column", []byte("Name\nAnn; Bob\n"), sheet.Options{}, []string{"Name"}, "2 | A text \"Ann; Bob\"\n"},
		{"quotes", []byte("a,b\n\"x, \"\"y\"\"\",\"\"\n"), sheet.Options{}, []string{"a", "b"}, "2 | A text \"x, \\\"y\\\"\"\n"},
		{"line breaks in quotes are one row", []byte("a,\"b\r\nb\"\r\n\"x\r\ny\n\nz\",1\r\nend,2\r\n"), sheet.Options{}, []string{"a", "b\nb"},
			"2 | A text \"x\\ny\\n\\nz\" | B text \"1\"\n3 | A text \"end\" | B text \"2\"\n"},
		{"blank lines are rows", []byte("\n\na,b\n\n1,2\n,\n\"\",\"\"\n \n\n3,4"), sheet.Options{HeaderRow: 3}, []string{"a", "b"},
			"5 | A text \"1\" | B text \"2\"\n8 | A text \" \"\n10 | A text \"3\" | B text \"4\"\n"},
		{"blank line after a break in quotes", []byte("a,b\n\"1\n1\",2\n\n3,4\n"), sheet.Options{}, []string{"a", "b"},
			"2 | A text \"1\\n1\" | B text \"2\"\n4 | A text \"3\" | B text \"4\"\n"},
		{"line ends of an old Mac", []byte("a,b\r1,2\r\r3,4\r"), sheet.Options{}, []string{"a", "b"}, "2 | A text \"1\" | B text \"2\"\n4 | A text \"3\" | B text \"4\"\n"},
		{"fewer fields, and empty ones too many", []byte("a,b,c\n1\n1,2,3,,,\n"), sheet.Options{}, []string{"a", "b", "c"},
			"2 | A text \"1\"\n3 | A text \"1\" | B text \"2\" | C text \"3\"\n"},
		{"columns without a header", []byte("a,,c, ,\n1,2,3,4,5\n"), sheet.Options{}, []string{"a", "", "c"},
			"2 | A text \"1\" | B text \"2\" | C text \"3\" | D text \"4\" | E text \"5\"\n"},
		{"any fields above the header", []byte("Leads of tonight,x,y,z\na;b\n1;2\n"), sheet.Options{HeaderRow: 2}, []string{"a", "b"}, "3 | A text \"1\" | B text \"2\"\n"},
		{"shrinking rows", []byte("a,b,c\n1,2,3\n,5\n,,6\n"), sheet.Options{}, []string{"a", "b", "c"},
			"2 | A text \"1\" | B text \"2\" | C text \"3\"\n3 | B text \"5\"\n4 | C text \"6\"\n"},
		{"header alone", []byte("a,b"), sheet.Options{}, []string{"a", "b"}, ""},
		{"byte order mark", []byte("\xEF\xBB\xBF\"Näme\",b\nAnn,1\n"), cp1252, []string{"Näme", "b"}, "2 | A text \"Ann\" | B text \"1\"\n"},
		{"UTF-16, little end first", inUTF16(unicode.LittleEndian, "Näme\tb\r\n😀\tਊ\r\n"), sheet.Options{}, []string{"Näme", "b"}, "2 | A text \"😀\" | B text \"ਊ\"\n"},
		{"UTF-16, big end first", inUTF16(unicode.BigEndian, "Näme\tb\r\n😀\t1\r\n"), sheet.Options{}, []string{"Näme", "b"}, "2 | A text \"😀\" | B text \"1\"\n"},
		{"Windows-1252", []byte("N\xE4me;b\n\x80;\x93q\x94 \x84q\x93\n"), cp1252, []string{"Näme", "b"}, "2 | A text \"€\" | B text \"“q” „q“\"\n"},
		{"characters that were lost before", []byte("Näme,b\nM\uFFFDller,1\n"), sheet.Options{}, []string{"Näme", "b"}, "2 | A text \"M\uFFFDller\" | B text \"1\"\n"},
	} {
		header, all, err := readCSV(t, tt.data, tt.options)
		if diff := cmp.Diff(tt.want, sheettest.Dump(all)) + cmp.Diff(tt.header, header); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", tt.name, err, diff)
		}
	}
}

// A file is refused in one line that begins with the place.
func TestCSVRefused(t *testing.T) {
	for _, tt := range []struct {
		name    string
		data    []byte
		options sheet.Options
		want    string
	}{
		{"code page 850 declared as Windows-1252", []byte("a,b\nM\x81ller,2\n"), sheet.Options{Encoding: "windows-1252"}, "a.csv!A2: is not in the encoding of the file; it may be in code page 850"},
		{"letters of code page 850 that Windows-1252 has too", []byte("a,b\nAndr\x82,2\n"), sheet.Options{Encoding: "windows-1252"}, "a.csv!A2: is not in the encoding of the file; it may be in code page 850"},
		{"Latin-1 undeclared", []byte("a,b\n1,2\nx\ty,caf\xE9\n"), sheet.Options{}, "a.csv!B3: is not UTF-8"},
		{"undeclared, after the first chunk", []byte("a,b\n" + strings.Repeat("é,1\n", 20_000) + "\xE9,1\n"), sheet.Options{}, "a.csv!A20002: is not UTF-8"},
		{"UTF-8 cut short", []byte("a,b\n1,\xC3"), sheet.Options{}, "a.csv!B2: is not UTF-8"},
		{"undefined in Windows-1252", []byte("a,b\n1,\x81\n"), sheet.Options{Encoding: "windows-1252"}, "a.csv!B2: is not in the encoding"},
		{"half a surrogate", append(inUTF16(unicode.LittleEndian, "a,b\n1,"), 0x00, 0xD8, 'x', 0), sheet.Options{}, "a.csv!B2: is not in the encoding"},
		{"half a character", append(inUTF16(unicode.BigEndian, "a,b\n1,"), 0x00), sheet.Options{}, "a.csv!B2: is not in the encoding"},
		{"pipes", []byte("a|b\n1|2\n"), sheet.Options{}, "a.csv!1: the header seems to be split at “|”"},
		{"UTF-16 without a mark", inUTF16(unicode.LittleEndian, "a,b\n1,2\n")[2:], sheet.Options{}, "a.csv!A1: holds a NUL"},
		{"NUL", []byte("a,b\n1,2\n\n3,\x00\n"), sheet.Options{}, "a.csv!B4: holds a NUL"},
		{"two delimiters", []byte("a,b;c\n1,2;3\n"), sheet.Options{}, "a.csv!1: the header can be split at “,” or at “;”"},
		{"tab or comma", []byte("Name, first\tSum\n"), sheet.Options{}, "a.csv!1: the header can be split at “,” or at a tab"},
		{"extra field", []byte("a,b\n1,2\n\n1,2,,4\n"), sheet.Options{}, "a.csv!D4: the row has 4 fields, and the header 2"},
		{"quote never closed", []byte("a,b\n1,2\n\n3,\"4\n5,6\n7,8\n"), sheet.Options{}, "a.csv:4:1: the row that begins here has a quote"},
		{"quote not doubled", []byte("a,b\n1,\"x\"y\"\n"), sheet.Options{}, "a.csv:2:1: the row that begins here has a quote"},
		{"stray quote", []byte("a,b\n1,2\n3,5\" pipe\n"), sheet.Options{}, "a.csv:3:4: a field that does not begin with a quote"},
		{"quote over 16 MiB", []byte("a,b\n1,2\n3,\"" + strings.Repeat("x\n", 9<<20)), sheet.Options{}, "a.csv:3:1: the row that begins here is longer than 16 MiB"},
		{"line of 20 MB", []byte("a,b\n1," + strings.Repeat("x", 20<<20)), sheet.Options{}, "a.csv:2:1: the row that begins here is longer than 16 MiB"},
		{"long field", []byte("a,b\n1," + strings.Repeat("é", 32_768)), sheet.Options{}, "a.csv!B2: holds more than 32,767 characters"},
		{"too many columns", []byte(strings.Repeat("a,", 16_384) + "a\n"), sheet.Options{}, "a.csv!1: it has more than 16,384 fields"},
		{"too many rows", []byte("a,b\n" + strings.Repeat("1,2\n", 1<<20+20)), sheet.Options{}, "a.csv: it has more than 1,048,576 rows"},
		{"nothing but a mark", []byte("\xEF\xBB\xBF"), sheet.Options{}, "a.csv: the file has no rows"},
		{"blank lines", []byte("\n\r\n,,\n"), sheet.Options{}, "a.csv: the file has no rows"},
		{"UTF-8 declared as Windows-1252", []byte("No,Name\n1,José\n"), sheet.Options{Encoding: "windows-1252"},
			"a.csv: the mapping declares the encoding windows-1252, and the file is UTF-8"},
		{"no header", []byte("\n1,2\n"), sheet.Options{}, "a.csv: the file has no header in row 1"},
		{"blank header", []byte(" , \n1,2\n"), sheet.Options{}, "a.csv: the file has no header in row 1"},
		{"header beyond the end", []byte("a,b\n1,2\n"), sheet.Options{HeaderRow: 9}, "a.csv: the file has no header in row 9"},
	} {
		_, all, err := readCSV(t, tt.data, tt.options)
		if err == nil {
			t.Errorf("%s: no error, and %d rows", tt.name, len(all))
			continue
		}
		if got := err.Error(); !strings.HasPrefix(got, tt.want) || strings.Contains(got, "\n") {
			t.Errorf("%s: got %q, want %q …", tt.name, got, tt.want)
		}
	}
}
