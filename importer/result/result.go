// Package result holds what a run reports about its rows, clients and steps. It is plain data: the engine fills it, the ledger stores it,
// and the results workbook, the terminal and --json show it. It imports nothing of ours, so that none of them needs to import another for
// these types.
package result

import (
	"slices"
	"time"
)

// Status is the outcome of a row or of a client.
type Status string

// The statuses, the worst first. The status of a row is the worst of its steps, and the status of a client is the worst of its rows.
const (
	Invalid    Status = "invalid"     // a cell cannot be used; nothing was sent for the client
	Uncertain  Status = "uncertain"   // a step may or may not have been created; a person has to find out
	Failed     Status = "failed"      // a step was certainly not created
	NotStarted Status = "not started" // waits for another row, an earlier step or the next run
	Changed    Status = "changed"     // done before, with other data; nothing was sent
	Done       Status = "done"
	Unchanged  Status = "unchanged" // done before; nothing was sent this time
	Skipped    Status = "skipped"   // left out on purpose
	Planned    Status = "planned"   // a dry run: this would be sent
)

// Statuses are all statuses, the worst first. Planned ranks with Done, whose place it takes in a dry run.
var Statuses = []Status{Invalid, Uncertain, Failed, NotStarted, Changed, Done, Planned, Unchanged, Skipped}

// Worse returns the worse of two statuses; "" is better than any.
func Worse(a, b Status) Status {
	if b == "" || a != "" && slices.Index(Statuses, a) <= slices.Index(Statuses, b) {
		return a
	}
	return b
}

// Row is what the results workbook shows beside one source row.
type Row struct {
	Table      int // which of the run's sheets the row is in; 0 = the first
	Row        int // 1-based in the source sheet
	Client     int // the client's number, as in Step; 0 for a row without a client
	Status     Status
	ClientID   string // clientId or contactId
	ClaimIDs   []string
	URL        string   // the redirect url, a credential: only the workbook and the ledger hold it
	Contacts   []string // further contacts, in the mapping's order: each the name of its entry, ": " and its id
	FailedStep string   // the step's key
	Error      string
	Advice     string // the column "What to do"
}

// Step is one line of the workbook's sheet Steps.
type Step struct {
	Number    int // the line's number, 1-based
	Client    int // the client's number, 1-based, in the order of first rows in the sheet
	ClientKey string
	Step      string // the step's key
	Kind      string // client, claim, activity or link
	Title     string // as the mapping names it; "" for a step of an earlier run
	State     string
	ID        string
	Attempts  int
	Status    int // HTTP; 0 when there was no answer
	At        time.Time
}

// StepSkipped is the State of a step that a run left out because its client was
// found, not created, and the mapping's existing_activities is skip.
const StepSkipped = "skipped (existing_activities)"

// Counts are the numbers of rows or clients by status.
type Counts struct {
	Total      int `json:"total"`      // all of them
	Done       int `json:"done"`       // done in this run
	Failed     int `json:"failed"`     // certainly not carried out
	Uncertain  int `json:"uncertain"`  // wait for a decision
	Invalid    int `json:"invalid"`    // cannot be used as they are
	Skipped    int `json:"skipped"`    // left out on purpose
	Unchanged  int `json:"unchanged"`  // done before; nothing was sent
	Changed    int `json:"changed"`    // done before with other data
	NotStarted int `json:"notStarted"` // wait for another row, step or run
	Planned    int `json:"planned"`    // would be sent; in a dry run only
}

// Add counts one row or client.
func (c *Counts) Add(s Status) {
	c.Total++
	*c.of(s)++
}

// Of returns the number with a status.
func (c Counts) Of(s Status) int { return *c.of(s) }

func (c *Counts) of(s Status) *int {
	switch s {
	case Invalid:
		return &c.Invalid
	case Uncertain:
		return &c.Uncertain
	case Failed:
		return &c.Failed
	case NotStarted:
		return &c.NotStarted
	case Changed:
		return &c.Changed
	case Done:
		return &c.Done
	case Planned:
		return &c.Planned
	case Unchanged:
		return &c.Unchanged
	case Skipped:
		return &c.Skipped
	}
	return new(int)
}

// Requests are the numbers of calls by kind: those that a run sent, or those that it would send, in a dry run.
type Requests struct {
	Client    int `json:"client"`    // clients or contacts created
	Claim     int `json:"claim"`     // claims created
	Activity  int `json:"activity"`  // activities created
	Link      int `json:"link"`      // magic links asked for
	Lookup    int `json:"lookup"`    // look-ups
	Templates int `json:"templates"` // requests for the activity templates
}

// Summary is the result of a whole run: --json prints it and the sheet Summary shows it.
type Summary struct {
	Run            string         `json:"run"`              // the run's id
	Environment    string         `json:"environment"`      // the environment's name
	DryRun         bool           `json:"dryRun"`           // nothing was sent
	Rows           Counts         `json:"rows"`             // rows by status
	Clients        Counts         `json:"clients"`          // clients by status
	Requests       Requests       `json:"requests"`         // requests that were sent; in a dry run, that would be
	WithoutLink    int            `json:"withoutLink"`      // done clients that have no redirect url
	UncertainSteps int            `json:"uncertainSteps"`   // steps of the mapping that are uncertain, also of clients that are not in the sheet
	Results        string         `json:"results"`          // the path of the workbook; of several sheets their folder, or "" when they are in several
	Seconds        float64        `json:"seconds"`          // how long it took
	Sheets         []SheetSummary `json:"sheets,omitempty"` // one for each sheet, when the run has several
}

// Workbooks returns the paths of the workbooks that were written.
func (s Summary) Workbooks() []string {
	var paths []string
	for _, sheet := range s.Sheets {
		paths = append(paths, sheet.Results)
	}
	if paths == nil && s.Results != "" {
		paths = []string{s.Results}
	}
	return paths
}

// SheetSummary is the result of one of a run's several sheets. A client with rows in two of them counts in both.
type SheetSummary struct {
	Sheet   string `json:"sheet"`   // the path as given
	Run     string `json:"run"`     // the sheet's own run id
	Rows    Counts `json:"rows"`    // rows by status
	Clients Counts `json:"clients"` // clients by status
	Results string `json:"results"` // the workbook's path
}
