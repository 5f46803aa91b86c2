package sheet_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/sheet"
	"claimsheet/mapping/cell"
)

// saveAs writes a file of a name.
func saveAs(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.Bytes()
}

// inUTF16 is a text in UTF-16 with a byte order mark.
func inUTF16(order binary.AppendByteOrder, text string) []byte {
	b := order.AppendUint16(nil, 0xFEFF)
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return b
}

func TestCSV(t *testing.T) {
	cp1252 := sheet.Options{Encoding: "windows-1252"}
	semicolon := sheet.Options{Delimiter: ";"}
	tests := []struct {
		name, file string
		data       []byte
		options    sheet.Options
		header     []string
		want       string
	}{
		{"texts as they stand", "a.csv", []byte("No,Day,Sum\n00123,1/2/2026,=1+1\n 7.7E9 ,TRUE,#N/A\n"), sheet.Options{},
			[]string{"No", "Day", "Sum"}, "2 | A text \"00123\" | B text \"1/2/2026\" | C text \"=1+1\"\n3 | A text \" 7.7E9 \" | B text \"TRUE\" | C error \"#N/A\"\n"},
		{"tags", "a.csv", []byte("<b>Name</b>,Link\n<a href='x'>Ann</a>,<5\n"), sheet.Options{}, []string{"<b>Name</b>", "Link"}, "2 | A text \"<a href='x'>Ann</a>\" | B text \"<5\"\n"},
		{"semicolons", "a.csv", []byte("Name;Sum\nAnn;1,50\n"), sheet.Options{}, []string{"Name", "Sum"}, "2 | A text \"Ann\" | B text \"1,50\"\n"},
		{"tabs", "a.csv", []byte("Name\tSum\nAnn\t1,50\n"), sheet.Options{}, []string{"Name", "Sum"}, "2 | A text \"Ann\" | B text \"1,50\"\n"},
		{"tab declared", "a.csv", []byte("Name, first\tSum\nAnn\t1\n"), sheet.Options{Delimiter: "\t"}, []string{"Name, first", "Sum"}, "2 | A text \"Ann\" | B text \"1\"\n"},
		{"delimiter in a quoted header", "a.csv", []byte("\"Name; first\",Sum\nAnn,1;2\n"), sheet.Options{}, []string{"Name; first", "Sum"}, "2 | A text \"Ann\" | B text \"1;2\"\n"},
		{"delimiter declared against the header", "a.csv", []byte("a,b;c,d\n1,2;3,4\n"), semicolon, []string{"a,b", "c,d"}, "2 | A text \"1,2\" | B text \"3,4\"\n"},
		{"one column", "a.csv", []byte("Name\nAnn; Bob\n"), sheet.Options{}, []string{"Name"}, "2 | A text \"Ann; Bob\"\n"},
		{"quotes", "a.csv", []byte("a,b\n\"x, \"\"y\"\"\",\"\"\n"), sheet.Options{}, []string{"a", "b"}, "2 | A text \"x, \\\"y\\\"\"\n"},
		{"line breaks in quotes are one row", "a.csv", []byte("a,\"b\r\nb\"\r\n\"x\r\ny\n\nz\",1\r\nend,2\r\n"), sheet.Options{}, []string{"a", "b\nb"},
			"2 | A text \"x\\ny\\n\\nz\" | B text \"1\"\n3 | A text \"end\" | B text \"2\"\n"},
		{"blank lines are rows", "a.csv", []byte("\n\na,b\n\n1,2\n,\n\"\",\"\"\n \n\n3,4"), sheet.Options{HeaderRow: 3}, []string{"a", "b"},
			"5 | A text \"1\" | B text \"2\"\n8 | A text \" \"\n10 | A text \"3\" | B text \"4\"\n"},
		{"blank line after a break in quotes", "a.csv", []byte("a,b\n\"1\n1\",2\n\n3,4\n"), sheet.Options{}, []string{"a", "b"},
			"2 | A text \"1\\n1\" | B text \"2\"\n4 | A text \"3\" | B text \"4\"\n"},
		{"line ends of an old Mac", "a.csv", []byte("a,b\r1,2\r\r3,4\r"), sheet.Options{}, []string{"a", "b"}, "2 | A text \"1\" | B text \"2\"\n4 | A text \"3\" | B text \"4\"\n"},
		{"fewer fields, and empty ones too many", "a.csv", []byte("a,b,c\n1\n1,2,3,,,\n"), sheet.Options{}, []string{"a", "b", "c"},
			"2 | A text \"1\"\n3 | A text \"1\" | B text \"2\" | C text \"3\"\n"},
		{"columns without a header", "a.csv", []byte("a,,c, ,\n1,2,3,4,5\n"), sheet.Options{}, []string{"a", "", "c"},
			"2 | A text \"1\" | B text \"2\" | C text \"3\" | D text \"4\" | E text \"5\"\n"},
		{"any fields above the header", "a.csv", []byte("Leads of tonight,x,y,z\na;b\n1;2\n"), sheet.Options{HeaderRow: 2}, []string{"a", "b"}, "3 | A text \"1\" | B text \"2\"\n"},
		{"shrinking rows", "a.csv", []byte("a,b,c\n1,2,3\n,5\n,,6\n"), sheet.Options{}, []string{"a", "b", "c"},
			"2 | A text \"1\" | B text \"2\" | C text \"3\"\n3 | B text \"5\"\n4 | C text \"6\"\n"},
		{"header alone", "a.csv", []byte("a,b"), sheet.Options{}, []string{"a", "b"}, ""},
		{"UTF-8", "a.csv", []byte("Näme,b\nAñn 😀,€\n"), sheet.Options{}, []string{"Näme", "b"}, "2 | A text \"Añn 😀\" | B text \"€\"\n"},
		{"byte order mark", "a.csv", []byte("\xEF\xBB\xBF\"Näme\",b\nAnn,1\n"), cp1252, []string{"Näme", "b"}, "2 | A text \"Ann\" | B text \"1\"\n"},
		{"UTF-16, little end first", "a.csv", inUTF16(binary.LittleEndian, "Näme\tb\r\n😀\tਊ\r\n"), sheet.Options{}, []string{"Näme", "b"}, "2 | A text \"😀\" | B text \"ਊ\"\n"},
		{"UTF-16, big end first", "a.csv", inUTF16(binary.BigEndian, "Näme\tb\r\n😀\t1\r\n"), sheet.Options{}, []string{"Näme", "b"}, "2 | A text \"😀\" | B text \"1\"\n"},
		{"Windows-1252", "a.csv", []byte("N\xE4me;b\n\x80;\x93q\x94\n"), cp1252, []string{"Näme", "b"}, "2 | A text \"€\" | B text \"“q”\"\n"},
		{"gzip", "a.CSV.gz", gzipped("a,b\n1,2\n"), sheet.Options{}, []string{"a", "b"}, "2 | A text \"1\" | B text \"2\"\n"},
		{"gzip in two members", "a.csv.gz", append(gzipped("a,b\n1,"), gzipped("2\n")...), sheet.Options{}, []string{"a", "b"}, "2 | A text \"1\" | B text \"2\"\n"},
		{"gzip without the name", "a.csv", gzipped("a,b\n1,2\n"), sheet.Options{}, []string{"a", "b"}, "2 | A text \"1\" | B text \"2\"\n"},
		{"a workbook named .csv", "a.csv", workbook(rows(`<row r="2"><c r="A2"><v>1</v></c></row>`)).zip(), semicolon, []string{"Head"}, "2 | A number \"1\"\n"},
		{"the sheet's name is of no account", "a.csv", []byte("a,b\n1,2\n"), sheet.Options{Name: "Leads"}, []string{"a", "b"}, "2 | A text \"1\" | B text \"2\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, all, err := read(saveAs(t, tt.file, tt.data), tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, dump(all)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.header, got.Header); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The file is named as the user named it, wherever its copy is.
func TestAs(t *testing.T) {
	path := saveAs(t, "0123.copy", []byte("a,b\n1,2\n"))
	r, err := sheet.Open(path, sheet.Options{As: "nightly/leads.csv"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := cell.Sheet{File: "nightly/leads.csv", Name: "leads.csv", HeaderRow: 1, Header: []string{"a", "b"}}
	if diff := cmp.Diff(want, r.Sheet()); diff != "" {
		t.Error(diff)
	}
	for range 2 {
		if all, err := collect(r); err != nil || dump(all) != "2 | A text \"1\" | B text \"2\"\n" {
			t.Errorf("got %s, %v", dump(all), err)
		}
	}
	if got := r.Sheet().At(2, 7).String(); got != "leads.csv!C7" {
		t.Errorf("a cell is called %s", got)
	}
}

// refusedCSVFile must be refused in one line that begins by the place.
type refusedCSVFile struct {
	name, file string
	data       []byte
	options    sheet.Options
	want       string
}

func csvRefused() []refusedCSVFile {
	return []refusedCSVFile{
		{"Latin-1 undeclared", "a.csv", []byte("a,b\n1,2\nx\ty,caf\xE9\n"), sheet.Options{}, "a.csv:3:8: the byte 0xE9 is not UTF-8"},
		{"undeclared, after the first chunk", "a.csv", []byte("a,b\n" + strings.Repeat("é,1\n", 20_000) + "\xE9,1\n"), sheet.Options{}, "a.csv:20002:1: the byte 0xE9"},
		{"UTF-8 cut short", "a.csv", []byte("a,b\n1,\xC3"), sheet.Options{}, "a.csv:2:3: the byte 0xC3"},
		{"undefined in Windows-1252", "a.csv", []byte("a,b\n1,\x81\n"), sheet.Options{Encoding: "windows-1252"}, "a.csv:2:3: the byte 0x81 is not Windows-1252"},
		{"half a surrogate", "a.csv", append(inUTF16(binary.LittleEndian, "a,b\n1,"), 0x00, 0xD8, 'x', 0), sheet.Options{}, "a.csv:2:3: the byte 0x00D8 is not UTF-16"},
		{"half a character", "a.csv", append(inUTF16(binary.BigEndian, "a,b\n1,"), 0x00), sheet.Options{}, "a.csv:2:3: the byte 0x00 is not UTF-16"},
		{"UTF-16 without a mark", "a.csv", inUTF16(binary.LittleEndian, "a,b\n1,2\n")[2:], sheet.Options{}, "a.csv:1:2: it holds a NUL"},
		{"NUL", "a.csv", []byte("a,b\n1,2\n\n3,\x00\n"), sheet.Options{}, "a.csv:4:3: it holds a NUL"},
		{"two delimiters", "a.csv", []byte("a,b;c\n1,2;3\n"), sheet.Options{}, "a.csv!1: the header can be split at “,” or at “;”"},
		{"tab or comma", "a.csv", []byte("Name, first\tSum\n"), sheet.Options{}, "a.csv!1: the header can be split at “,” or at a tab"},
		{"extra field", "a.csv", []byte("a,b\n1,2\n\n1,2,,4\n"), sheet.Options{}, "a.csv!D4: the row has 4 fields, and the header 2"},
		{"quote never closed", "a.csv", []byte("a,b\n1,2\n\n3,\"4\n5,6\n7,8\n"), sheet.Options{}, "a.csv:4:1: the row that begins here has a quote"},
		{"quote not doubled", "a.csv", []byte("a,b\n1,\"x\"y\"\n"), sheet.Options{}, "a.csv:2:1: the row that begins here has a quote"},
		{"stray quote", "a.csv", []byte("a,b\n1,2\n3,5\" pipe\n"), sheet.Options{}, "a.csv:3:4: a field that does not begin with a quote"},
		{"quote over 16 MiB", "a.csv", []byte("a,b\n1,2\n3,\"" + strings.Repeat("x\n", 9<<20)), sheet.Options{}, "a.csv:3:1: the row that begins here is longer than 16 MiB"},
		{"line of 20 MB", "a.csv", []byte("a,b\n1," + strings.Repeat("x", 20<<20)), sheet.Options{}, "a.csv:2:1: the row that begins here is longer than 16 MiB"},
		{"long field", "a.csv", []byte("a,b\n1," + strings.Repeat("é", 32_768)), sheet.Options{}, "a.csv!B2: holds more than 32,767 characters"},
		{"too many columns", "a.csv", []byte(strings.Repeat("a,", 16_384) + "a\n"), sheet.Options{}, "a.csv!1: it has more than 16,384 fields"},
		{"too many rows", "a.csv", []byte("a,b\n" + strings.Repeat("1,2\n", 1<<20+20)), sheet.Options{}, "a.csv: it has more than 1,048,576 rows"},
		{"nothing but a mark", "a.csv", []byte("\xEF\xBB\xBF"), sheet.Options{}, "a.csv: the file has no rows"},
		{"blank lines", "a.csv", []byte("\n\r\n,,\n"), sheet.Options{}, "a.csv: the file has no rows"},
		{"no header", "a.csv", []byte("\n1,2\n"), sheet.Options{}, "a.csv: the file has no header in row 1"},
		{"blank header", "a.csv", []byte(" , \n1,2\n"), sheet.Options{}, "a.csv: the file has no header in row 1"},
		{"header beyond the end", "a.csv", []byte("a,b\n1,2\n"), sheet.Options{HeaderRow: 9}, "a.csv: the file has no header in row 9"},
		{"web page", "a.csv", []byte(" <!DOCTYPE html><table>"), sheet.Options{}, "a.csv: is a web page"},
		{"gzip cut short", "a.csv.gz", gzipped("a,b\n1,2\n")[:24], sheet.Options{}, "a.csv.gz: the file is damaged: it is cut short"},
		{"gzip cut in its checksum", "a.csv.gz", gzipped("a,b\n1,2\n")[:len(gzipped("a,b\n1,2\n"))-3], sheet.Options{}, "a.csv.gz: the file is damaged: it is cut short"},
		{"gzip altered", "a.csv.gz", flip(gzipped("a,b\n1,2\n"), -6), sheet.Options{}, "a.csv.gz: the file is damaged: its checksum"},
		{"gzip with a tail", "a.csv.gz", append(gzipped("a,b\n1,2\n"), "tail"...), sheet.Options{}, "a.csv.gz: the file is damaged"},
		{"gzip magic only", "a.csv.gz", []byte("\x1F\x8B"), sheet.Options{}, "a.csv.gz: the file is damaged"},
		{"gzip bomb in one line", "a.csv.gz", gzipped(strings.Repeat("a", 64<<20)), sheet.Options{}, "a.csv.gz: the file is refused: what it unpacks to"},
		{"gzip bomb", "a.csv.gz", gzipped("a,b\n" + strings.Repeat(strings.Repeat(" ", 1<<20)+"\n", 64)), sheet.Options{}, "a.csv.gz: the file is refused: what it unpacks to"},
		{"gzip by another name", "leads.gz", gzipped("a,b\n1,2\n"), sheet.Options{}, "leads.gz: is packed by gzip"},
	}
}

// flip alters the byte that stands n from the end.
func flip(b []byte, n int) []byte {
	b[len(b)+n] ^= 0x55
	return b
}

func TestCSVRefused(t *testing.T) {
	for _, tt := range csvRefused() {
		t.Run(tt.name, func(t *testing.T) {
			path := saveAs(t, "copy", tt.data)
			tt.options.As = tt.file
			_, all, err := read(path, tt.options)
			if err == nil {
				t.Fatalf("no error, and %d rows", len(all))
			}
			if got := err.Error(); !strings.HasPrefix(got, tt.want) || strings.Contains(got, "\n") {
				t.Errorf("got %q, want %q …", got, tt.want)
			}
		})
	}
}

// All rows that are wrong are told at once, the first ten of them by name.
func TestCSVTellsAllRows(t *testing.T) {
	path := saveAs(t, "a.csv", []byte("a,b\n"+strings.Repeat("1,2,3\n", 12)))
	_, _, err := read(path, sheet.Options{As: "a.csv"})
	if err == nil || strings.Count(err.Error(), "\n") != 10 || !strings.HasSuffix(err.Error(), "a.csv: 2 more rows are wrong too [wrong-row]") {
		t.Errorf("got %v", err)
	}
}
