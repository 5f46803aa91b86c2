package yamltree

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

// straighten reports a key or value in typographic quotes, which YAML takes for part of the text, and
// has it read without them.
func (r *Reader) straighten(n *yaml.Node) {
	bare := trimQuotes(n.Value)
	// a value of quotes alone may be meant, such as a separator
	if n.Kind != yaml.ScalarNode || n.Style&^yaml.TaggedStyle != 0 || bare == n.Value || bare == "" {
		return
	}
	quote := []rune(n.Value)
	if strings.HasPrefix(n.Value, bare) {
		quote = quote[len(quote)-1:]
	}
	r.WrongAt(placeOf(n), "typographic-quotes", "%c is a typographic quote, which YAML takes for part of the text",
		quote[0]).Hint = "type straight quotes"
	n.Value = bare
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
	return strconv.Quote(strings.ToValidUTF8(s, "\ufffd")) // whose escapes are among those of YAML
}
