package xlsx

import (
	"archive/zip"
	"bytes"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

var manyLinks = flag.Int("links", 200, "how many links TestLinks writes; 70000 passes the limit of a sheet")

// made makes a workbook and opens it.
func made(t *testing.T, make func(*Writer) error) *excelize.File {
	t.Helper()
	var file bytes.Buffer
	w := NewWriter(&file, false)
	if err := make(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// A full table continues in the next sheet, with its header. The limit is lowered
// here, because a million rows take too long.
func TestFullSheetContinuesInTheNext(t *testing.T) {
	f := made(t, func(w *Writer) error {
		w.maxRows = 3
		table := w.NewSheet(Layout{Name: "Steps", Headers: []string{"Number"}, Widths: []float64{10}})
		for n := range 5 {
			table.Row(Style{}, n+1)
		}
		return table.Close()
	})
	got := map[string][][]string{}
	for _, sheet := range f.GetSheetList() {
		rows, err := f.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		got[sheet] = rows
	}
	want := map[string][][]string{
		"Steps":   {{"Number"}, {"1"}, {"2"}},
		"Steps 2": {{"Number"}, {"3"}, {"4"}},
		"Steps 3": {{"Number"}, {"5"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, ref := range []string{"$A$1:$A$3", "$A$1:$A$3", "$A$1:$A$2"} {
		if got, want := f.GetDefinedName()[i].RefersTo, fmt.Sprintf("'%s'!%s", f.GetSheetList()[i], ref); got != want {
			t.Errorf("the filter is on %s, want %s", got, want)
		}
	}
}

// Web addresses are links up to the limit of a sheet, and every cell has its text.
func TestLinks(t *testing.T) {
	address := func(row int) string { return fmt.Sprintf("https://go.example.test/start?a=1&b=%d", row) }
	limit := min(maxLinks, *manyLinks/2)
	if *manyLinks > maxLinks {
		limit = maxLinks
	}
	f := made(t, func(w *Writer) error {
		w.maxLinks = limit
		table := w.NewSheet(Layout{Name: "Results", Headers: []string{"redirectUrl"}, Widths: []float64{10}})
		for row := 2; row < *manyLinks+2; row++ {
			table.Next(1, false)
			if linked := table.Link(address(row)); linked != (row < limit+2) {
				t.Errorf("row %d: linked %t", row, linked)
			}
			table.Text(Style{}, address(row))
			table.End()
		}
		return table.Close()
	})
	start := time.Now()
	links, err := f.GetHyperLinkCells("Results", "External")
	if err != nil || len(links) != limit {
		t.Errorf("%d cells have a link, want %d (error %v)", len(links), limit, err)
	}
	for _, row := range []int{2, 3, limit + 1, limit + 2, *manyLinks + 1} {
		ref := fmt.Sprint("A", row)
		linked, to, err := f.GetCellHyperLink("Results", ref)
		if err != nil || linked != (row < limit+2) || linked && to != address(row) {
			t.Errorf("%s: link %v to %q (error %v)", ref, linked, to, err)
		}
		if text, err := f.GetCellValue("Results", ref); err != nil || text != address(row) {
			t.Errorf("%s says %q (error %v)", ref, text, err)
		}
	}
	t.Logf("read by excelize in %v", time.Since(start))
}

// What a program would refuse, or run, is a text.
func TestOnlyWebAddressesAreLinks(t *testing.T) {
	long := "https://go.example.test/" + strings.Repeat("a", 2056)
	for url, want := range map[string]bool{
		"https://go.example.test/1": true, "http://127.0.0.1:8080/start/A1?x=%20#step-3": true, long[:2079]: true,
		long: false, "javascript:alert(1)": false, "file:///etc/passwd": false, "//go.example.test": false, "https://": false,
		"https://go.example.test/a b": false, "https://go.example.test/\"><x": false, "=HYPERLINK(\"https://x\")": false,
		"https://go.example.test/é": false, "mailto:ann@example.test": false, "": false,
	} {
		if got := isWebAddress(url); got != want {
			t.Errorf("%.60q: %v, want %v", url, got, want)
		}
	}
}

// A sheet names its comments and its links by the relationships that the
// workbook has for it.
func TestRelationships(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, false)
	for _, name := range []string{"Comments", "Links", "Plain"} {
		s := w.NewSheet(Layout{Name: name, Widths: []float64{10}})
		s.Gap()
		s.Next(1, false)
		switch name {
		case "Comments":
			s.Comment("text")
			s.Link("https://go.example.test/")
		case "Links":
			s.Link("https://go.example.test/")
		}
		s.Text(Style{}, "text")
		s.End()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	parts := unzipped(t, file.Bytes())
	for n, want := range []map[string]string{
		{`<legacyDrawing r:id="rId1"/>`: `Id="rId1" Target="../drawings/vmlDrawing1.vml"`, `r:id="linkA2"`: `Id="linkA2"`},
		{`r:id="linkA2"`: `Id="linkA2"`},
		nil,
	} {
		sheet, related := parts[fmt.Sprintf("xl/worksheets/sheet%d.xml", n+1)], parts[fmt.Sprintf("xl/worksheets/_rels/sheet%d.xml.rels", n+1)]
		if got := strings.Count(sheet, `r:id="`); got != len(want) {
			t.Errorf("sheet %d names %d relationships, want %d", n+1, got, len(want))
		}
		for name, relationship := range want {
			if !strings.Contains(sheet, name) || !strings.Contains(related, relationship) {
				t.Errorf("sheet %d has no %s that means %s: %s", n+1, name, relationship, related)
			}
		}
	}
}

func unzipped(t *testing.T, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		parts[f.Name] = string(text)
	}
	return parts
}

// A link does not keep alive the row of which its address is a piece.
func TestLinksHoldTheirAddressesOnly(t *testing.T) {
	w := NewWriter(io.Discard, false)
	s := w.NewSheet(Layout{Name: "Links"})
	inUse := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const links, rest = 5_000, 10_000
	before := inUse()
	for i := range links {
		row := fmt.Sprintf("https://go.example.test/%d%s", i, strings.Repeat(" ", rest))
		if !s.Link(row[:len(row)-rest]) {
			t.Fatal("the address is refused")
		}
		s.Value(Style{}, nil)
	}
	if more := inUse() - before; more > links*rest/2 {
		t.Errorf("%d links hold %d kB", links, more>>10)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
