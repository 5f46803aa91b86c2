package draft

import (
	"strings"
	"testing"

	"claimsheet/mapping/cell"
)

// sheetOf returns a sheet and its records from lines of cells, separated by |. A
// cell of digits is a number.
func sheetOf(lines ...string) (cell.Sheet, []cell.Record) {
	sheet := cell.Sheet{Name: "Leads", HeaderRow: 1}
	var records []cell.Record
	for i, line := range lines {
		record := cell.Record{Row: i + 1}
		for _, s := range strings.Split(line, "|") {
			s = strings.TrimSpace(s)
			c := cell.Cell{Kind: cell.Text, Raw: s, Shown: s}
			if s != "" && strings.Trim(s, "0123456789") == "" {
				c.Kind = cell.Number
			}
			record.Cells = append(record.Cells, c)
			if i == 0 {
				sheet.Header = append(sheet.Header, s)
			}
		}
		records = append(records, record)
	}
	return sheet, records[1:]
}

// The header is found below a title; everywhere else it stays where it is.
func TestLikelyHeader(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  int
	}{
		"title above":            {[]string{"Leads October", "Lead no | Name | Amount", "L1 | Ann | 5"}, 2},
		"title and a blank cell": {[]string{"Leads | October | | |", "as of today", "Lead no | Name | Amount | Town | Note", "L1 | Ann | 5 | York | x"}, 3},
		"no title":               {[]string{"Lead no | Name | Amount", "L1 | Ann | 5"}, 1},
		"half the headers":       {[]string{"Lead no | Name", "L1 | Ann | York | x"}, 1},
		"one column":             {[]string{"Lead no", "L1", "L2"}, 1},
		"a note beside":          {[]string{"Lead no", "L1 | a note", "L2"}, 1},
		"no header anywhere":     {[]string{"Leads", "L1 | 5 | 6", "L2 | 7 | 8"}, 1},
		"nothing below":          {[]string{"Leads"}, 1},
	} {
		sheet, records := sheetOf(c.lines...)
		if got := LikelyHeader(sheet, records); got != c.want {
			t.Errorf("%s: row %d, want %d", name, got, c.want)
		}
	}
}

// TestNamesMeanOneThing: whatever the order of its words, a name has one meaning.
func TestNamesMeanOneThing(t *testing.T) {
	t.Parallel()
	of := map[string]string{}
	for meaning, names := range synonyms {
		for _, name := range append(names, meaning) {
			if was, ok := of[inOrder(name)]; ok && was != meaning {
				t.Errorf("%q means both %q and %q", name, was, meaning)
			}
			of[inOrder(name)] = meaning
		}
	}
}
