package reports

import (
	"slices"
	"strings"

	"claimsheet/importer/result"
	"claimsheet/reports/xlsx"
)

// PlanSheet lists the calls that a run would make, client by client. It continues in
// "Plan 2" and so on when it is full.
const PlanSheet = "Plan"

// callKinds are the kinds of calls, in the order of the sheet's columns.
var callKinds = []string{"client", "claim", "activity", "link"}

// planSheet is the sheet Plan under construction, with the calls of one client.
type planSheet struct {
	*xlsx.Sheet
	results *resultsSheet
	client  result.Step
	calls   [4]int   // by kind
	words   []string // the same calls, in their order
	total   [4]int   // of all clients
}

// writePlan writes one line for each client that a run would send something for, and
// the totals below.
func writePlan(w *xlsx.Writer, b Workbook, results *resultsSheet) error {
	t := w.NewSheet(xlsx.Layout{
		Name: PlanSheet, MaxRows: xlsx.MaxRows - 2, // room for the totals
		Headers: []string{ClientKeyHeader, "First row", "Rows", "Clients", "Claims", "Activities", "Links", "Calls", "In this order"},
		Numbers: []int{1, 2, 3, 4, 5, 6, 7},
		Widths:  []float64{34, 11, 8, 10, 10, 12, 8, 8, 110},
	})
	p := &planSheet{Sheet: t, results: results}
	for s, err := range b.Steps {
		if err != nil {
			return err
		}
		if s.State != string(result.Planned) {
			continue // done before: nothing would be sent
		}
		if s.Client != p.client.Client || s.ClientKey != p.client.ClientKey {
			p.write()
		}
		p.client, p.words = s, append(p.words, inWords(s))
		if kind := slices.Index(callKinds, s.Kind); kind >= 0 {
			p.calls[kind]++
		}
	}
	p.write()
	p.Gap()
	n := p.total
	p.Row(xlsx.Style{Bold: true}, "total", nil, nil, n[0], n[1], n[2], n[3], n[0]+n[1]+n[2]+n[3])
	return p.Close()
}

// write writes a client's line. Its first row, numbered as in the source, is a link
// to the sheet Results.
func (p *planSheet) write() {
	if len(p.words) == 0 {
		return
	}
	p.Next(1, false)
	var plain xlsx.Style
	p.Text(plain, p.client.ClientKey)
	var rows clientRows
	if n := p.client.Client; 0 < n && n <= len(p.results.clients) {
		rows = p.results.clients[n-1]
	}
	if rows.count > 0 {
		p.Value(xlsx.Style{Link: p.LinkTo(p.results.place(0, int(rows.row)))}, int(rows.source))
		p.Value(plain, int(rows.count))
	} else {
		p.Value(plain, nil)
		p.Value(plain, nil)
	}
	sum := 0
	for i, n := range p.calls {
		p.Value(plain, n)
		p.total[i] += n
		sum += n
	}
	p.Value(plain, sum)
	p.Text(xlsx.Style{Indent: true}, strings.Join(p.words, ", "))
	p.calls, p.words = [4]int{}, p.words[:0]
	p.End()
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
