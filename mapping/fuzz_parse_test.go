package mapping_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// FuzzParse: whatever the file holds, reading, binding and planning by it does
// not panic, and every problem stands in a line that the file has.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/lang/*/*.yaml", "../samples/*/mapping.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			f.Fatalf("no seeds: %v", err)
		}
		for _, file := range found {
			f.Add(mustRead(f, file))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problems := mapping.Parse("m.yaml", data)
		within(t, data, problems)
		_, more := mapping.Bind(m, nil, nil, runDate)
		within(t, data, more)
		sheet, records := leads("No | E-mail | A", "1 | a@b.example | x", "1 | | y")
		if b, more := mapping.Bind(m, &sheet, nil, runDate); len(problems)+len(more) == 0 {
			planAll(b, records)
		}
	})
}

// within fails when a problem stands outside the file. YAML ends a line at
// more characters than an editor may.
func within(t *testing.T, data []byte, problems problem.List) {
	t.Helper()
	lines := 1 + strings.Count(string(data), "\n") + strings.Count(string(data), "\r") +
		strings.Count(string(data), "\u0085") + strings.Count(string(data), "\u2028") + strings.Count(string(data), "\u2029")
	for _, p := range problems {
		if p.Where.Line < 1 || p.Where.Line > lines || p.Where.Column < 1 || p.Code == "" || p.Message == "" {
			t.Fatalf("the file has %d lines: %+v", lines, p)
		}
	}
}

// FuzzExpression: any expression is compiled or refused, as a value and as a condition; it gives
// the same each time and never quotes a cell in a message. A condition that fails makes the
// row invalid, never left out in silence.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		`col("A")`, `num("A") * 2`, `date("A") < date("No")`, `has("A") ? "x" : nil`, `[1, 2][5]`, `int(col("A")) > 0`, `"A" | col()`, `let f = col; f("A")`,
		`$env`, `map([1], #)`, `col("A") matches "["`, `1 / 0`, `"\n"`, `col('A') in ["x"]`, `{"a": 1}.a`, `fromJSON(col("A"))`, `now()`, `1..3`, `true`,
	} {
		f.Add(seed)
	}
	const secret = "s3cr3tcell"
	f.Fuzz(func(t *testing.T, expression string) {
		if !utf8.ValidString(expression) || len(expression) > 200 || strings.TrimSpace(expression) == "" {
			t.Skip("YAML is UTF-8; a short one shows as much")
		}
		quoted := strconv.QuoteToASCII(expression)
		sheet := cell.Sheet{Name: "Leads", HeaderRow: 1, Header: []string{"No", "A"}}
		record := cell.Record{Row: 2, Cells: []cell.Cell{text("1"), text(secret)}}
		for _, source := range []string{fields("a: {expr: " + quoted + "}"), "sheet: {when: " + quoted + "}\n" + fields("a: A")} {
			m, problems := mapping.Parse("m.yaml", []byte(source))
			b, more := mapping.Bind(m, &sheet, nil, runDate)
			if len(problems)+len(more) > 0 {
				continue
			}
			row, again := b.Convert(record), b.Convert(record)
			if row.Skipped != again.Skipped || len(row.Problems) != len(again.Problems) || row.Skipped != "" && len(row.Problems) > 0 {
				t.Fatalf("evaluated twice: %+v, %+v", row, again)
			}
			people := b.ConvertPeople(record)
			if d := cmp.Diff(b.People(row), b.People(people)); d != "" || people.Client != row.Client || len(people.Notes) != len(row.Notes) {
				t.Fatalf("whom the row speaks of (-converted +people): %s", d)
			}
			for _, p := range row.Problems {
				if strings.Contains(p.Error()+p.Hint, secret) && !strings.Contains(expression, secret) {
					t.Fatalf("the cell is quoted: %s", p.Error())
				}
			}
		}
	})
}
