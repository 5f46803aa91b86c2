package reports

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
)

var manyLinks = flag.Int("links", 200, "how many rows with a redirect url TestLinks writes; 70000 passes the limit of a sheet")

func linkedBook(rows int, url func(row int) string) Book {
	return Book{
		Sheet: cell.Sheet{Name: "Leads", HeaderRow: 1, Header: []string{"E-mail"}}, ClientIDHeader: "contactId",
		Records: func(yield func(cell.Record, error) bool) {
			for n := 2; n < rows+2 && yield(cell.Record{Row: n}, nil); n++ {
			}
		},
		Rows: func(yield func(result.Row, error) bool) {
			for n := 2; n < rows+2 && yield(result.Row{Row: n, Status: result.Done, URL: url(n)}, nil); n++ {
			}
		},
	}
}

// Redirect urls are clickable up to as many as a sheet may have, and texts
// beyond; every one is there.
func TestLinks(t *testing.T) {
	url := func(row int) string { return fmt.Sprintf("https://go.example.test/start?a=1&b=%d", row) }
	limit := min(maxLinks, *manyLinks/2)
	if *manyLinks > maxLinks {
		limit = maxLinks
	}
	var file bytes.Buffer
	w := newWorkbook(&file)
	w.maxLinks = limit
	results, err := writeResults(w, linkedBook(*manyLinks, url))
	if err != nil {
		t.Fatal(err)
	}
	if len(results.links.cells) != limit {
		t.Errorf("%d links, want %d", len(results.links.cells), limit)
	}
	if err := w.complete(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	f, err := excelize.OpenReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	links, err := f.GetHyperLinkCells(ResultsSheet, "External")
	if err != nil || len(links) != limit {
		t.Errorf("%d cells have a link, want %d (error %v)", len(links), limit, err)
	}
	for _, row := range []int{2, 3, limit + 1, limit + 2, *manyLinks + 1} {
		ref := fmt.Sprint("E", row)
		linked, address, err := f.GetCellHyperLink(ResultsSheet, ref)
		if err != nil || linked != (row < limit+2) || linked && address != url(row) {
			t.Errorf("%s: link %v to %q (error %v)", ref, linked, address, err)
		}
		if text, err := f.GetCellValue(ResultsSheet, ref); err != nil || text != url(row) {
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
		if got := isAddress(url); got != want {
			t.Errorf("%.60q: %v, want %v", url, got, want)
		}
	}
}
