package reports

import (
	"time"

	"claimsheet/importer/result"
	"claimsheet/reports/xlsx"
)

// SummarySheet is the last sheet of a workbook.
const SummarySheet = "Summary"

// writeSummary writes the sheet Summary: what ran, and how it ended in numbers.
func writeSummary(w *xlsx.Writer, b Workbook) error {
	t := w.NewSheet(xlsx.Layout{Name: SummarySheet, Widths: []float64{30, 20, 12}})
	if b.Notice != "" {
		t.Row(xlsx.Style{Bold: true, Colour: xlsx.AmberText}, b.Notice)
		t.Gap()
	}
	s := b.Summary
	for _, f := range append(append([]Fact{{Label: "Run", Text: s.Run}, {Label: "Environment", Text: s.Environment}}, b.Facts...),
		Fact{Label: "Duration", Text: duration(s.Seconds)}) {
		writeFact(t, f)
	}
	t.Gap()
	writeStatuses(t, s)
	t.Gap()
	words := "Requests sent"
	if s.DryRun {
		words = "Requests a run would send"
	}
	writeHeader(t, words, "Number")
	for _, r := range requests {
		t.Row(xlsx.Style{}, r.kind, r.of(s.Requests))
	}
	return t.Close()
}

func writeFact(t *xlsx.Sheet, f Fact) {
	if f.Text == "" && f.Time.IsZero() {
		return
	}
	t.Next(1, false)
	t.Text(xlsx.Style{Bold: true}, f.Label)
	if f.Text != "" {
		t.Text(xlsx.Style{}, f.Text)
	} else {
		t.Value(xlsx.Style{Left: true}, f.Time)
	}
	t.End()
}

// writeStatuses writes the table of rows and clients by status, with every status, so
// that two summaries can be compared side by side.
func writeStatuses(t *xlsx.Sheet, s result.Summary) {
	writeHeader(t, "Status", "Rows", "Clients")
	for _, status := range statuses {
		t.Row(xlsx.Style{}, string(status.status), status.of(s.Rows), status.of(s.Clients))
	}
	t.Row(xlsx.Style{Bold: true}, "total", s.Rows.Total, s.Clients.Total)
	if s.WithoutLink > 0 {
		t.Gap()
		label := "Done without a link"
		if s.DryRun {
			label = "Would be done without a link"
		}
		t.Row(xlsx.Style{}, label, nil, s.WithoutLink)
	}
}

// writeHeader begins a table: a label, then columns of numbers.
func writeHeader(t *xlsx.Sheet, label string, numbers ...string) {
	t.Next(1, false)
	t.Text(xlsx.Style{Bold: true, Colour: xlsx.Plain}, label)
	for _, n := range numbers {
		t.Text(xlsx.Style{Bold: true, Colour: xlsx.Plain, Right: true}, n)
	}
	t.End()
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
