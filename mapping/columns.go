package mapping

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// resultHeaders returns the headers of the columns that results workbooks add, of
// both versions; contacts is as in cell.ResultHeaders.
func resultHeaders(contacts bool) []string {
	return append(cell.ResultHeaders(cell.ContactIDHeader, contacts), cell.ClientIDHeader)
}

// columnIndex finds columns by their headers: by the exact header, else in any
// case and with any white space.
type columnIndex struct {
	sheet  cell.Sheet
	exact  map[string][]int
	folded map[string][]int
}

func indexColumns(sheet cell.Sheet) *columnIndex {
	x := &columnIndex{sheet, map[string][]int{}, map[string][]int{}}
	for i, header := range sheet.Header {
		if folded := convert.FoldHeader(header); folded != "" {
			x.exact[header] = append(x.exact[header], i)
			x.folded[folded] = append(x.folded[folded], i)
		}
	}
	return x
}

func foldHeaders(headers ...string) []string {
	folded := make([]string, len(headers))
	for i, header := range headers {
		folded[i] = convert.FoldHeader(header)
	}
	return folded
}

// find returns the column with a header; the problem is nil when there is
// exactly one.
func (x *columnIndex) find(name string) (int, *problem.Problem) {
	found := x.exact[name]
	if len(found) == 0 {
		found = x.folded[convert.FoldHeader(name)]
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		p := problem.New("unknown-column", "the sheet “%s” has no column “%s”", x.sheet.Label(), name)
		p.Hint = strings.Replace(problem.Suggestion(name, x.headers()), "expected one of ", "its columns are ", 1)
		return -1, &p
	}
	var at []string
	for _, i := range found {
		at = append(at, x.sheet.At(i, x.sheet.HeaderRow).String())
	}
	p := problem.New("ambiguous-column", "the sheet has %d columns called “%s”: %s", len(found), name, strings.Join(at, ", ")).
		Hinted("give the columns different headers")
	return -1, &p
}

// doubtHeader looks at a sheet that has none of the mapping's columns. What stands in its
// header row may be a client's data, because the file has no header or header_row is
// wrong, so no message quotes it: problems are logged.
func (b *binder) doubtHeader() {
	if b.index == nil || len(b.used) > 0 {
		return
	}
	unknown := func(p problem.Problem) bool { return p.Code == "unknown-column" }
	if !slices.ContainsFunc(b.problems, unknown) {
		return
	}
	row := b.sheet.HeaderRow
	isNear := func(p problem.Problem) bool { return unknown(p) && strings.HasPrefix(p.Hint, "did you mean ") }
	if slices.ContainsFunc(b.problems, isNear) {
		for i, p := range b.problems {
			if unknown(p) && !isNear(p) {
				b.problems[i].Hint = fmt.Sprintf("is row %d the one that names the columns? sheet.header_row says which", row)
			}
		}
		return
	}
	b.problems = slices.DeleteFunc(b.problems, unknown)
	var names []string
	for _, name := range slices.Sorted(maps.Values(b.named)) {
		names = append(names, "“"+name+"”")
	}
	b.problems = append(b.problems, problem.At(b.sheet.AtRow(row), "no-header", "this row is read as the header, and the sheet “%s” has no %s there", b.sheet.Label(), named("column", names)).
		Hinted("let sheet.header_row be the row that names the columns; when no row does, the export needs one"))
}

// headers returns the headers for a hint, with white space folded.
func (x *columnIndex) headers() []string {
	var list []string
	for _, header := range x.sheet.Header {
		if h := convert.FoldSpace(header); h != "" {
			list = append(list, h)
		}
	}
	return list
}

// reserved reports headers that the results workbook needs for itself.
func (x *columnIndex) reserved(contacts bool) problem.List {
	var list problem.List
	for _, name := range resultHeaders(contacts) {
		for _, i := range x.folded[convert.FoldHeader(name)] {
			list = append(list, problem.At(x.sheet.At(i, x.sheet.HeaderRow), "reserved-column",
				"a source column cannot be called “%s”: the results workbook adds a column of that name", name).
				Hinted("rename the column in the export"))
		}
	}
	return list
}

// ResultColumn returns the added column of a results workbook that a header means, in
// any case and with any white space; "" for a column of the source. contacts reports
// whether the workbook has the column contacts.
func ResultColumn(header string, contacts bool) string {
	for _, name := range resultHeaders(contacts) {
		if convert.FoldHeader(name) == convert.FoldHeader(header) {
			return name
		}
	}
	return ""
}

// Columns returns how many columns the mapping names.
func (b *Binding) Columns() int { return len(b.named) }

// mostListed limits how many columns or attributes a warning names.
const mostListed = 12

// UnusedColumns warns of columns that have a header and that the mapping never uses,
// or ignores, in one warning for each sheet.
func (b *Binding) UnusedColumns() problem.List {
	tables := b.tables
	if tables == nil {
		tables = []*Binding{b}
	}
	var list problem.List
	for _, t := range tables {
		var unused []string
		for i := range t.sheet.Header {
			if t.headers[i] != "" && !t.used[i] && !b.mapping.Ignores(IgnoredName(t.sheet, i)) {
				unused = append(unused, fmt.Sprintf("“%s” (%s)", t.sheet.ColumnLabel(i), cell.ColumnName(i)))
			}
		}
		if len(unused) > 0 {
			list = append(list, problem.At(t.sheet.AtRow(t.sheet.HeaderRow), "unused-columns", "the mapping never uses the %s", named("column", unused)).
				Hinted("map what is meant to be sent; the results workbook keeps the rest"))
		}
	}
	return list
}

// named is a noun with its names, as many as can be read.
func named(noun string, names []string) string {
	if len(names) == 1 {
		return noun + " " + names[0]
	}
	more := ""
	if rest := len(names) - mostListed; rest > 0 {
		names, more = names[:mostListed], fmt.Sprintf(" and %d more", rest)
	}
	return noun + "s " + strings.Join(names, ", ") + more
}
