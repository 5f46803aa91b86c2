package reports

import (
	"fmt"
	"strings"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/result"
)

// PlanSheet lists the calls that a run would make, client by client.
const PlanSheet = "Plan" // goes on in "Plan 2" and so on when it is full

// planSheet is the sheet Plan under construction.
type planSheet struct {
	table
	clients *clientRows
	quoted  int
	linked  int
	order   int
	total   callCount
}

// callCount are calls by kind, in the order of the sheet's columns.
type callCount [4]int

var callKinds = []string{"client", "claim", "activity", "link"}

func (c *callCount) add(kind string) {
	for i, k := range callKinds {
		if k == kind {
			c[i]++
		}
	}
}

// writePlan writes one line per client for whom a run would send something, and
// the totals below.
func writePlan(w *workbook, b Book, clients *clientRows) error {
	p := &planSheet{clients: clients, table: table{
		book: w, name: PlanSheet, maxRows: excelize.TotalRows - 2, // and the totals
		headers: []string{ClientKeyHeader, "First row", "Rows", "Clients", "Claims", "Activities", "Links", "Calls", "In this order"},
		numbers: []int{1, 2, 3, 4, 5, 6, 7},
		layout:  layout{widths: []float64{34, 11, 8, 10, 10, 12, 8, 8, 110}},
	}}
	var err error
	if p.quoted, err = w.styles.id(look{quoted: true}); err != nil {
		return err
	}
	if p.linked, err = w.styles.id(look{link: true}); err != nil {
		return err
	}
	if p.order, err = w.styles.id(look{indent: true}); err != nil {
		return err
	}
	if err := p.start(); err != nil {
		return err
	}
	if err := p.eachClient(b); err != nil {
		return err
	}
	if err := p.totals(); err != nil {
		return err
	}
	return p.close()
}

// eachClient gathers the steps of one client after the other.
func (p *planSheet) eachClient(b Book) error {
	var who result.Step
	var calls callCount
	var words []byte
	for s, err := range b.steps() {
		if err != nil {
			return err
		}
		if s.State != string(result.Planned) {
			continue // known from before: nothing would be sent
		}
		if words != nil && (s.Client != who.Client || s.ClientKey != who.ClientKey) {
			if err := p.client(who, calls, words); err != nil {
				return err
			}
			calls, words = callCount{}, words[:0]
		}
		if len(words) > 0 {
			words = append(words, ", "...)
		}
		who = s
		calls.add(s.Kind)
		words = append(words, inWords(s)...)
	}
	if words == nil {
		return nil
	}
	return p.client(who, calls, words)
}

// client writes a client's line. Its first row, numbered as in the source, leads
// to the sheet Results.
func (p *planSheet) client(who result.Step, calls callCount, words []byte) error {
	if err := p.line(); err != nil {
		return err
	}
	if needsQuote(who.ClientKey) {
		p.text(p.quoted, cut(who.ClientKey))
	} else {
		p.text(0, cut(who.ClientKey))
	}
	p.firstRow(who.Client)
	sum := 0
	for i, n := range calls {
		p.integer(0, n)
		p.total[i] += n
		sum += n
	}
	p.integer(0, sum)
	p.text(p.order, cut(string(words)))
	return p.end()
}

func (p *planSheet) firstRow(client int) {
	rows := p.clients.of(client)
	if rows.count == 0 {
		p.skip()
		p.skip()
		return
	}
	style := 0
	if p.links.room() {
		style = p.linked
		p.links.add(link{cell: p.at(), place: placeOf(ResultsSheet, fmt.Sprint("A", rows.line))})
	}
	p.integer(style, int(rows.row))
	p.integer(0, int(rows.count))
}

// totals stand below the lines and outside their filter.
func (p *planSheet) totals() error {
	bold, err := p.book.styles.id(look{bold: true})
	if err != nil {
		return err
	}
	p.begin(p.used + 2)
	p.text(bold, "total")
	p.skip()
	p.skip()
	sum := 0
	for _, n := range p.total {
		p.integer(bold, n)
		sum += n
	}
	p.integer(bold, sum)
	return p.end()
}

// inWords is a call as a person says it, with the claim that it is on.
func inWords(s result.Step) string {
	_, on, _ := strings.Cut(s.Step, "@")
	switch s.Kind {
	case "claim":
		return "claim " + strings.TrimPrefix(s.Step, "claim/")
	case "activity":
		if on == "" || on == "client" {
			return "“" + s.Title + "”"
		}
		return "“" + s.Title + "” on claim " + on
	case "link":
		return "magic link"
	}
	return s.Kind
}
