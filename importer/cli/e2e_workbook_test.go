package cli_test

import (
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
)

// record is a row of a workbook by its headers.
type record map[string]string

// workbook reads a sheet of the workbook that a run wrote.
func (s *scene) workbook(file, sheet string) []record {
	s.t.Helper()
	return readSheet(s.t, s.path(file), sheet)
}

func (s *scene) results() []record { return s.workbook("leads.results.xlsx", "Results") }
func (s *scene) steps() []record   { return s.workbook("leads.results.xlsx", "Steps") }

func readSheet(t *testing.T, path, sheet string) []record {
	t.Helper()
	f, err := excelize.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := f.GetRows(sheet)
	if err != nil {
		t.Fatal(err)
	}
	var records []record
	for _, row := range rows[1:] {
		r := record{}
		for i, name := range rows[0] {
			if i < len(row) {
				r[name] = row[i]
			}
		}
		records = append(records, r)
	}
	return records
}

// column is one column of the rows.
func column(records []record, name string) []string {
	var list []string
	for _, r := range records {
		list = append(list, r[name])
	}
	return list
}

// said is what a results workbook of the mapping stepThree says, by the
// oracle's names of steps.
func (s *scene) said() map[string]apitest.Said {
	s.t.Helper()
	urls := map[string]string{}
	for _, r := range s.results() {
		urls[r["E-mail"]] = r["redirectUrl"]
	}
	said := map[string]apitest.Said{}
	for _, r := range s.steps() {
		key := r["Client key"]
		word := apitest.Said{State: stateWord(s.t, r["State"]), ID: r["Id"]}
		kind, rest, _ := strings.Cut(r["Step"], "/")
		switch kind {
		case "link":
			word.URL = urls[key]
			said["link "+key] = word
		case "claim":
			said["claim "+key+"/Loan "+strings.TrimPrefix(rest, "loan/")] = word
		case "activity":
			name, on, _ := strings.Cut(rest, "@")
			scope := ""
			if on != "client" {
				scope = "/Loan " + strings.TrimPrefix(on, "loan/")
			}
			said["activity "+key+scope+" "+name] = word
		default:
			said["client "+key] = word
		}
	}
	return said
}

func stateWord(t *testing.T, state string) apitest.State {
	t.Helper()
	words := map[string]apitest.State{
		"done": apitest.Done, "failed": apitest.Failed, "not sent": apitest.Failed, "uncertain": apitest.Uncertain,
		"parked": apitest.Uncertain, "planned": apitest.Pending, "": apitest.Pending,
	}
	word, known := words[state]
	if !known {
		t.Fatalf("the sheet Steps has the state %q, which is none of the design's", state)
	}
	return word
}

// checkPromise compares the workbook with what was created: nothing twice, no
// id lost, none wrong, nothing called failed that was created.
func (s *scene) checkPromise() {
	s.t.Helper()
	if v := s.oracle.Check(s.said()); !v.OK() {
		s.t.Errorf("the workbook and the service disagree: %s", v)
	}
}
