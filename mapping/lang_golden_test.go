package mapping_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/convert"
)

func files(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("no file fits %s: %v", pattern, err)
	}
	return found
}

func mustRead(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Every mistake of a file is reported, in the order of the places.
func TestParseReportsEveryMistake(t *testing.T) {
	for _, file := range files(t, "testdata/lang/err/*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			m, problems := mapping.Parse(filepath.Base(file), mustRead(t, file))
			if len(problems) == 0 {
				t.Error("nothing was found wrong")
			}
			if m == nil {
				t.Error("what could be read is lost")
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".out", report(problems))
		})
	}
}

// The size limit is on the byte: a file of 1 MiB is read.
func TestParseLimitsTheSize(t *testing.T) {
	const small = "name: a\napi: v1\nclient: {key: No, existing: create, fields: {no: No}}\n#"
	full := small + strings.Repeat("x", mapping.MaxSize-len(small))
	if _, problems := mapping.Parse("m.yaml", []byte(full)); len(problems) > 0 {
		t.Errorf("a file of 1 MiB has problems:\n%s", report(problems))
	}
	_, problems := mapping.Parse("m.yaml", []byte(full+"x"))
	const want = "m.yaml:1:1: the file is larger than 1 MiB; a mapping is a few kilobytes [too-large]\n"
	if got := report(problems); got != want {
		t.Errorf("a file of 1 MiB and a byte: %q, expected %q", got, want)
	}
}

// C-1 of docs/security.md: files made to exhaust memory, stack or patience are refused like any other:
// each takes some milliseconds, and none ends the program.
func TestParseEndsOnHostileFiles(t *testing.T) {
	indented := &strings.Builder{}
	for depth := 0; indented.Len() < mapping.MaxSize-2000; depth++ {
		indented.WriteString(strings.Repeat(" ", depth) + "a:\n")
	}
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'z'; c++ {
		p := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+p+", ", 9) + "*" + p + "]\n"
	}
	const head = "name: a\napi: v1\nclient: {key: No, existing: create, fields: {no: No}}\n"
	for name, source := range map[string]string{
		"brackets":          strings.Repeat("[", mapping.MaxSize),
		"braces":            strings.Repeat("{a: ", mapping.MaxSize/4),
		"indentation":       indented.String(),
		"aliases":           bomb,
		"alias of itself":   "name: &a [*a]\nclient: &b {fields: *b}\n",
		"nested expression": head + "sheet: {when: '" + strings.Repeat("(", mapping.MaxSize/2) + "'}\n",
		"many keys":         strings.Repeat("a: b\n", mapping.MaxSize/5),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, problems := mapping.Parse("m.yaml", []byte(source))
			_, more := mapping.Bind(m, nil, nil, runDate)
			if len(problems)+len(more) == 0 {
				t.Error("nothing was found wrong")
			}
		})
	}
}

// Of a notation only a part need be declared: a decimal separator that is the default group
// separator leaves no groups.
func TestNumbers(t *testing.T) {
	for numbers, want := range map[string]convert.Numbers{
		`{}`:                         {Decimal: ".", Group: ","},
		`{decimal: ","}`:             {Decimal: ","},
		`{decimal: ",", group: "."}`: {Decimal: ",", Group: "."},
		`{group: " "}`:               {Decimal: ".", Group: " "},
		`{group: ""}`:                {Decimal: "."},
	} {
		m := mustParse(t, "name: a\napi: v1\nsheet: {numbers: "+numbers+"}\nclient: {key: No, existing: create, fields: {no: No}}\n")
		if m.Sheet.Numbers != want {
			t.Errorf("%s is %+v, want %+v", numbers, m.Sheet.Numbers, want)
		}
	}
}

// TestOpenQuestions: the decisions that a first mapping asks for are warned of until
// their comments are gone, and a placeholder is never taken for an identifier.
func TestOpenQuestions(t *testing.T) {
	t.Parallel()
	const source = `# Answer the lines with DECIDE, then try claimsheet run --dry-run.
name: leads   # DECIDE: what is this campaign called?
api: v2
client:
  key: No   # DECIDE: does it identify a client?
  lookup: {email: Mail}
  fields: {no: No}
workflow:
  name: Leads
  template_identifier: TO-BE-AGREED   # DECIDE: the service's operator supplies it
activities:
  - template: T
    workflow: {name: Other, template_identifier: TO-BE-AGREED}
    attributes: {A: No}
`
	m := mustParse(t, source)
	if got := report(m.Warnings); !strings.Contains(got, "mapping.yaml:2:15: the questions DECIDE in lines 2, 5, 10 are not answered [open-questions]") {
		t.Errorf("the warnings are\n%s", got)
	}
	if got := report(m.Placeholders()); !strings.Contains(got, "mapping.yaml:10:24: ") || !strings.Contains(got, "mapping.yaml:13:") {
		t.Errorf("the placeholders are\n%s", got)
	}

	if m := mustParse(t, strings.ReplaceAll(source, "TO-BE-AGREED", "WF-1")); len(m.Placeholders()) > 0 {
		t.Errorf("an identifier is taken for a placeholder: %v", m.Placeholders())
	}
}
