package xlsx_test

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"

	"claimsheet/importer/sheet/sheettest"
	"claimsheet/importer/testform"
)

// The tests of this file are the sheet's part of docs/security.md, by the names
// of its items; TestHostile has many more files.

// no row is lost without an error, not to a flipped bit, nor to a file or a
// sheet's XML that is cut at any byte.
func TestX1_NoRowIsLostInSilence(t *testing.T) {
	t.Parallel()
	var xml strings.Builder
	for r := 2; r < 100; r++ {
		fmt.Fprintf(&xml, `<row r="%d"><c r="A%d"><v>%d</v></c><c r="B%d" t="s"><v>0</v></c></row>`, r, r, r, r)
	}
	whole := sheettest.Rows(xml.String() + `<row r="100"><c r="A100" t="str"><v>a&amp;b</v></c></row><!-- c -->`)
	dump := func(data []byte) string {
		_, all, err := read(data, options{})
		if err != nil {
			return code(t, err)
		}
		return sheettest.Dump(all)
	}
	good := sheettest.Workbook(whole).Zip()
	want := dump(good)
	if strings.Count(want, "\n") != 99 {
		t.Fatalf("got %s", want)
	}
	for at := 0; at < len(good); at += testform.LongOr(3, 31) {
		damaged := bytes.Clone(good)
		damaged[at] ^= 1 << (at % 8)
		for how, data := range map[string][]byte{"a bit flipped": damaged, "cut": good[:at]} {
			if got := dump(data); got != want && strings.Contains(got, "\n") {
				t.Errorf("%s at byte %d: other rows and no error", how, at)
			}
		}
	}
	for at := 0; at < len(whole); at += testform.LongOr(1, 37) {
		for _, end := range []string{"", " "} {
			if got := dump(sheettest.Workbook(whole[:at] + end).Zip()); strings.Contains(got, "\n") {
				t.Errorf("the sheet cut at byte %d: rows and no error", at)
			}
		}
	}
}

// what would exhaust the machine is refused by what it says.
func TestX2_Bombs(t *testing.T) {
	t.Parallel()
	good := sheettest.Workbook(sheettest.Rows(`<row r="2"><c r="A2"><v>1</v></c></row>`))
	parts := maps.Clone(good)
	for i := range 10_001 {
		parts[fmt.Sprint(i)] = "x"
	}
	for name, data := range map[string][]byte{
		"a sheet that packs too well": declaring(good, "xl/worksheets/sheet1.xml", zeros, 1<<30),
		"strings of 600 MiB":          declaring(good, "xl/sharedStrings.xml", digits(6<<20), 600<<20),
		"parts":                       parts.Zip(),
		"merged cells":                sheettest.Workbook(merged(1<<20+1, func(i int) string { return fmt.Sprintf("A%d:B%[1]d", i%1_000_000+2) })).Zip(),
	} {
		_, _, err := read(data, options{})
		if got := code(t, err); got != "workbook-too-large" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
