package reports_test

import (
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/result"
	"claimsheet/importer/testform"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var (
	noError = testform.NoError
	same    = testform.Same
)

// must is the value of a call that must succeed: must(os.ReadFile(path))(t).
func must[V any](value V, err error) func(fatal) V {
	return func(t fatal) V {
		t.Helper()
		noError(t, err)
		return value
	}
}

// fatal is a test, rapid's or Go's.
type fatal interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// each yields values that nothing is wrong with.
func each[T any](values ...T) iter.Seq2[T, error] {
	return counted(len(values), func(n int) T { return values[n-1] })
}

// counted yields one value for each number from 1.
func counted[T any](count int, value func(int) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for n := range count {
			if !yield(value(n+1), nil) {
				return
			}
		}
	}
}

// broken yields values and then an error.
func broken[T any](err error, values ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v := range each(values...) {
			if !yield(v, nil) {
				return
			}
		}
		var none T
		yield(none, err)
	}
}

// loans is a small run with everything in it. Its header is in row 3.
func loans() reports.Workbook {
	text := func(s string) cell.Cell { return cell.Cell{Kind: cell.Text, Raw: s, Shown: s} }
	record := func(row int, name, ref, amount, born string, rest ...cell.Cell) cell.Record {
		return cell.Record{Row: row, Cells: append([]cell.Cell{
			text(name),
			{Kind: cell.Number, Raw: ref, Shown: "00" + ref, Format: "00000"},
			{Kind: cell.Number, Raw: amount, Shown: amount, Format: `"£"#,##0.00`},
			{Kind: cell.Date, Raw: born, Shown: "1980-05-01", Format: "dd/mm/yyyy"},
		}, rest...)}
	}
	steps := func(number int, client, step, state, id string, status int) result.Step {
		return result.Step{Number: number, ClientKey: client, Step: step, State: state, ID: id, Attempts: 1,
			Status: status, At: time.Date(2026, 11, 20, 2, number, 7, 0, time.UTC)}
	}
	return reports.Workbook{
		Sheet: cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 3, Header: []string{"E-mail", "Ref", "Amount", "Born", "Opt in"}},
		Records: each(
			record(4, "ann@example.test", "123", "1500.5", "29342", cell.Cell{Kind: cell.Bool, Raw: "1", Shown: "TRUE"}),
			record(5, "bob@example.test", "124", "1.1000000000000001", "29343.604166666664", cell.Cell{Kind: cell.Bool, Raw: "0", Shown: "FALSE"}, text("late")),
			record(6, "cy@example.test", "125", "12", "45000", cell.Cell{Kind: cell.Error, Raw: "#REF!", Shown: "#REF!"}),
			record(8, "dee@example.test", "126", "13", "45001", cell.Cell{Kind: cell.Uncomputed}),
			cell.Record{Row: 9},
		),
		Rows: each(
			result.Row{Row: 4, Client: 1, Status: result.Done, ClientID: "c-1", ClaimIDs: []string{"k-1", "k-2"}, URL: "https://go.example.test/1"},
			result.Row{Row: 5, Client: 2, Status: result.Failed, ClientID: "c-2", FailedStep: "activity/details@client", Error: "the service answered 422", Advice: "correct the row and rerun"},
			result.Row{Row: 6, Client: 3, Status: result.Invalid, Error: "Opt in is an error value", Advice: "correct the cell"},
			result.Row{Row: 8, Client: 4, Status: result.Uncertain, FailedStep: "client", Error: "no answer", Advice: "settle the step"},
			result.Row{Row: 9, Status: result.Skipped},
		),
		Steps: each(
			steps(1, "ann@example.test", "client", "done", "c-1", 201),
			steps(2, "ann@example.test", "claim/loan/A1", "done", "k-1", 201),
			steps(3, "bob@example.test", "activity/details@client", "refused", "", 422),
			result.Step{Number: 4, ClientKey: "dee@example.test", Step: "client", State: "planned"},
		),
		Problems: problem.List{
			problem.Problem{Where: problem.Where{Sheet: "Leads", Cell: "E6", Row: 6}, Code: "error-value", Message: "Opt in is an error value; expected yes or no", Hint: "mend the formula", Seen: "#REF!"},
		},
		Summary: result.Summary{Run: "5b1c7b0e-6c3f-4d2e-9d8a-2f1f6f3c9a10", Environment: "uat", WithoutLink: 1, Seconds: 83.4, Results: "leads.results.xlsx",
			Rows:     result.Counts{Total: 5, Done: 1, Failed: 1, Invalid: 1, Uncertain: 1, Skipped: 1},
			Clients:  result.Counts{Total: 4, Done: 1, Failed: 1, Invalid: 1, Uncertain: 1},
			Requests: result.Requests{Client: 3, Claim: 1, Activity: 1, Link: 1, Lookup: 4, Templates: 1}},
		Facts: []reports.Fact{{Label: "Mapping", Text: "nightly-loans (mapping.yaml)"}, {Label: "Input", Text: "leads.xlsx"},
			{Label: "Started (UTC)", Text: "2026-11-20 02:00:00"}},
		ClientIDHeader: "contactId",
		Binding:        map[string]string{"claimsheet.ledger": "L1", "claimsheet.environment": "https://uat.example.test", "claimsheet.input": ""},
		Notice:         "Sandbox: nothing was sent to a real service.",
	}
}

