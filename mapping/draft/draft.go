// Package draft proposes a first mapping for the init command by looking at the cells of the sheets:
//
//	headers, records ──▶ Profile ─┐
//	                              ├─ Propose ──▶ Proposal ── YAML ──▶ a file for a person to finish
//	layout, templates ──▶ Request ┘
//
// A proposal is plain data. Each line of it has its reason, and what the cells do not decide is a question in a line with DECIDE;
// until it is answered, the mapping leaves the line out, or cells that can be read in two ways are invalid. The package is pure: the
// sheets are read elsewhere, and equal requests give equal bytes.
//
// LikelyHeader guesses which row of a sheet holds the headers.
package draft

import (
	"slices"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Request is what a proposal is made from.
type Request struct {
	Name    string           // the mapping's name
	API     string           // v1 or v2
	Sources []string         // the sheets' names
	Service *mapping.Service // nil when no environment was asked; then there are no activities

	// Where in the file the sheet is, and how it is written. A setting without a value is left out.
	SheetName, HeaderRow, Encoding, Delimiter Setting
}

// Setting is a value of the sheet section that was found or given.
type Setting struct {
	Key   string // for the lines of a Proposal; a Request needs none
	Value string // there as YAML
	Why   string // the reason, for a comment
	Ask   string // what a person has to decide; "" when the value is certain
}

// Proposal is a first mapping, as data.
type Proposal struct {
	request  Request
	settings []Setting // of the sheet
	key      *column   // of the client
	keyWhy   string
	lookup   []link // of the client, by email and phone
	fields   []link // of the client
	claims   []claim
	live     []template
	rest     []template // templates without a certain attribute, which are only named
	unused   []*column
	notes    []string // what else was seen
}

// proposer makes a proposal.
type proposer struct {
	Request
	seen        *Profile
	ordinary    []*column // those that no wide one stands for
	wide        []*column // of a wide sheet: each stands for one of every claim; nil when there are none
	used        map[*column]bool
	country     string    // that the sheet shows it is from; "" for none
	countryWhy  string    // what shows it
	numbers     Setting   // sheet.numbers
	doubtful    []*column // whose numbers can be read in two ways
	key         *column   // of the client
	claimKey    *column   // an ordinary column; nil without one
	claimLender *column   // the column of the lender in the claims' names; nil without one
	// person holds the columns that say who a client is; nil where the sheet has none. found says why they were taken.
	person struct {
		email, first, last, full, phone *column
		found                           map[*column]link
	}
}

// Propose makes a proposal. seen must not be empty, and is used up.
func Propose(r Request, seen *Profile) *Proposal {
	p := &proposer{Request: r, seen: seen, ordinary: seen.columns, used: map[*column]bool{}}
	if r.API == "v2" {
		p.wide, p.ordinary = findWide(seen.columns)
	}
	for _, c := range slices.Concat(seen.columns, p.wide) {
		c.look()
	}
	made := &Proposal{request: r}
	p.country, p.countryWhy = p.findCountry()
	p.numbers, p.doubtful = p.findNumbers()
	p.findPerson()
	p.proposeClient(made)
	claims, onClaim := p.proposeClaims()
	made.claims = claims
	made.live, made.rest = p.proposeTemplates(onClaim)
	made.settings = p.proposeSettings(made)
	for _, c := range p.ordinary {
		if !p.used[c] {
			made.unused = append(made.unused, c)
		}
	}
	made.notes = p.notes()
	return made
}

// columns returns the columns that an attribute may be of: the ordinary ones, and those of each claim.
func (p *proposer) columns() []*column { return slices.Concat(p.ordinary, p.wide) }

// mappingName is the name of the mapping, which cannot be that of a key space.
func (r Request) mappingName() string {
	switch name := oneLine(r.Name); name {
	case "":
		return "leads"
	case mapping.EmailSpace, mapping.PhoneSpace:
		return name + " leads"
	default:
		return name
	}
}

// Problems returns what claimsheet check would find wrong with the mapping and a
// sheet: nothing, unless the sheet itself cannot be imported.
func (p *Proposal) Problems(sheet cell.Sheet) problem.List {
	m, found := mapping.Parse("the mapping", p.YAML())
	if len(found) == 0 {
		_, found = mapping.Bind(m, &sheet, p.request.Service, "2006-01-02")
	}
	return found
}

// Knows returns how many headers have a meaning for client fields or the service's attributes: it tells the sheet of leads from
// other sheets of a workbook.
func (r Request) Knows(headers []string) int {
	return count(NewProfile(headers).columns, func(c *column) bool {
		if _, known := meanings[strings.Join(wordsOf(c.name), " ")]; known || r.Service == nil {
			return known
		}
		isLike := func(a mapping.AttributeTemplate) bool { return compareNames(a.Name, meaningOf(a.Name), c) >= likely }
		return slices.ContainsFunc(r.Service.Templates, func(t mapping.Template) bool { return slices.ContainsFunc(t.Attributes, isLike) })
	})
}
