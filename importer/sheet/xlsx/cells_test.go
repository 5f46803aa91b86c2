package xlsx_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claimsheet/importer/sheet/sheettest"
	"claimsheet/mapping/cell"
)

func TestCells(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, xml, want string }{
		{"number", `<row r="2"><c r="A2"><v>12</v></c></row>`, `2 | A number "12"`},
		{"float noise", `<row r="2"><c r="A2" t="n"><v>1.1000000000000001</v></c></row>`, `2 | A number "1.1000000000000001" "1.1"`},
		{"exponent", `<row r="2"><c r="A2"><v>7.7E9</v></c><c r="B2"><v>1.5E-3</v></c></row>`, `2 | A number "7.7E9" "7700000000" | B number "1.5E-3" "0.0015"`},
		{"too many digits", `<row r="2"><c r="A2"><v>1234567890123456789</v></c></row>`, `2 | A number "1234567890123456789" "1234567890123460000"`},
		{"leading zeros by format", `<row r="2"><c r="A2" s="2"><v>123</v></c></row>`, `2 | A number "123" "00123" {00000}`},
		{"date", `<row r="2"><c r="A2" s="1"><v>29342</v></c></row>`, `2 | A date "29342" "1980-05-01" {mm-dd-yy}`},
		{"shared", `<row r="2"><c r="A2" t="s"><v>0</v></c><c r="C2" t="s"><v>1</v></c></row>`, `2 | A text "shared" | C text "rich "`},
		{"bools", `<row r="2"><c r="A2" t="b"><v>1</v></c><c r="B2" t="b"><v>0</v></c></row>`, `2 | A bool "1" "TRUE" | B bool "0" "FALSE"`},
		{"error", `<row r="2"><c r="A2" t="e"><v>#N/A</v></c></row>`, `2 | A error "#N/A"`},
		{"ISO date", `<row r="2"><c r="A2" t="d"><v>2026-05-01T00:00:00</v></c></row>`, `2 | A date "46143" "2026-05-01T00:00:00" {yyyy-mm-dd hh:mm:ss}`},
		{"X-6: a formula with a value, which is read as it is", `<row r="2"><c r="A2"><f>1+1</f><v>2</v></c><c r="B2" t="str"><f>"a"</f><v>a</v></c></row>`, `2 | A number "2" | B text "a"`},
		{"formula without value", `<row r="2"><c r="A2"><f>1+1</f></c><c r="B2"><f>1+1</f><v></v></c><c r="C2" t="str"><f>1</f></c></row>`, `2 | A uncomputed | B uncomputed | C uncomputed`},
		{"formula giving nothing", `<row r="2"><c r="A2" t="str"><f>""</f><v></v></c><c r="B2"><v>1</v></c></row>`, `2 | B number "1"`},
		{"quotes and order", "<row spans='1:2' r='2'><c t = 'inlineStr'\n r=\"A2\"><is><t>x</t></is></c></row>", `2 | A text "x"`},
		{"greater-than in an attribute", `<row r="2" x="a>b"><c r="A2"><v>1</v></c></row>`, `2 | A number "1"`},
		{"comments and instructions", `<!-- <row r="9"> --><row r="2"><?x y?><c r="A2"><v>1<!-- 2 -->3</v></c></row>`, `2 | A number "13"`},
		{"entities", `<row r="2"><c r="A2" t="str"><v>&lt;&amp;&gt;&quot;&apos;&#65;&#x1F600;</v></c></row>`, "2 | A text \"<&>\\\"'A😀\""},
		{"escapes", `<row r="2"><c r="A2" t="str"><v>a_x000D_b_x005F_x000D_ _xD83D__xDE00_ _xZZZZ_ _x00</v></c></row>`, `2 | A text "a\rb_x000D_ _xD83D__xDE00_ _xZZZZ_ _x00"`},
		{"white space", `<row r="2"><c r="A2" t="inlineStr"><is><t> a </t></is></c><c r="B2" t="inlineStr"><is><t xml:space="preserve"> b </t></is></c></row>`, `2 | A text "a" | B text " b "`},
		{"line ends", "<row r=\"2\"><c r=\"A2\" t=\"str\"><v>a\r\nb\rc</v></c></row>", `2 | A text "a\nb\nc"`},
		{"no references", `<row><c><v>1</v></c><c/><c><v>3</v></c></row><row r="9"><c r="C9"><v>1</v></c><c><v>2</v></c></row><row><c><v>5</v></c></row>`,
			"2 | A number \"1\" | C number \"3\"\n9 | C number \"1\" | D number \"2\"\n10 | A number \"5\""},
		{"empty rows are left out", `<row r="2"/><row r="3"><c r="A3" s="1"/></row><row r="4"><c r="A4" t="inlineStr"><is><t></t></is></c></row><row r="5"><c r="A5" t="s"><v>2</v></c></row><row r="6"><c r="A6"><v>1</v></c></row>`, `6 | A number "1"`},
		{"shrinking and growing rows", `<row r="2"><c r="A2"><v>1</v></c><c r="D2"><v>4</v></c></row><row r="3"><c r="B3"><v>2</v></c></row><row r="4"><c r="E4"><v>5</v></c></row>`,
			"2 | A number \"1\" | D number \"4\"\n3 | B number \"2\"\n4 | E number \"5\""},
		{"hidden", `<row r="2" hidden="1"><c r="A2"><v>1</v></c></row><row r="3" hidden="0"><c r="A3"><v>1</v></c></row>`, "2 hidden | A number \"1\"\n3 | A number \"1\""},
		{"last cell", `<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`, `1048576 | XFD number "1"`},
		{"empty values beside one", `<row r="2"><c r="A2" t="inlineStr"><v/><is><t>a</t></is></c><c r="B2"><v>1</v><v></v></c></row>`, `2 | A text "a" | B number "1"`},
		{"extensions", `<row r="2"><extLst><c r="Z2"><v>9</v></c></extLst><c r="A2"><v>1</v><extLst><v>2</v></extLst></c></row>`, `2 | A number "1"`},
	} {
		_, all, err := read(sheettest.Workbook(sheettest.Rows(tt.xml)).Zip(), options{})
		if diff := cmp.Diff(tt.want+"\n", sheettest.Dump(all)); diff != "" || err != nil {
			t.Errorf("%s: %v %s", tt.name, err, diff)
		}
	}
}

