package draft

import (
	"fmt"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// notations are the ways in which people write numbers. Where several fit equally
// well, the first is meant.
var notations = []convert.Numbers{
	{Decimal: ".", Group: ","}, {Decimal: ",", Group: "."}, {Decimal: ",", Group: " "}, {Decimal: ".", Group: "'"}, {Decimal: ".", Group: " "},
}

// numberReading is how the cells of a column can be read as numbers.
type numberReading struct {
	read    []int // by notation, the cells that read
	filled  int
	percent int // text cells with a percent sign
	shown   int // number cells that are shown as a percentage
	texts   []text
}

func (c *column) readNumbers() *numberReading {
	if c.numbers != nil {
		return c.numbers
	}
	n := &numberReading{read: make([]int, len(notations))}
	for _, v := range c.filled() {
		if n.filled++; v.Kind == cell.Number && strings.Contains(v.Format, "%") {
			n.shown++
		}
	}
	for _, t := range c.texts() {
		if t.kind == cell.Text {
			n.texts = append(n.texts, t)
			if strings.HasSuffix(t.text, "%") {
				n.percent += t.count
			}
		}
		for i, notation := range notations {
			if t.kind == cell.Number || t.kind == cell.Text && number(t, notation) != "" {
				n.read[i] += t.count
			}
		}
	}
	c.numbers = n
	return n
}

// number reads a text, or a percentage, in a notation; "" when it is not a number in it.
func number(t text, notation convert.Numbers) string {
	v, refusal := (&convert.Converter{Type: convert.Number, Numbers: notation, Percent: strings.HasSuffix(t.text, "%")}).Convert(cellOf(t))
	if refusal != nil {
		return ""
	}
	return v.Literal
}

// most returns how many cells read in the notation that reads the most of them.
func (n *numberReading) most() (read int) {
	for _, r := range n.read {
		read = max(read, r)
	}
	return read
}

// notation finds how the sheet writes numbers in text cells, from the columns whose
// texts are numbers. It is the default, without a reason, when nothing shows another
// one; ask is set when the cells could be read in two ways.
func notation(columns []*column) (found convert.Numbers, why, ask string) {
	read, all := make([]int, len(notations)), 0
	for _, c := range columns {
		for _, t := range c.readNumbers().texts {
			all += t.count
			for i, n := range notations {
				if number(t, n) != "" {
					read[i] += t.count
				}
			}
		}
	}
	best := 0
	for i := range notations {
		if read[i] > read[best] {
			best = i
		}
	}
	found = notations[best]
	differ, example := 0, ""
	for i, other := range notations {
		if i == best || read[i] == 0 {
			continue
		}
		n, only, shape := compare(columns, found, other)
		if only == 0 && n > differ { // nothing that only the best one reads speaks against the other
			differ, example = n, shape
			why = fmt.Sprintf("%s of %s could also have %s as the decimal separator", cellsInWords(n), cellsInWords(all), quoted(other.Decimal))
		}
	}
	if differ > 0 {
		return found, why, "is " + example + " a thousand or a fraction?"
	}
	if read[best] > 0 && best > 0 {
		why = fmt.Sprintf("%d of %s in text read like this, %d with a decimal point", read[best], cellsInWords(all), read[0])
	}
	return found, why, ""
}

// compare counts the cells that two notations read as different numbers, and those
// that only the first reads. shape is one of the former, with 9 for each digit.
func compare(columns []*column, first, second convert.Numbers) (differ, only int, shape string) {
	for _, c := range columns {
		for _, t := range c.readNumbers().texts {
			a, b := number(t, first), number(t, second)
			switch {
			case a != "" && b == "":
				only += t.count
			case a != "" && a != b:
				differ += t.count
				shape = strings.Map(func(r rune) rune {
					if r >= '0' && r <= '9' {
						return '9'
					}
					return r
				}, t.text)
			}
		}
	}
	return differ, only, shape
}

func quoted(s string) string { return "“" + s + "”" }
