// Package xlsx reads one sheet of a workbook as records: the zip file, its XML in
// one pass, shared strings, styles and merged cells. It also decrypts workbooks.
//
// Parts may come from anybody, so everything is bounded and checked: a part's size
// by what it declares and by its ratio, its checksum, the XML, the order of rows and
// cells. What Excel would repair is refused, and so are a few things that it reads and
// hardly any program writes.
//
// A formula's value is its stored result; a date is a number whose format shows one.
// A cell of type d, where Strict Open XML stores dates, becomes the number that it
// is in other workbooks. A text's own format section ("Ref "@) is not applied.
package xlsx

import (
	"io"
	"path"
	"slices"
	"strings"

	"claimsheet/importer/sheet/numfmt"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Sheet is a sheet of a workbook. Passes over its rows are independent of each
// other and may run side by side.
type Sheet struct {
	Name          string
	Visible       []string          // the names of the workbook's visible sheets, in their order
	Header        []string          // as shown, without trailing columns that have none
	Date1904      bool              // the workbook counts days from 1904-01-01
	HiddenColumns []int             // 0 = A, in the file's order
	Properties    map[string]string // the workbook's custom document properties, values as text

	headerRow int
	archive   *archive
	part      string
	strings   *sharedStrings
	styles    []*numfmt.Format
	merges    []cell.Area
}

// Open reads the sheet with a name, exact or else ignoring case, or for "" the first
// visible one: all but the rows below the header, which is in headerRow, from 1. The
// sheet's part is unpacked to its end, so that damage shows here. An error is a
// problem.Problem without a place, or an error of the disk.
func Open(file io.ReaderAt, size int64, name string, headerRow int) (*Sheet, error) {
	a, err := openArchive(file, size)
	if err != nil {
		return nil, err
	}
	b, err := readWorkbook(a)
	if err != nil {
		return nil, err
	}
	chosen, err := b.choose(name)
	if err != nil {
		return nil, err
	}
	s := &Sheet{Name: chosen.name, Date1904: b.date1904, headerRow: headerRow, archive: a, part: chosen.part, strings: &sharedStrings{}}
	for _, e := range b.sheets {
		if !e.hidden {
			s.Visible = append(s.Visible, e.name)
		}
	}
	// Programs name parts that they do not write when nothing would be in them.
	// A cell that needs one is damage.
	if styles := target(b.related, "styles"); a.has(styles) {
		if s.styles, err = readStyles(a, styles); err != nil {
			return nil, err
		}
	}
	if len(s.styles) == 0 {
		s.styles = []*numfmt.Format{nil} // the default
	}
	if strings := target(b.related, "sharedStrings"); a.has(strings) {
		if s.strings, err = readStrings(a, strings); err != nil {
			return nil, err
		}
	}
	if err := s.readLayout(); err != nil {
		return nil, err
	}
	if s.Properties, err = readProperties(a); err != nil {
		return nil, err
	}
	s.Header, err = s.readHeader()
	return s, err
}

// readHeader reads the header row. It reads up to the first row at or below it,
// to distinguish a missing header from an empty sheet.
func (s *Sheet) readHeader() ([]string, error) {
	any := false
	for r, err := range s.rowsBelow(0) {
		if err != nil {
			return nil, err
		}
		any = true
		if r.Row < s.headerRow {
			continue
		}
		var header []string
		for _, c := range r.Cells {
			header = append(header, c.Shown)
		}
		if header = cell.TrimHeader(header); len(header) > 0 && r.Row == s.headerRow {
			return header, nil
		}
		break
	}
	if !any {
		return nil, problem.New("empty-sheet", "the sheet %q is empty; expected a header in row %d", s.Name, s.headerRow).
			Hinted("name another sheet in the mapping, or export the sheet again")
	}
	return nil, problem.New("no-header", "the sheet %q has no header in row %d", s.Name, s.headerRow).
		Hinted("set header_row in the mapping to the row that holds the column names")
}

// workbook is what the workbook part says, as far as it is needed.
type workbook struct {
	part     string // its name
	date1904 bool
	sheets   []sheetEntry // with rows: not a chart, a dialogue or a macro sheet
	related  []relation
}

// sheetEntry is one tab of the workbook.
type sheetEntry struct {
	name   string
	id     string // of the relation to its part
	part   string
	hidden bool // hidden or very hidden
}

// relation is a pointer from one part to another.
type relation struct {
	id     string
	kind   string // the last segment of its type, which strict and transitional files share
	target string // a part's name
}

// notWorkbook refuses a zip file of another kind.
var notWorkbook = problem.New("not-a-workbook", "is not an .xlsx or .xlsm workbook").
	Hinted("open it in a spreadsheet program and save it as .xlsx")

// readWorkbook finds the workbook part through the package's relations, because it
// may have any name.
func readWorkbook(a *archive) (*workbook, error) {
	roots, err := a.relations("")
	if err != nil {
		return nil, err
	}
	b := &workbook{part: target(roots, "officeDocument")}
	if !strings.EqualFold(path.Ext(b.part), ".xml") { // a binary workbook has another part, and OpenDocument none
		return nil, notWorkbook
	}
	if err := a.walk(b.part, maxPartBytes, b.visit); err != nil {
		return nil, err
	}
	if b.related, err = a.relations(b.part); err != nil {
		return nil, err
	}
	withRows := b.sheets[:0]
	for _, e := range b.sheets {
		i := slices.IndexFunc(b.related, func(r relation) bool { return r.id == e.id })
		if i < 0 && !e.hidden { // the hidden module sheets of old workbooks have no part
			return nil, damaged(b.part, "a sheet has no part")
		}
		if i >= 0 && strings.EqualFold(b.related[i].kind, "worksheet") {
			e.part = b.related[i].target
			withRows = append(withRows, e)
		}
	}
	b.sheets = withRows
	return b, nil
}

func (b *workbook) visit(s *scanner, path []string) error {
	switch {
	case len(path) == 1 && path[0] != "workbook":
		return notWorkbook
	case at(path, "workbook", "workbookPr"):
		attrs, err := s.attributes()
		value, given := attrs["date1904"]
		if err != nil || !given {
			return err
		}
		var ok bool
		if b.date1904, ok = boolean(value); !ok {
			return s.damaged("its date system is unclear; expected a date1904 of 1, 0, true or false")
		}
	case at(path, "workbook", "sheets", "sheet"):
		attrs, err := s.attributes()
		if err != nil {
			return err
		}
		e := sheetEntry{name: attrs["name"], id: attrs["id"]}
		switch attrs["state"] {
		case "", "visible":
		case "hidden", "veryHidden":
			e.hidden = true
		default:
			return s.damaged("it is unclear whether a sheet is hidden; expected a state of visible, hidden or veryHidden")
		}
		if b.sheets = append(b.sheets, e); len(b.sheets) > maxEntries {
			return s.damaged("it names more sheets than there can be parts")
		}
	}
	return nil
}

// choose finds the sheet with this name. A hidden sheet is chosen only by its name.
func (b *workbook) choose(name string) (sheetEntry, error) {
	for _, isChosen := range []func(e sheetEntry) bool{
		func(e sheetEntry) bool { return name == "" && !e.hidden || name != "" && e.name == name },
		func(e sheetEntry) bool { return name != "" && strings.EqualFold(e.name, name) },
	} {
		if i := slices.IndexFunc(b.sheets, isChosen); i >= 0 {
			return b.sheets[i], nil
		}
	}
	var names []string
	for _, e := range b.sheets {
		names = append(names, e.name)
	}
	if name == "" {
		return sheetEntry{}, problem.New("sheet-not-found", "the workbook has no visible sheet with rows; its hidden ones are %q", names).
			Hinted("name a sheet in the mapping, or show it in the workbook")
	}
	p := problem.New("sheet-not-found", "the workbook has no sheet %q; its sheets are %q", name, names)
	if near, ok := problem.Nearest(name, names); ok {
		return sheetEntry{}, p.Hinted("did you mean %q?", near)
	}
	return sheetEntry{}, p.Hinted("name one of its sheets in the mapping")
}

// relations returns the relations of a part, or of the package for "".
func (a *archive) relations(part string) ([]relation, error) {
	dir, file := path.Split(part)
	name := dir + "_rels/" + file + ".rels"
	if !a.has(name) {
		return nil, nil
	}
	var all []relation
	err := a.walk(name, maxPartBytes, func(s *scanner, at []string) error {
		if len(at) != 2 || at[1] != "Relationship" {
			return nil
		}
		attrs, err := s.attributes()
		if err != nil || strings.EqualFold(attrs["TargetMode"], "External") {
			return err
		}
		all = append(all, relation{
			id: attrs["Id"], kind: path.Base(attrs["Type"]), target: resolve(dir, attrs["Target"]),
		})
		if len(all) > maxEntries {
			return s.damaged("it points to more parts than there can be")
		}
		return nil
	})
	return all, err
}

// resolve returns the name of the part that a target points to. A target is
// absolute, or relative to the folder of the part that it is in.
func resolve(dir, target string) string {
	target = strings.ReplaceAll(target, `\`, "/")
	if !strings.HasPrefix(target, "/") {
		target = "/" + dir + target
	}
	return strings.TrimPrefix(path.Clean(target), "/")
}

// target returns the part that the first relation of one of these kinds points to; "" without one.
func target(all []relation, kinds ...string) string {
	for _, r := range all {
		if slices.ContainsFunc(kinds, func(kind string) bool { return strings.EqualFold(r.kind, kind) }) {
			return r.target
		}
	}
	return ""
}

// boolean reads an XML boolean. Other spellings are refused: a misread date1904
// moves every date by four years.
func boolean(s string) (value, ok bool) {
	value = s == "1" || s == "true"
	return value, value || s == "0" || s == "false"
}

// severalValues are the kinds of properties that hold elements instead of text.
var severalValues = []string{"vector", "array", "variant"}

// Properties reads the custom document properties of a workbook, values as text. An error is
// a problem.Problem without a place, or an error of the disk.
func Properties(file io.ReaderAt, size int64) (map[string]string, error) {
	a, err := openArchive(file, size)
	if err != nil {
		return nil, err
	}
	return readProperties(a)
}

// readProperties reads the custom document properties.
func readProperties(a *archive) (map[string]string, error) {
	roots, err := a.relations("")
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	part := target(roots, "custom-properties", "customProperties") // the latter in strict files
	if part == "" {
		return all, nil
	}
	name := ""
	err = a.walk(part, maxPartBytes, func(s *scanner, path []string) error {
		switch {
		case at(path, "Properties", "property"):
			attrs, err := s.attributes()
			name = attrs["name"]
			return err
		case len(path) == 3 && path[1] == "property" && !slices.Contains(severalValues, path[2]):
			value, err := s.content(nil)
			all[name] = string(decodeEscapes(value, 0))
			return err
		}
		return nil
	})
	return all, err
}
