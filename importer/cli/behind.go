package cli

import (
	"context"
	"slices"

	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// checkBehind refuses a ledger that does not know the run whose results workbook
// lies where the new one goes: it is new, or older than that run, and would have
// everything since made again. A dry run's plan goes elsewhere, so it looks where
// the run's results would go.
func (r *running) checkBehind(ctx context.Context) error {
	o, s := r.options, r.setup
	if s.env.Sandbox { // it keeps its data beside its ledger: neither is lost alone
		return nil
	}
	for _, from := range o.origins {
		if err := r.checkOlder(ctx, from.path, from.property); err != nil {
			return err
		}
	}
	if o.newLedger {
		return nil
	}
	if o.dryRun {
		o.dryRun, o.out = false, ""
	}
	for _, part := range r.parts {
		path := o.output(part.source.input.given)
		if slices.ContainsFunc(o.origins, func(from *origin) bool { return absolute(from.path) == absolute(path) }) {
			continue // what it says is compared with the ledger, line by line
		}
		property, ours, _ := reports.IsOurs(path) // what cannot be read is not of a run
		if !ours || reports.Kind(property[reports.KindProperty]) != reports.Results || !r.isHere(property) {
			continue
		}
		_, known, err := r.books.known.Run(ctx, property[runProperty])
		if err != nil {
			return err
		}
		if !known {
			return r.behind(path)
		}
		if err := r.checkOlder(ctx, path, property); err != nil {
			return err
		}
	}
	return nil
}

// isHere reports whether a workbook belongs to the environment of the run.
func (r *running) isHere(property map[string]string) bool {
	return isSameService(property[environmentProperty], r.setup.scope) || property[environmentNameProperty] == r.setup.env.Name
}

// behind refuses a ledger that is older than a workbook.
func (r *running) behind(path string) error {
	again := r.options.place.command("rerun", path)
	return &incomplete{problem.At(problem.Where{File: path}, "ledger-behind",
		"is of a run that the ledger %s does not know: the ledger is new, or was restored from before that run, and what was done since would be done again", ledgerFile(r.setup.state)).
		Hinted("bring the ledger back; or have it take over what the workbook knows: %s; or give --new-ledger if everything is to be made again", again)}
}
