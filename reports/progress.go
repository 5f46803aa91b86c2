package reports

import (
	"time"

	"claimsheet/reports/xlsx"
)

// ProgressSheet lists what the service has said about activities since they were sent.
const ProgressSheet = "Progress"

// Progress is a line of the sheet Progress: what the service has said about one thing
// that a run created.
type Progress struct {
	ClientKey string
	Claim     string    // "" for what belongs to the client
	Activity  string    // its name; "" when only the claim or the client is known
	SentAs    string    // the status with which it was sent; "" when that is not known
	Completed time.Time // when the client completed it; zero when the service has not said so
	Said      string    // the last event: its kind and status
	SaidAt    time.Time
}

// progressRules colour what is completed.
var progressRules = []xlsx.Rule{{Word: "completed", Colour: xlsx.Green}}

// writeProgress writes one line for each thing of which the service has said
// something; nothing when there is none.
func writeProgress(w *xlsx.Workbook, b Book) error {
	if len(b.Progress) == 0 {
		return nil
	}
	t, err := w.NewTable(xlsx.TableLayout{
		Name:    ProgressSheet,
		Headers: []string{ClientKeyHeader, "Claim", "Activity", "Sent as", StateHeader, "Completed", "Last event", "When"},
		Numbers: []int{5, 7},
		Layout: xlsx.Layout{Widths: []float64{30, 26, 30, 14, 14, 20, 34, 20},
			Paint: []xlsx.Paint{{Column: 4, Rules: progressRules}}},
	})
	if err != nil {
		return err
	}
	moment := w.Style(xlsx.Look{Format: timeFormat})
	for _, p := range b.Progress {
		if err := t.Next(); err != nil {
			return err
		}
		state := "open"
		if !p.Completed.IsZero() {
			state = "completed"
		}
		for _, text := range []string{p.ClientKey, p.Claim, p.Activity, p.SentAs, state} {
			t.Text(nil, text)
		}
		if p.Completed.IsZero() {
			t.Skip()
		} else {
			t.Float(moment, serial(p.Completed, b.Sheet.Date1904))
		}
		t.Text(nil, p.Said)
		t.Float(moment, serial(p.SaidAt, b.Sheet.Date1904))
		if err := t.End(); err != nil {
			return err
		}
	}
	return t.Close()
}
