package importer

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// shown is what stands in Claimsheet's columns of a row and is left there: the
// only trace, in the row, of what was made for it under another key.
type shown struct {
	clientID   string
	claimIDs   []string
	url        string
	failedStep string
}

// shown is what a row shows; ok is false for one that shows nothing. That
// something was tried for a row without ids is kept as its failed step, because
// its status is to be another.
func (r WorkbookRow) shown() (s shown, ok bool) {
	s = shown{clientID: strings.Clone(r.ClientID), url: strings.Clone(r.URL)} // the cells are used again
	for _, id := range r.ClaimIDs {
		s.claimIDs = append(s.claimIDs, strings.Clone(id))
	}
	if ok = s.clientID != "" || len(s.claimIDs) > 0; !ok && r.tried() {
		s.failedStep, ok = cmp.Or(strings.Clone(r.FailedStep), string(mapping.ClientStep)), true
	}
	return s, ok
}

// keep sees to it that a row goes on showing what it shows. Of a client who was
// erased nothing is recorded again, whatever the row's key is now, but that there
// was something.
func (r *Recall) keep(ctx context.Context, row WorkbookRow, who mapping.Identity) error {
	s, ok := row.shown()
	if !ok {
		return nil
	}
	gone, err := r.wasErased(ctx, ledger.ClientKey{Environment: r.Environment, Space: who.Space, Client: who.Key})
	if err != nil || gone {
		return err
	}
	for owner, err := range r.Ledger.ClientsWithID(ctx, r.Environment, s.clientID) {
		if err != nil {
			return err
		}
		if _, gone := ledger.Erased(owner.Client); gone {
			s = shown{failedStep: string(mapping.ClientStep)}
		}
	}
	r.kept[cell.RowOf(row.Record.Table, row.Record.Row)] = s
	return nil
}

// Keep makes a job show of the rows that CheckRows has held back, and of those
// that are nobody's, what their workbook shows. The workbook that is written over it
// would otherwise say nothing of it, and be taken at its word the next time.
func (r *Recall) Keep(j *Job) { j.kept = r.kept }

// show puts what rows are to go on showing into an outcome.
func (j *Job) show(o *clientOutcome) {
	for i := range o.Rows {
		row := &o.Rows[i]
		if s, ok := j.kept[rowOf(*row)]; ok {
			row.ClientID, row.ClaimIDs, row.URL = s.clientID, slices.Clone(s.claimIDs), s.url
			row.FailedStep = cmp.Or(row.FailedStep, s.failedStep)
		}
	}
}
