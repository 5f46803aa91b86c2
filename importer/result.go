package importer

import (
	"time"

	"claimsheet/mapping"
)

// Status is what a run says of a row or a client.
type Status string

// The statuses, the worst first: a row's status is the worst of its steps'.
const (
	Invalid    Status = "invalid"     // a cell cannot be used; nothing was sent for the client
	Uncertain  Status = "uncertain"   // a step may or may not have been created; an operator decides
	FailedRow  Status = "failed"      // a step was surely not created
	NotStarted Status = "not started" // waits for something: another row, an earlier step, the next run
	Changed    Status = "changed"     // done before, with other data; nothing was sent
	DoneRow    Status = "done"
	Unchanged  Status = "unchanged" // done before; nothing was sent this time
	Skipped    Status = "skipped"   // left out on purpose
	Planned    Status = "planned"   // a dry run's word for what would be sent
)

// RowResult is what the results workbook says beside one source row.
type RowResult struct {
	Table      int // which of the run's sheets it is in; 0 = the first
	Row        int // 1-based in the source sheet
	Client     int // the client's number, as its steps have it; 0 for a row without one
	Status     Status
	ClientID   string // clientId or contactId
	ClaimIDs   []string
	URL        string // a credential: only ever in the workbook and the ledger
	FailedStep string // the step's key
	Error      string
	Advice     string // the column "What to do"
}

// resultOf is a row's result but for what its steps say.
func resultOf(row mapping.Row, client, url string) RowResult {
	return RowResult{Table: row.Table(), Row: row.Number(), ClientID: client, URL: url}
}

func (r RowResult) row() mapping.Row { return mapping.RowOf(r.Table, r.Row) }

// StepResult is one line of the workbook's sheet Steps.
type StepResult struct {
	Number    int // 1-based
	Client    int // the client's number, 1-based, by its first row in the sheet
	ClientKey string
	Step      string
	Kind      string // client, claim, activity or link
	Title     string // in the operator's words; "" for a step of an earlier run
	State     string
	ID        string
	Attempts  int
	Status    int // HTTP; 0 when there was no answer
	At        time.Time
}

// Counts are rows or clients by status.
type Counts struct {
	Total      int `json:"total"`
	Done       int `json:"done"`
	Failed     int `json:"failed"`
	Uncertain  int `json:"uncertain"`
	Invalid    int `json:"invalid"`
	Skipped    int `json:"skipped"`
	Unchanged  int `json:"unchanged"`
	Changed    int `json:"changed"`
	NotStarted int `json:"notStarted"`
	Planned    int `json:"planned"`
}

// Add counts one row or client.
func (c *Counts) Add(s Status) {
	c.Total++
	switch s {
	case DoneRow:
		c.Done++
	case FailedRow:
		c.Failed++
	case Uncertain:
		c.Uncertain++
	case Invalid:
		c.Invalid++
	case Skipped:
		c.Skipped++
	case Unchanged:
		c.Unchanged++
	case Changed:
		c.Changed++
	case NotStarted:
		c.NotStarted++
	case Planned:
		c.Planned++
	}
}

// Requests are calls by kind: those sent, or in a dry run those that would be.
type Requests struct {
	Client    int `json:"client"`
	Claim     int `json:"claim"`
	Activity  int `json:"activity"`
	Link      int `json:"link"`
	Lookup    int `json:"lookup"`
	Templates int `json:"templates"`
}

// Summary is the end of a run: what --json prints and the sheet Summary shows.
type Summary struct {
	Run         string   `json:"run"`
	Environment string   `json:"environment"`
	DryRun      bool     `json:"dryRun"`
	Rows        Counts   `json:"rows"`
	Clients     Counts   `json:"clients"`
	Requests    Requests `json:"requests"`
	WithoutLink int      `json:"withoutLink"` // done clients that have no redirect url
	Results     string   `json:"results"`     // the workbook's path; of several, their folder, "" when they stand in different ones
	Seconds     float64  `json:"seconds"`
	// Sheets are the sheets of a run of several, in order; none when there is one.
	Sheets []SheetSummary `json:"sheets,omitempty"`
}

// SheetSummary is what a run came to for one of several sheets. A client with
// rows in two of them counts in both.
type SheetSummary struct {
	Sheet   string `json:"sheet"` // the path as given
	Run     string `json:"run"`
	Rows    Counts `json:"rows"`
	Clients Counts `json:"clients"`
	Results string `json:"results"`
}
