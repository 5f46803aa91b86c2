package importer

import (
	"context"
	"time"

	"claimsheet/mapping"
)

// loadErased learns which clients were erased. Nothing is sent for them, and
// nothing of them is recorded again.
func (j *Job) loadErased(ctx context.Context) (err error) {
	// What was promised to a person is read whether or not the run is being stopped.
	j.erasures, err = j.Ledger.Erasures(context.WithoutCancel(ctx), j.Environment)
	return err
}

// erased is why a client is left out who was erased; "" for others.
func (j *Job) erased(who mapping.Identity) string {
	_, at, ok := j.erasures.Find(j.owner(who))
	if !ok {
		return ""
	}
	return "the client was erased on " + at.Format(time.DateOnly) + ": nothing is sent or recorded; take the row out of the export"
}
