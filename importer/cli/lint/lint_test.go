package lint_test

import (
	"encoding/json"
	"strings"
	"testing"

	"claimsheet/importer/cli/explain"
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
		Failure:  problem.Problem{Message: "the service does not answer"}, ExitCode: 3, Version: "1.2",
		Source: []byte("name: a\r\napi: v3\r\nx: y\r\n"),
	}
}

func written(t *testing.T, format lint.Format) (out, messages string) {
	t.Helper()
	var o, m strings.Builder
	if err := report().Write(&o, &m, format); err != nil {
		t.Fatal(err)
	}
	return o.String(), m.String()
}

func TestText(t *testing.T) {
	t.Parallel()
	out, messages := written(t, lint.Text)
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

func TestGitHub(t *testing.T) {
	t.Parallel()
	out, messages := written(t, lint.GitHub)
	const want = `::error file=a%2C b%3A100%25.yaml,line=2,col=6,title=unknown-value::50%25 of%0Ait%0Ado: this, that
::error file=leads.csv,title=not-date::Leads!C7: DOB is not a date
::error title=claimsheet::the service does not answer
::warning file=a%2C b%3A100%25.yaml,line=3,col=1,title=unknown-value::odd
`
	if messages != "" || out != want {
		t.Errorf("messages %q, stdout\n%swant\n%s", messages, out, want)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	out, _ := written(t, lint.JSON)
	const want = `{"checked":{"mapping":"a, b:100%.yaml","environment":"","sheets":["leads.csv"],"columns":0,"templates":0,"rows":0,"invalidRows":0},"errors":3,"warnings":1,"problems":[` +
		`{"severity":"error","code":"unknown-value","where":"a, b:100%.yaml:2:6","file":"a, b:100%.yaml","line":2,"column":6,"sheet":"","cell":"","row":0,"message":"50% of\nit","hint":"do: this, that"},` +
		`{"severity":"error","code":"not-date","where":"Leads!C7","file":"leads.csv","line":0,"column":0,"sheet":"Leads","cell":"C7","row":7,"message":"DOB is not a date","hint":""},` +
		`{"severity":"error","code":"","where":"","file":"","line":0,"column":0,"sheet":"","cell":"","row":0,"message":"the service does not answer","hint":""},` +
		`{"severity":"warning","code":"unknown-value","where":"a, b:100%.yaml:3:1","file":"a, b:100%.yaml","line":3,"column":1,"sheet":"","cell":"","row":0,"message":"odd","hint":""}],"exitCode":3}` + "\n"
	if out != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

// A SARIF log needs a version and runs with a tool, results with a message, and rules
// that the results refer to by id and index (SARIF 2.1.0, sections 3.13, 3.14, 3.27).
func TestSARIF(t *testing.T) {
	t.Parallel()
	out, _ := written(t, lint.SARIF)
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name, Version string
					Rules         []struct {
						ID                                      string
						ShortDescription, FullDescription, Help struct{ Text string }
					}
				}
			}
			Invocations []struct {
				ExecutionSuccessful        *bool
				ExitCode                   int
				ToolExecutionNotifications []struct {
					Level   string
					Message struct{ Text string }
				}
			}
			ColumnKind string
			Results    []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           *struct{ StartLine, StartColumn int }
					}
					LogicalLocations []struct{ FullyQualifiedName string }
				}
			}
		}
	}
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if log.Version != "2.1.0" || log.Schema == "" || len(log.Runs) != 1 || run.Tool.Driver.Name != "claimsheet" || run.Tool.Driver.Version != "1.2" || run.ColumnKind != "unicodeCodePoints" {
		t.Errorf("the log is %s", out)
	}
	if in := run.Invocations[0]; in.ExecutionSuccessful == nil || *in.ExecutionSuccessful || in.ExitCode != 3 || in.ToolExecutionNotifications[0].Message.Text != "the service does not answer" {
		t.Errorf("the invocation is %+v", in)
	}
	if len(run.Results) != 3 || len(run.Tool.Driver.Rules) != 2 {
		t.Fatalf("%d results, %d rules: %s", len(run.Results), len(run.Tool.Driver.Rules), out)
	}
	for _, r := range run.Results {
		rule := run.Tool.Driver.Rules[r.RuleIndex]
		if rule.ID != r.RuleID || r.Message.Text == "" || len(r.Locations) != 1 {
			t.Errorf("the result %+v with the rule %+v", r, rule)
		}
		e, _ := explain.Lookup(r.RuleID)
		if e.Title == "" || rule.ShortDescription.Text != e.Title+"." || rule.FullDescription.Text != e.Meaning || !strings.HasPrefix(rule.Help.Text, e.Mend) {
			t.Errorf("the rule %+v of the entry %+v", rule, e)
		}
	}
	first, second := run.Results[0].Locations[0], run.Results[1].Locations[0]
	if at := first.PhysicalLocation; at.ArtifactLocation.URI != "a,%20b:100%25.yaml" && at.ArtifactLocation.URI != "./a,%20b:100%25.yaml" || at.Region.StartLine != 2 || at.Region.StartColumn != 6 {
		t.Errorf("the first is at %+v", at)
	}
	if second.PhysicalLocation.ArtifactLocation.URI != "leads.csv" || second.PhysicalLocation.Region != nil || second.LogicalLocations[0].FullyQualifiedName != "Leads!C7" {
		t.Errorf("the second is at %+v", second)
	}
	if run.Results[2].Level != "warning" {
		t.Errorf("the third is of level %s", run.Results[2].Level)
	}
}

func TestReadFormat(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"text", "json", "github", "sarif"} {
		if format, err := lint.ReadFormat(name); err != nil || string(format) != name {
			t.Errorf("%s: %s, %v", name, format, err)
		}
	}
	if _, err := lint.ReadFormat("sarfi"); err == nil || !strings.Contains(err.Error(), "“sarfi”") {
		t.Error(err)
	}
}
