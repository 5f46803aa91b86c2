package convert

import (
	"claimsheet/mapping/cell"
	"strings"
)

// The words of a Checkbox without words of its own.
var (
	usualChecked   = []string{"yes", "y", "true", "1", "x"}
	usualUnchecked = []string{"no", "n", "false", "0"}
)

// convertCheckbox reads a Checkbox: one of its words, in any case. Declared
// words replace the usual ones, both lists together. A number cell is read by
// its shown text or its digits. A TRUE or FALSE cell needs no words, unless
// the declared words include true or false: a column such as "Opted out"
// reverses them.
func (c *Converter) convertCheckbox(in cell.Cell) (string, *CellError) {
	checked, unchecked := c.Checked, c.Unchecked
	if checked == nil && unchecked == nil {
		checked, unchecked = usualChecked, usualUnchecked
	}
	if r := refuseFormat(in); r != nil {
		return "", r
	}
	word := trimToken(in.Shown)
	switch in.Kind {
	case cell.Text:
		word = trimToken(in.Raw)
	case cell.Bool:
		word = boolWord(in)
	}
	if literal := checkboxWord(word, checked, unchecked); literal != "" {
		return literal, nil
	}
	switch in.Kind {
	case cell.Number:
		if digits, r := plainDecimal(in.Raw); r == nil {
			if literal := checkboxWord(digits, checked, unchecked); literal != "" {
				return literal, nil
			}
		}
	case cell.Bool:
		if !hasBoolWord(checked) && !hasBoolWord(unchecked) {
			return boolWord(in), nil
		}
	}
	return "", refuse("not-checkbox",
		"is not a word of the check box; expected "+strings.Join(checked, ", ")+" or "+strings.Join(unchecked, ", "),
		"use one of these words, or list the column's own under checked and unchecked")
}

// checkboxWord returns true or false, or "" when neither list has the word.
func checkboxWord(word string, checked, unchecked []string) string {
	switch {
	case hasWord(checked, word):
		return "true"
	case hasWord(unchecked, word):
		return "false"
	}
	return ""
}

func hasWord(words []string, word string) bool {
	for _, w := range words {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

func hasBoolWord(words []string) bool { return hasWord(words, "true") || hasWord(words, "false") }

func boolWord(c cell.Cell) string {
	if c.Raw == "1" {
		return "true"
	}
	return "false"
}
