package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"claimsheet/importer"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// memo is what a run's workbook shows besides the kept input and what stands in
// the ledger's tables. It is kept with the run, so that claimsheet report needs
// neither the mapping nor the service.
type memo struct {
	Event          int64 // the ledger's newest event when the workbook was made
	Sheet          sheet.Options
	ClientIDHeader string
	Facts          []reports.Fact
	Binding        map[string]string
	Notice         string
	Problems       problem.List // with what cells say: personal data
}

// runSummary is a run's summary as the ledger keeps it.
type runSummary struct {
	importer.Summary
	Workbook *memo `json:"workbook,omitempty"` // nil once it was purged
}

// memo is what is to be kept of a workbook.
func (e *running) memo(ctx context.Context, b reports.Book) (*memo, error) {
	event, err := e.books.known.LastEvent(ctx)
	return &memo{Event: event, Sheet: e.setup.sheetOptions(), ClientIDHeader: b.ClientIDHeader,
		Facts: b.Facts, Binding: b.Binding, Notice: b.Notice, Problems: b.Problems}, err
}

// text is the memo with the run's summary, for the ledger.
func (m *memo) text(s importer.Summary) ([]byte, error) {
	return json.Marshal(runSummary{s, m})
}

// readSummary reads what the ledger has of a run's end; the zero runSummary for
// a run that did not end.
func readSummary(text []byte) (s runSummary, err error) {
	if len(text) == 0 {
		return runSummary{}, nil
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return runSummary{}, fmt.Errorf("the summary of a run in the ledger cannot be read: %w", err)
	}
	return s, nil
}

// withoutMemo is a run's summary without personal data. What cannot be read is
// dropped whole.
func withoutMemo(text []byte) []byte {
	s, err := readSummary(text)
	if err != nil || len(text) == 0 {
		return nil
	}
	if s.Workbook == nil {
		return text
	}
	s.Workbook = nil
	if text, err = json.Marshal(s); err != nil {
		return nil
	}
	return text
}
