package draft

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// findPerson finds the columns of the client's fields. The service document gives no names of fields, but speaks of e-mail and
// name.
func (p *proposer) findPerson() {
	w := &p.person
	w.found = map[*column]link{}
	find := func(count func(*column) int, names ...string) *column {
		c, l := p.find(count, names...)
		w.found[c] = l
		return c
	}
	w.email = find(func(c *column) int { return c.emails }, "email")
	w.phone = find(func(c *column) int { return c.phones }, "mobile", "phone", "landline")
	w.first, w.last, w.full = find(nil, "first name"), find(nil, "last name"), find(nil, "full name")
	for _, c := range p.ordinary {
		isOthers := slices.ContainsFunc(among(c.meaning, others), func(w string) bool { return len(w) > 1 }) // “Email 2” may be the client's
		if w.email == nil && c.isMostly(c.emails) && !isOthers {
			w.email, w.found[c] = c, link{ask: "its cells are e-mail addresses, whatever its header says"}
		}
	}
	if w.first != nil && w.last == nil && w.full != nil && slices.Equal(wordsOf(w.full.name), []string{"name"}) {
		w.last, w.found[w.full] = w.full, link{why: "beside " + oneLine(w.first.name)}
		w.last.meaning = meaningOf("last name")
	}
	if w.last != nil {
		w.full = nil
	}
}

// find returns the ordinary column that a name means most likely; the likeliest name comes first. count counts the cells of the
// kind that is sought: enough of them must be so, or all empty. Where no column has enough, one that has half is a question,
// because without it clients could not be looked up.
func (p *proposer) find(count func(*column) int, names ...string) (*column, link) {
	for _, isHalf := range []bool{false, true} {
		fits := func(c *column) bool {
			return count == nil || c.filled == 0 || c.isMostly(count(c)) || isHalf && 2*count(c) >= c.filled
		}
		for _, name := range names {
			best, like := mostLike(name, p.ordinary, likely, fits)
			if len(best) == 0 {
				continue
			}
			l := link{why: reasons[like]}
			if isHalf {
				l.ask = "is it this column? Many of its cells are something else"
			}
			if len(best) > 1 {
				l.ask = joined(l.ask, oneLine(best[1].name)+" would do as well")
			}
			return best[0], l
		}
	}
	return nil, link{}
}

// proposeClient proposes the client section.
func (p *proposer) proposeClient(made *Proposal) {
	w := p.person
	made.key, made.keyWhy = p.findKey()
	p.key = made.key
	p.used[made.key] = true
	for _, f := range []struct {
		to     string
		typ    convert.Type
		column *column
	}{
		{"email", convert.Email, w.email}, {"firstName", convert.Text, w.first}, {"lastName", convert.Text, w.last},
		{"name", convert.Text, w.full}, {"phone", convert.Phone, w.phone},
	} {
		if f.column == nil {
			continue
		}
		p.used[f.column] = true
		l := p.read(f.column, f.typ, nil)
		found := w.found[f.column]
		l.to = f.to
		if f.typ == convert.Text {
			l.why = found.why
		}
		if found.ask != "" {
			l.ask = strings.TrimPrefix(l.ask+"; "+found.ask, "; ")
		}
		made.fields = append(made.fields, l)
		switch {
		case f.to == "email":
			l.value, l.why, l.ask = value{column: w.email}, "", ""
		case f.to == "phone" && w.email == nil:
			l.why = ""
		case f.to == "phone" && w.email.filled < len(w.email.cells):
			l.why = "where there is no e-mail address"
		default:
			continue
		}
		made.lookup = append(made.lookup, l)
	}
	if len(made.fields) == 0 { // a client needs one
		made.fields = append(made.fields, link{to: "reference", value: value{column: made.key, typ: convert.Text}})
	}
}

// keyOf returns the text by which rows with the same key are found.
func keyOf(c cell.Cell) string {
	s, _ := convert.Key(c)
	return strings.ToLower(s)
}

// judgeKey judges a column as a key of clients, and says why. The score is the number of rows that it serves: without those of which
// the key has rows of different names, and of people of one address and name whose rows have several keys. What divides a client is
// the key of its agreements rather than its own, so it counts for two rows.
func (p *proposer) judgeKey(c *column) (score int, why string) {
	nameIn := func(row int) (name string) {
		for _, n := range []*column{p.person.first, p.person.last, p.person.full} {
			if n != nil {
				name += strings.ToLower(textOf(n.cells[row])) + "\x00"
			}
		}
		return name
	}
	conflicts := severalValues(len(c.cells), func(row int) (string, string) { return keyOf(c.cells[row]), nameIn(row) })
	divided := 0
	if email := p.person.email; email != nil && email != c {
		divided = severalValues(len(c.cells), func(row int) (who, key string) {
			if who = keyOf(email.cells[row]); who != "" {
				who += "\x00" + nameIn(row)
			}
			return who, keyOf(c.cells[row])
		})
	}
	empty := "none empty"
	if n := len(c.cells) - c.filled; n > 0 {
		empty = fmt.Sprintf("%d empty", n)
	}
	why = fmt.Sprintf("%d different in %s, %s", c.keys, rowsInWords(len(c.cells)), empty)
	if conflicts > 0 {
		why += fmt.Sprintf(", %d with rows of different names", conflicts)
	}
	return c.filled - conflicts - 2*divided, why
}

// severalValues counts the keys of which rows have different values; a row without a key has none.
func severalValues(rows int, of func(row int) (key, value string)) int {
	values, several := map[string]string{}, map[string]bool{}
	for row := range rows {
		key, value := of(row)
		if known, seen := values[key]; key != "" && seen && known != value {
			several[key] = true
		}
		values[key] = value
	}
	return len(several)
}

// findKey proposes the column that identifies a client, by its score: the e-mail address, by which the service can be asked, then
// a number of the client, the phone number, and other numbers.
func (p *proposer) findKey() (*column, string) {
	email, phone := p.person.email, p.person.phone
	var columns []*column
	if email != nil && (email.filled == 0 || email.isMostly(email.emails)) {
		columns = append(columns, email)
	}
	for i, name := range numberNames {
		c, _ := p.find(nil, name)
		columns = append(columns, c)
		if i == 0 && phone != nil && (phone.filled == 0 || phone.isMostly(phone.phones)) {
			columns = append(columns, phone)
		}
	}
	for _, c := range p.ordinary {
		if len(among(c.meaning, []string{"number", "id", "reference"})) > 0 && len(among(c.meaning, others)) == 0 {
			columns = append(columns, c)
		}
	}
	columns = slices.DeleteFunc(columns, func(c *column) bool { return c == nil })
	if len(columns) == 0 { // the first of those with the most different texts
		columns = p.ordinary
		if len(columns) == 0 {
			columns = p.seen.columns
		}
		columns = []*column{slices.MaxFunc(columns, func(a, b *column) int { return len(a.texts) - len(b.texts) })}
	}
	best, why, most := columns[0], "", math.MinInt
	for _, c := range columns {
		if score, is := p.judgeKey(c); score > most {
			best, most, why = c, score, is
		}
	}
	return best, why
}
