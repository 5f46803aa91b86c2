package draft

import (
	"fmt"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem/yamltree"
)

// The two ways in which people write numbers.
var (
	pointNotation = convert.Numbers{Decimal: ".", Group: ","} // the default
	commaNotation = convert.Numbers{Decimal: ",", Group: "."}
)

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

// findNumbers finds how the sheet writes numbers in text cells: in the notation that reads the most of them. Where the other one reads
// as many, and some as other numbers, that is a question unless the country is known, and so are the doubtful columns. The setting has no
// reason where it is the default.
func (p *proposer) findNumbers() (found Setting, doubtful []*column) {
	all, points, commas := 0, 0, 0 // cells, and those that each notation reads
	unclear, dotted := 0, 0        // cells that both read as other numbers, and those of them with a point, such as 18.000
	for _, c := range p.columns() {
		if !c.isMostly(c.numbers) || c.isMostly(c.dates.read) || c.isMostly(c.phones) || len(among(c.meaning, codes)) > 0 {
			continue
		}
		all += c.count(func(v cell.Cell) bool { return v.Kind == cell.Text })
		points, commas = points+c.points, commas+c.commas
		differs := func(v cell.Cell) bool {
			point, comma := number(v, pointNotation), number(v, commaNotation)
			return point != "" && comma != "" && point != comma
		}
		dotted += c.count(func(v cell.Cell) bool { return differs(v) && strings.Contains(textOf(v), ".") })
		differing := c.count(differs)
		if unclear += differing; differing > 0 {
			doubtful = append(doubtful, c)
		}
	}
	write := func(n convert.Numbers) string {
		return fmt.Sprintf("{decimal: %s, group: %s}", yamltree.Quote(n.Decimal), yamltree.Quote(n.Group))
	}
	is, other := pointNotation, commaNotation
	if commas > points || 2*dotted > unclear { // a number of three decimals is rarer than one of thousands
		is, other = other, is
	}
	switch {
	case commas > points:
		why := fmt.Sprintf("%d of %s in text read like this, %d with a decimal point", commas, cellsInWords(all), points)
		return Setting{Key: "numbers", Value: write(is), Why: why}, nil
	case points == commas && unclear > 0 && p.country != "GB" && p.country != "US":
		return Setting{Key: "numbers", Value: write(is),
			Why: fmt.Sprintf("%s of %d could also have %s as the decimal separator", cellsInWords(unclear), all, quoted(other.Decimal)),
			Ask: fmt.Sprintf("is 18%s000 eighteen thousand or eighteen? It is sent as 18000 with sheet.numbers %s, and as 18 with %s",
				is.Group, write(is), write(other)),
		}, doubtful
	}
	return Setting{}, nil
}

func quoted(s string) string { return "“" + s + "”" }
