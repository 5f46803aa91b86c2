package draft

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// template is an activity template with the links that were found for it.
type template struct {
	name    string
	on      string
	onWhy   string
	onAsk   string // why on is a question; the template is on the client until it is answered
	links   []link
	missing []string // attributes without a column
	texts   bool     // it sends texts to attributes of which the service reports no type
}

// target is an attribute with the columns whose headers are like it.
type target struct {
	mapping.AttributeTemplate
	template string
	like     strength
	meaning  []string
	columns  []*column // all of the same strength
}

// proposeTemplates links the attributes of the service's templates with columns. Those of which a template has none for certain
// are in rest.
func (p *proposer) proposeTemplates(onClaim string) (live, rest []template) {
	if p.Service == nil {
		return nil, nil
	}
	var targets []*target
	for _, t := range p.Service.Templates {
		for _, a := range t.Attributes {
			x := &target{AttributeTemplate: a, template: t.Name, meaning: meaningOf(a.Name)}
			if count(t.Attributes, func(o mapping.AttributeTemplate) bool { return o.Name == a.Name }) == 1 {
				fits := func(c *column) bool { return p.read(c, a.Type, a.Options).fits }
				x.columns, x.like = mostLike(a.Name, p.columns(), partly, fits)
			}
			targets = append(targets, x)
		}
	}
	next := targets
	for _, t := range p.Service.Templates {
		made := template{name: t.Name}
		isShared := count(p.Service.Templates, func(o mapping.Template) bool { return o.Name == t.Name }) > 1 // a mapping cannot use it
		for _, x := range next[:len(t.Attributes)] {
			if l, ok := p.link(x, targets); ok && !isShared {
				made.links = append(made.links, l)
				made.texts = made.texts || x.Type == "" && l.value.typ == convert.Text && !l.idle
			} else {
				made.missing = append(made.missing, oneLine(x.Name))
			}
		}
		next = next[len(t.Attributes):]
		if !slices.ContainsFunc(made.links, func(l link) bool { return !l.idle && !p.isPersonal(l.value.column) }) {
			rest = append(rest, made)
			continue
		}
		for _, l := range made.links {
			if !l.idle {
				p.used[l.value.column] = true
			}
		}
		made.on, made.onWhy, made.onAsk = p.scope(made, onClaim)
		live = append(live, made)
	}
	return live, rest
}

func count[T any](list []T, ok func(T) bool) int {
	n := 0
	for _, v := range list {
		if ok(v) {
			n++
		}
	}
	return n
}

// link makes a link of an attribute and the column that is most like it. What is not certain is a question: several columns that
// are equally like it, a column that is as like another attribute, a header that is only partly like it.
func (p *proposer) link(x *target, all []*target) (link, bool) {
	if len(x.columns) == 0 {
		return p.compose(x)
	}
	c := x.columns[0]
	l := p.read(c, x.Type, x.Options)
	l.to, l.why = x.Name, joined(reasons[x.like], l.why)
	var rival *target // another attribute for which the column is certain, too
	for _, other := range all {
		if other != x && other.like >= likely && other.columns[0] == c {
			if x.like == partly || outranks(other, x) {
				return link{}, false
			}
			if rival == nil && !outranks(x, other) {
				rival = other
			}
		}
	}
	ask := ""
	switch {
	case x.like == partly && p.isPersonal(c):
		return link{}, false
	case len(x.columns) > 1:
		ask = "this column or " + oneLine(x.columns[1].name) + "?"
	case rival != nil:
		ask = fmt.Sprintf("this attribute or %s of %s?", quoted(oneLine(rival.Name)), quoted(oneLine(rival.template)))
	case x.like == partly:
		ask = "is it this column?"
	}
	monthly := regexp.MustCompile(`(?i)month|mth|monat`)
	few := c.count(func(v cell.Cell) bool { n, err := strconv.ParseFloat(textOf(v), 64); return err == nil && n < 12 })
	switch {
	case slices.Equal(x.meaning, []string{"months", "term"}) && monthly.MatchString(x.Name) && !monthly.MatchString(c.name) && few > 0:
		ask = joined(fmt.Sprintf("are these months, or years? %d of %s are less than 12", few, cellsInWords(c.filled)), ask)
	case slices.Equal(x.meaning, []string{"account", "number"}) && !p.hasBankAccount():
		ask = "is it the client's bank account, or the lender's number for the agreement? The sheet has no sort code or IBAN"
	}
	if ask != "" {
		l.ask, l.idle = joined(ask, l.ask), true
	}
	return l, true
}

// outranks reports whether a column is certainly meant for the first of two attributes: its header is more like that, and the name
// says more, or is the header's own.
func outranks(a, b *target) bool {
	return a.like > b.like && (a.like == sameName || within(b.meaning, a.meaning))
}

// isPersonal reports whether a column is a field of the client. Such columns alone make no activity: a name is not yet a signature.
func (p *proposer) isPersonal(c *column) bool {
	w := p.person
	return c != nil && slices.Contains([]*column{w.email, w.first, w.last, w.full, w.phone}, c)
}

// compose proposes to join the columns of an address that no column holds as a whole. A house number stands beside its street, so that with
// one all are set apart by spaces.
func (p *proposer) compose(x *target) (link, bool) {
	street, _ := p.find(nil, "street")
	if x.Type != convert.Text && x.Type != convert.TextArea || !slices.Equal(x.meaning, []string{"address"}) || street == nil {
		return link{}, false
	}
	v := value{parts: []*column{street}, typ: x.Type}
	for _, name := range []string{"house number", "locality", "town"} {
		c, _ := p.find(nil, name)
		if c == nil {
			continue
		}
		if v.parts = append(v.parts, c); name == "house number" {
			v.with = " "
		}
	}
	return link{to: x.Name, value: v, why: "no column holds the whole address", ask: "is it made of these columns?", idle: true}, true
}

// scope says whether a template is on the claim: it holds the claim's own columns, or columns that differ between rows of one
// client. ask is set where nothing shows it.
func (p *proposer) scope(t template, onClaim string) (on, why, ask string) {
	if onClaim == "" {
		return "", "", ""
	}
	var columns []*column
	for _, l := range t.links {
		if l.value.column != nil && !l.idle {
			columns = append(columns, l.value.column)
		}
	}
	switch {
	case slices.Contains(columns, p.claimKey):
		return onClaim, "it holds the claim's key", ""
	case slices.Contains(columns, p.claimLender):
		return onClaim, "it holds the claim's lender", ""
	}
	isOfClient := p.wide != nil
	for _, c := range columns {
		switch {
		case c.each != nil:
			return onClaim, "it holds columns of each claim", ""
		case p.varies(c):
			return onClaim, oneLine(c.name) + " differs between rows of one client", ""
		case p.isPersonal(c) || len(among(c.meaning, ofPeople)) > 0:
			isOfClient = true
		}
	}
	if isOfClient || p.key.keys < p.key.filled { // clients with several rows show what is of a claim
		return "", "", ""
	}
	return onClaim, "", "is it of each claim? Without this line it is of the client"
}

// varies reports whether rows of the same client have different texts in a column.
func (p *proposer) varies(c *column) bool {
	return c != p.key && severalValues(len(c.cells), func(row int) (client, value string) {
		if c.cells[row].IsEmpty() {
			return "", ""
		}
		return keyOf(p.key.cells[row]), strings.ToLower(textOf(c.cells[row]))
	}) > 0
}
