// Package draft proposes a first mapping for the init command by looking at the cells
// of the sheets:
//
//	headers, records ──▶ Profile ─┐
//	                              ├─ Propose ──▶ Proposal ── YAML ──▶ a file for a person to finish
//	layout, templates ──▶ Request ┘
//
// A proposal is plain data. Each line of it has its reason, and what the cells do not
// decide is a question in a line with DECIDE; until it is answered, the mapping leaves
// the line out, or cells that can be read in two ways are invalid. The package is
// pure: the sheets are read elsewhere, and equal requests give equal bytes.
//
// LikelyHeader guesses which row of a sheet holds the headers.
package draft

import (
	"maps"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Request is what a proposal is made from.
type Request struct {
	Name    string   // the mapping's name
	API     string   // v1 or v2
	Sources []string // the sheets' names
	Layout  Layout
	Service *mapping.Service // nil when no environment was asked; then there are no activities
}

// Layout says where in the file the sheet is, and how it is written. A setting without
// a value is left out.
type Layout struct{ SheetName, HeaderRow, Encoding, Delimiter Setting }

// Setting is a value that was found or given.
type Setting struct {
	Value string
	Why   string // the reason, for a comment
	Ask   string // what a person has to decide; "" when the value is certain
}

// Proposal is a first mapping, as data.
type Proposal struct {
	request  Request
	name     string
	settings []setting // of the sheet
	client   client
	claims   []claim
	onClaim  string // the id of the claims, "" without
	live     []template
	rest     []template // templates without a certain attribute
	unused   []*column
	notes    []string // what else was seen
}

// proposer makes a proposal.
type proposer struct {
	Request
	seen     *Profile
	ordinary []*column // the columns outside the group
	group    *group    // the columns of a wide sheet; nil when there are none
	used     map[*column]bool
	country  country
	numbers  numbers
	person   person
	key      *column // of the client
	claimKey *column // an ordinary column; nil without one

	claimLender *column // the column of the lender in the claims' names; nil without one
}

// Propose makes a proposal. seen must not be empty, and is used up.
func Propose(r Request, seen *Profile) *Proposal {
	seen.emptyOut(r.answers())
	p := &proposer{Request: r, seen: seen, ordinary: seen.columns, used: map[*column]bool{}}
	if r.API == "v2" {
		p.group, p.ordinary = findGroup(seen.columns)
	}
	made := &Proposal{request: r, name: p.mappingName()}
	p.country = p.shown()
	p.pairNames()
	p.person = p.findPerson()
	made.client = p.proposeClient()
	made.claims, made.onClaim = p.proposeClaims()
	used := maps.Clone(p.used)
	made.live, made.rest = p.proposeTemplates(made.onClaim)
	if p.numbers = p.findNumbers(made); p.numbers.doubtful != nil { // those columns are questions
		p.used = used
		made.live, made.rest = p.proposeTemplates(made.onClaim)
	}
	made.settings = p.proposeSettings(made)
	for _, c := range p.ordinary {
		if !p.used[c] {
			made.unused = append(made.unused, c)
		}
	}
	made.notes = p.notes()
	return made
}

// answers are the options of the service's drop-downs, in lower case: such a text is
// not an empty cell.
func (r Request) answers() map[string]bool {
	answers := map[string]bool{}
	if r.Service == nil {
		return answers
	}
	for _, t := range r.Service.Templates {
		for _, a := range t.Attributes {
			for _, option := range a.Options {
				answers[strings.ToLower(option)] = true
			}
		}
	}
	return answers
}

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

// Knows returns how many headers have a meaning for client fields or the service's
// attributes: it tells the sheet of leads from other sheets of a workbook.
func (r Request) Knows(headers []string) int {
	n := 0
	for _, c := range NewProfile(headers).columns {
		if r.knows(c) {
			n++
		}
	}
	return n
}

func (r Request) knows(c *column) bool {
	if _, known := meanings[strings.Join(wordsOf(c.name), " ")]; known {
		return true
	}
	if r.Service == nil {
		return false
	}
	for _, t := range r.Service.Templates {
		for _, a := range t.Attributes {
			if compareNames(a.Name, meaningOf(a.Name), c) >= likely {
				return true
			}
		}
	}
	return false
}
