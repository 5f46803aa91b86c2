package draft

import (
	"fmt"
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
	shared  bool // several templates have the name, so that a mapping cannot use it
	isPlain bool // it has no attributes
	on      string
	onWhy   string
	onAsk   string // why on is a question; the template is on the client until it is answered
	links   []link
	missing []string // attributes without a column
	texts   bool     // it sends texts to attributes of which the service reports no type
}

// target is an attribute with the columns whose headers are like it.
type target struct {
	template, attribute int
	mapping.AttributeTemplate
	like    strength
	meaning []string
	columns []*column // all of the same strength
	reading reading   // of the first of them
}

// proposeTemplates links the attributes of the service's templates with columns. Those
// of which a template has none for certain are in rest.
func (p *proposer) proposeTemplates(onClaim string) (live, rest []template) {
	if p.Service == nil {
		return nil, nil
	}
	targets := p.targets()
	for i, t := range p.Service.Templates {
		made := template{name: t.Name, isPlain: len(t.Attributes) == 0}
		made.shared = count(p.Service.Templates, func(o mapping.Template) bool { return o.Name == t.Name }) > 1
		for k := range t.Attributes {
			a := targets[[2]int{i, k}]
			if l, ok := p.link(a, targets); ok && !made.shared {
				made.links = append(made.links, l)
				made.texts = made.texts || a.Type == "" && l.value.typ == convert.Text && !l.idle
			} else {
				made.missing = append(made.missing, nameAndType(a.AttributeTemplate))
			}
		}
		if !slices.ContainsFunc(made.links, func(l link) bool { return !l.idle && !p.isPersonal(l.value.column) }) {
			rest = append(rest, made)
			continue
		}
		for _, l := range made.links {
			p.use(l)
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

func nameAndType(a mapping.AttributeTemplate) string {
	if a.Type == "" {
		return oneLine(a.Name)
	}
	return oneLine(a.Name) + " (" + string(a.Type) + ")"
}

// use notes the columns of a link that is not a comment.
func (p *proposer) use(l link) {
	if l.idle {
		return
	}
	for _, c := range append(slices.Clone(l.value.firstOf), l.value.column) {
		if c != nil {
			p.used[c] = true
		}
	}
}

// targets finds for every attribute the columns that are most like it, by the places
// of template and attribute.
func (p *proposer) targets() map[[2]int]*target {
	all := map[[2]int]*target{}
	columns := slices.Clone(p.ordinary)
	if p.group != nil {
		for _, m := range p.group.members {
			columns = append(columns, m.alias)
		}
	}
	for i, t := range p.Service.Templates {
		for k, a := range t.Attributes {
			x := &target{template: i, attribute: k, AttributeTemplate: a, meaning: meaningOf(a.Name)}
			all[[2]int{i, k}] = x
			if count(t.Attributes, func(o mapping.AttributeTemplate) bool { return o.Name == a.Name }) == 1 {
				p.seek(x, columns)
			}
		}
	}
	return all
}

// seek finds the columns that are most like an attribute. A column whose cells do not
// fit the type is only left when no other is like it.
func (p *proposer) seek(x *target, columns []*column) {
	var misfit *target
	for like := sameName; like > unlike; like-- {
		for _, c := range columns {
			if compareNames(x.Name, x.meaning, c) != like {
				continue
			}
			r := p.read(c, x.Type, x.Options)
			switch {
			case !r.fits && !r.none && misfit == nil && like > partly:
				misfit = &target{like: like, columns: []*column{c}, reading: r}
				continue
			case !r.fits:
				continue
			case len(x.columns) == 0:
				x.reading = r
			}
			x.columns = append(x.columns, c)
		}
		if len(x.columns) > 0 {
			x.like = like
			return
		}
	}
	if misfit != nil {
		x.like, x.columns, x.reading = misfit.like, misfit.columns, misfit.reading
	}
}

// link makes a link of an attribute and the column that is most like it. What is not
// certain is a question: several columns that are equally like it, a column that is
// as like another attribute, a header that is only partly like it.
func (p *proposer) link(x *target, all map[[2]int]*target) (link, bool) {
	if len(x.columns) == 0 {
		if x.Type == convert.Text || x.Type == convert.TextArea {
			return p.compose(x)
		}
		return link{}, false
	}
	c := x.columns[0]
	l := link{to: x.Name, value: x.reading.value, why: joined(x.like.reason(x.Name, c), x.reading.why), ask: x.reading.ask, idle: x.reading.idle, certainty: x.like.certainty(x.Name, c)}
	rival, isBetter := p.rival(x, all)
	if isBetter {
		return link{}, false
	}
	if !x.reading.fits {
		l.ask, l.idle = "is it this column? "+x.reading.why, true
		l.why = ""
	} else if len(x.columns) > 1 {
		l.decide("this column or " + oneLine(x.columns[1].name) + "?")
	} else if rival != nil {
		l.decide(fmt.Sprintf("this attribute or %s of %s?", quoted(oneLine(rival.Name)), quoted(oneLine(p.Service.Templates[rival.template].Name))))
	} else if x.like == partly {
		if p.isTaken(c, all) {
			return link{}, false
		}
		l.decide("is it this column?")
	}
	if ask := p.doubt(x, c); ask != "" {
		l.decide(ask)
	}
	return l, true
}

// doubt says why a column may not be what its name says; "" when nothing speaks
// against it.
func (p *proposer) doubt(x *target, c *column) string {
	isMonth := func(w string) bool {
		return strings.HasPrefix(w, "month") || strings.HasPrefix(w, "mth") || strings.HasPrefix(w, "monat")
	}
	switch {
	case slices.Equal(x.meaning, []string{"months", "term"}) && slices.ContainsFunc(wordsOf(x.Name), isMonth) && !slices.ContainsFunc(wordsOf(c.name), isMonth):
		short, filled := c.count(func(v cell.Cell) bool {
			n, err := strconv.ParseFloat(textOf(v), 64)
			return err == nil && n < 12
		})
		if short > 0 {
			return fmt.Sprintf("are these months, or years? %d of %s are less than 12", short, cellsInWords(filled))
		}
	case slices.Equal(x.meaning, []string{"account", "number"}) && !p.hasBankAccount():
		return "is it the client's bank account, or the lender's number for the agreement? The sheet has no sort code or IBAN"
	}
	return ""
}

// joined joins what is said of a link. After a question a new sentence begins.
func joined(parts ...string) string {
	var all string
	for _, part := range parts {
		switch {
		case part == "":
		case all == "":
			all = part
		case strings.HasSuffix(all, "?"):
			all += " " + strings.ToUpper(part[:1]) + part[1:]
		default:
			all += "; " + part
		}
	}
	return all
}

// rival returns another attribute that the column may be meant for; nil for none. It
// is certainly meant for that one when the header is more like it, and the name says
// more, or is the header's own.
func (p *proposer) rival(x *target, all map[[2]int]*target) (rival *target, isBetter bool) {
	if x.like < likely {
		return nil, false
	}
	for i, t := range p.Service.Templates {
		for k := range t.Attributes {
			other := all[[2]int{i, k}]
			if other == x || len(other.columns) == 0 || other.columns[0] != x.columns[0] || other.like < likely || !other.reading.fits {
				continue
			}
			switch {
			case beats(other, x):
				return other, true
			case !beats(x, other):
				rival = other
			}
		}
	}
	return rival, false
}

// beats reports whether a column is certainly meant for the first of two attributes.
func beats(a, b *target) bool {
	return a.like > b.like && (a.like == sameName || within(b.meaning, a.meaning))
}

// isPersonal reports whether a column is a field of the client. Such columns alone make
// no activity: a name is not yet a signature.
func (p *proposer) isPersonal(c *column) bool {
	w := p.person
	return c != nil && slices.Contains([]*column{w.email, w.first, w.last, w.full, w.phone}, c)
}

// isTaken reports whether a column is linked for certain with another attribute, or
// is a field of the client.
func (p *proposer) isTaken(c *column, all map[[2]int]*target) bool {
	if p.isPersonal(c) {
		return true
	}
	for _, other := range all {
		if other.like >= likely && len(other.columns) == 1 && other.columns[0] == c && other.reading.fits {
			return true
		}
	}
	return false
}

// compose proposes a text of several columns for an address that no column holds as a
// whole.
func (p *proposer) compose(x *target) (link, bool) {
	if !slices.Equal(meaningOf(x.Name), []string{"address"}) {
		return link{}, false
	}
	w := newPerson()
	street := p.find(&w, nil, "street")
	if street == nil {
		return link{}, false
	}
	text := "{" + street.name + "}"
	parts := []*column{street}
	for _, part := range []struct{ name, before string }{{"house number", " "}, {"locality", ", "}, {"town", ", "}} {
		if c := p.find(&w, nil, part.name); c != nil {
			text += part.before + "{" + c.name + "}"
			parts = append(parts, c)
		}
	}
	if slices.ContainsFunc(parts, func(c *column) bool { return !isQuotable(c.name) }) {
		return link{}, false
	}
	return link{to: x.Name, value: value{text: text, firstOf: parts, typ: x.Type}, why: "no column holds the whole address", ask: "is it made of these columns?", idle: true}, true
}

// ofPeople are words of columns that say something about the client, not about a claim.
var ofPeople = []string{"title", "first", "last", "full", "birth", "address", "street", "house", "locality", "town", "county", "postcode", "email", "phone", "mobile", "landline", "consent", "contact",
	"employment", "income", "dependants", "gender", "nationality", "insurance", "sortcode", "iban", "holder", "account", "source"}

// scope says whether a template is on the claim: it holds the claim's own columns, or
// columns that differ between rows of one client. ask is set where nothing shows it.
func (p *proposer) scope(t template, onClaim string) (on, why, ask string) {
	if onClaim == "" {
		return "", "", ""
	}
	var columns []*column
	for _, l := range t.links {
		if c := l.value.column; c != nil && !l.idle {
			columns = append(columns, c)
		}
	}
	has := func(ok func(*column) bool) bool { return slices.ContainsFunc(columns, ok) }
	switch {
	case has(func(c *column) bool { return c.group != nil }):
		return onClaim, "it holds columns of each claim", ""
	case has(func(c *column) bool { return c == p.claimKey }):
		return onClaim, "it holds the claim's key", ""
	case has(func(c *column) bool { return c == p.claimLender }):
		return onClaim, "it holds the claim's lender", ""
	}
	if i := slices.IndexFunc(columns, p.varies); i >= 0 {
		return onClaim, oneLine(columns[i].name) + " differs between rows of one client", ""
	}
	isOfClient := has(func(c *column) bool { return p.isPersonal(c) || len(among(c.meaning, ofPeople)) > 0 })
	if p.group != nil || isOfClient || p.hasSeveralRows() {
		return "", "", ""
	}
	return onClaim, "", "is it of each claim? Without this line it is of the client"
}

// hasSeveralRows reports whether clients have several rows, so that what differs between
// them shows what is of a claim.
func (p *proposer) hasSeveralRows() bool {
	f := p.keyFacts(p.key)
	return f.different < f.filled
}
