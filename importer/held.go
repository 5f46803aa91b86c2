package importer

import (
	"cmp"
	"slices"
)

// retainPrior copies the cells that rows keep showing into an outcome.
func (j *Job) retainPrior(o *Outcome) {
	for i := range o.Rows {
		row := &o.Rows[i]
		if s, ok := j.Prior[rowOf(*row)]; ok {
			row.ClientID, row.ClaimIDs, row.URL = s.ClientID, slices.Clone(s.ClaimIDs), s.URL
			row.FailedStep = cmp.Or(row.FailedStep, s.FailedStep)
		}
	}
}
