package reports

import (
	"fmt"
	"time"

	"claimsheet/importer/result"
)

// SummarySheet is the last sheet of a workbook.
const SummarySheet = "Summary"

// overview is the sheet Summary under construction.
type overview struct {
	*page
	date1904 bool
	used     int   // rows
	err      error // the first; later calls do nothing
}

// writeOverview writes the sheet Summary: what ran, and how it ended in numbers
// and as a chart.
func writeOverview(w *workbook, b Book) error {
	p, err := w.page(SummarySheet, layout{widths: []float64{30, 20, 12}})
	if err != nil {
		return err
	}
	o := &overview{page: p, date1904: b.Sheet.Date1904}
	if b.Notice != "" {
		o.line(look{bold: true, colour: colour{text: amber.text}}, b.Notice)
		o.gap()
	}
	s := b.Summary
	o.fact(Fact{Label: "Run", Text: s.Run})
	o.fact(Fact{Label: "Environment", Text: s.Environment})
	for _, f := range b.Facts {
		o.fact(f)
	}
	o.fact(Fact{Label: "Duration", Text: duration(s.Seconds)})
	o.gap()
	o.statuses(s)
	o.gap()
	o.requests(s)
	if o.err != nil {
		return o.err
	}
	return p.finish(0)
}

// statuses is the table of rows and clients by status: every status that there
// is, so that two summaries can be laid side by side. The chart shows the rows.
func (o *overview) statuses(s result.Summary) {
	o.header("Status", "Rows", "Clients")
	first := o.used + 1
	clients := byStatus(s.Clients)
	for i, c := range byStatus(s.Rows) {
		o.line(look{}, string(c.status), c.count, clients[i].count)
	}
	if o.err == nil {
		o.err = o.book.chart(SummarySheet, first, o.used)
	}
	o.line(look{bold: true}, "total", s.Rows.Total, s.Clients.Total)
	if s.WithoutLink > 0 {
		o.gap()
		label := "Done without a link"
		if s.DryRun {
			label = "Would be done without a link"
		}
		o.line(look{}, label, nil, s.WithoutLink)
	}
}

// requests is the table of requests by kind.
func (o *overview) requests(s result.Summary) {
	word := "Requests sent"
	if s.DryRun {
		word = "Requests a run would send"
	}
	o.header(word, "Number")
	for _, r := range byKind(s.Requests) {
		o.line(look{}, r.kind, r.count)
	}
}

func (o *overview) fact(f Fact) {
	if f.Text == "" && f.Time.IsZero() {
		return
	}
	o.next()
	o.text(o.style(look{bold: true}), cut(f.Label))
	if f.Text != "" {
		o.text(o.style(look{quoted: needsQuote(f.Text)}), cut(f.Text))
	} else {
		o.float(o.style(look{format: timeFormat, left: true}), serial(f.Time, o.date1904))
	}
	o.done()
}

// header begins a table: a label, then columns of numbers.
func (o *overview) header(label string, numbers ...string) {
	o.next()
	for i, h := range append([]string{label}, numbers...) {
		o.text(o.style(look{bold: true, colour: plain, right: i > 0}), h)
	}
	o.done()
}

// line writes texts and numbers in one look; nil is no cell.
func (o *overview) line(l look, values ...any) {
	o.next()
	for _, v := range values {
		switch v := v.(type) {
		case string:
			o.text(o.style(l), cut(v))
		case int:
			o.integer(o.style(l), v)
		default:
			o.skip()
		}
	}
	o.done()
}

func (o *overview) gap() { o.used++ }

func (o *overview) next() {
	o.used++
	o.begin(o.used)
}

func (o *overview) done() {
	if err := o.end(); o.err == nil {
		o.err = err
	}
}

func (o *overview) style(l look) int {
	id, err := o.book.styles.id(l)
	if o.err == nil {
		o.err = err
	}
	return id
}

// duration is a number of seconds as a person says it.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// at is a range of a column of a sheet, as a chart names it.
func at(sheet, column string, first, last int) string {
	return fmt.Sprintf("'%s'!$%s$%d:$%s$%d", sheet, column, first, column, last)
}
