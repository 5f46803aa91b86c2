package samples

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// checkInvalid checks that a results workbook names every invalid cell.
func checkInvalid(t *testing.T, path string, want expected) {
	t.Helper()
	if len(want.InvalidCells) == 0 {
		return // and so there is no sheet Problems
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(want.InvalidCells)), places(readSheet(t, path, "Problems"))); diff != "" {
		t.Errorf("cells named in Problems (-want +got):\n%s", diff)
	}
}

var claimKey = regexp.MustCompile(`claim [^ ,]+`)

// checkFlow checks the order of each client's calls in a plan workbook.
func checkFlow(t *testing.T, path string, want expected) {
	t.Helper()
	rows := readSheet(t, path, "Plan")
	at, flows := slices.Index(rows[0], "In this order"), map[string]int{}
	for _, row := range rows[1 : 1+want.Clients.Done] {
		flows[claimKey.ReplaceAllString(row[at], "claim")]++
	}
	if diff := cmp.Diff(want.Flows, flows); diff != "" {
		t.Errorf("calls of a client, and of how many clients (-want +got):\n%s", diff)
	}
}

var place = regexp.MustCompile(`\bResults!([A-Z]+)([0-9]+) \(source row ([0-9]+)\)`)

// places are the cells of the sheet Leads that rows name. A sample's rows are in Results where they are in its sheet.
func places(rows [][]string) []string {
	found := map[string]bool{}
	for _, match := range place.FindAllStringSubmatch(fmt.Sprint(rows), -1) {
		if match[2] == match[3] {
			found["Leads!"+match[1]+match[2]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// readSheet is a sheet's cells as a person reads them.
func readSheet(t *testing.T, path, sheet string) [][]string {
	t.Helper()
	f, err := excelize.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := f.GetRows(sheet)
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	return rows
}
