package mapping

import "strings"

// The words of a Checkbox that declares none.
var (
	usualChecked   = []string{"yes", "y", "true", "1", "x"}
	usualUnchecked = []string{"no", "n", "false", "0"}
)

// convertCheckbox reads a Checkbox: one of its words, ignoring case. Declared
// words replace the usual ones, both lists at once. A number cell is read as
// its shown text or its digits. A TRUE or FALSE cell needs no words, unless
// the declared ones say what TRUE and FALSE mean (a column such as "Opted out"
// turns them round).
func (c *Conversion) convertCheckbox(cell Cell) (string, *Refusal) {
	checked, unchecked := c.Checked, c.Unchecked
	if checked == nil && unchecked == nil {
		checked, unchecked = usualChecked, usualUnchecked
	}
	word := trimToken(cell.Shown)
	switch cell.Kind {
	case TextCell:
		word = trimToken(cell.Raw)
	case Bool:
		word = boolWord(cell)
	}
	if literal := checkboxWord(word, checked, unchecked); literal != "" {
		return literal, nil
	}
	switch cell.Kind {
	case Number:
		if digits, r := plainDecimal(cell.Raw); r == nil {
			if literal := checkboxWord(digits, checked, unchecked); literal != "" {
				return literal, nil
			}
		}
	case Bool:
		if !hasBoolWord(checked) && !hasBoolWord(unchecked) {
			return boolWord(cell), nil
		}
	}
	return "", refuse("not-checkbox",
		"is not a word of the check box; expected "+strings.Join(checked, ", ")+" or "+strings.Join(unchecked, ", "),
		"use one of these words, or list the column's own under checked and unchecked")
}

// checkboxWord is true or false, or "" when no list has the word.
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

func boolWord(cell Cell) string {
	if cell.Raw == "1" {
		return "true"
	}
	return "false"
}
