package sheet

import (
	"strings"

	"claimsheet/mapping/problem"
)

// choose finds the sheet that is asked for, and its part. A hidden sheet is
// taken only when it is named.
func (b *workbook) choose(name string) (sheetEntry, string, error) {
	var names []string
	for _, e := range b.sheets {
		part, ok := b.worksheet(e)
		if !ok {
			return sheetEntry{}, "", damaged(b.part, "a sheet has no part")
		}
		if part == "" {
			continue // a chart, a dialogue, a macro sheet or a module
		}
		if name == "" && !e.hidden || name != "" && e.name == name {
			return e, part, nil
		}
		names = append(names, e.name)
	}
	for _, e := range b.sheets {
		if part, _ := b.worksheet(e); part != "" && name != "" && strings.EqualFold(e.name, name) {
			return e, part, nil
		}
	}
	return sheetEntry{}, "", notFound(name, names)
}

// worksheet is the part of a tab, "" when the tab is no worksheet; ok is false
// when it should have a part and has none.
func (b *workbook) worksheet(e sheetEntry) (part string, ok bool) {
	if e.module {
		return "", true
	}
	for _, r := range b.related {
		if r.id != e.id {
			continue
		}
		if strings.EqualFold(r.kind, "worksheet") {
			return r.target, true
		}
		return "", true
	}
	return "", false
}

func notFound(name string, names []string) problem.Problem {
	list := "it has none"
	if len(names) > 0 {
		list = "it has " + quoted(names)
	}
	if name == "" {
		return problem.New("sheet-not-found", "the workbook has no visible sheet with rows; %s", list).
			Hinted("name a sheet in the mapping, or show it in the workbook")
	}
	p := problem.New("sheet-not-found", "the workbook has no sheet %q; %s", name, list)
	if near, ok := problem.Nearest(name, names); ok {
		return p.Hinted("did you mean %q?", near)
	}
	return p.Hinted("name one of its sheets in the mapping")
}

// quoted lists names, the first ten of them.
func quoted(names []string) string {
	const most = 10
	var b strings.Builder
	for i, n := range names[:min(len(names), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + n + `"`)
	}
	if len(names) > most {
		b.WriteString(" and more")
	}
	return b.String()
}
