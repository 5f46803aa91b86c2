package cell

// The columns that a results workbook adds to those of the sheet. A sheet must have
// none of these headers: a rerun could not tell its column from the added one.
const (
	StatusHeader     = "Import status"
	ClientIDHeader   = "clientId"  // version 1
	ContactIDHeader  = "contactId" // version 2
	ClaimIDsHeader   = "claimIds"
	URLHeader        = "redirectUrl"
	FailedStepHeader = "Failed step"
	ErrorHeader      = "Error"
	AdviceHeader     = "What to do"
	SourceRowHeader  = "Source row"
)

// ResultHeaders returns the headers of the added columns in their order; clientID is
// ClientIDHeader or ContactIDHeader.
func ResultHeaders(clientID string) []string {
	return []string{
		StatusHeader, clientID, ClaimIDsHeader, URLHeader,
		FailedStepHeader, ErrorHeader, AdviceHeader, SourceRowHeader,
	}
}
