package reports

import (
	"time"

	"claimsheet/importer/result"
	"claimsheet/reports/xlsx"
)

// SummarySheet is the last sheet of a workbook.
const SummarySheet = "Summary"

// overview is the sheet Summary under construction.
type overview struct {
	*xlsx.SheetWriter
	book     *xlsx.Workbook
	date1904 bool
	used     int // rows
}

// writeOverview writes the sheet Summary: what ran, and how it ended in numbers and as
// a chart.
func writeOverview(w *xlsx.Workbook, b Book) error {
	sheet, err := w.NewSheet(SummarySheet, xlsx.Layout{Widths: []float64{30, 20, 12}})
	if err != nil {
		return err
	}
	o := &overview{SheetWriter: sheet, book: w, date1904: b.Sheet.Date1904}
	if b.Notice != "" {
		o.line(xlsx.Look{Bold: true, Colour: xlsx.Colour{Text: xlsx.Amber.Text}}, b.Notice)
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
	if err := o.statuses(s); err != nil {
		return err
	}
	o.gap()
	o.requests(s)
	return o.Close()
}

// statuses writes the table of rows and clients by status, with every status, so that
// two summaries can be compared side by side. The chart shows the rows.
func (o *overview) statuses(s result.Summary) error {
	o.header("Status", "Rows", "Clients")
	first := o.used + 1
	clients := byStatus(s.Clients)
	for i, c := range byStatus(s.Rows) {
		o.line(xlsx.Look{}, string(c.status), c.count, clients[i].count)
	}
	if err := o.BarChart("Rows by status", first, o.used); err != nil {
		return err
	}
	o.line(xlsx.Look{Bold: true}, "total", s.Rows.Total, s.Clients.Total)
	if s.WithoutLink > 0 {
		o.gap()
		label := "Done without a link"
		if s.DryRun {
			label = "Would be done without a link"
		}
		o.line(xlsx.Look{}, label, nil, s.WithoutLink)
	}
	return nil
}

// requests writes the table of requests by kind.
func (o *overview) requests(s result.Summary) {
	word := "Requests sent"
	if s.DryRun {
		word = "Requests a run would send"
	}
	o.header(word, "Number")
	for _, r := range byKind(s.Requests) {
		o.line(xlsx.Look{}, r.kind, r.count)
	}
}

func (o *overview) fact(f Fact) {
	if f.Text == "" && f.Time.IsZero() {
		return
	}
	o.next()
	o.Text(o.book.Style(xlsx.Look{Bold: true}), f.Label)
	if f.Text != "" {
		o.Text(nil, f.Text)
	} else {
		o.Float(o.book.Style(xlsx.Look{Format: timeFormat, Left: true}), serial(f.Time, o.date1904))
	}
	_ = o.End() // Close returns the first error
}

// header begins a table: a label, then columns of numbers.
func (o *overview) header(label string, numbers ...string) {
	o.next()
	for i, h := range append([]string{label}, numbers...) {
		o.Text(o.book.Style(xlsx.Look{Bold: true, Colour: xlsx.Plain, Right: i > 0}), h)
	}
	_ = o.End()
}

// line writes texts and numbers in one look; nil leaves a cell out.
func (o *overview) line(l xlsx.Look, values ...any) {
	o.next()
	for _, v := range values {
		switch v := v.(type) {
		case string:
			o.Text(o.book.Style(l), v)
		case int:
			o.Integer(o.book.Style(l), v)
		default:
			o.Skip()
		}
	}
	_ = o.End()
}

func (o *overview) gap() { o.used++ }

func (o *overview) next() {
	o.used++
	o.Begin(o.used)
}

// duration formats a number of seconds for people.
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
