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
var notations = []convert.Numbers{
	{Decimal: ".", Group: ","}, {Decimal: ",", Group: "."}, {Decimal: ",", Group: " "}, {Decimal: ".", Group: "'"},
}

// germanNotation is the index of the notation with a decimal comma.
const germanNotation = 1

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

// findNumbers finds how the sheet writes numbers in text cells: in the notation that reads the most of them. Where another one reads
// all of them too, and as other numbers, the country says which is the likelier; it is a question unless the country is certain, and
// so are the doubtful columns. The setting has no reason where it is the default.
func (p *proposer) findNumbers() (found setting, doubtful []*column) {
	var columns []*column
	var texts []text
	for _, c := range p.columns() {
		if !c.isMostly(c.numbers) || c.isMostly(c.dates.read) || c.isMostly(c.phones) || len(among(c.meaning, codes)) > 0 {
			continue
		}
		columns = append(columns, c)
		texts = append(texts, slices.DeleteFunc(slices.Clone(c.texts), func(t text) bool { return t.cell.Kind != cell.Text })...)
	}
	read, best := make([]int, len(notations)), 0
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
	write := func(n convert.Numbers) string {
		return fmt.Sprintf("{decimal: %s, group: %s}", yamltree.Quote(n.Decimal), yamltree.Quote(n.Group))
	}
	is := notations[best]
	found = setting{key: "numbers", value: write(is)}
	for i, other := range notations {
		if i == best || read[i] < read[best] || best == 0 && p.country.isEnglish() {
			continue
		}
		differs := func(t text) bool { return number(t.cell, other) != number(t.cell, is) }
		cells := countOf(slices.DeleteFunc(slices.Clone(texts), func(t text) bool { return !differs(t) }))
		if cells == 0 {
			continue
		}
		found.why = fmt.Sprintf("%s of %d could also have %s as the decimal separator", cellsInWords(cells), countOf(texts), quoted(other.Decimal))
		found.ask = fmt.Sprintf("is 18%s000 eighteen thousand or eighteen? It is sent as 18000 with sheet.numbers %s, and as 18 with %s",
			is.Group, write(is), write(other))
		return found, slices.DeleteFunc(columns, func(c *column) bool { return !slices.ContainsFunc(c.texts, differs) })
	}
	if best > 0 && read[best] > 0 {
		found.why = fmt.Sprintf("%d of %s in text read like this, %d with a decimal point", read[best], cellsInWords(countOf(texts)), read[0])
	}
	return found, nil
}

func quoted(s string) string { return "“" + s + "”" }
