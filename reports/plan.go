package reports

import (
	"fmt"
	"strings"

	"claimsheet/importer/result"
	"claimsheet/reports/xlsx"
)

// PlanSheet lists the calls that a run would make, client by client. It continues in
// "Plan 2" and so on when it is full.
const PlanSheet = "Plan"

// planSheet is the sheet Plan under construction.
type planSheet struct {
	*xlsx.Table
	clients *clientRows
	link    *xlsx.Style
	order   *xlsx.Style
	total   callCount
}

// callCount counts calls by kind, in the order of the sheet's columns.
type callCount [4]int

var callKinds = []string{"client", "claim", "activity", "link"}

func (c *callCount) add(kind string) {
	for i, k := range callKinds {
		if k == kind {
			c[i]++
		}
	}
}

// writePlan writes one line for each client that a run would send something for, and
// the totals below.
func writePlan(w *xlsx.Workbook, b Book, clients *clientRows) error {
	t, err := w.NewTable(xlsx.TableLayout{
		Name: PlanSheet, MaxRows: xlsx.MaxRows - 2, // room for the totals
		Headers: []string{ClientKeyHeader, "First row", "Rows", "Clients", "Claims", "Activities", "Links", "Calls", "In this order"},
		Numbers: []int{1, 2, 3, 4, 5, 6, 7},
		Layout:  xlsx.Layout{Widths: []float64{34, 11, 8, 10, 10, 12, 8, 8, 110}},
	})
	if err != nil {
		return err
	}
	p := &planSheet{Table: t, clients: clients, link: w.Style(xlsx.Look{Link: true}), order: w.Style(xlsx.Look{Indent: true})}
	if err := p.eachClient(b); err != nil {
		return err
	}
	if err := p.totals(w.Style(xlsx.Look{Bold: true})); err != nil {
		return err
	}
	return p.Close()
}

// eachClient collects the steps of one client after the other.
func (p *planSheet) eachClient(b Book) error {
	var who result.Step
	var calls callCount
	var words []byte
	for s, err := range b.steps() {
		if err != nil {
			return err
		}
		if s.State != string(result.Planned) {
			continue // done before: nothing would be sent
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

// client writes a client's line. Its first row, numbered as in the source, is a link
// to the sheet Results.
func (p *planSheet) client(who result.Step, calls callCount, words []byte) error {
	if err := p.Next(); err != nil {
		return err
	}
	p.Text(nil, who.ClientKey)
	p.firstRow(who.Client)
	sum := 0
	for i, n := range calls {
		p.Integer(nil, n)
		p.total[i] += n
		sum += n
	}
	p.Integer(nil, sum)
	p.Text(p.order, string(words))
	return p.End()
}

func (p *planSheet) firstRow(client int) {
	rows := p.clients.of(client)
	if rows.count == 0 {
		p.Skip()
		p.Skip()
		return
	}
	var style *xlsx.Style
	if p.LinkTo(xlsx.Place(ResultsSheet, fmt.Sprint("A", rows.line))) {
		style = p.link
	}
	p.Integer(style, int(rows.row))
	p.Integer(nil, int(rows.count))
}

// totals writes the sums below the lines.
func (p *planSheet) totals(bold *xlsx.Style) error {
	p.NextBelow()
	p.Text(bold, "total")
	p.Skip()
	p.Skip()
	sum := 0
	for _, n := range p.total {
		p.Integer(bold, n)
		sum += n
	}
	p.Integer(bold, sum)
	return p.End()
}

// inWords describes a call, with the claim that it belongs to.
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

// clientRows knows each client's rows, in twelve bytes for a client: the first one, in
// the source and in the sheet Results, and their number.
type clientRows struct {
	// By the client's number - 1, in pieces: one long slice would be copied whenever
	// it grows, and its old copies kept for a while.
	pieces []*[clientPiece]clientRow
}

const clientPiece = 1 << 12

type clientRow struct{ row, line, count int32 }

// note adds a row. A nil clientRows ignores it; client 0 is nobody.
func (c *clientRows) note(client, row, line int) {
	if c == nil || client <= 0 {
		return
	}
	for len(c.pieces) <= (client-1)/clientPiece {
		c.pieces = append(c.pieces, new([clientPiece]clientRow))
	}
	r := &c.pieces[(client-1)/clientPiece][(client-1)%clientPiece]
	if r.count == 0 {
		r.row, r.line = int32(row), int32(line)
	}
	r.count++
}

// of returns a client's rows; a count of 0 means that they are not known.
func (c *clientRows) of(client int) clientRow {
	if client <= 0 || (client-1)/clientPiece >= len(c.pieces) {
		return clientRow{}
	}
	return c.pieces[(client-1)/clientPiece][(client-1)%clientPiece]
}
