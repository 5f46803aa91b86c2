package draft

import (
	"fmt"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem/yamltree"
)

// notations are the ways in which people write numbers. Where several fit equally well, the first is meant.
var notations = []convert.Numbers{{Decimal: ".", Group: ","}, {Decimal: ",", Group: "."}, {Decimal: ",", Group: " "}, {Decimal: ".", Group: "'"}}

// germanNotation is the index of the notation with a decimal comma.
const germanNotation = 1

// numberReading is how the cells of a column can be read as numbers.
type numberReading struct {
	read    int // cells that read in the notation that reads the most of them
	percent int // text cells with a percent sign
	shown   int // number cells that are shown as a percentage
}

func (c *column) readNumbers() (n numberReading) {
	n.shown = c.count(func(v cell.Cell) bool { return v.Kind == cell.Number && strings.Contains(v.Format, "%") })
	n.percent = c.count(func(v cell.Cell) bool { return v.Kind == cell.Text && strings.HasSuffix(textOf(v), "%") })
	for _, notation := range notations {
		n.read = max(n.read, c.count(func(v cell.Cell) bool { return v.Kind == cell.Number || number(v, notation) != "" }))
	}
	return n
}

// number reads a text, or a percentage, in a notation; "" when it is not a number in it.
func number(v cell.Cell, notation convert.Numbers) string {
	if v.Kind != cell.Text {
		return ""
	}
	in, refusal := (&convert.Converter{Type: convert.Number, Numbers: notation, Percent: strings.HasSuffix(textOf(v), "%")}).Convert(v)
	if refusal != nil {
		return ""
	}
	return in.Literal
}

// numbers is how a sheet writes numbers in text cells.
type numbers struct {
	convert.Numbers
	why, ask string    // both empty when it is the default
	doubtful []*column // whose cells another notation reads as other numbers
}

// findNumbers finds how the sheet writes numbers in text cells: in the notation that reads the most of them. Where another one
// reads all of them too, and as other numbers, the country says which is the likelier, and ask is set unless it is certain.
func (p *proposer) findNumbers() numbers {
	var columns []*column
	var texts []text
	for _, c := range p.columns() {
		if !c.isMostly(c.numbers.read) || c.isMostly(c.dates.read) || c.isMostly(c.phones) || len(among(c.meaning, codes)) > 0 {
			continue
		}
		columns = append(columns, c)
		for _, t := range c.texts {
			if t.cell.Kind == cell.Text {
				texts = append(texts, t)
			}
		}
	}
	read := make([]int, len(notations))
	best := 0
	for i, n := range notations {
		for _, t := range texts {
			if number(t.cell, n) != "" {
				read[i] += t.count
			}
		}
		if read[i] > read[best] || read[i] == read[best] && i == germanNotation && p.country.isGerman && !p.country.isEnglish() {
			best = i
		}
	}
	found := numbers{Numbers: notations[best]}
	for i, other := range notations {
		if i == best || read[i] < read[best] {
			continue
		}
		isDoubtful := func(t text) bool { return number(t.cell, other) != number(t.cell, found.Numbers) }
		doubtful := slices.DeleteFunc(slices.Clone(texts), func(t text) bool { return !isDoubtful(t) })
		if len(doubtful) == 0 || best == 0 && p.country.isEnglish() {
			continue
		}
		found.why = fmt.Sprintf("%s of %d could also have %s as the decimal separator", cellsInWords(countOf(doubtful)), countOf(texts), quoted(other.Decimal))
		found.ask = fmt.Sprintf("is 18%s000 eighteen thousand or eighteen? It is sent as 18000 with sheet.numbers {decimal: %s, group: %s}, and as 18 with {decimal: %s, group: %s}",
			found.Group, yamltree.Quote(found.Decimal), yamltree.Quote(found.Group), yamltree.Quote(other.Decimal), yamltree.Quote(other.Group))
		found.doubtful = slices.DeleteFunc(columns, func(c *column) bool {
			return !slices.ContainsFunc(c.texts, func(t text) bool { return t.cell.Kind == cell.Text && isDoubtful(t) })
		})
		return found
	}
	if best > 0 && read[best] > 0 {
		found.why = fmt.Sprintf("%d of %s in text read like this, %d with a decimal point", read[best], cellsInWords(countOf(texts)), read[0])
	}
	return found
}

func quoted(s string) string { return "“" + s + "”" }
