package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// MaxSize is the largest mapping file that is read, in bytes.
const MaxSize = 1 << 20

// Parse reads a mapping file's bytes; file is its name in messages. It reports
// every problem that shows without a sheet or a service. The Mapping is never
// nil: what could be read can be bound, so that those problems are found too.
func Parse(file string, data []byte) (*Mapping, problem.List) {
	sum := sha256.Sum256(data)
	m := &Mapping{File: file, Digest: hex.EncodeToString(sum[:])}
	m.Sheet.HeaderRow = 1
	m.Sheet.Numbers = convert.Numbers{Decimal: ".", Group: ","}
	m.Client.ID.Text, m.Client.Existing = clientRole, Reuse
	m.Client.Administrator = true
	if len(data) > MaxSize {
		return m, problem.List{problem.At(yamltree.Place{Line: 1, Column: 1}.In(file), "too-large",
			"the file is larger than 1 MiB; a mapping is a few kilobytes")}
	}
	root, problems := language.Read(file, data, m)
	if root == nil {
		return m, problems
	}
	m.setDefaults()
	p := &checker{file: file, problems: problems}
	p.check(m)
	p.problems.Sort()
	m.Warnings = append(p.warnings, openQuestions(file, data)...)
	for _, found := range ignoredLine.FindAllSubmatch(data, -1) {
		m.ignored = append(m.ignored, convert.FoldHeader(string(found[1])))
	}
	m.Warnings.Sort()
	return m, p.problems
}

// openQuestion matches a comment of a first mapping that asks for a decision.
var openQuestion = regexp.MustCompile(`#.*\bDECIDE: `)

// openQuestions warns of the decisions that a first mapping still asks for.
func openQuestions(file string, data []byte) problem.List {
	var first yamltree.Place
	var lines []string
	for i, line := range strings.Split(string(data), "\n") {
		if at := openQuestion.FindStringIndex(line); at != nil {
			first = first.Or(yamltree.Place{Line: i + 1, Column: 1 + utf8.RuneCountInString(line[:at[0]])})
			lines = append(lines, strconv.Itoa(i+1))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return problem.List{problem.At(first.In(file), "open-questions", "the questions DECIDE in %s are not answered", named("line", lines)).
		Hinted("answer each, and delete its comment: until then the mapping holds a guess there")}
}

// ignoredLine matches a comment that leaves a column out on purpose.
var ignoredLine = regexp.MustCompile(`(?m)^# ignored: (.*?)\r?$`)

// Ignores reports whether the mapping leaves a column out on purpose: whether it has a
// line “# ignored: NAME”. name is the column's IgnoredName.
func (m *Mapping) Ignores(name string) bool {
	return slices.Contains(m.ignored, convert.FoldHeader(name))
}

// IgnoredName is how a line “# ignored: …” names a column of a sheet: by its header, or by
// its letters where the header is missing or not the only one of its name.
func IgnoredName(sheet cell.Sheet, column int) string {
	if name := convert.FoldSpace(sheet.Header[column]); name != "" && FindColumn(sheet, name) == column {
		return problem.OneLine(name)
	}
	return "column " + cell.ColumnName(column)
}

// Ignore returns a mapping file with or without the line that leaves a column out on
// purpose; a new one comes at the end. name is the column's IgnoredName.
func Ignore(file []byte, name string, ignored bool) []byte {
	lines := strings.SplitAfter(string(file), "\n")
	if !ignored {
		lines = slices.DeleteFunc(lines, func(line string) bool {
			found := ignoredLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
			return found != nil && convert.FoldHeader(found[1]) == convert.FoldHeader(name)
		})
		return []byte(strings.Join(lines, ""))
	}
	eol := "\n"
	if strings.HasSuffix(lines[0], "\r\n") {
		eol = "\r\n"
	}
	if last := len(lines) - 1; lines[last] != "" {
		lines[last] += eol
	}
	return []byte(strings.Join(append(lines, "# ignored: "+name+eol), ""))
}

// ToBeAgreed stands in a first mapping for the identifier of the workflow's template,
// which only the service's operator can supply.
const ToBeAgreed = "TO-BE-AGREED"

// Placeholders reports what stands in for a text that must be known before anything is sent to a real service.
func (m *Mapping) Placeholders() problem.List {
	var list problem.List
	identifiers := []yamltree.Scalar{m.Workflow.TemplateIdentifier}
	for _, a := range m.Activities {
		identifiers = append(identifiers, a.Workflow.TemplateIdentifier)
	}
	for _, w := range identifiers {
		if w.Text == ToBeAgreed {
			list = append(list, problem.At(m.At(w.At), "placeholder", "%s stands for an identifier that the service knows", ToBeAgreed).
				Hinted("write the one that the service's operator has supplied; only the sandbox takes any"))
		}
	}
	return list
}

// setDefaults fills in what depends on other keys.
func (m *Mapping) setDefaults() {
	for i := range m.Sheet.Empty {
		m.Sheet.Empty[i].Text = convert.Trim(m.Sheet.Empty[i].Text)
	}
	if r := m.ResumeAt; r != nil {
		r.Template.Text = convert.Composed(r.Template.Text)
	}
	for i := range m.Activities {
		a := &m.Activities[i]
		a.Template.Text = convert.Composed(a.Template.Text)
		for k := range a.Attributes {
			a.Attributes[k].Name.Text = convert.Composed(a.Attributes[k].Name.Text)
		}
		if a.ID.Text == "" {
			a.ID = a.Template
		}
		if a.On.Text == "" {
			a.On.Text = clientRole
		}
		if m.person(a.On.Text) > 0 {
			a.Assigned = true // the order and the resume point are the client's
		}
		if a.Status == "" && !a.StatusAt.IsSet() { // else it is an unknown one
			a.Status = Submitted
		}
	}
}