// The areas to be warned of: those below the header that leave a cell of its
// columns empty.
func TestMerged(t *testing.T) {
	t.Parallel()
	xml := `<worksheet><sheetData>
		<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c><c r="C2"><v>3</v></c></row>
		<row r="3"><c r="A3"><v>1</v></c></row>
		</sheetData><mergeCells>
		<mergeCell ref="B9:C9"/><mergeCell ref="A9:A10"/><mergeCell ref="C5:E6"/><mergeCell ref="C7:E7"/><mergeCell ref="D3:D4"/>
		<mergeCell ref="A4:A4"/><mergeCell ref="B4"/><mergeCell ref="A1:C1"/><mergeCell ref="B2:B3"/><mergeCell ref="A3:B3"/>
		</mergeCells></worksheet>`
	r, err := open(sheettest.Workbook(xml).Zip(), options{HeaderRow: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := []cell.Area{{Top: 3, Left: 0, Bottom: 3, Right: 1}, {Top: 5, Left: 2, Bottom: 6, Right: 4}, {Top: 9, Left: 0, Bottom: 10, Right: 0}, {Top: 9, Left: 1, Bottom: 9, Right: 2}}
	if diff := cmp.Diff(want, r.Merged()); diff != "" {
		t.Error(diff)
	}
}

// Merged cells of any kind, overlapping ones too: a cell is empty when it lies
// in one and is the first of none.
func TestAnyMergedCells(t *testing.T) {
	t.Parallel()
	const side = 9
	rapid.Check(t, func(t *rapid.T) {
		type area struct{ top, left, bottom, right int }
		var areas []area
		var xml strings.Builder
		xml.WriteString(`<worksheet><sheetData><row r="1"><c t="str"><v>Head</v></c></row>`)
		for r := 2; r <= side; r++ {
			fmt.Fprintf(&xml, `<row r="%d">%s</row>`, r, strings.Repeat("<c><v>1</v></c>", side))
		}
		xml.WriteString(`</sheetData><mergeCells>`)
		at := rapid.IntRange(1, side)
		for range rapid.IntRange(0, 8).Draw(t, "areas") {
			a := area{top: at.Draw(t, "top"), left: at.Draw(t, "left")}
			a.bottom, a.right = rapid.IntRange(a.top, side).Draw(t, "bottom"), rapid.IntRange(a.left, side).Draw(t, "right")
			areas = append(areas, a)
			fmt.Fprintf(&xml, `<mergeCell ref="%s%d:%s%d"/>`, cell.ColumnName(a.left-1), a.top, cell.ColumnName(a.right-1), a.bottom)
		}
		xml.WriteString(`</mergeCells></worksheet>`)
		_, all, err := read(sheettest.Workbook(xml.String()).Zip(), options{})
		if err != nil {
			t.Fatal(err)
		}
		var want, got [side + 1][side + 1]bool
		for row := 2; row <= side; row++ {
			for column := 1; column <= side; column++ {
				covered, first := false, false
				for _, a := range areas {
					covered = covered || a.top <= row && row <= a.bottom && a.left <= column && column <= a.right
					first = first || a.top == row && a.left == column
				}
				want[row][column] = !covered || first
			}
		}
		for _, r := range all {
			for i, c := range r.Cells {
				got[r.Row][i+1] = !c.IsEmpty()
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Shared strings of more than a block, long ones, short ones and empty ones.
func TestManySharedStrings(t *testing.T) {
	t.Parallel()
	const n = 10_000
	text := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), i*i%997) }
	var sst, xml strings.Builder
	for i := range n {
		sst.WriteString("<si><t>" + text(i) + "</t></si>")
		fmt.Fprintf(&xml, `<row r="%d"><c t="s"><v>%d</v></c><c><v>1</v></c></row>`, i+2, n-1-i)
	}
	book := sheettest.Workbook(sheettest.Rows(xml.String())).With("xl/sharedStrings.xml", "<sst>"+sst.String()+"</sst>")
	_, all, err := read(book.Zip(), options{})
	if err != nil || len(all) != n {
		t.Fatal(len(all), err)
	}
	for i, r := range all {
		if r.Cell(0).Raw != text(n-1-i) {
			t.Fatalf("string %d is not what it was", n-1-i)
		}
	}
}

// Hidden columns are known, however the file spells them; what is no column hides
// none, and the rows are read all the same.
func TestHiddenColumns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cols string
		want []int
	}{
		"none":       {"", nil},
		"seen":       {`<cols><col min="1" max="3" width="9"/><col min="2" max="2" hidden="0"/></cols>`, nil},
		"some":       {`<cols><col min="2" max="3" hidden="1"/><col hidden="true" max="5" min="5"/></cols>`, []int{1, 2, 4}},
		"no columns": {`<cols><col hidden="1"/><col min="0" max="0" hidden="1"/><col min="3" max="2" hidden="1"/><col min="16385" max="99999" hidden="1"/><col min="x" max="y" hidden="1"/></cols>`, nil},
		"a far end":  {`<cols><col min="16383" max="4000000000" hidden="1"/></cols>`, []int{16382, 16383}},
		"not a word": {`<cols><col min="1" max="1" hidden="perhaps"/></cols>`, nil},
		"elsewhere":  {`<sheetViews><sheetView><pane><col min="1" max="1" hidden="1"/></pane></sheetView></sheetViews>`, nil},
		"a prefix":   {`<x:cols xmlns:x="y"><x:col min="1" max="1" hidden="1"/></x:cols>`, []int{0}},
	} {
		worksheet := `<worksheet>` + c.cols + `<sheetData><row r="1"><c t="str"><v>Name</v></c></row><row r="2"><c t="str"><v>Ann</v></c></row></sheetData></worksheet>`
		got, records, err := read(sheettest.Workbook(worksheet).Zip(), options{})
		if err != nil || len(records) != 1 || !slices.Equal(got.HiddenColumns, c.want) {
			t.Errorf("%s: %v of %d rows are hidden, want %v (error %v)", name, got.HiddenColumns, len(records), c.want, err)
		}
	}
}
