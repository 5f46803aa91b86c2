// Package xlsx writes workbooks, with excelize.
//
// excelize makes everything of a workbook but its sheets: styles, charts, comments
// and the parts around them. A SheetWriter writes a sheet straight into the zip file
// while its rows are made, so memory does not grow with the rows. excelize's own
// stream writer takes several times as long, keeps the sheet in a temporary file,
// spells numbers its own way, and has no error values and no control characters.
//
// The same calls give the same bytes at any time and on any machine.
package xlsx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/xuri/excelize/v2"
)

// Workbook is a workbook file under construction. Its sheets are written one after
// another; Close completes the file.
type Workbook struct {
	file       *excelize.File
	archive    *archive
	styles     map[Look]*Style
	dxfs       map[Colour]int // conditional styles
	properties map[string]string
	related    map[string]*SheetWriter // sheets with links to addresses, by the part of their relationships
	rows       map[string]int          // rows written, by part
	open       *part                   // the last part begun
	space      []byte                  // for the rows of the sheet that is being written
	maxLinks   int                     // of a sheet
	err        error                   // the first one; it stays
}

// New begins a workbook that is written to dst.
func New(dst io.Writer) *Workbook {
	return &Workbook{file: excelize.NewFile(), archive: newArchive(dst), styles: map[Look]*Style{}, dxfs: map[Colour]int{},
		properties: map[string]string{}, related: map[string]*SheetWriter{}, rows: map[string]int{},
		space: make([]byte, partBuffer), maxLinks: maxLinks}
}

// Describe sets the workbook's title, author and date system. made is when it says
// it was made; the zero Time leaves that out.
func (w *Workbook) Describe(title, author string, made time.Time, date1904 bool) error {
	if err := w.file.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &date1904}); err != nil {
		return err
	}
	at := ""
	if !made.IsZero() {
		at = made.UTC().Format(time.RFC3339)
	}
	return w.file.SetDocProps(&excelize.DocProperties{
		Title: title, Creator: author, LastModifiedBy: author, Created: at, Modified: at,
	})
}

// AddSheet adds an empty sheet behind the others unless it exists. The first sheet
// is the one that is shown when the file is opened.
func (w *Workbook) AddSheet(name string) error {
	const given = "Sheet1" // a new workbook has this one
	sheets := w.file.GetSheetList()
	switch {
	case slices.Contains(sheets, name):
		return nil
	case slices.Contains(sheets, given):
		return w.file.SetSheetName(given, name)
	}
	_, err := w.file.NewSheet(name)
	return err
}

// partOf returns the name of a sheet's part in the archive.
func (w *Workbook) partOf(sheet string) (string, error) {
	for id, name := range w.file.GetSheetMap() {
		if name == sheet {
			return fmt.Sprintf("xl/worksheets/sheet%d.xml", id), nil
		}
	}
	return "", fmt.Errorf("the workbook has no sheet %s", sheet)
}

// Close writes the parts that are not in the file yet and completes it.
func (w *Workbook) Close() error {
	if w.err != nil {
		return w.err
	}
	if len(w.properties) > 0 { // excelize adds the part, its content is ours
		if err := w.file.SetCustomProps(excelize.CustomProperty{Name: "part", Value: "ours"}); err != nil {
			return err
		}
	}
	made, err := w.parts()
	if err != nil {
		return err
	}
	for _, name := range made.names {
		if w.archive.done[name] {
			continue
		}
		content := made.content[name].Bytes()
		switch name {
		case "xl/styles.xml":
			content = markQuoted(content)
		case "[Content_Types].xml":
			content = sortDefaults(content)
		case propertiesPart:
			content = customProperties(w.properties)
		}
		if w.related[name] != nil {
			err = w.relate(name, bytes.TrimSuffix(content, []byte(endRelationships)))
		} else {
			err = w.archive.put(name, content)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.related)) {
		if err := w.relate(name, []byte(beginRelationships)); err != nil {
			return err
		}
	}
	return w.archive.zip.Close()
}

// relate adds the part of a sheet's relationships, after what comes before those of links.
func (w *Workbook) relate(name string, before []byte) error {
	if err := w.archive.put(name, before); err != nil {
		return err
	}
	s := w.related[name]
	delete(w.related, name)
	if err := s.relationships(w.archive.last); err != nil {
		return err
	}
	_, err := io.WriteString(w.archive.last, endRelationships)
	return err
}

const (
	xmlHeader          = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	beginRelationships = xmlHeader + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	endRelationships   = `</Relationships>`
)

// parts returns the parts that excelize has made.
func (w *Workbook) parts() (*parts, error) {
	made := &parts{content: map[string]*bytes.Buffer{}}
	w.file.SetZipWriter(func(io.Writer) excelize.ZipWriter { return made })
	_, err := w.file.WriteToBuffer() // the buffer stays empty: the parts go to made
	return made, err
}

// Abandon releases what an unfinished workbook holds. It is safe after Close.
func (w *Workbook) Abandon() {
	if w.open != nil {
		_ = w.open.close()
	}
	_ = w.file.Close() // it has nothing open
}

// fail keeps the first error and returns it.
func (w *Workbook) fail(err error) error {
	if w.err == nil {
		w.err = err
	}
	return w.err
}

var contentDefault = regexp.MustCompile(`<Default [^>]*></Default>`)

// sortDefaults sorts the content types by extension: excelize lists them in random
// order.
func sortDefaults(types []byte) []byte {
	found := contentDefault.FindAll(types, -1)
	slices.SortFunc(found, bytes.Compare)
	rest := contentDefault.ReplaceAll(types, nil)
	before, after, ok := bytes.Cut(rest, []byte(`<Override`))
	if !ok {
		return types
	}
	return slices.Concat(before, bytes.Join(found, nil), []byte(`<Override`), after)
}

// Verify reads a finished workbook back: its archive must be complete, every part
// must match its checksum, and every sheet must have the rows that were written. It
// shows a lying disk or a bug of ours before an older file is replaced.
func (w *Workbook) Verify(file io.ReaderAt, size int64) error {
	rows, err := readBack(file, size)
	if err != nil {
		return err
	}
	if len(rows) != len(w.archive.done) {
		return errors.New("parts of it are missing")
	}
	for name, written := range w.rows {
		if rows[name] != written {
			return fmt.Errorf("%d rows were written to its part %s, and %d are there", written, name, rows[name])
		}
	}
	return nil
}
