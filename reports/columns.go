package reports

import (
	"strings"

	"claimsheet/mapping/problem"
)

// The columns that a results workbook adds to the source's, but for the
// client's, which is clientId or contactId.
const (
	StatusHeader     = "Import status"
	ClaimIDsHeader   = "claimIds"
	URLHeader        = "redirectUrl"
	FailedStepHeader = "Failed step"
	ErrorHeader      = "Error"
	AdviceHeader     = "What to do"
	SourceRowHeader  = "Source row"
)

// ResultHeaders are the headers of the columns added to the source's, in their
// order; clientID is clientId (v1) or contactId (v2). A source sheet must have
// none of them: a workbook that is run again is to be given without them.
func ResultHeaders(clientID string) []string {
	return []string{
		StatusHeader, clientID, ClaimIDsHeader, URLHeader,
		FailedStepHeader, ErrorHeader, AdviceHeader, SourceRowHeader,
	}
}

// columnWidths of the added columns, in characters. In a plan few rows have ids,
// and what is to be corrected should stand near the cells.
var (
	columnWidths     = []float64{14, 38, 38, 40, 34, 52, 52, 12}
	planColumnWidths = []float64{14, 12, 12, 14, 14, 70, 52, 12}
)

// checkHeaders finds source columns that are named like added ones: they could
// not be told apart when the workbook is run again.
func checkHeaders(b Book) error {
	var found problem.List
	for i, header := range b.Sheet.Header {
		for _, ours := range ResultHeaders(b.ClientIDHeader) {
			if strings.EqualFold(strings.TrimSpace(header), ours) {
				found = append(found, problem.At(b.Sheet.At(i, b.Sheet.HeaderRow), "reserved-column",
					"the column %q has the name of a column that Claimsheet adds; expected another name", ours).
					Hinted("rename the column in the sheet"))
			}
		}
	}
	return found.Err()
}
