package expr_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"claimsheet/importer/testform"
	"claimsheet/mapping/cell"
)

var updateDocs = flag.Bool("update-docs", false, "write the tables in docs/expressions.md again")

// shownRow is the row of the page: its header, and its cells.
var shownRow = []struct {
	header string
	cell   cell.Cell
}{
	{"First name", textCell("Ann")},
	{"Surname", textCell("O'Neill ")},
	{"Lenders", textCell("Lloyds; Barclays")},
	{"Amount", cell.Cell{Kind: cell.Number, Raw: "1250.5", Shown: "£1,250.50"}},
	{"Fee", textCell("1,000")},
	{"Signed", cell.Cell{Kind: cell.Date, Raw: "45809", Shown: "01/06/2025"}},
	{"Ended", textCell("2026-06-01")},
	{"Partner", cell.Cell{}},
}

func textCell(text string) cell.Cell { return cell.Cell{Kind: cell.Text, Raw: text, Shown: text} }

// example is one line of the page: an expression, and what it is good for.
type example struct{ expression, about string }

// shownExamples are the tables of the page.
var shownExamples = []struct {
	heading  string
	examples []example
}{
	{"The cells of the row", []example{
		{`col("First name")`, "the text as the sheet shows it, trimmed; empty for an empty cell"},
		{`num("Amount")`, "the number that the cell holds"},
		{`num("Fee")`, "a text is read by `sheet.numbers`; a cell without a number makes the row invalid"},
		{`date("Signed")`, "the day; a text must be written like 2026-06-01"},
		{`has("Partner")`, "whether the cell is filled"},
	}},
	{"Conditions", []example{
		{`col("First name") == "Ann"`, "`==` and `!=`; upper and lower case differ"},
		{`num("Amount") >= 1000`, "`<`, `<=`, `>`, `>=`; dates too"},
		{`has("Amount") && !has("Partner")`, "`&&` or `and`, `||` or `or`, `!` or `not`"},
		{`lower(col("First name")) in ["ann", "anna"]`, "one of a list"},
		{`col("Surname") startsWith "O'"`, "also `endsWith` and `contains`"},
		{`col("Surname") matches "^[A-Z]'"`, "a regular expression"},
		{`has("Partner") ? "joint" : "sole"`, "one of two values"},
	}},
	{"Texts", []example{
		{`col("First name") + " " + col("Surname")`, "one text behind the other"},
		{`upper(col("Surname"))`, "also `lower`, `trim`, `len`, `trimPrefix(text, beginning)` and `trimSuffix(text, end)`"},
		{`replace(col("Surname"), "'", "")`, "every occurrence"},
		{`split(col("Lenders"), "; ")[0]`, "the first part; `[1]` is the second, `[-1]` the last"},
	}},
	{"Numbers", []example{
		{`num("Amount") * 0.2`, "`+`, `-`, `*`, `/`, `%` (rest), `^` (power); sent with 15 digits, here as 250.1"},
		{`round(num("Amount") * 0.175 * 100) / 100`, "to two decimals; also `floor`, `ceil` and `abs`"},
		{`max(num("Amount"), num("Fee"))`, "also `min`, `mean`, `median` and, of a list, `sum`; `int` and `float` read a text, `string` makes one"},
	}},
	{"Dates", []example{
		{`date("Signed").Year()`, "also `.Month()`, `.Day()` and `.YearDay()`"},
		{`date("Signed").AddDate(0, 1, -1)`, "years, months and days later"},
		{`date("Signed").Format("02.01.2006")`, "as a text: 2 January 2006 stands for the parts"},
		{`int((date("Ended") - date("Signed")).Hours() / 24)`, "days between two dates; `<` compares them"},
	}},
	{"Lists", []example{
		{`count(split(col("Lenders"), "; "), # startsWith "L")`, "how many items fit; `#` is the item; also `any`, `all`, `none` and `one`"},
		{`join(filter(split(col("Lenders"), "; "), # != "Lloyds"), ", ")`, "the items that fit; also `sort`, `first`, `last`, `reverse`, `uniq` and `take(list, n)`"},
		{`find(split(col("Lenders"), "; "), # startsWith "B") ?? "none"`, "the first item that fits; `??` says what else"},
	}},
}

// neverShown are the functions of the library that nobody needs for a sheet. They work.
var neverShown = []string{"map", "reduce", "groupBy", "sortBy", "concat", "flatten", "repeat", "findIndex", "findLast", "findLastIndex", "type", "toJSON", "fromJSON", "toBase64", "fromBase64",
	"timezone", "get", "fromPairs", "splitAfter", "indexOf", "lastIndexOf", "hasPrefix", "hasSuffix", "duration", "bitand", "bitor", "bitxor", "bitnand", "bitshl", "bitshr", "bitushr", "bitnot"}

// TestReference compares the tables of docs/expressions.md with what the expressions give.
func TestReference(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	record := cell.Record{Row: 2}
	page.WriteString("\nThe examples use this row. Amount is a number, Signed a date, Partner is empty, and the others are texts.\n\n|")
	for _, c := range shownRow {
		record.Cells = append(record.Cells, c.cell)
		page.WriteString(" " + c.header + " |")
	}
	page.WriteString("\n|" + strings.Repeat("---|", len(shownRow)) + "\n|")
	for _, c := range shownRow {
		page.WriteString(" " + c.cell.Shown + " |")
	}
	page.WriteString("\n")
	for _, group := range shownExamples {
		fmt.Fprintf(&page, "\n## %s\n\n| expression | gives | |\n|---|---|---|\n", group.heading)
		for _, x := range group.examples {
			fmt.Fprintf(&page, "| `%s` | %s | %s |\n", inTable(x.expression), inTable(gives(t, x.expression, record)), inTable(x.about))
		}
	}
	fmt.Fprintf(&page, "\n## Functions that no example shows\n\n%s.\nThe [library](https://expr-lang.org/docs/language-definition) describes them.\n", code(neverShown))
	testform.Reference(t, "../../docs/expressions.md", *updateDocs, page.String())
}

// gives is the value of an expression on the page's row, as the page shows it.
func gives(t *testing.T, source string, r cell.Record) string {
	t.Helper()
	var header []string
	for _, c := range shownRow {
		header = append(header, c.header)
	}
	out, failed := mustCompile(t, source, false, header...).Value(r)
	if failed != nil {
		t.Fatalf("%s: %s", source, failed.Message)
	}
	if out.Kind == cell.Bool {
		return strings.ToLower(out.Shown)
	}
	return out.Shown
}

func inTable(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