// plan is the dry run of loans; one of its steps was done before.
func plan() reports.Workbook {
	call := func(client int, key, step, kind, title, state string) result.Step {
		return result.Step{Client: client, ClientKey: key, Step: step, Kind: kind, Title: title, State: state}
	}
	b := loans()
	b.Summary.DryRun = true
	b.Steps = each(
		call(1, "ann@example.test", "client", "client", "client", "planned"),
		call(1, "ann@example.test", "claim/loan/A1", "claim", "loan", "planned"),
		call(1, "ann@example.test", "activity/details@client", "activity", "Your details", "planned"),
		call(1, "ann@example.test", "activity/terms@loan/A1", "activity", "Agreement details", "planned"),
		call(1, "ann@example.test", "link", "link", "magic link", "planned"),
		call(2, "bob@example.test", "client", "client", "client", "done"),
		call(2, "bob@example.test", "claim/loan/B7", "claim", "loan", "planned"),
		call(4, "dee@example.test", "client", "client", "client", "planned"),
	)
	return b
}

func writeWorkbook(path string, b reports.Workbook) (reports.Placement, error) {
	return reports.Placement{Path: path}.Write(noted(b))
}

// noted is a workbook whose records were noted, as a run does in its first pass.
func noted(b reports.Workbook) reports.Workbook {
	preview := new(reports.Preview)
	if b.Preview != nil {
		preview.Own = b.Preview.Own
	}
	for record, err := range b.Records {
		if err == nil {
			preview.Note(record)
		}
	}
	b.Preview = preview
	return b
}

// written writes b into a new folder and opens the file.
func written(t *testing.T, b reports.Workbook) (string, *excelize.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "leads.results.xlsx")
	must(writeWorkbook(path, b))(t)
	return path, open(t, path)
}

func open(t *testing.T, path string) *excelize.File {
	t.Helper()
	f := must(excelize.OpenFile(path))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

// dump is all sheets as text: a cell's stored value with its type and format.
func dump(t *testing.T, f *excelize.File) string {
	t.Helper()
	var b strings.Builder
	for _, sheet := range f.GetSheetList() {
		fmt.Fprintf(&b, "== %s\n", sheet)
		rows := must(f.GetRows(sheet, excelize.Options{RawCellValue: true}))(t)
		for r, row := range rows {
			for c, value := range row {
				if value != "" {
					ref, _ := excelize.CoordinatesToCellName(c+1, r+1)
					fmt.Fprintf(&b, "%s\t%s\t%s\n", ref, kind(t, f, sheet, ref), value)
				}
			}
		}
	}
	return b.String()
}

// kind is a cell's type and number format.
func kind(t *testing.T, f *excelize.File, sheet, ref string) string {
	t.Helper()
	typ := must(f.GetCellType(sheet, ref))(t)
	name := map[excelize.CellType]string{excelize.CellTypeUnset: "number", excelize.CellTypeBool: "bool",
		excelize.CellTypeError: "error", excelize.CellTypeInlineString: "text"}[typ]
	style := styleOf(t, f, sheet, ref)
	if style.CustomNumFmt != nil {
		return name + " " + *style.CustomNumFmt
	}
	if style.NumFmt != 0 {
		return fmt.Sprintf("%s #%d", name, style.NumFmt)
	}
	return name
}

// comments are those of the sheet Results, each behind its cell.
func comments(t *testing.T, f *excelize.File) (all []string) {
	t.Helper()
	for _, c := range must(f.GetComments("Results"))(t) {
		all = append(all, c.Cell+": "+c.Text)
	}
	return all
}

// styleOf is the style of a cell.
func styleOf(t *testing.T, f *excelize.File, sheet, ref string) *excelize.Style {
	t.Helper()
	return must(f.GetStyle(must(f.GetCellStyle(sheet, ref))(t)))(t)
}

// golden compares with a file of testdata, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		noError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want := must(os.ReadFile(path))(t)
	same(t, path, string(want), got)
}

func TestWorkbook(t *testing.T) {
	t.Parallel()
	t.Run("results", func(t *testing.T) {
		_, f := written(t, loans())
		golden(t, "results.golden", dump(t, f))
	})
	t.Run("plan", func(t *testing.T) {
		_, f := written(t, plan())
		golden(t, "plan.golden", dump(t, f))
		same(t, "comments", []string{"E4: Opt in is an error value; expected yes or no\nmend the formula"}, comments(t, f))
	})
	t.Run("contacts", func(t *testing.T) {
		b := sheetOf(cell.Cell{})
		b.Contacts, b.Rows = true, each(result.Row{Row: 2, Contacts: []string{"partner: p-1", "broker: p-2"}})
		_, f := written(t, b)
		shown := must(f.GetRows("Results"))(t)
		same(t, "the columns beside the url", []string{"redirectUrl", "contacts", "Failed step"}, shown[0][3:6])
		same(t, "the contacts", "partner: p-1, broker: p-2", shown[1][4])
	})
	t.Run("header alone", func(t *testing.T) {
		_, f := written(t, sheetOf())
		golden(t, "empty.golden", dump(t, f))
	})
	t.Run("list", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "list.xlsx")
		noError(t, reports.WriteList(path, "Templates", []string{"Template", "Type"}, [][]string{{"Your details", "=1+1"}, {"", "Date"}}))
		same(t, "list", "== Templates\nA1\ttext\tTemplate\nB1\ttext\tType\nA2\ttext\tYour details\nB2\ttext\t=1+1\nB3\ttext\tDate\n", dump(t, open(t, path)))
		if reports.WriteList(filepath.Join(path, "x.xlsx"), "T", []string{"A"}, nil) == nil {
			t.Error("a workbook was written below a file")
		}
	})
}
