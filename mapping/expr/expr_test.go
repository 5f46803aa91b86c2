package expr_test

import (
	"slices"
	"strings"
	"testing"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/expr"
)

// wrong is what Compile says of an expression that cannot be used.
type wrong struct {
	offset        int
	message, hint string
}

// compile compiles an expression against a header; No, A and D where none is given.
func compile(source string, condition bool, header ...string) (e *expr.Expression, problems []wrong) {
	if header == nil {
		header = []string{"No", "A", "D"}
	}
	e = expr.Compile(source, expr.Options{
		Condition: condition,
		Cells:     convert.Converter{Numbers: convert.Numbers{Decimal: ".", Group: ","}},
		Column: func(name string, _ int) (int, bool) {
			i := slices.Index(header, name)
			return i, i >= 0
		},
		Wrong: func(offset int, message, hint string) { problems = append(problems, wrong{offset, message, hint}) },
	})
	return e, problems
}

func mustCompile(t *testing.T, source string, condition bool, header ...string) *expr.Expression {
	t.Helper()
	e, problems := compile(source, condition, header...)
	if len(problems) > 0 {
		t.Fatalf("%s: %v", source, problems)
	}
	return e
}

// row is a row of texts.
func row(texts ...string) (r cell.Record) {
	for _, s := range texts {
		r.Cells = append(r.Cells, textCell(s))
	}
	return r
}

func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct {
		source    string
		condition bool
		offset    int
		message   string
		hint      string
	}{
		{"1 +", false, 2, "ends before it is complete", "close every bracket"},
		{`has(“A”)`, false, 4, "cannot be used", "typographic quotes"},
		{`col("A")`, true, 0, "expected bool", "col("},
		{`=UPPER(I5)`, false, 0, "begins with =, as a spreadsheet's formula", "leave the = out"},
		{`col("A") = "x"`, true, 9, "one = does not compare", "write == to compare"},
		{`has(Agreement No 1)`, true, 4, "the column's name has no quotes", `write has("Agreement No 1")`},
		{`has("A") && num(Größe) > 1`, true, 16, "the column's name has no quotes", `write num("Größe")`},
		{"now()", false, 0, "unknown name now", "col("},
		{"keys({})", false, 0, "unknown name keys", "col("},
		{strings.Repeat("(", 2_001), false, 0, "longer than 2000 bytes", "column of the sheet"},
	} {
		_, problems := compile(c.source, c.condition)
		if len(problems) != 1 {
			t.Errorf("%.40s: %v", c.source, problems)
			continue
		}
		p := problems[0]
		if p.offset != c.offset || !strings.Contains(p.message, c.message) || !strings.Contains(p.hint, c.hint) {
			t.Errorf("%.40s: %+v", c.source, p)
		}
	}
}

func TestColumns(t *testing.T) {
	type call struct {
		name   string
		offset int
	}
	var asked []call
	e := expr.Compile(`col("D") + col("A") + col("X") + col("A")`, expr.Options{Column: func(name string, offset int) (int, bool) {
		asked = append(asked, call{name, offset})
		i := slices.Index([]string{"No", "A", "D"}, name)
		return i, i >= 0
	}})
	if want := []call{{"D", 4}, {"A", 15}, {"X", 26}, {"A", 37}}; !slices.Equal(asked, want) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
	if columns, names := e.Columns(); !slices.Equal(columns, []int{1, 2}) || !slices.Equal(names, []string{"A", "D"}) {
		t.Errorf("the columns %v, the names %v", columns, names)
	}
}

func TestHolds(t *testing.T) {
	mustCompile(t, `col("Note") == "see date(s)" && has("Start date(UK)")`, true, "Note", "Start date(UK)") // texts like calls
	var none *expr.Expression
	if yes, failed := none.Holds(row()); !yes || failed != nil {
		t.Errorf("no condition: %t, %v", yes, failed)
	}
	for source, want := range map[string]bool{
		`has("A")`: true, `has("D")`: false, `num("No") > 1000`: true, `col("A") == "one"`: true, `col("D") == ""`: true,
	} {
		yes, failed := mustCompile(t, source, true).Holds(row("1,234", "one", " "))
		if failed != nil || yes != want {
			t.Errorf("%s: %t, %v", source, yes, failed)
		}
	}
	_, failed := mustCompile(t, `num("A") > 1`, true).Holds(row("1", "one"))
	if want := "is used in the expression in line 0 of the mapping, which fails: “A” is not a number; expected one written like 1,234.5"; failed == nil || failed.Message != want {
		t.Errorf("%v, want %s", failed, want)
	}
}

func TestValue(t *testing.T) {
	for _, c := range []struct {
		source string
		want   cell.Cell
	}{
		{`nil`, cell.Cell{}},
		{`has("A")`, cell.Cell{Kind: cell.Bool, Raw: "1", Shown: "TRUE"}},
		{`len(col("A"))`, cell.Cell{Kind: cell.Number, Raw: "3", Shown: "3"}},
		{`num("No") / 2`, cell.Cell{Kind: cell.Number, Raw: "0.5", Shown: "0.5"}},
		{`col("A")`, cell.Cell{Kind: cell.Text, Raw: "one", Shown: "one"}},
		{`date("D")`, cell.Cell{Kind: cell.Text, Raw: "2026-01-02", Shown: "2026-01-02"}},
		{`date("D").Add(duration("90m"))`, cell.Cell{Kind: cell.Text, Raw: "2026-01-02T01:30:00", Shown: "2026-01-02T01:30:00"}}, // in the sheet's zone
		{`date("D").In(timezone("America/New_York"))`, cell.Cell{Kind: cell.Text, Raw: "2026-01-01T19:00:00-05:00", Shown: "2026-01-01T19:00:00-05:00"}},
	} {
		e := mustCompile(t, c.source, false)
		got, failed := e.Value(row("1", "one", "2026-01-02"))
		if failed != nil || got != c.want {
			t.Errorf("%s: %+v, %v", c.source, got, failed)
		}
	}
	for source, want := range map[string]string{
		`1 / num("No")`: "gives no number", `[col("A")]`: "gives a []interface {}", `int(col("A"))`: "its cells do not fit", `date("A")`: "“A” is not a date",
		`col("A" + "B")`: "does not name a column in quotes", `let f = col; f("A")`: "does not name a column in quotes",
	} {
		e := mustCompile(t, source, false)
		if _, failed := e.Value(row("0", "secret")); failed == nil || !strings.Contains(failed.Message, want) || strings.Contains(failed.Message+failed.Hint, "secret") {
			t.Errorf("%s: %+v", source, failed)
		}
	}
}
