package lint_test

import (
	"strings"
	"testing"

	"claimsheet/importer/cli/lint"
	"claimsheet/mapping/problem"
)

func TestSnippet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, line string
		column     int
		want       string
	}{
		{"a value", "api: v3", 6, "   7 | api: v3\n     |      ^~\n"},
		{"a value of two words and a comment", "- template: Your details   # first", 13, "   7 | - template: Your details   # first\n     |             ^~~~~~~~~~~~\n"},
		{"a key", "  kye: E-mail", 3, "   7 |   kye: E-mail\n     |   ^~~\n"},
		{"quotes", `a: {b: "x, y", c: d}`, 8, "   7 | a: {b: \"x, y\", c: d}\n     |        ^~~~~~\n"},
		{"tabs before", "a:\t\tb", 5, "   7 | a:\t\tb\n     |   \t\t^\n"},
		{"a tab itself", "\tb: 1", 1, "   7 | \tb: 1\n     | ^\n"},
		{"wide characters before", "名前: 値段", 5, "   7 | 名前: 値段\n     |       ^~~~\n"},
		{"a combining mark before", "cafe\u0301: b", 8, "   7 | cafe\u0301: b\n     |       ^\n"},
		{"behind the end", "name", 9, "   7 | name\n     |     ^\n"},
		{"an empty line", "", 1, "   7 | \n     | ^\n"},
		{"control characters", "a: \x1b[31m\u202eb", 4, "   7 | a:  [31m b\n     |    ^~~~~~~\n"},
		{"the begin of a long line", "key: " + strings.Repeat("x", 200), 1, "   7 | key: " + strings.Repeat("x", 95) + "…\n     | ^~~\n"},
		{"the middle of a long line", strings.Repeat("x", 200) + ": value, " + strings.Repeat("y", 200), 203,
			"   7 | …" + strings.Repeat("x", 48) + ": value, " + strings.Repeat("y", 43) + "…\n     | " + strings.Repeat(" ", 51) + "^~~~~\n"},
	} {
		if got := lint.Snippet(test.line, 7, test.column); got != test.want {
			t.Errorf("%s:\n%swant\n%s", test.name, got, test.want)
		}
	}
}

func report() *lint.Report {
	return &lint.Report{
		Checked: lint.Checked{Mapping: "a, b:100%.yaml", Sheets: []string{"leads.csv"}},
		Errors: problem.List{
			problem.At(problem.Where{File: "a, b:100%.yaml", Line: 2, Column: 6}, "unknown-value", "50%% of\nit").Hinted("do: this, that"),
			problem.At(problem.Where{Sheet: "Leads", Cell: "C7", Row: 7}, "not-date", "DOB is not a date"),
		},
		Warnings: problem.List{problem.At(problem.Where{File: "a, b:100%.yaml", Line: 3, Column: 1}, "unknown-value", "odd")},
		Failure:  problem.Problem{Message: "the service does not answer"}, ExitCode: 3,
		Source: []byte("name: a\r\napi: v3\r\nx: y\r\n"),
	}
}

func written(t *testing.T, asJSON bool) (out, messages string) {
	t.Helper()
	var o, m strings.Builder
	if err := report().Write(&o, &m, asJSON); err != nil {
		t.Fatal(err)
	}
	return o.String(), m.String()
}

func TestText(t *testing.T) {
	t.Parallel()
	out, messages := written(t, false)
	const want = `a, b:100%.yaml:3:1: odd [unknown-value]
   3 | x: y
     | ^
a, b:100%.yaml:2:6: 50% of it [unknown-value]
   2 | api: v3
     |      ^~
  hint: do: this, that
Leads!C7: DOB is not a date [not-date]
claimsheet: the service does not answer
`
	if out != "" || messages != want {
		t.Errorf("stdout %q, messages\n%swant\n%s", out, messages, want)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	out, _ := written(t, true)
	const want = `{"checked":{"mapping":"a, b:100%.yaml","environment":"","sheets":["leads.csv"],"columns":0,"templates":0,"rows":0,"invalidRows":0},"errors":3,"warnings":1,"problems":[` +
		`{"severity":"error","code":"unknown-value","where":"a, b:100%.yaml:2:6","file":"a, b:100%.yaml","line":2,"column":6,"sheet":"","cell":"","row":0,"message":"50% of\nit","hint":"do: this, that"},` +
		`{"severity":"error","code":"not-date","where":"Leads!C7","file":"leads.csv","line":0,"column":0,"sheet":"Leads","cell":"C7","row":7,"message":"DOB is not a date","hint":""},` +
		`{"severity":"error","code":"","where":"","file":"","line":0,"column":0,"sheet":"","cell":"","row":0,"message":"the service does not answer","hint":""},` +
		`{"severity":"warning","code":"unknown-value","where":"a, b:100%.yaml:3:1","file":"a, b:100%.yaml","line":3,"column":1,"sheet":"","cell":"","row":0,"message":"odd","hint":""}],"exitCode":3}` + "\n"
	if out != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}
