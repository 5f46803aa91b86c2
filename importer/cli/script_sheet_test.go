package cli_test

import (
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/xuri/excelize/v2"
)

// encryptWorkbook saves a workbook with a password.
func encryptWorkbook(ts *testscript.TestScript, neg bool, args []string) {
	wants(ts, neg, args, 2, 2)
	f, err := excelize.OpenFile(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	ts.Check(f.SaveAs(ts.MkAbs(args[0]), excelize.Options{Password: args[1]}))
}

// hideRows hides rows of a workbook's first sheet.
func hideRows(ts *testscript.TestScript, neg bool, args []string) {
	wants(ts, neg, args, 2, many)
	f, err := excelize.OpenFile(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	for _, arg := range args[1:] {
		row, err := strconv.Atoi(arg)
		ts.Check(err)
		ts.Check(f.SetRowVisible(f.GetSheetName(0), row, false))
	}
	ts.Check(f.Save())
}

// mergeCells merges cells of a workbook's first sheet, such as B2:B3.
func mergeCells(ts *testscript.TestScript, neg bool, args []string) {
	wants(ts, neg, args, 2, many)
	f, err := excelize.OpenFile(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	for _, area := range args[1:] {
		from, to, _ := strings.Cut(area, ":")
		ts.Check(f.MergeCell(f.GetSheetName(0), from, to))
	}
	ts.Check(f.Save())
}
