package mapping

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

func foldHeaders(headers ...string) []string {
	folded := make([]string, len(headers))
	for i, header := range headers {
		folded[i] = convert.FoldHeader(header)
	}
	return folded
}

// lettered matches a name with the letters of a column: “Ref [D]”.
var lettered = regexp.MustCompile(`^(.*\S)\s*\[([A-Za-z]{1,3})\]$`)

// findColumn returns the column of a sheet with a header, in any case and with any white space where no header is exactly
// the name, or the one with a header at a letter (“Ref [D]”). The problem is nil when there is exactly one.
func findColumn(sheet cell.Sheet, name string) (int, *problem.Problem) {
	var found, alike []int
	folded := convert.FoldHeader(name)
	for i, header := range sheet.Header {
		if header == name && folded != "" { // a column without a header has no name
			found = append(found, i)
		}
		if convert.FoldHeader(header) == folded && folded != "" {
			alike = append(alike, i)
		}
	}
	if len(found) == 0 {
		found = alike
	}
	var p problem.Problem
	switch parts := lettered.FindStringSubmatch(name); {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var at, names []string
		for _, i := range found {
			at = append(at, sheet.At(i, sheet.HeaderRow).String())
			names = append(names, name+" ["+cell.ColumnName(i)+"]")
		}
		p = problem.New("ambiguous-column", "the sheet has %d columns called “%s”: %s", len(found), name, strings.Join(at, ", ")).
			Hinted("name the one that is meant with its letter: %s; or give the columns different headers", problem.OrList(names))
	case parts != nil:
		header, at := "", cell.ColumnAt(parts[2])
		if at < len(sheet.Header) {
			header = sheet.Header[at]
		}
		if convert.FoldHeader(header) == convert.FoldHeader(parts[1]) {
			return at, nil
		}
		p = problem.New("unknown-column", "the sheet “%s” has no column “%s” at %s: the header there is “%s”",
			sheet.Label(), parts[1], sheet.At(at, sheet.HeaderRow), convert.FoldSpace(header)).
			Hinted("the columns have moved: see which of them is meant now")
	case strings.HasPrefix(strings.TrimSpace(name), "="):
		p = problem.New("unknown-column", "the sheet “%s” has no column “%s”", sheet.Label(), name).
			Hinted(`a formula of a spreadsheet is not worked out here: write expr, such as {expr: 'upper(col("Name"))'}`)
	default:
		var headers []string
		for _, header := range sheet.Header {
			if h := convert.FoldSpace(header); h != "" {
				headers = append(headers, h)
			}
		}
		p = problem.New("unknown-column", "the sheet “%s” has no column “%s”", sheet.Label(), name).
			Hinted("%s", strings.Replace(problem.Suggestion(name, headers), "expected one of ", "its columns are ", 1))
	}
	return -1, &p
}

// FindColumn returns the column of a sheet that a mapping means by a name; -1 for none, or several.
func FindColumn(sheet cell.Sheet, name string) int {
	i, _ := findColumn(sheet, name)
	return i
}

// FillDown returns what gives the records of a sheet, in their order, the cells that their
// empty ones in some columns take from a row above, as Record.Above. Another value in a
// column ends what the columns after it take: it begins another client. Blank rows and
// repeated headers are passed over. Nothing is taken over a row of totals, nor, in a results
// workbook, over a row that was taken out.
func FillDown(columns []string, sheet cell.Sheet) func(cell.Record) cell.Record {
	var places []int
	for _, name := range columns {
		if i := FindColumn(sheet, name); i >= 0 {
			places = append(places, i)
		}
	}
	above := make([]cell.Cell, len(places)) // what the empty cells of each take
	source := 0
	return func(r cell.Record) cell.Record {
		if r.Source > 0 && r.Source != source+1 {
			clear(above)
		}
		source = r.Source
		if blank(r) {
			return r
		}
		if _, isTotals := TotalsLabel(r); isTotals {
			clear(above)
			return r
		}
		for k, i := range places {
			switch own := r.Cell(i); {
			case own.IsEmpty() && !above[k].IsEmpty():
				r.Above = append(r.Above, make([]cell.Cell, max(0, i+1-len(r.Above)))...)
				r.Above[i] = above[k]
			case !own.IsEmpty() && convert.FoldHeader(own.Shown) != convert.FoldHeader(sheet.Header[i]):
				if own.Shown != above[k].Shown {
					clear(above[k+1:])
				}
				own.Raw, own.Shown = strings.Clone(own.Raw), strings.Clone(own.Shown) // the cells belong to the reader
				above[k] = own
			}
		}
		return r
	}
}

// doubtHeader looks at a sheet that has none of the mapping's columns. What stands in its
// header row may be a client's data, because the file has no header or header_row is
// wrong, so no message quotes it: problems are logged.
func (b *binder) doubtHeader() {
	if !b.hasSheet || len(b.used) > 0 {
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
	b.problems = append(b.problems, problem.At(b.sheet.AtRow(row), "no-header",
		"this row is read as the header, and the sheet “%s” has no %s there", b.sheet.Label(), named("column", names)).
		Hinted("let sheet.header_row be the row that names the columns; when no row does, the export needs one"))
}

// reserved reports headers that the results workbook needs for itself.
func reserved(sheet cell.Sheet, contacts bool) problem.List {
	var list problem.List
	for i, header := range sheet.Header {
		if name := ResultColumn(header, contacts); name != "" {
			list = append(list, problem.At(sheet.At(i, sheet.HeaderRow), "reserved-column",
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
	for _, name := range append(cell.ResultHeaders(cell.ContactIDHeader, contacts), cell.ClientIDHeader) {
		if convert.FoldHeader(name) == convert.FoldHeader(header) {
			return name
		}
	}
	return ""
}

// Columns returns how many columns the mapping names.
func (b *Binding) Columns() int { return len(b.named) }

// UnusedColumns warns of columns that have a header and that the mapping never uses,
// or ignores, in one warning for each sheet.
func (b *Binding) UnusedColumns() problem.List {
	var list problem.List
	for _, t := range b.tables {
		var unused []string
		for i, header := range t.sheet.Header {
			if convert.FoldHeader(header) != "" && !t.used[i] && !b.mapping.Ignores(IgnoredName(t.sheet, i)) {
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
	const most = 12
	if len(names) != 1 {
		noun += "s"
	}
	return noun + " " + problem.Some(names, most)
}
