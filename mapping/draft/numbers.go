package draft

import (
	"fmt"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem/yamltree"
)

// notations are the ways in which people write numbers. Where several fit equally
// well, the first is meant.
var notations = []convert.Numbers{
	{Decimal: ".", Group: ","}, {Decimal: ",", Group: "."}, {Decimal: ",", Group: " "}, {Decimal: ".", Group: "'"}, {Decimal: ".", Group: " "},
}

// germanNotation is the index of the notation with a decimal comma.
const germanNotation = 1

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

// numbers is how a sheet writes numbers in text cells.
type numbers struct {
	convert.Numbers
	why, ask string    // both empty when it is the default
	doubtful []*column // whose cells another notation reads as other numbers
}

// notation finds how the sheet writes numbers in text cells, from the columns whose
// texts are numbers. Where the cells can be read in two ways, the country says which is
// the likelier, and ask is set.
func notation(columns []*column, from country) numbers {
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
		if read[i] > read[best] || read[i] == read[best] && i == germanNotation && from.isGerman() {
			best = i
		}
	}
	found := numbers{Numbers: notations[best]}
	most := 0
	for i, other := range notations {
		if i == best || read[i] == 0 {
			continue
		}
		n, only, in := compare(columns, found.Numbers, other)
		if n <= most || only > 0 { // what only the best one reads speaks against the other
			continue
		}
		most, found.doubtful = n, in
		found.why = fmt.Sprintf("%s of %d could also have %s as the decimal separator", cellsInWords(n), all, quoted(other.Decimal))
		found.ask = fmt.Sprintf("is 18%s000 eighteen thousand or eighteen? It is sent as 18000 with sheet.numbers {decimal: %s, group: %s}, and as 18 with {decimal: %s, group: %s}", found.Group,
			yamltree.Quote(found.Decimal), yamltree.Quote(found.Group), yamltree.Quote(other.Decimal), yamltree.Quote(other.Group))
	}
	if most > 0 && best == 0 && from.isEnglish() {
		found.ask, found.doubtful = "", nil
	}
	if most == 0 && read[best] > 0 && best > 0 {
		found.why = fmt.Sprintf("%d of %s in text read like this, %d with a decimal point", read[best], cellsInWords(all), read[0])
	}
	return found
}

// compare counts the cells that two notations read as different numbers, and those
// that only the first reads. in are the columns with the former.
func compare(columns []*column, first, second convert.Numbers) (differ, only int, in []*column) {
	for _, c := range columns {
		before := differ
		for _, t := range c.readNumbers().texts {
			a, b := number(t, first), number(t, second)
			switch {
			case a != "" && b == "":
				only += t.count
			case a != "" && a != b:
				differ += t.count
			}
		}
		if differ > before {
			in = append(in, c)
		}
	}
	return differ, only, in
}

func quoted(s string) string { return "“" + s + "”" }
