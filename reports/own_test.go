package reports_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/reports"
)

// A rerun of a results workbook leaves out the columns of the earlier run, wherever
// they are, and numbers the rows as in the sheet that was first imported.
func TestOwnColumns(t *testing.T) {
	t.Parallel()
	text := func(s string) cell.Cell { return cell.Cell{Kind: cell.Text, Raw: s, Shown: s} }
	b := loans()
	b.Sheet.HeaderRow, b.Sheet.Header = 1, []string{"", "E-mail", "", "Name"}
	b.Records = each(
		cell.Record{Row: 2, Source: 9, Cells: []cell.Cell{{}, text("ann@example.test"), {}, text("Ann")}},
		cell.Record{Row: 3, Cells: []cell.Cell{{}, text("bob@example.test"), {}, {}, text("beyond")}},
	)
	b.Rows = each(result.Row{Row: 2, Status: result.Done}, result.Row{Row: 3, Status: result.Done})
	b.Preview = &reports.Preview{Own: []int{0, 2}}
	_, f := written(t, b)
	got, err := f.GetRows("Results")
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"E-mail", "Name", "", "Import status", "contactId", "claimIds", "redirectUrl", "Failed step", "Error", "What to do", "Source row"},
		{"ann@example.test", "Ann", "", "done", "", "", "", "", "", "", "9"},
		{"bob@example.test", "", "beyond", "done", "", "", "", "", "", "", "3"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
