package yamltree

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

// TypographicQuotes warns of keys and values in typographic quotes: YAML takes
// these as part of the text. n is the content of the file.
func (n *Node) TypographicQuotes(file string) problem.List {
	var list problem.List
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
			if quote, bare, ok := cutQuotes(n.Value); ok {
				list = append(list, problem.At(placeOf(n).In(file), "typographic-quotes", "%s is a typographic quote, which YAML takes for part of the text", quote).
					Hinted("type straight quotes: \"%s\"", strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(bare)))
			}
		}
		for _, child := range n.Content {
			walk(child)
		}
	}
	walk(n.yaml)
	return list
}

// cutQuotes removes the typographic quotes around a text. A double quote counts
// at either end, single quotes only at both ends.
func cutQuotes(s string) (quote, bare string, ok bool) {
	opening, from := utf8.DecodeRuneInString(s)
	closing, size := utf8.DecodeLastRuneInString(s)
	to := len(s) - size
	begins, ends := strings.ContainsRune(problem.DoubleQuotes, opening), strings.ContainsRune(problem.DoubleQuotes, closing)
	switch {
	case s == "":
		return "", "", false
	case begins && ends && from <= to, strings.ContainsRune(problem.SingleQuotes, opening) && strings.ContainsRune(problem.SingleQuotes, closing) && from <= to:
		return string(opening), s[from:to], true
	case begins:
		return string(opening), s[from:], true
	case ends:
		return string(closing), s[:to], true
	}
	return "", "", false
}

// bareText matches texts that need no quotes, within braces neither.
var bareText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

// Quote returns a text as a YAML scalar that reads back as the same text. A
// character that cannot be seen, or that YAML does not allow, is escaped.
func Quote(s string) string {
	if bareText.MatchString(s) && !slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}, strings.ToLower(s)) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
