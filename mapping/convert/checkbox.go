package convert

import (
	"claimsheet/mapping/cell"
	"slices"
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
	words := []string{token(in)}
	switch in.Kind {
	case cell.Bool:
		words[0] = map[bool]string{true: "true", false: "false"}[in.Raw == "1"]
		if both := slices.Concat(checked, unchecked); !hasWord(both, "true") && !hasWord(both, "false") {
			return words[0], nil
		}
	case cell.Number:
		if digits, r := plainDecimal(in.Raw); r == nil {
			words = append(words, digits)
		}
	}
	for _, word := range words {
		switch {
		case hasWord(checked, word):
			return "true", nil
		case hasWord(unchecked, word):
			return "false", nil
		}
	}
	return "", refuse("not-checkbox",
		"is not a word of the check box; expected "+strings.Join(checked, ", ")+" or "+strings.Join(unchecked, ", "),
		"use one of these words, or list the column's own under checked and unchecked")
}

func hasWord(words []string, word string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
}
