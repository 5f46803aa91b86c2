package convert

import (
	"claimsheet/mapping/cell"
	"slices"
	"strconv"
	"strings"
)

// The words of a Checkbox without words of its own.
var (
	usualChecked   = []string{"yes", "y", "true", "1", "x"}
	usualUnchecked = []string{"no", "n", "false", "0"}
)

// convertCheckbox reads a Checkbox: one of its words, in any case. Declared
// words replace the usual ones, both lists together. A TRUE or FALSE cell needs
// no words, unless the declared words include true or false: a column such as
// "Opted out" reverses them.
func (c *Converter) convertCheckbox(in cell.Cell) (string, *CellError) {
	checked, unchecked := c.Checked, c.Unchecked
	if checked == nil && unchecked == nil {
		checked, unchecked = usualChecked, usualUnchecked
	}
	if r := refuseFormat(in); r != nil {
		return "", r
	}
	word := token(in)
	if in.Kind == cell.Bool {
		word = strconv.FormatBool(in.Raw == "1")
		if both := slices.Concat(checked, unchecked); !hasWord(both, "true") && !hasWord(both, "false") {
			return word, nil
		}
	}
	switch {
	case hasWord(checked, word):
		return "true", nil
	case hasWord(unchecked, word):
		return "false", nil
	}
	return "", refuse("not-checkbox",
		"is not a word of the check box; expected "+strings.Join(checked, ", ")+" or "+strings.Join(unchecked, ", "),
		"use one of these words, or list the column's own under checked and unchecked")
}

func hasWord(words []string, word string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
}
