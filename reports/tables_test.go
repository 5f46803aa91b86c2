package reports_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// Every table has its header in sight and a filter over all its lines, and the
// first tab is the one that a person sees: the problems, if there are any.
func TestTables(t *testing.T) {
	t.Parallel()
	well := loans()
	well.Problems, well.Summary.Rows = nil, result.Counts{Total: 5, Done: 5}
	for name, c := range map[string]struct {
		book   reports.Workbook
		tables []string // each with its filter; behind them is the summary
	}{
		"results":          {loans(), []string{"'Problems'!$A$1:$E$4", "'Results'!$A$1:$N$6", "'Steps'!$A$1:$I$5"}},
		"plan":             {plan(), []string{"'Problems'!$A$1:$E$4", "'Results'!$A$1:$N$6", "'Plan'!$A$1:$G$4"}},
		"without problems": {well, []string{"'Results'!$A$1:$N$6", "'Steps'!$A$1:$I$5"}},
	} {
		_, f := written(t, c.book)
		var tabs, filters []string
		for _, n := range f.GetDefinedName() {
			filters = append(filters, n.RefersTo)
		}
		for _, table := range c.tables {
			tab := strings.Split(table, "'")[1]
			tabs = append(tabs, tab)
			if panes, err := f.GetPanes(tab); err != nil || !panes.Freeze || panes.YSplit != 1 || !slices.Contains(filters, table) {
				t.Errorf("%s: the header of %s is not frozen: %+v, %v; or it has no filter: %v", name, tab, panes, err, filters)
			}
		}
		same(t, "tabs", append(tabs, "Summary", "Claimsheet"), f.GetSheetList())
		if visible, err := f.GetSheetVisible("Claimsheet"); err != nil || visible || f.GetActiveSheetIndex() != 0 {
			t.Errorf("%s: the sheet that repeats the properties is not hidden, or the first tab is not the active one", name)
		}
	}
}

// The colour of a status shows which rows need attention.
func TestStatusColours(t *testing.T) {
	t.Parallel()
	statuses := []result.Status{result.Done, result.Unchanged, result.Failed, result.Invalid, result.Uncertain, result.Changed, result.NotStarted, result.Skipped, result.Planned}
	b := invalidWorkbook(len(statuses))
	b.Problems = nil
	b.Rows = counted(len(statuses), func(n int) result.Row { return result.Row{Row: n + 1, Status: statuses[n-1]} })
	_, f := written(t, b)
	var got []string
	for n := range statuses {
		got = append(got, ground(t, f, "Results", fmt.Sprint("C", n+2)))
	}
	same(t, "colours", []string{"C6EFCE", "C6EFCE", "FFC7CE", "FFC7CE", "FFEB9C", "FFEB9C", "E7E6E6", "E7E6E6", "DDEBF7"}, got)
}

// invalidWorkbook is a dry run's of so many rows, the cell B of each being invalid.
func invalidWorkbook(rows int) reports.Workbook {
	b := reports.Workbook{
		Sheet:          cell.Sheet{Name: "Jo's leads", HeaderRow: 1, Header: []string{"E-mail", "DOB"}},
		ClientIDHeader: "contactId", Summary: result.Summary{DryRun: true},
		Records: counted(rows, func(n int) cell.Record {
			return cell.Record{Row: n + 1, Cells: []cell.Cell{{Kind: cell.Text, Raw: "ann", Shown: "ann"}, {Kind: cell.Text, Raw: "=1", Shown: "=1"}}}
		}),
		Rows: counted(rows, func(n int) result.Row { return result.Row{Row: n + 1, Status: result.Invalid} }),
	}
	for n := range rows {
		b.Problems = append(b.Problems, problem.At(b.Sheet.At(1, n+2), "date", "DOB is no date").Hinted("write it as dd/mm/yyyy"))
	}
	return b
}

// Every invalid cell is marked and named, also those beyond the cells that have
// a comment.
func TestEveryInvalidCellIsMarked(t *testing.T) {
	t.Parallel()
	const rows = 1100
	_, f := written(t, invalidWorkbook(rows))
	if n := len(comments(t, f)); n != 1000 {
		t.Errorf("%d comments, want 1000", n)
	}
	for _, ref := range []string{"B2", "B1001", "B1002", "B1101"} {
		if ground(t, f, "Results", ref) != "FFC7CE" {
			t.Errorf("%s is not marked", ref)
		}
	}
	if ground(t, f, "Results", "A2") != "" {
		t.Error("A2 is marked, and nothing is wrong with it")
	}
	if shown, _ := f.GetCellValue("Problems", "A1101"); shown != "'Jo''s leads'!B1101" {
		t.Errorf("the last problem is at %s", shown)
	}
}

func ground(t *testing.T, f *excelize.File, sheet, ref string) string {
	t.Helper()
	return strings.Join(styleOf(t, f, sheet, ref).Fill.Color, " ")
}

// What is wrong, and what to do about it, can be read when the workbook is opened: the
// texts wrap, and the rows are high enough for them.
func TestLongTextsAreReadable(t *testing.T) {
	t.Parallel()
	heights := func(f *excelize.File, sheet string) []float64 {
		return []float64{must(f.GetRowHeight(sheet, 2))(t), must(f.GetRowHeight(sheet, 3))(t)}
	}
	b := sheetOf(cell.Cell{}, cell.Cell{})
	b.Rows = each(result.Row{Row: 2}, result.Row{Row: 3, Error: strings.Repeat("word ", 24)})
	b.Problems = problem.List{problem.New("code", "%s", strings.Repeat("word ", 24)).Hinted("a\nb\nc"), problem.New("code", "short")}
	_, f := written(t, b)
	same(t, "heights of problems", []float64{45, 15}, heights(f, "Problems"))
	same(t, "heights of rows", []float64{15, 45}, heights(f, "Results"))
	for ref, wraps := range map[string]bool{"A3": false, "B3": false, "F3": true, "G3": true} {
		if a := styleOf(t, f, "Results", ref).Alignment; a == nil || a.Vertical != "top" || a.WrapText != wraps {
			t.Errorf("%s is aligned %+v", ref, a)
		}
	}
}

// A further place of a mistake is marked, and not listed.
func TestPartsOfAMistakeAreMarked(t *testing.T) {
	t.Parallel()
	b := loans()
	at := func(cell string) problem.Problem {
		return problem.At(problem.Where{Sheet: "Leads", Cell: cell, Row: 4}, "conflict", "differs")
	}
	part := at("B4")
	part.Part = true
	b.Problems, b.Summary.Rows.Failed, b.Summary.Rows.Uncertain = problem.List{at("A4"), part}, 0, 0
	_, f := written(t, b)
	var listed []string
	for _, row := range must(f.GetRows("Problems"))(t) {
		listed = append(listed, row[0])
	}
	same(t, "listed", []string{"Where", "Leads!A4", "Leads!5", "Leads!8"}, listed)
	same(t, "marked", []string{"A2: differs", "B2: differs"}, comments(t, f))
}
