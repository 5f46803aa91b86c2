package reports

import (
	"time"

	"claimsheet/reports/xlsx"
)

// summarySheet is the last sheet of a workbook.
const summarySheet = "Summary"

// Fact is a line of the sheet Summary.
type Fact struct{ Label, Text string }

// writeSummary writes the sheet Summary: what ran, and how it ended in numbers, with every
// status, so that two summaries can be compared side by side.
func writeSummary(w *xlsx.Writer, b Workbook) error {
	t := w.NewSheet(xlsx.Layout{Name: summarySheet, Widths: []float64{30, 20, 12}})
	header := xlsx.Style{Bold: true, Colour: xlsx.Plain}
	if b.Notice != "" {
		t.Row(xlsx.Style{Bold: true, Colour: xlsx.AmberText}, b.Notice)
		t.Gap()
	}
	s := b.Summary
	facts := append([]Fact{{"Run", s.Run}, {"Environment", s.Environment}}, b.Facts...)
	for _, f := range append(facts, Fact{"Duration", duration(s.Seconds)}) {
		if f.Text != "" {
			t.Next(1, false)
			t.Text(xlsx.Style{Bold: true}, f.Label)
			t.Text(xlsx.Style{}, f.Text)
			t.End()
		}
	}
	t.Gap()
	t.Row(header, "Status", "Rows", "Clients")
	for _, status := range statuses {
		t.Row(xlsx.Style{}, string(status.status), s.Rows.Of(status.status), s.Clients.Of(status.status))
	}
	t.Row(xlsx.Style{Bold: true}, "total", s.Rows.Total, s.Clients.Total)
	without, sent := "Done without a link", "Requests sent"
	if s.DryRun {
		without, sent = "Would be done without a link", "Requests a run would send"
	}
	if s.WithoutLink > 0 {
		t.Gap()
		t.Row(xlsx.Style{}, without, nil, s.WithoutLink)
	}
	t.Gap()
	t.Row(header, sent, "Number")
	for _, r := range requests {
		t.Row(xlsx.Style{}, r.several, r.of(s.Requests))
	}
	return t.Close()
}

// duration formats a number of seconds for people.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
