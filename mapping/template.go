package mapping

import (
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// templateText is a text with places for cells: "{Lender} {Agreement no}".
type templateText []textPart

// textPart is a literal, or a name in braces.
type textPart struct {
	literal string
	name    string
}

// parseTemplateText parses a text; {{ and }} stand for braces.
func parseTemplateText(s string) (templateText, error) {
	var t templateText
	var literal strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "{{"), strings.HasPrefix(s[i:], "}}"):
			literal.WriteByte(s[i])
			i++
		case s[i] == '}':
			return nil, errors.New("a { is missing before “" + problem.Shorten(s[:i+1]) + "”")
		case s[i] == '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				return nil, errors.New("a } is missing after “" + problem.Shorten(s[i:]) + "”")
			}
			name := strings.TrimSpace(s[i+1 : i+end])
			if name == "" || strings.Contains(name, "{") {
				return nil, fmt.Errorf("“{%s}” names no column", name)
			}
			if literal.Len() > 0 {
				t = append(t, textPart{literal: literal.String()})
				literal.Reset()
			}
			t = append(t, textPart{name: name})
			i += end
		default:
			literal.WriteByte(s[i])
		}
	}
	if literal.Len() > 0 {
		t = append(t, textPart{literal: literal.String()})
	}
	return t, nil
}

// settle replaces the names whose text is known for the whole run.
func (t templateText) settle(known map[string]string) templateText {
	settled := slices.Clone(t)
	for i, part := range settled {
		if s, ok := known[part.name]; ok && part.name != "" {
			settled[i] = textPart{literal: s}
		}
	}
	return settled
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

// fill replaces the names by their texts. When all of them are empty the
// result is empty: "Loan {Agreement no}" without a number says nothing.
func (t templateText) fill(text func(name string) string) string {
	var b strings.Builder
	places, filled := 0, 0
	for _, part := range t {
		if part.name == "" {
			b.WriteString(part.literal)
			continue
		}
		places++
		s := text(part.name)
		if s != "" {
			filled++
		}
		b.WriteString(s)
	}
	if places > 0 && filled == 0 {
		return ""
	}
	if !strings.Contains(b.String(), "\n") {
		return convert.FoldSpace(b.String())
	}
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		lines[i] = convert.FoldSpace(line)
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
