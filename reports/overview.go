package reports

import (
	"fmt"
	"time"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer"
)

// overview is the sheet Summary under construction.
type overview struct {
	book   *workbook
	stream *excelize.StreamWriter
	rows   int
	err    error // the first; later calls do nothing
}

// writeOverview writes the sheet Summary: what ran, and how it ended in numbers.
func writeOverview(w *workbook, b Book) error {
	stream, err := w.sheet("Summary")
	if err != nil {
		return err
	}
	for i, width := range []float64{30, 12, 12} {
		if err := stream.SetColWidth(i+1, i+1, width); err != nil {
			return err
		}
	}
	o := &overview{book: w, stream: stream}
	if b.Notice != "" {
		o.line(look{bold: true, colour: colour{text: amber.text}}, cut(b.Notice))
		o.gap()
	}
	s := b.Summary
	o.fact("Run", s.Run)
	o.fact("Environment", s.Environment)
	for _, f := range b.Facts {
		o.fact(f.Label, f.Text)
	}
	o.fact("Duration", duration(s.Seconds))
	o.gap()
	o.statuses(s)
	o.gap()
	o.requests(s)
	if o.err != nil {
		return o.err
	}
	return stream.Flush()
}

// statuses is the table of rows and clients by status: every status that there
// is, so that two summaries can be laid side by side.
func (o *overview) statuses(s importer.Summary) {
	o.header("Status", "Rows", "Clients")
	clients := byStatus(s.Clients)
	for i, c := range byStatus(s.Rows) {
		o.line(look{}, string(c.status), c.count, clients[i].count)
	}
	o.line(look{bold: true}, "total", s.Rows.Total, s.Clients.Total)
	if s.WithoutLink > 0 {
		o.gap()
		o.line(look{}, "Done without a link", "", s.WithoutLink)
	}
}

// requests is the table of requests by kind.
func (o *overview) requests(s importer.Summary) {
	word := "Requests sent"
	if s.DryRun {
		word = "Requests a run would send"
	}
	o.header(word, "Number")
	for _, r := range byKind(s.Requests) {
		o.line(look{}, r.kind, r.count)
	}
}

func (o *overview) fact(label, text string) {
	if o.err != nil || text == "" {
		return
	}
	var cell excelize.Cell
	if cell, o.err = o.book.styles.cell(label, look{bold: true}); o.err != nil {
		return
	}
	o.row(cell, cut(text))
}

// header begins a table: a label, then columns of numbers.
func (o *overview) header(label string, numbers ...string) {
	cells := make([]any, 1+len(numbers))
	for i, h := range append([]string{label}, numbers...) {
		if o.err != nil {
			return
		}
		cells[i], o.err = o.book.styles.cell(h, look{bold: true, colour: plain, right: i > 0})
	}
	o.row(cells...)
}

// line writes values in one look.
func (o *overview) line(l look, values ...any) {
	cells := make([]any, len(values))
	for i, v := range values {
		if o.err != nil {
			return
		}
		cells[i], o.err = o.book.styles.cell(v, l)
	}
	o.row(cells...)
}

func (o *overview) gap() { o.rows++ }

func (o *overview) row(values ...any) {
	if o.err != nil {
		return
	}
	o.rows++
	o.err = o.stream.SetRow(fmt.Sprintf("A%d", o.rows), values)
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
