package yamltree_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// recipe is read by a small language with every kind of value.
type recipe struct {
	Name    yamltree.Scalar
	Serves  int
	Hot     bool
	Course  string
	Tags    []string
	Steps   []step
	Amounts map[string]string
	Order   []string
	Oven    step
}

type step struct {
	At   yamltree.Place
	Do   string
	Mins *int
}

func language() yamltree.Language[recipe] {
	steps := yamltree.Object(func(k *yamltree.Keys, s *step) {
		yamltree.To(k, "do", &s.Do, yamltree.Text, "what to do").Required()
		yamltree.ToNew(k, "minutes", &s.Mins, yamltree.Int(1, 600), "how long")
	}).Placed(func(s *step) *yamltree.Place { return &s.At })
	return yamltree.Language[recipe]{
		Title: "Recipe", Name: "the recipe", Expected: "a recipe",
		Keys: func(k *yamltree.Keys, r *recipe) {
			yamltree.To(k, "name", &r.Name, yamltree.InPlace(yamltree.Text), "its name").Required()
			yamltree.To(k, "serves", &r.Serves, yamltree.Int(1, math.MaxInt), "for how many")
			yamltree.To(k, "hot", &r.Hot, yamltree.Bool, "served hot")
			yamltree.To(k, "course", &r.Course, yamltree.OneOf("starter", "main", "dessert"), "when it is served")
			yamltree.To(k, "tags", &r.Tags, yamltree.OneOrMore(yamltree.Text), "tags")
			yamltree.To(k, "steps", &r.Steps, yamltree.List(steps), "the steps")
			yamltree.To(k, "amounts", &r.Amounts, yamltree.Map(yamltree.AnyText), "how much of what")
			yamltree.To(k, "order", &r.Order, yamltree.Pairs(yamltree.Text, func(key yamltree.Scalar, v string) string { return fmt.Sprint(key.At.Line, key.Text, v) }),
				"what comes first")
			yamltree.To(k, "oven", &r.Oven, steps, "about the oven")
		},
	}
}

func lines(problems problem.List) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintln(&b, p.Error())
		if p.Hint != "" {
			fmt.Fprintln(&b, "  "+p.Hint)
		}
	}
	return b.String()
}

