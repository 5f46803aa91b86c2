package importer

import (
	"context"

	"claimsheet/importer/ledger"
)

// isErased tells whether a line of a workbook is of a client who was erased
// since. It is passed over: the ledger must not learn of the client again.
func (r *Recall) isErased(ctx context.Context, line WorkbookStep) (bool, error) {
	return r.wasErased(ctx, ledger.ClientKey{Environment: r.Environment, Space: r.Binding.KeySpace(), Client: line.Client})
}

func (r *Recall) wasErased(ctx context.Context, owner ledger.ClientKey) (bool, error) {
	if r.erasures == nil {
		found, err := r.Ledger.Erasures(ctx, r.Environment)
		if err != nil {
			return false, err
		}
		r.erasures = &found
	}
	_, _, ok := r.erasures.Find(owner)
	return ok, nil
}
