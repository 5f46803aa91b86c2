package sheet

import (
	"path"
	"strings"

	"claimsheet/mapping/problem"
)

// workbook is what the workbook part says, as far as it matters here.
type workbook struct {
	part     string // its name
	date1904 bool
	sheets   []sheetEntry
	related  []relation
}

// sheetEntry is one tab of the workbook.
type sheetEntry struct {
	name   string
	id     string // of the relation to its part
	module bool   // a module of Visual Basic, which has no part
	hidden bool   // hidden or very hidden
}

// relation is a pointer from one part to another.
type relation struct {
	id     string
	kind   string // the last segment of its type, which strict and transitional files share
	target string // a part's name
}

// readWorkbook finds the workbook part through the package's relations, as
// its name is free.
func readWorkbook(a *archive) (*workbook, error) {
	if !a.has("_rels/.rels") {
		return nil, notWorkbook(a)
	}
	roots, err := a.relations("")
	if err != nil {
		return nil, err
	}
	i := find(roots, "officeDocument")
	if i < 0 {
		return nil, notWorkbook(a)
	}
	b := &workbook{part: roots[i].target}
	switch {
	case strings.HasSuffix(strings.ToLower(b.part), ".bin"):
		return nil, problem.New("not-a-workbook", "is a binary workbook (.xlsb); expected an .xlsx or .xlsm file").
			Hinted("save it as .xlsx")
	case strings.HasPrefix(strings.ToLower(b.part), "word/"), strings.HasPrefix(strings.ToLower(b.part), "ppt/"):
		return nil, problem.New("not-a-workbook", "is a document or a presentation, not a workbook")
	}
	if err := a.walk(b.part, maxPartBytes, b.visit); err != nil {
		return nil, err
	}
	if b.related, err = a.relations(b.part); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *workbook) visit(s *scanner, path []string) error {
	switch {
	case len(path) == 1 && path[0] != "workbook":
		return s.damaged("it is not a workbook part")
	case at(path, "workbook", "workbookPr"):
		attrs, err := s.attributes()
		value, told := attrs["date1904"]
		if err != nil || !told {
			return err
		}
		var ok bool
		if b.date1904, ok = boolean(value); !ok {
			return s.damaged("which of the two date systems it uses cannot be told; expected a date1904 of 1, 0, true or false")
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
			return s.damaged("whether a sheet is hidden cannot be told; expected a state of visible, hidden or veryHidden")
		}
		// Excel lists the module sheets of old workbooks, hidden, with an empty id.
		id, has := attrs["id"]
		e.module = e.hidden && has && id == ""
		if b.sheets = append(b.sheets, e); len(b.sheets) > maxEntries {
			return s.damaged("it names more sheets than there can be parts")
		}
	}
	return nil
}

// notWorkbook says what a zip file without a workbook is.
func notWorkbook(a *archive) error {
	p := problem.New("not-a-workbook", "is a zip file, but not a workbook; expected an .xlsx or .xlsm file")
	if a.has("mimetype") && a.has("content.xml") {
		p.Message = "is an OpenDocument file; expected an .xlsx or .xlsm file"
		return p.Hinted("save it as .xlsx")
	}
	return p
}

// relations are those of a part; the package's own for "". A part without any
// has none.
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

// resolve makes a part's name of a target, which is relative to the folder of
// the part that it stands in, or absolute.
func resolve(dir, target string) string {
	target = strings.ReplaceAll(target, `\`, "/")
	if !strings.HasPrefix(target, "/") {
		target = "/" + dir + target
	}
	return strings.TrimPrefix(path.Clean(target), "/")
}

// find is the index of the first relation of a kind, or -1.
func find(all []relation, kind string) int {
	for i, r := range all {
		if strings.EqualFold(r.kind, kind) {
			return i
		}
	}
	return -1
}

// boolean reads XML's booleans. Other words for them are refused: one that is
// misread moves every date by four years.
func boolean(s string) (value, ok bool) {
	value = s == "1" || s == "true"
	return value, value || s == "0" || s == "false"
}
