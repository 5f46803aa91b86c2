package reports

import (
	"strconv"
	"time"

	"claimsheet/importer/result"
	"claimsheet/reports/xlsx"
)

// The sheets beside Results. StepsSheet lists the steps; a rerun reads it back, and it
// continues in "Steps 2" and so on when it is full. ProgressSheet lists what the service
// has said about activities since they were sent.
const (
	StepsSheet    = "Steps"
	ProgressSheet = "Progress"
)

// The columns of the sheet Steps. SettleHeader is for the user's decisions.
const (
	NumberHeader    = "Number"
	ClientKeyHeader = "Client key"
	StepHeader      = "Step"
	StateHeader     = "State"
	IDHeader        = "Id"
	SettleHeader    = "Settle"
)

// StepsProperty is the document property with the number of lines of the sheet Steps:
// it shows whether some were deleted. Write sets it.
const StepsProperty = "claimsheet.steps"

// stateColours are for the states of steps, by the ledger's words.
var stateColours = map[string]xlsx.Colour{
	"sent": xlsx.Amber, "done": xlsx.Green, "refused": xlsx.Red, "uncertain": xlsx.Amber, "closed": xlsx.Grey,
	string(result.Planned): xlsx.Blue, result.StepSkipped: xlsx.Grey,
}

// writeSteps writes one line per step.
func writeSteps(w *xlsx.Writer, b Workbook) error {
	t := w.NewSheet(xlsx.Layout{
		Name:    StepsSheet,
		Headers: []string{NumberHeader, ClientKeyHeader, StepHeader, StateHeader, IDHeader, "Attempts", "HTTP status", "When", SettleHeader},
		Numbers: []int{0, 5, 6, 7},
		Widths:  []float64{10, 30, 44, 14, 38, 11, 13, 20, 24},
		Painted: 3, Words: stateColours,
	})
	lines := 0
	for s, err := range b.Steps {
		if err != nil {
			return err
		}
		lines++
		var status any // left out when there was no answer
		if s.Status != 0 {
			status = s.Status
		}
		t.Row(xlsx.Style{}, s.Number, s.ClientKey, result.ShownStep(s.Step), s.State, s.ID, s.Attempts, status, s.At)
	}
	w.SetProperty(StepsProperty, strconv.Itoa(lines))
	return t.Close()
}

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

// writeProgress writes one line for each Progress of the workbook. Without any it writes no
// sheet.
func writeProgress(w *xlsx.Writer, b Workbook) error {
	if len(b.Progress) == 0 {
		return nil
	}
	t := w.NewSheet(xlsx.Layout{
		Name:    ProgressSheet,
		Headers: []string{ClientKeyHeader, "Claim", "Activity", "Sent as", StateHeader, "Completed", "Last event", "When"},
		Numbers: []int{5, 7},
		Widths:  []float64{30, 26, 30, 14, 14, 20, 34, 20},
		Painted: 4, Words: map[string]xlsx.Colour{"completed": xlsx.Green},
	})
	for _, p := range b.Progress {
		state := "open"
		if !p.Completed.IsZero() {
			state = "completed"
		}
		t.Row(xlsx.Style{}, p.ClientKey, p.Claim, p.Activity, p.SentAs, state, p.Completed, p.Said, p.SaidAt)
	}
	return t.Close()
}
