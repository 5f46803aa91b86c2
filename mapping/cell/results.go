package cell

// The columns that a results workbook adds to those of the sheet. A sheet must have
// none of these headers: a rerun could not tell its column from the added one.
const (
	StatusHeader     = "Import status"
	ClientIDHeader   = "clientId"  // version 1
	ContactIDHeader  = "contactId" // version 2
	ClaimIDsHeader   = "claimIds"
	URLHeader        = "redirectUrl"
	ContactsHeader   = "contacts" // where the mapping has further contacts
	FailedStepHeader = "Failed step"
	ErrorHeader      = "Error"
	AdviceHeader     = "What to do"
	SourceRowHeader  = "Source row"
)

// ResultHeaders returns the headers of the added columns in their order; clientID is
// ClientIDHeader or ContactIDHeader; version 1, which has the former, has no claims.
// contacts reports whether ContactsHeader is among them.
func ResultHeaders(clientID string, contacts bool) []string {
	headers := []string{StatusHeader, clientID}
	if clientID != ClientIDHeader {
		headers = append(headers, ClaimIDsHeader)
	}
	headers = append(headers, URLHeader)
	if contacts {
		headers = append(headers, ContactsHeader)
	}
	return append(headers, FailedStepHeader, ErrorHeader, AdviceHeader, SourceRowHeader)
}
