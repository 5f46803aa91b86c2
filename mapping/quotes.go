package mapping

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

// The quotes that word processors, mails and web pages put in the place of
// straight ones. A single one alone may be an apostrophe.
const (
	doubleQuotes = "“”„‟«»"
	singleQuotes = "‘’‚‛‹›"
)

// typographicQuotes warns of values and keys in typographic quotes: to YAML
// these are letters like any others, and part of the text.
func typographicQuotes(file string, root *yaml.Node) problem.List {
	var list problem.List
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
			if quote, bare, ok := cutQuotes(n.Value); ok {
				where := problem.Where{File: file, Line: n.Line, Column: n.Column}
				list = append(list, problem.At(where, "typographic-quotes", "%s is a typographic quote, which YAML takes for part of the text", quote).
					Hinted("type straight quotes: \"%s\"", strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(bare)))
			}
		}
		for _, child := range n.Content {
			walk(child)
		}
	}
	walk(root)
	return list
}

// cutQuotes takes typographic quotes from around a text. Those of the double
// kind are quotes at either end, single ones only at both.
func cutQuotes(s string) (quote, bare string, ok bool) {
	opening, from := utf8.DecodeRuneInString(s)
	closing, size := utf8.DecodeLastRuneInString(s)
	to := len(s) - size
	begins, ends := strings.ContainsRune(doubleQuotes, opening), strings.ContainsRune(doubleQuotes, closing)
	switch {
	case s == "":
		return "", "", false
	case begins && ends && from <= to, strings.ContainsRune(singleQuotes, opening) && strings.ContainsRune(singleQuotes, closing) && from <= to:
		return string(opening), s[from:to], true
	case begins:
		return string(opening), s[from:], true
	case ends:
		return string(closing), s[:to], true
	}
	return "", "", false
}
