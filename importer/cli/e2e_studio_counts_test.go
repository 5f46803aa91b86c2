package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"
)

const countsMapping = `name: spring
api: v2
client:
  key: Lead no
  existing: create
  fields:
    email: {column: E-mail, type: Email}
    lastName: Surname
`

// counts have two clients who are usable, one of them with two rows, one whose rows
// disagree, and one with a cell that cannot be read.
const counts = "Lead no,E-mail,Surname\n1,ann@example.com,Archer\n1,ann@example.com,Archer\n2,bob@example.com,Brown\n2,bob@example.com,Baker\n3,x,Cole\n4,dan@example.com,Dürer\n"

// What the page counts is what check and a dry run count, whatever the sheet is like.
func TestStudioCounts(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	german, err := charmap.Windows1252.NewEncoder().String(counts)
	must(t, err)
	book := func(*excelize.File) error { return nil }
	for name, c := range map[string]struct {
		mapping, text                           string                     // the mapping's other lines, and the sheet, else a workbook
		change                                  func(*excelize.File) error // of the workbook
		rows, usable, trouble, skipped, clients int
	}{
		"semicolons":                 {"", strings.ReplaceAll(counts, ",", ";"), nil, 6, 3, 3, 0, 4},
		"windows-1252":               {"sheet: {encoding: windows-1252}\n", german, nil, 6, 3, 3, 0, 4},
		"empty lines":                {"", strings.Replace(counts, "\n2,bob", "\n\n,,\n \n2,bob", 1), nil, 7, 3, 3, 1, 4}, // a cell with a blank makes a row, which is skipped
		"headers only":               {"", counts[:strings.Index(counts, "\n")+1], nil, 0, 0, 0, 0, 0},
		"a header with a line break": {"", strings.Replace(counts, "Lead no", "\"Lead\nno\"", 1), nil, 6, 3, 3, 0, 4},
		"skipped rows":               {"sheet: {when: 'col(\"Lead no\") != \"4\"'}\n", counts, nil, 6, 2, 3, 1, 3},
		"a workbook":                 {"", "", book, 6, 3, 3, 0, 4},
		"hidden rows":                {"", "", func(f *excelize.File) error { return f.SetRowVisible("Leads", 2, false) }, 6, 3, 3, 0, 4},
		"hidden rows, left out":      {"sheet: {hidden_rows: skip}\n", "", func(f *excelize.File) error { return f.SetRowVisible("Leads", 6, false) }, 6, 3, 2, 1, 3},
		"empty rows, merged cells": {"", "", func(f *excelize.File) error {
			return errors.Join(f.InsertRows("Leads", 3, 2), f.MergeCell("Leads", "C2", "C3"))
		}, 6, 3, 3, 0, 4},
		"the second of several sheets": {"sheet: {name: Leads}\n", "", func(f *excelize.File) error {
			_, err := f.NewSheet("First")
			return errors.Join(err, f.SetSheetRow("First", "A1", &[]string{"a", "b"}), f.MoveSheet("First", "Leads"))
		}, 6, 3, 3, 0, 4},
		"a header that is there twice": {"", "", func(f *excelize.File) error {
			return errors.Join(f.SetSheetRow("Leads", "D1", &[]string{"Notes", "Notes"}), f.SetSheetRow("Leads", "D2", &[]string{"x", "y"}))
		}, 6, 3, 3, 0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			mapping, sheet := filepath.Join(dir, "mapping.yaml"), filepath.Join(dir, "leads.csv")
			write(t, mapping, countsMapping+c.mapping)
			write(t, sheet, c.text)
			if c.change != nil {
				sheet = filepath.Join(dir, "leads.xlsx")
				f := excelize.NewFile()
				must(t, f.SetSheetName("Sheet1", "Leads"))
				for i, line := range strings.Split(strings.TrimSpace(counts), "\n") {
					row := strings.Split(line, ",")
					must(t, f.SetSheetRow("Leads", fmt.Sprint("A", i+1), &row))
				}
				must(t, c.change(f))
				must(t, f.SaveAs(sheet))
			}
			p := openStudio(t, "-m", mapping, sheet)
			j := p.until("a judgement", func(st studioState) bool { return st.Judgement.Complete }).Judgement
			if j.Rows != c.rows || j.Usable != c.usable || j.Errors != c.trouble || j.Skipped != c.skipped || j.Clients != c.clients {
				t.Errorf("the page counts %+v", j)
			}
			var check struct {
				Checked struct{ Rows, InvalidRows int }
			}
			must(t, json.Unmarshal([]byte(claimsheet(t, "check", "--json", "-m", mapping, sheet).out), &check))
			if check.Checked.Rows != j.Rows || check.Checked.InvalidRows != j.Errors {
				t.Errorf("check counts %+v, the page %+v", check.Checked, j)
			}
			dry := p.job("dry-run", 1).Job
			r, clients := dry.Summary.Rows, dry.Summary.Clients.Total
			if r.Total != j.Rows || r.Invalid != j.Errors || r.Skipped != j.Skipped || r.Planned != j.Usable || clients != j.Clients {
				t.Errorf("the dry run counts %+v and %d clients, the page %+v: %v", r, clients, j, dry.Problems)
			}
		})
	}
}

// A sheet that cannot be shown ends studio before it prints a link, and says what is
// wrong and what to do.
func TestStudioRefusesSheets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	locked, empty, old, nothing, mapping := filepath.Join(dir, "locked.xlsx"), filepath.Join(dir, "empty.xlsx"), filepath.Join(dir, "old.xls"), filepath.Join(dir, "nothing.csv"), filepath.Join(dir, "mapping.yaml")
	f := excelize.NewFile()
	must(t, f.SaveAs(empty))
	must(t, f.SetSheetRow("Sheet1", "A1", &[]string{"Lead no"}))
	must(t, f.SaveAs(locked, excelize.Options{Password: "open"}))
	write(t, old, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"+strings.Repeat("\x00", 2000))
	write(t, nothing, "")
	for path, want := range map[string]string{locked: "--password", empty: "[empty-sheet]", old: ".xlsx", nothing: "is empty"} {
		for _, text := range []string{"", countsMapping} {
			if path == locked && !*long {
				continue // to try passwords takes seconds
			}
			if write(t, mapping, text); text == "" {
				must(t, os.Remove(mapping))
			}
			got := claimsheet(t, "studio", "-m", mapping, path)
			if got.code != 2 || got.out != "" || !strings.Contains(got.err, want) {
				t.Errorf("%s: studio ends with %d: %s%s", filepath.Base(path), got.code, got.out, got.err)
			}
		}
	}
}
