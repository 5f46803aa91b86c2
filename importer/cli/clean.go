package cli

import (
	"io"
	"strings"

	"claimsheet/mapping/problem"
)

// cleanWriter is the one door to stdout and stderr: whatever is printed there,
// only line feeds and tabs reach a terminal as more than text. Names, keys and
// answers come from elsewhere, and a terminal obeys what it is shown.
type cleanWriter struct{ to io.Writer }

// Write takes whole characters.
func (c *cleanWriter) Write(text []byte) (int, error) {
	clean := strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && problem.IsControl(r) {
			return ' '
		}
		return r // what is no UTF-8 comes as U+FFFD
	}, string(text))
	if _, err := io.WriteString(c.to, clean); err != nil {
		return 0, err
	}
	return len(text), nil
}
