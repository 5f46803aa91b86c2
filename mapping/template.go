package mapping

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// templateText is a text with places for cells: "{Lender} {Agreement no}".
type templateText []textPart

// textPart is a literal, or a name in braces.
type textPart struct{ literal, name string }

// braces matches what a brace begins.
var braces = regexp.MustCompile(`\{\{|\}\}|\{([^}]*)\}|[{}]`)

// parseTemplate parses a text; {{ and }} stand for braces.
func parseTemplate(s string) (t templateText, err error) {
	end := 0
	for _, m := range braces.FindAllStringSubmatchIndex(s, -1) {
		literal, found := s[end:m[0]], s[m[0]:m[1]]
		end = m[1]
		switch {
		case m[2] >= 0:
			name := strings.TrimSpace(s[m[2]:m[3]])
			if name == "" || strings.Contains(name, "{") {
				return nil, fmt.Errorf("“{%s}” names no column", name)
			}
			t = append(t, textPart{literal: literal}, textPart{name: name})
		case found == "{":
			return nil, fmt.Errorf("a } is missing after “%s”", problem.Shorten(s[m[0]:]))
		case found == "}":
			return nil, fmt.Errorf("a { is missing before “%s”", problem.Shorten(s[:end]))
		default:
			t = append(t, textPart{literal: literal + found[:1]})
		}
	}
	if end < len(s) {
		t = append(t, textPart{literal: s[end:]})
	}
	return t, nil
}

// names returns the names in braces, in order.
func (t templateText) names() []string {
	var names []string
	for _, part := range t {
		if part.name != "" {
			names = append(names, part.name)
		}
	}
	return names
}

// fill replaces the names by the texts of their columns. When all of them are empty the
// result is empty: "Loan {Agreement no}" without a number says nothing.
func (t templateText) fill(texts []string) string {
	isFilled := func(text string) bool { return text != "" }
	if len(texts) > 0 && !slices.ContainsFunc(texts, isFilled) {
		return ""
	}
	var b strings.Builder
	for _, part := range t {
		if part.name != "" {
			part.literal, texts = texts[0], texts[1:]
		}
		b.WriteString(part.literal)
	}
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		lines[i] = convert.FoldSpace(line)
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
