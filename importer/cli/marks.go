package cli

import (
	"context"
	"slices"

	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// supersede marks the results workbooks that the run will replace, and those of
// the mapping's latest run: when the ledger is lost, they must not pass for the
// latest. A workbook that cannot be marked is a warning; the ledger is what counts.
func (r *importRun) supersede(ctx context.Context) error {
	for _, s := range r.sheets {
		if err := r.mark(ctx, s.target.path, s); err != nil {
			return err
		}
	}
	latest, err := r.ledger.ledger.LatestOutputs(ctx, r.scope, r.session.Mapping.Name.Text)
	if err != nil {
		return err
	}
	for _, path := range latest {
		replaced := slices.ContainsFunc(r.sheets, func(s *sheetRun) bool { return safefile.Absolute(s.target.path) == path })
		if replaced || isGiven(r.options.workbooks, path) {
			continue
		}
		if err := r.mark(ctx, path, nil); err != nil {
			return err
		}
	}
	return nil
}

// mark marks one workbook; of is the sheet whose results replace it, nil for none.
func (r *importRun) mark(ctx context.Context, path string, of *sheetRun) error {
	l, results := r.ledger.ledger, ""
	if of == nil {
		results = safefile.Absolute(r.sheets[0].target.path)
	}
	if b, err := workbook.Find(path); err != nil || b == nil || b.NextRun != "" || b.Dropped {
		return nil // nothing there can pass for the latest results
	}
	was, err := safefile.Digest(path)
	if err != nil {
		return err
	}
	last, _, err := l.LastOutput(ctx, safefile.Absolute(path))
	if err != nil {
		return err
	}
	by, _, err := l.OutputOf(ctx, safefile.Absolute(path))
	if err != nil {
		return err
	}
	err = workbook.Supersede(path, r.run, results, func(digest string) error {
		if of != nil && was == of.source.Input.Digest {
			of.marked = digest
		}
		if was != last {
			return nil // it was edited, so it will be kept
		}
		return l.NoteOutput(by, safefile.Absolute(path), digest)
	})
	if err != nil {
		console.PrintProblems(r.Err, problem.List{problem.At(problem.Where{File: path}, "not-marked",
			"could not be marked as older than this run: %v", problem.Cause(err)).
			Hinted("close it in other programs; it must not be used alone to bring a lost ledger back")})
	}
	return nil
}
