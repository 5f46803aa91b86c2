package reports

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/xuri/excelize/v2"
)

// workbook is a file under construction: excelize's, but for the rows of its
// sheets, which go straight into the archive.
type workbook struct {
	*excelize.File
	styles   styles
	archive  *archive
	to       excelize.ZipWriter // where excelize writes to
	open     *part              // the last part begun
	related  map[string][]byte  // links' addresses, by the part that they belong into
	maxLinks int                // of a sheet
	space    []byte             // for the rows of the sheet that is being written
	counted  map[string]int     // rows written, by part
}

func newWorkbook(dst io.Writer) *workbook {
	w := &workbook{File: excelize.NewFile(), archive: newArchive(dst), related: map[string][]byte{},
		maxLinks: maxLinks, space: make([]byte, partBuffer), counted: map[string]int{}}
	w.styles = newStyles(w.File)
	w.SetZipWriter(func(io.Writer) excelize.ZipWriter { return w.to })
	return w
}

// complete writes what is not in the archive yet and ends it.
func (w *workbook) complete() error {
	w.SetActiveSheet(0)
	all, err := w.parts()
	if err != nil {
		return err
	}
	for _, name := range all.names {
		if w.archive.done[name] {
			continue
		}
		content := all.content[name].Bytes()
		switch name {
		case "xl/styles.xml":
			content = quote(content)
		case "[Content_Types].xml":
			content = inOrder(content)
		}
		const end = `</Relationships>`
		pieces := [][]byte{content}
		if links := w.related[name]; links != nil {
			pieces = [][]byte{bytes.TrimSuffix(content, []byte(end)), links, []byte(end)}
			delete(w.related, name)
		}
		if err := w.archive.put(name, pieces...); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.related)) {
		return fmt.Errorf("the workbook has no part %s for its links", name)
	}
	return w.archive.zip.Close()
}

var contentDefault = regexp.MustCompile(`<Default [^>]*></Default>`)

// inOrder sorts the content types by extension, which excelize lists in any
// order.
func inOrder(types []byte) []byte {
	found := contentDefault.FindAll(types, -1)
	slices.SortFunc(found, bytes.Compare)
	rest := contentDefault.ReplaceAll(types, nil)
	before, after, ok := bytes.Cut(rest, []byte(`<Override`))
	if !ok {
		return types
	}
	return slices.Concat(before, bytes.Join(found, nil), []byte(`<Override`), after)
}

// abandon ends what an error has left open.
func (w *workbook) abandon() {
	if w.open != nil {
		_ = w.open.close()
	}
	_ = w.Close() // it has nothing open
}

// describe sets what belongs to the whole workbook: the date system, so that
// the source's serial numbers mean the same days, and its properties.
func (w *workbook) describe(b Book) error {
	date1904 := b.Sheet.Date1904
	if err := w.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &date1904}); err != nil {
		return err
	}
	made := ""
	if !b.Made.IsZero() {
		made = b.Made.UTC().Format(time.RFC3339)
	}
	if err := w.SetDocProps(&excelize.DocProperties{
		Title: "Claimsheet " + string(kindOf(b.Summary)), Creator: "Claimsheet", LastModifiedBy: "Claimsheet",
		Created: made, Modified: made,
	}); err != nil {
		return err
	}
	return w.bind(b)
}
