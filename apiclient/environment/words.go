package environment

import (
	"errors"
	"strings"
)

var errOpenQuote = errors.New("a quote is not closed")

// splitWords splits a command into words at white space. Single and double
// quotes keep white space inside a word; a backslash outside single quotes
// takes the next character as it is. Nothing else is special: no variables, no
// patterns, no pipes, because no shell is involved.
func splitWords(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune // the open quote, or 0
	inWord, escaped := false, false
	for _, c := range command {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case strings.ContainsRune(" \t\r\n", c):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 || escaped {
		return nil, errOpenQuote
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
