package draft

import (
	"fmt"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// link is a client field or an attribute with the value that was found for it.
type link struct {
	to    string
	value value
	why   string
	ask   string // what a person has to decide; "" when the link is certain
	idle  bool   // a comment until the decision is made

	certainty Certainty
}

// decide notes a question that has to be answered before the link can be used.
func (l *link) decide(ask string) { l.ask, l.idle = joined(ask, l.ask), true }

// client is the client section.
type client struct {
	key         *column
	keyWhy      string
	email       *column // of the look-up; nil without
	emailAsk    string
	phone       *value // of the look-up; nil without
	phoneWhy    string
	phoneAsk    string
	fields      []link
	keyIsAField bool // the only field is the key, for want of another one
}

// person holds the columns that say who a client is; nil for none.
type person struct {
	email, first, last, full, phone *column
	asks                            map[*column]string
	whys                            map[*column]string
	certain                         map[*column]Certainty
}

func newPerson() person {
	return person{asks: map[*column]string{}, whys: map[*column]string{}, certain: map[*column]Certainty{}}
}

// findPerson finds the columns of the client's fields. The service document gives no
// names of fields, but speaks of e-mail and name.
func (p *proposer) findPerson() person {
	w := newPerson()
	w.email = p.find(&w, isEmail, "email")
	if w.email == nil {
		w.email = p.findByCells(&w, isEmail, "its cells are e-mail addresses, whatever its header says")
	}
	if w.email == nil {
		w.email = p.findInPart(&w, isEmail, "email")
	}
	w.first = p.find(&w, nil, "first name")
	w.last = p.find(&w, nil, "last name")
	w.full = p.find(&w, nil, "full name")
	if w.first != nil && w.last == nil && w.full != nil {
		w.last, w.full = w.full, nil
		w.whys[w.last] = "beside " + oneLine(w.first.name)
		w.last.meaning = meaningOf("last name")
	}
	if w.last != nil || w.first != nil {
		w.full = nil
	}
	if w.phone = p.find(&w, isPhone, "mobile", "phone", "landline"); w.phone == nil {
		w.phone = p.findInPart(&w, isPhone, "mobile", "phone", "landline")
	}
	return w
}

// pairNames gives the columns First and Last the meaning that they have together. Alone
// such a word may be of anything.
func (p *proposer) pairNames() {
	named := func(word string) *column {
		i := slices.IndexFunc(p.ordinary, func(c *column) bool { return slices.Equal(without(wordsOf(c.name), neutral), []string{word}) })
		if i < 0 {
			return nil
		}
		return p.ordinary[i]
	}
	if first, last := named("first"), named("last"); first != nil && last != nil {
		first.meaning, last.meaning = meaningOf("first name"), meaningOf("last name")
	}
}

// find returns the ordinary column that a name means most likely; the likeliest name
// comes first. Enough of its cells must be ok, unless all are empty.
func (p *proposer) find(w *person, ok func(cell.Cell) bool, names ...string) *column {
	for _, name := range names {
		meaning, best, like := meaningOf(name), []*column(nil), likely
		for _, c := range p.ordinary {
			if ok != nil && !c.isBlank() && !c.mostly(ok) {
				continue
			}
			switch s := compareNames(name, meaning, c); {
			case s > like:
				best, like = []*column{c}, s
			case s == like:
				best = append(best, c)
			}
		}
		if len(best) == 0 {
			continue
		}
		if len(best) > 1 {
			w.asks[best[0]] = oneLine(best[1].name) + " would do as well"
		}
		w.whys[best[0]], w.certain[best[0]] = like.reason(name, best[0]), like.certainty(name, best[0])
		return best[0]
	}
	return nil
}

// findInPart returns the column that a name means though too few of its cells are ok: at
// least half of them are. A question is better than a client who cannot be looked up.
func (p *proposer) findInPart(w *person, ok func(cell.Cell) bool, names ...string) *column {
	by := newPerson()
	c := p.find(&by, nil, names...)
	if c == nil {
		return nil
	}
	if good, filled := c.count(ok); 2*good < filled {
		return nil
	}
	w.whys[c], w.certain[c] = by.whys[c], by.certain[c]
	w.asks[c] = joined("is it this column? Many of its cells are something else", by.asks[c])
	return c
}

// findByCells returns the only column of which all cells are ok.
func (p *proposer) findByCells(w *person, ok func(cell.Cell) bool, why string) *column {
	var found []*column
	for _, c := range p.ordinary {
		if len(among(c.meaning, others)) == 0 && c.mostly(ok) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return nil
	}
	w.asks[found[0]] = why
	return found[0]
}

// proposeClient proposes the client section.
func (p *proposer) proposeClient() client {
	w := p.person
	c := client{email: w.email}
	c.key, c.keyWhy = p.findKey()
	p.key = c.key
	p.used[c.key] = true
	if n := p.shared(w.email, c.key); n > 0 {
		c.emailAsk = "1 address belongs to several clients, and the look-up finds only one of them; correct it, or leave the look-up out"
		if n > 1 {
			c.emailAsk = fmt.Sprintf("%d addresses belong to several clients each, and the look-up finds only one of them; correct them, or leave the look-up out", n)
		}
	}
	if w.email != nil {
		c.fields = append(c.fields, p.field("email", w.email, convert.Email))
	}
	for _, f := range []struct {
		name   string
		column *column
	}{{"firstName", w.first}, {"lastName", w.last}, {"name", w.full}} {
		if f.column != nil {
			c.fields = append(c.fields, p.field(f.name, f.column, convert.Text))
		}
	}
	if w.phone != nil {
		f := p.field("phone", w.phone, convert.Phone)
		c.fields = append(c.fields, f)
		if w.email == nil || hasBlanks(w.email) {
			c.phone, c.phoneWhy, c.phoneAsk = &f.value, "", f.ask
			if w.email != nil {
				c.phoneWhy = "where there is no e-mail address"
			}
		}
	}
	if len(c.fields) == 0 {
		c.keyIsAField = true
		c.fields = append(c.fields, link{to: "reference", value: value{column: c.key, typ: convert.Text}})
	}
	return c
}

func (p *proposer) field(name string, c *column, t convert.Type) link {
	p.used[c] = true
	r := p.read(c, t, nil)
	l := link{to: name, value: r.value, why: r.why, ask: r.ask, certainty: p.person.certain[c]}
	if t == convert.Text {
		l.why = p.person.whys[c]
	}
	if ask := p.person.asks[c]; ask != "" {
		l.ask = strings.TrimPrefix(l.ask+"; "+ask, "; ")
	}
	return l
}

func hasBlanks(c *column) bool { return slices.ContainsFunc(c.cells, cell.Cell.IsEmpty) }

// keyFacts are what the cells of a column say about it as a key of clients.
type keyFacts struct {
	column    *column
	rows      int
	filled    int
	different int
	conflicts int // keys of which the rows have different names
	divides   int // clients, by their address and name, whose rows have several keys
}

func (f keyFacts) String() string {
	empty := "none empty"
	if n := f.rows - f.filled; n > 0 {
		empty = fmt.Sprintf("%d empty", n)
	}
	s := fmt.Sprintf("%d different in %s, %s", f.different, rowsInWords(f.rows), empty)
	if f.conflicts > 0 {
		s += fmt.Sprintf(", %d with rows of different names", f.conflicts)
	}
	return s
}

// worth compares keys of which none is without fault. What divides a client is the key
// of its agreements rather than its own, so it counts for two rows.
func (f keyFacts) worth() int { return f.filled - f.conflicts - 2*f.divides }

func rowsInWords(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// serves reports whether every row has the key, and rows with the same key have the
// same names.
func (f keyFacts) serves() bool { return f.filled == f.rows && f.conflicts == 0 }

// keyOf returns the text by which rows with the same key are found.
func keyOf(c cell.Cell) string {
	s, _ := convert.Key(c)
	return convert.FoldEmail(s)
}

func (p *proposer) keyFacts(c *column) keyFacts {
	f := keyFacts{column: c, rows: len(c.cells)}
	names, clash := map[string]string{}, map[string]bool{}
	for i, v := range c.filled() {
		f.filled++
		key, name := keyOf(v), p.nameIn(i)
		if known, seen := names[key]; seen && known != name {
			clash[key] = true
		}
		names[key] = name
	}
	f.different, f.conflicts, f.divides = len(names), len(clash), p.divided(c)
	return f
}

// nameIn returns a row's name of the client, by which rows are compared.
func (p *proposer) nameIn(row int) string {
	name := ""
	for _, n := range []*column{p.person.first, p.person.last, p.person.full} {
		if n != nil {
			name += strings.ToLower(textOf(n.cells[row])) + "\x00"
		}
	}
	return name
}

// divided counts the people of one e-mail address and one name whose rows have
// different texts in c.
func (p *proposer) divided(c *column) int {
	if p.person.email == nil || c == p.person.email {
		return 0
	}
	of, several := map[string]string{}, map[string]bool{}
	for i, v := range p.person.email.filled() {
		who, key := keyOf(v)+"\x00"+p.nameIn(i), keyOf(c.cells[i])
		if known, seen := of[who]; seen && known != key {
			several[who] = true
		}
		of[who] = key
	}
	return len(several)
}

// numberNames are the names of columns that number the clients, the rows or the
// agreements of a sheet, in the order in which they are tried as a key.
var numberNames = []string{"client number", "lead number", "reference", "agreement number", "policy number", "claim number", "account number", "number row"}

// findKey proposes the column that identifies a client: the e-mail address, by which
// the service can be asked, unless rows have none or people share one; then a number
// of the client, then the phone number.
func (p *proposer) findKey() (*column, string) {
	var found []keyFacts
	add := func(c *column) {
		if c != nil && !slices.ContainsFunc(found, func(f keyFacts) bool { return f.column == c }) {
			found = append(found, p.keyFacts(c))
		}
	}
	email, phone := p.person.email, p.person.phone
	if email != nil && !email.isBlank() && !email.mostly(isEmail) {
		email = nil // found in part
	}
	if phone != nil && !phone.isBlank() && !phone.mostly(isPhone) {
		phone = nil
	}
	add(email)
	w := newPerson()
	for i, name := range numberNames {
		add(p.find(&w, nil, name))
		if i == 0 {
			add(phone)
		}
	}
	for _, c := range p.ordinary {
		if len(among(c.meaning, []string{"number", "id", "reference"})) > 0 && len(among(c.meaning, others)) == 0 {
			add(c)
		}
	}
	if len(found) == 0 {
		add(p.mostDifferent())
	}
	best := slices.IndexFunc(found, func(f keyFacts) bool { return f.serves() && p.shared(p.person.email, f.column) == 0 })
	if best < 0 {
		best = 0
		for i, f := range found {
			if f.worth() > found[best].worth() {
				best = i
			}
		}
	}
	why := found[best].String()
	for i, f := range found {
		if i != best && (f.column == p.person.email || f.different == f.rows) {
			why += fmt.Sprintf("; another choice is %s (%s)", oneLine(f.column.name), f)
			break
		}
	}
	return found[best].column, why
}

// shared counts the texts of a column that rows of different clients have, when key
// tells the clients apart.
func (p *proposer) shared(c, key *column) int {
	if c == nil || c == key {
		return 0
	}
	of, several := map[string]string{}, map[string]bool{}
	for i, v := range c.filled() {
		client := keyOf(key.cells[i])
		if known, seen := of[keyOf(v)]; seen && known != client {
			several[keyOf(v)] = true
		}
		of[keyOf(v)] = client
	}
	return len(several)
}

// mostDifferent returns the first of the columns with the most different texts.
func (p *proposer) mostDifferent() *column {
	columns := p.ordinary
	if len(columns) == 0 {
		columns = p.seen.columns
	}
	best, most := columns[0], -1
	for _, c := range columns {
		if n := len(c.texts()); n > most {
			best, most = c, n
		}
	}
	return best
}
