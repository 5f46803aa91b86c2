package cli_test

import (
	"encoding/json"
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

// countsRows have two clients who are usable, one of them with two rows, one whose rows
// disagree, and one with a cell that cannot be read.
var countsRows = [][]string{{"Lead no", "E-mail", "Surname"}, {"1", "ann@example.com", "Archer"}, {"1", "ann@example.com", "Archer"}, {"2", "bob@example.com", "Brown"}, {"2", "bob@example.com", "Baker"},
	{"3", "x", "Cole"}, {"4", "dan@example.com", "Dürer"}}

func separated(rows [][]string, by string) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.Join(row, by) + "\n")
	}
	return b.String()
}

// countsBook writes a workbook with the rows, some of whose cells are changed then.
func countsBook(t *testing.T, path string, change func(f *excelize.File)) {
	t.Helper()
	f := excelize.NewFile()
	must(t, f.SetSheetName("Sheet1", "Leads"))
	for i, row := range countsRows {
		at, _ := excelize.CoordinatesToCellName(1, i+1)
		must(t, f.SetSheetRow("Leads", at, &row))
	}
	change(f)
	must(t, f.SaveAs(path))
	must(t, f.Close())
}

// What the page counts is what check and a dry run count, whatever the sheet is like.
func TestStudioCounts(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	write1252 := func(t *testing.T, path string) {
		data, err := charmap.Windows1252.NewEncoder().String(separated(countsRows, ","))
		must(t, err)
		write(t, path, data)
	}
	book := func(change func(t *testing.T, f *excelize.File)) func(*testing.T, string) {
		return func(t *testing.T, path string) { countsBook(t, path, func(f *excelize.File) { change(t, f) }) }
	}
	for name, c := range map[string]struct {
		file, mapping                           string // the mapping's other lines
		make                                    func(t *testing.T, path string)
		rows, usable, trouble, skipped, clients int
	}{
		"semicolons":   {"leads.csv", "", func(t *testing.T, path string) { write(t, path, separated(countsRows, ";")) }, 6, 3, 3, 0, 4},
		"windows-1252": {"leads.csv", "sheet: {encoding: windows-1252}\n", write1252, 6, 3, 3, 0, 4},
		"empty lines": {"leads.csv", "", func(t *testing.T, path string) {
			write(t, path, strings.Replace(separated(countsRows, ","), "\n2,bob", "\n\n,,\n \n2,bob", 1)) // a cell with a blank makes a row, which is skipped
		}, 7, 3, 3, 1, 4},
		"headers only": {"leads.csv", "", func(t *testing.T, path string) { write(t, path, separated(countsRows[:1], ",")) }, 0, 0, 0, 0, 0},
		"a header with a line break": {"leads.csv", "", func(t *testing.T, path string) {
			write(t, path, strings.Replace(separated(countsRows, ","), "Lead no", "\"Lead\nno\"", 1))
		}, 6, 3, 3, 0, 4},
		"skipped rows": {"leads.csv", "sheet: {when: 'col(\"Lead no\") != \"4\"'}\n", func(t *testing.T, path string) { write(t, path, separated(countsRows, ",")) }, 6, 2, 3, 1, 3},
		"a workbook":   {"leads.xlsx", "", book(func(*testing.T, *excelize.File) {}), 6, 3, 3, 0, 4},
		"hidden rows":  {"leads.xlsx", "", book(func(t *testing.T, f *excelize.File) { must(t, f.SetRowVisible("Leads", 2, false)) }), 6, 3, 3, 0, 4},
		"hidden rows that are left out": {"leads.xlsx", "sheet: {hidden_rows: skip}\n", book(func(t *testing.T, f *excelize.File) {
			must(t, f.SetRowVisible("Leads", 6, false))
		}), 6, 3, 2, 1, 3},
		"empty rows and merged cells": {"leads.xlsx", "", book(func(t *testing.T, f *excelize.File) {
			must(t, f.InsertRows("Leads", 3, 2))
			must(t, f.MergeCell("Leads", "C2", "C3"))
		}), 6, 3, 3, 0, 4},
		"the second of several sheets": {"leads.xlsx", "sheet: {name: Leads}\n", book(func(t *testing.T, f *excelize.File) {
			_, err := f.NewSheet("First")
			must(t, err)
			must(t, f.SetSheetRow("First", "A1", &[]string{"a", "b"}))
			must(t, f.MoveSheet("First", "Leads"))
		}), 6, 3, 3, 0, 4},
		"a header that is there twice": {"leads.xlsx", "", book(func(t *testing.T, f *excelize.File) {
			must(t, f.SetSheetRow("Leads", "D1", &[]string{"Notes", "Notes"}))
			must(t, f.SetSheetRow("Leads", "D2", &[]string{"x", "y"}))
		}), 6, 3, 3, 0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			mapping, sheet := filepath.Join(dir, "mapping.yaml"), filepath.Join(dir, c.file)
			write(t, mapping, countsMapping+c.mapping)
			c.make(t, sheet)
			p := openStudio(t, "-m", mapping, sheet)
			st := p.until("a judgement", func(st studioState) bool { return st.Judgement.Complete })
			j := st.Judgement
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
	locked := filepath.Join(dir, "locked.xlsx")
	f := excelize.NewFile()
	must(t, f.SetSheetRow("Sheet1", "A1", &[]string{"Lead no"}))
	must(t, f.SaveAs(locked, excelize.Options{Password: "open"}))
	must(t, f.Close())
	empty := filepath.Join(dir, "empty.xlsx")
	f = excelize.NewFile()
	must(t, f.SaveAs(empty))
	must(t, f.Close())
	old, nothing := filepath.Join(dir, "old.xls"), filepath.Join(dir, "nothing.csv")
	must(t, os.WriteFile(old, append([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), make([]byte, 2000)...), 0o644))
	must(t, os.WriteFile(nothing, nil, 0o644))
	mapping := filepath.Join(dir, "mapping.yaml")
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