func TestReadFillsEveryField(t *testing.T) {
	l, got := language(), recipe{Serves: 2, Course: "main"}
	root, problems := l.Read("r.yaml", []byte("name: \"007\"\nhot: TRUE\ntags: soup\nsteps:\n- {do: boil, minutes: 010}\n- do: serve\n"+
		"amounts: {water: 1.50, salt: \"\"}\norder:\n  b: x\n  a: y\noven: {do: heat}\n"), &got)
	if root == nil || len(problems) > 0 {
		t.Fatalf("problems:\n%s", lines(problems))
	}
	want := recipe{
		Name: yamltree.Scalar{Text: "007", At: yamltree.Place{Line: 1, Column: 7}}, Serves: 2, Hot: true, Course: "main", Tags: []string{"soup"},
		Steps:   []step{{At: yamltree.Place{Line: 5, Column: 3}, Do: "boil", Mins: new(10)}, {At: yamltree.Place{Line: 6, Column: 3}, Do: "serve"}},
		Amounts: map[string]string{"water": "1.50", "salt": ""}, Order: []string{"9bx", "10ay"},
		Oven: step{At: yamltree.Place{Line: 11, Column: 7}, Do: "heat"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

// A file in which all lines of a section are commented out is taken where the
// language says so, and a file that may hold a secret is not quoted.
func TestLanguageOptions(t *testing.T) {
	l := language()
	l.EmptyIsNone, l.Secretive = true, true
	var got recipe
	if _, problems := l.Read("r.yaml", []byte("name: a\nsteps:\namounts:\noven:\n"), &got); len(problems) > 0 {
		t.Errorf("problems:\n%s", lines(problems))
	}
	for _, text := range []string{"name: a\noven: hunter2", "name: a\nserves: hunter2", "name: a\nhot: hunter2", "hunter2", "name: *hunter2", "name: \"hunter2\\q\"", "name: {hunter2"} {
		_, problems := l.Read("r.yaml", []byte(text), &recipe{})
		if report := lines(problems); report == "" || strings.Contains(report, "hunter2") {
			t.Errorf("%q: %s", text, report)
		}
	}
	if schema := string(l.Schema()); !strings.Contains(schema, `"null"`) || !json.Valid([]byte(schema)) {
		t.Errorf("the schema does not allow empty sections:\n%s", schema)
	}
}

// A hostile file gives a report that is bounded.
func TestReportIsBounded(t *testing.T) {
	l := language()
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	if _, problems := l.Read("r.yaml", []byte(b.String()), &recipe{}); len(problems) != 200 {
		t.Errorf("%d problems", len(problems))
	}
}

// The usual mistakes are explained where they were made, not where the library
// noticed them.
func TestSyntaxSlips(t *testing.T) {
	t.Parallel()
	l, secretive := language(), language()
	secretive.Secretive = true
	for _, test := range []struct{ text, want, hint string }{
		{"name: a\noven:\n\tdo: b\n", "3:1: a tab indents this line, and YAML is indented with spaces only", "replace the tab by spaces"},
		{"name: a: b\n", "1:8: a text with a colon and a space in it stands here without quotes, and YAML takes it for another key", "put the text in quotes"},
		{"oven: {do: Call: me}\n", "1:7: the bracket that begins here is not closed, or what it holds is not separated by commas", "close it with }, and put a text with a colon, a bracket or a quote in it in quotes"},
		{"name: {E}\n", "1:7: “name” must be a text, not “key: value” pairs", "a text that begins with { must be in quotes"},
		{"name: {Lender} {No} # x\n", "1:7: a text cannot begin with { unless it is in quotes", "put it in quotes"},
		{"name: a\noven: {do: ${VAR}}\n", "2:12: ${…} is not replaced in this file, and cannot be written here without quotes", "write the value itself, or env:NAME for a secret"},
		{"name: env: X\n", "1:7: a space follows env:, file: or cmd:, and YAML takes it for a key", "write it and the rest without a space between them"},
		{"oven: {do: cmd: pass}\n", "1:12: a space follows env:, file: or cmd:, and YAML takes it for a key", "write it and the rest without a space between them"},
		{"name: \"a\nserves: 2\nhot: true\noven:\n  do: x\n# 1\n# 2\n# 3\n# 4\n", "1:7: the quote that begins here is not closed", "close it at the end of the text"},
		{"name: 'a\nserves: 2\ncourse: 'main'\n", "1:7: the quote that begins here is not closed", "close it at the end of the text"},
		{"name: \"a # no comment\n  b\"\nserves: 2: 3\n", "3:10: a text with a colon and a space in it stands here without quotes, and YAML takes it for another key", "put the text in quotes"},
		{"tags: [a, b\nserves: 2\n", "1:7: the bracket that begins here is not closed, or what it holds is not separated by commas", "close it with ], and put a text with a colon, a bracket or a quote in it in quotes"},
		{"name: *a", "1:7: anchors and aliases are not supported here", "write the value out; put a value that begins with * or & in quotes"},
		{"<<: {name: a}", "1:1: a key in the recipe must be a plain name", ""},
		{"amounts: {\"a\": \"b\", c: \"d}\nname: x\n", "1:24: the quote that begins here is not closed", "close it at the end of the text"},
		{"oven:\n  do: a\n   minutes: 2\n", "3:4: this line is indented further than the key above it, which has its value already", "begin it in the same column as the keys or entries that it belongs to"},
		{"oven:\n  do: a\n minutes: 2\n", "3:2: this fits neither the keys above it nor a text", "begin it in the same column as the keys or entries that it belongs to; put a text with quotes or brackets in quotes"},
		{"steps:\n  - do: a\n  do: b\n", "3:3: this fits neither the list above it nor the key of that list", "begin it in the same column as the keys or entries that it belongs to; every entry of a list begins with “- ”"},
		{"name: a\nserves\nhot: true\n", "2:1: a colon is missing in this line; “key: value” was expected", "write a colon and a space between the key and its value"},
		{"name:a\n", "1:1: the recipe must be “key: value” pairs, not “name:a”", "write a space after the colon"},
		{"name: a\ntags: - # b\n", "2:7: a - begins an entry of a list, and there can be none here", "put it in quotes if the text - is meant"},
		{"oven:\ndo: a\n", "1:1: “oven” has no value; expected “key: value” pairs", "indent the lines that belong to it, or leave the key out"},
		{"name: @a\n", "1:7: a text cannot begin with @ unless it is in quotes", "put it in quotes"},
		{"name: \"C:\\q\"\n", "1:10: a backslash in double quotes begins a special character, and this one does not exist", `write \\ for a backslash, or put the text in single quotes`},
		{"name: a\ntags: caf\xe9\n", "2:10: the file is not UTF-8 text", "save it as UTF-8 in an editor"},
		{"name: 'Client's code'\n", "1:7: the apostrophe in this text ends it, because the text is in single quotes", "put the text in double quotes"},
		{"oven: {do: a}\n\u00a0hot: true\n", "2:1: a no-break space or another special space indents this line, and YAML is indented with usual spaces only", "type the spaces at the beginning of the line again"},
		{"# a\u2028b\n" + strings.Repeat("x", 99) + ": c\n", "3:1: this line is indented further than the key above it, which has its value already",
			"begin it in the same column as the keys or entries that it belongs to"},
		{"amounts:\n  flour: 1\n  \u00a0salt: 2\n", "3:3: a no-break space or another special space indents this line, and YAML is indented with usual spaces only", "type the spaces at the beginning of the line again"},
		{"PK\x03\x04 a workbook\x00", "1:1: this is a binary file, such as a workbook, not a recipe", "check the order of the file names on the command line"},
	} {
		_, problems := l.Read("r.yaml", []byte(test.text), &recipe{})
		var first problem.Problem
		for _, p := range problems {
			if first.Code == "" && p.Code != "missing-key" {
				first = p
			}
		}
		if got := fmt.Sprintf("%d:%d: %s", first.Where.Line, first.Where.Column, first.Message); got != test.want || first.Hint != test.hint {
			t.Errorf("%q:\n%s (%s), want\n%s (%s)", test.text, got, first.Hint, test.want, test.hint)
		}
		_, problems = secretive.Read("r.yaml", []byte(test.text), &recipe{})
		if report := lines(problems); strings.Contains(report, "Call: me") || strings.Contains(report, "Lender") || strings.Contains(report, "“name:a”") {
			t.Errorf("%q: a file that may hold secrets is quoted: %s", test.text, report)
		}
	}
}
