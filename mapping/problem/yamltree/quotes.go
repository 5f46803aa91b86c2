package yamltree

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

// TypographicQuotes warns of keys and values in typographic quotes: YAML takes
// these as part of the text. n is the content of the file.
func (n *Node) TypographicQuotes(file string) problem.List {
	var list problem.List
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if bare := trimQuotes(n.Value); n.Kind == yaml.ScalarNode && n.Style&^yaml.TaggedStyle == 0 && bare != n.Value {
			quote := []rune(n.Value)
			if strings.HasPrefix(n.Value, bare) {
				quote = quote[len(quote)-1:]
			}
			list = append(list, problem.At(placeOf(n).In(file), "typographic-quotes", "%c is a typographic quote, which YAML takes for part of the text", quote[0]).
				Hinted("type straight quotes: \"%s\"", strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(bare)))
		}
		for _, child := range n.Content {
			walk(child)
		}
	}
	walk(n.yaml)
	return list
}

// trimQuotes removes the typographic quotes around a text. A double quote counts
// at either end, single quotes only at both ends.
func trimQuotes(s string) string {
	if bare := strings.Trim(s, problem.DoubleQuotes); bare != s {
		return bare
	}
	if left := strings.TrimLeft(s, problem.SingleQuotes); left != s && strings.TrimRight(s, problem.SingleQuotes) != s {
		return strings.TrimRight(left, problem.SingleQuotes)
	}
	return s
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
