package samples

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// checkWorkbook checks what a user finds in a results workbook: every source
// row as it was, in its order; ids and a link beside each row that is done;
// as many clients, contacts and claims as were made; and every invalid cell named.
// good is the status of the rows that went well.
func checkWorkbook(t *testing.T, folder, path, good string, want expected) {
	t.Helper()
	source := readSource(t, filepath.Join(folder, sheetOf(folder)))
	results := readSheet(t, path, "Results")
	if len(results) != len(source) {
		t.Fatalf("Results has %d rows, the sheet has %d", len(results), len(source))
	}
	columns, width := results[0], len(source[0])
	statuses, clients, contacts, claims := map[string]int{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range source {
		if diff := cmp.Diff(fit(source[i], width), fit(results[i], width)); diff != "" {
			t.Errorf("row %d is not the source's (-source +results):\n%s", i+1, diff)
		}
		if i == 0 {
			continue
		}
		cell := func(header string) string {
			if at := slices.Index(columns, header); at >= 0 && at < len(results[i]) {
				return results[i][at]
			}
			return ""
		}
		if got := cell("Source row"); got != strconv.Itoa(i+1) {
			t.Errorf("row %d: Source row is %q", i+1, got)
		}
		status := cell("Import status")
		statuses[status]++
		if status != good {
			continue
		}
		client, claim := cell("clientId")+cell("contactId"), cell("claimIds")
		if client == "" || cell("redirectUrl") == "" || (claim == "") != (want.Requests.Claim == 0) {
			t.Errorf("row %d is %s without an id or a link", i+1, status)
		}
		clients[client] = true
		for _, id := range strings.Fields(strings.ReplaceAll(claim, ",", " ")) {
			claims[id] = true
		}
		for _, name := range strings.FieldsFunc(cell("contacts"), func(r rune) bool { return r == ',' }) {
			_, id, _ := strings.Cut(name, ": ")
			contacts[id] = true
		}
	}
	wantStatuses := map[string]int{good: want.Rows.Done, "invalid": want.Rows.Invalid, "not started": want.Rows.NotStarted}
	maps.DeleteFunc(wantStatuses, func(_ string, rows int) bool { return rows == 0 })
	if diff := cmp.Diff(wantStatuses, statuses); diff != "" {
		t.Errorf("Import status (-want +got):\n%s", diff)
	}
	if len(clients) != want.Clients.Done || len(claims) != want.Requests.Claim {
		t.Errorf("%d client and %d claim ids, want %d and %d",
			len(clients), len(claims), want.Clients.Done, want.Requests.Claim)
	}
	if good == "done" && len(clients)+len(contacts) != want.Requests.Client {
		t.Errorf("%d client and %d contact ids, want %d together", len(clients), len(contacts), want.Requests.Client)
	}
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

// readSource is the cells of a sample's sheet as a person reads them.
func readSource(t *testing.T, path string) [][]string {
	t.Helper()
	if filepath.Ext(path) == ".xlsx" {
		return readSheet(t, path, "Leads")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
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

// fit cuts or pads a row to n cells: the reader leaves empty cells at the end out.
func fit(row []string, n int) []string {
	return slices.Concat(row, make([]string, n))[:n]
}
