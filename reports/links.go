package reports

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// links are the clickable cells of a page. excelize looks through all of a
// sheet's links for each new one, so it is told of the first alone and the
// others are written beside that.
type links struct {
	most  int // how many a sheet may have
	cells []link
}

// link is a clickable cell: one with an address leads out of the workbook, one
// with a place to another cell of it.
type link struct {
	cell    string
	address string
	place   string
}

// maxLinks is how many links Excel allows on a sheet.
const maxLinks = excelize.TotalSheetHyperlinks

// room tells whether the page may have another link.
func (l *links) room() bool { return len(l.cells) < l.most }

func (l *links) add(cell link) { l.cells = append(l.cells, cell) }

// announce tells excelize of the first link, so that there is a place for
// links in the sheet.
func (w *workbook) announce(sheet string, l links) error {
	if len(l.cells) == 0 {
		return nil
	}
	first := l.cells[0]
	if first.address != "" {
		return w.SetCellHyperLink(sheet, first.cell, first.address, "External")
	}
	return w.SetCellHyperLink(sheet, first.cell, first.place, "Location")
}

// finish writes the end of a sheet's part with the other links in it.
func (l *links) finish(to *rows, tail []byte) {
	end := bytes.Index(tail, []byte(`</hyperlinks>`))
	if end < 0 {
		to.raw(tail)
		return
	}
	to.raw(tail[:end])
	for i, c := range l.cells[1:] {
		to.raw([]byte(`<hyperlink ref="` + c.cell))
		if c.address != "" {
			to.raw([]byte(`" r:id="` + linkID(i)))
		} else {
			to.raw([]byte(`" location="` + attribute.Replace(c.place)))
		}
		to.raw([]byte(`"/>`))
		to.spill()
	}
	to.raw(tail[end:])
}

// relate keeps the other addresses for the part in which a sheet's are.
func (w *workbook) relate(path string, l links) {
	var b []byte
	for i, c := range l.cells {
		if i == 0 || c.address == "" {
			continue
		}
		b = append(b, `<Relationship Id="`...)
		b = append(b, linkID(i-1)...)
		b = append(b, `" Type="`+excelize.SourceRelationshipHyperLink+`" Target="`...)
		b = append(b, attribute.Replace(c.address)...)
		b = append(b, `" TargetMode="External"/>`...)
	}
	if b != nil {
		name := strings.Replace(path, "xl/worksheets/", "xl/worksheets/_rels/", 1) + ".rels"
		w.related[name] = b
	}
}

func linkID(i int) string { return "link" + strconv.Itoa(i) }

var attribute = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// longestAddress is how long a link may be for Excel, which calls a file with
// a longer one damaged.
const longestAddress = 2079

// isAddress tells whether s can be made clickable: a web address, and nothing
// that a program would refuse or run.
func isAddress(s string) bool {
	if len(s) > longestAddress || strings.ContainsFunc(s, noAddress) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

func noAddress(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) }

// placeOf is a cell of this workbook as a link names it.
func placeOf(sheet, cell string) string {
	return fmt.Sprintf("'%s'!%s", strings.ReplaceAll(sheet, "'", "''"), cell)
}
