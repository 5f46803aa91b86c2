package cli

import (
	"context"
	"slices"
	"time"

	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// The document properties by which a results workbook tells that it is not the
// latest: the run that began after it was written, and where that one's results
// were to go, if not in its place.
const (
	nextRunProperty     = "claimsheet.next-run"
	nextResultsProperty = "claimsheet.next-results"
)

// markOlder marks the results workbooks that the run will replace, and those of
// the mapping's latest run: should the ledger be lost, they must not pass for the
// latest. A workbook that cannot be marked is said; the run goes on, for the
// ledger is what counts.
func (r *running) markOlder(ctx context.Context, p *program) error {
	for _, part := range r.parts {
		if err := r.mark(ctx, p, part.target.path, part); err != nil {
			return err
		}
	}
	latest, err := r.books.known.LatestOutputs(ctx, r.setup.scope, r.setup.mapping.Name.Text)
	if err != nil {
		return err
	}
	for _, path := range latest {
		if r.uses(path) {
			continue
		}
		if err := r.mark(ctx, p, path, nil); err != nil {
			return err
		}
	}
	return nil
}

// uses reports whether a workbook is one that the run replaces, or one that it was
// given and leaves as it is, because its results go elsewhere.
func (r *running) uses(path string) bool {
	return slices.ContainsFunc(r.parts, func(part *part) bool { return absolute(part.target.path) == path }) ||
		slices.ContainsFunc(r.options.origins, func(o *origin) bool { return absolute(o.path) == path })
}

// mark marks one workbook; of is the part whose results go there, nil for none.
func (r *running) mark(ctx context.Context, p *program, path string, of *part) error {
	known, run, results := r.books.known, r.parts[0].record.ID, ""
	if of == nil {
		results = absolute(r.parts[0].target.path)
	}
	property, ours, err := reports.IsOurs(path)
	if err != nil || !ours || reports.Kind(property[reports.KindProperty]) != reports.Results || property[nextRunProperty] != "" {
		return nil // nothing is there that could pass for the latest results
	}
	was, err := reports.DigestOf(path)
	if err != nil {
		return err
	}
	last, _, err := known.LastOutput(ctx, absolute(path))
	if err != nil {
		return err
	}
	by, _, err := known.OutputOf(ctx, absolute(path))
	if err != nil {
		return err
	}
	err = reports.Mark(path, map[string]string{nextRunProperty: run, nextResultsProperty: results}, func(digest string) error {
		if of != nil && was == of.source.input.digest {
			of.marked = digest
		}
		if was != last {
			return nil // somebody edited it, and it is kept for that
		}
		return known.NoteOutput(by, absolute(path), digest)
	})
	if err != nil {
		sayProblems(p.Err, problem.List{problem.At(problem.Where{File: path}, "not-marked",
			"could not be marked as older than this run: %v", innermost(err)).
			Hinted("close it in other programs; it must not be used alone to bring a lost ledger back")})
	}
	return nil
}

// placement is where the part's workbook goes. A corrected one that this run has
// marked is kept as it was given.
func (p *part) placement(ctx context.Context, now time.Time) (reports.Placement, error) {
	place, err := p.target.placement(ctx, now)
	if err != nil || place.Aside == "" || p.marked == "" {
		return place, err
	}
	digest, err := reports.DigestOf(place.Path)
	if digest == p.marked {
		place.As = p.source.input.path
	}
	return place, err
}

// checkOlder refuses a workbook after which a run began that the ledger does not
// know, and whose results are not given: what that run made would be made again.
func (r *running) checkOlder(ctx context.Context, path string, property map[string]string) error {
	next := property[nextRunProperty]
	if next == "" || r.options.lostRun {
		return nil
	}
	if slices.ContainsFunc(r.options.origins, func(o *origin) bool { return o.property[runProperty] == next }) {
		return nil
	}
	if _, known, err := r.books.known.Run(ctx, next); err != nil || known {
		return err
	}
	p := problem.At(problem.Where{File: path}, "lost-run",
		"a later run began after the workbook was written, and the ledger does not know what it made: that could be made again")
	if results := property[nextResultsProperty]; results != "" {
		return &incomplete{p.Hinted("give that run's results workbook in the same command: %s; where it is lost too, look in the service for what was made, and give --lost-run",
			r.options.place.command("rerun", path, results))}
	}
	return &incomplete{p.Hinted("bring the ledger back, or give that run's results workbook too; where there is neither, look in the service for what it made, and give --lost-run")}
}
