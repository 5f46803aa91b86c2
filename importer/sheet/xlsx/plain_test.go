package xlsx_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claimsheet/importer/sheet/sheettest"
	"claimsheet/importer/testform"
)

// Cells that are written plainly are read in one step, all others a token at a
// time. What is read must not depend on which it was: the tests here write a
// worksheet a second time, with something in its cells that means nothing.

// unplain writes a comment before the end of every cell. It is for XML without
// CDATA, comments or instructions, in which that would be text.
func unplain(xml string) string { return strings.ReplaceAll(xml, "</c>", "<!-- --></c>") }

// cellMarkup is a cell in pieces.
type cellMarkup struct{ attrs, before, text, after string }

// waysToWrite are the ways to write a cell, the plain one first.
func (c cellMarkup) waysToWrite() []string {
	plain := "<c" + c.attrs + ">" + c.before + c.text + c.after
	return []string{
		plain + "</c>",
		plain + "<!-- </c> --></c>",
		plain + "\n </c>",
		plain + "<?x </c> ?></c>",
		plain + "<extLst><v>2</v></extLst></c>",
		plain + "</c >",
		"<c" + c.attrs + ">" + strings.ReplaceAll(c.before, ">", " >") + c.text + c.after + "</c>",
		"<c" + c.attrs + "><!-- -->" + c.before + c.text + c.after + "</c>",
		"<c" + c.attrs + ">" + c.before + "<!-- -->" + c.text + c.after + "</c>",
	}
}

// anyCell draws a cell: of any type, with a text of pieces that readers fall
// over, a few of which no reader may take.
func anyCell(t *rapid.T) cellMarkup {
	sound := []string{"1", "0", "-2.50", "1E5", "true", "a", " ", "\t", "\n", "\r\n", "\r", "é", "😀", "\u00a0", "&amp;", "&lt;", "&#13;", "&#x1F600;", "&#32;",
		"_x000D_", "_x005F_x0041_", "_xD83D__xDE00_", "_x00", "<![CDATA[]]>", "<![CDATA[ <b>&amp;\r\n]]>", "]]", ">", "'", strings.Repeat("y", 16_383)}
	bad := []string{"\x01", "&#1;", "\xff", "\xc3", "&bomb;", "&amp", "&#xD800;", "<x/>", "<", "</v>", "\x00"}
	piece := rapid.SampledFrom(sound)
	if rapid.IntRange(0, 19).Draw(t, "bad") == 0 {
		piece = rapid.SampledFrom(append(bad, sound...))
	}
	var c cellMarkup
	for range rapid.IntRange(0, 4).Draw(t, "pieces") {
		c.text += piece.Draw(t, "piece")
	}
	kind := rapid.SampledFrom([]string{"", ` t="n"`, ` t="s"`, ` t="str"`, ` t="b"`, ` t="e"`, ` t="d"`, ` t="inlineStr"`}).Draw(t, "kind")
	if kind == "" || kind == ` t="n"` || kind == ` t="s"` || kind == ` t="b"` { // others are no values of theirs, nearly always
		c.text = rapid.SampledFrom([]string{"", " ", "0", "1", " 1 ", "\n2", "&#49;", "true", "-0", "1.10", "1.1000000000000001", "7.7E9", "9", "x", c.text}).Draw(t, "value")
	}
	c.attrs = rapid.SampledFrom([]string{"", ` s="0"`, ` s="1"`, ` s="2"`}).Draw(t, "style") + kind
	c.before, c.after = "<v>", "</v>"
	if kind == ` t="inlineStr"` {
		c.before, c.after = "<is><t>", "</t></is>"
		if rapid.Bool().Draw(t, "preserve") {
			c.before = `<is><t xml:space="preserve">`
		}
	}
	return c
}

func TestPlainCells(t *testing.T) {
	t.Parallel()
	path := sheettest.Save(t, "leads.xlsx", nil)
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOfN(rapid.Custom(anyCell), 1, 5).Draw(t, "cells")
		// What is read ahead ends after 64 KiB, so that a cell may lie across it.
		padding := "<!--" + strings.Repeat("p", rapid.SampledFrom([]int{0, 0, 65_300, 65_400, 65_500}).Draw(t, "padding")) + "-->"
		var want string
		for way := range (cellMarkup{}).waysToWrite() {
			var xml strings.Builder
			for i, c := range cells {
				fmt.Fprintf(&xml, `<row r="%d">%s<c><v>1</v></c></row>`, i+2, c.waysToWrite()[way])
			}
			if err := os.WriteFile(path, sheettest.Workbook(sheettest.Rows(padding+xml.String())).Zip(), 0o600); err != nil {
				t.Fatal(err)
			}
			got := readAny(path)
			if way == 0 {
				want = got
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("written as %s:\n%s", cells[0].waysToWrite()[way], diff)
			}
		}
	})
}

// readAny is what is read of a file: its rows, and whether an error follows.
func readAny(path string) string {
	s, all, err := read(path, options{})
	return fmt.Sprintf("%q\n%sfailed: %t", s.Header, sheettest.Dump(all), err != nil)
}

// Files that other programs wrote, and those that must be refused.
func TestPlainCellsOfFiles(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	all := hostileFiles()
	files, err := filepath.Glob("../testdata/*.xlsx")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no files")
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, hostileFile{name: path, data: data})
	}
	compared := 0
	for _, f := range all {
		again, ok := unplainFile(f.data)
		if !ok {
			continue
		}
		compared++
		if diff := cmp.Diff(readAny(sheettest.Save(t, "leads.xlsx", f.data)), readAny(sheettest.Save(t, "leads.xlsx", again))); diff != "" {
			t.Errorf("%s: %s", f.name, diff)
		}
	}
	if compared < len(files)+50 {
		t.Errorf("only %d files were compared", compared)
	}
}

// unplainFile is a workbook whose worksheets are written otherwise; ok is false
// for a file that cannot be written again as it is.
func unplainFile(data []byte) (again []byte, ok bool) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, false
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range r.File {
		if f.UncompressedSize64 > 1<<24 {
			return nil, false
		}
		part, err := f.Open()
		if err != nil {
			return nil, false
		}
		text, err := io.ReadAll(part)
		part.Close()
		if err != nil {
			return nil, false
		}
		if strings.HasPrefix(f.Name, "xl/worksheets/") {
			text = []byte(unplain(string(text)))
		}
		p, _ := w.Create(f.Name)
		_, _ = p.Write(text)
	}
	_ = w.Close()
	return b.Bytes(), true
}
