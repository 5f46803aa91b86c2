package cli

import (
	"context"
	"slices"
	"time"

	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// openProperty names the run that has begun since a results workbook was
// written. It goes when that run writes its own.
const openProperty = "claimsheet.open-run"

// markOpen marks the results workbooks that the run will replace: should it be
// killed and its ledger lost, they must not pass for the latest. A workbook that
// cannot be marked is said; the run goes on, for the ledger is what counts.
func (r *running) markOpen(ctx context.Context, p *program) error {
	for _, part := range r.parts {
		path, known := part.target.path, r.books.known
		property, ours, err := reports.IsOurs(path)
		if err != nil || !ours || reports.Kind(property[reports.KindProperty]) != reports.Results {
			continue // nothing is there that could pass for results
		}
		was, err := reports.DigestOf(path)
		if err != nil {
			return err
		}
		last, _, err := known.LastOutput(ctx, absolute(path))
		if err != nil {
			return err
		}
		of, _, err := known.OutputOf(ctx, absolute(path))
		if err != nil {
			return err
		}
		err = reports.Mark(path, openProperty, part.record.ID, func(digest string) error {
			if was == part.source.input.digest {
				part.marked = digest
			}
			if was != last {
				return nil // somebody edited it, and it is kept for that
			}
			return known.NoteOutput(of, absolute(path), digest)
		})
		if err != nil {
			sayProblems(p.Err, problem.List{problem.At(problem.Where{File: path}, "not-marked",
				"could not be marked as older than this run: %v", innermost(err)).
				Hinted("close it in other programs; until the run has ended, it must not be used to bring a lost ledger back")})
		}
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

// checkOpen refuses a workbook after which a run began that the ledger does not
// know: what that run made is in neither of them.
func (r *running) checkOpen(ctx context.Context, path string, property map[string]string) error {
	open := property[openProperty]
	if open == "" || r.options.lostRun {
		return nil
	}
	if slices.ContainsFunc(r.options.origins, func(o *origin) bool { return o.property[runProperty] == open }) {
		return nil
	}
	if _, known, err := r.books.known.Run(ctx, open); err != nil || known {
		return err
	}
	return &incomplete{problem.At(problem.Where{File: path}, "lost-run",
		"a later run had begun when the workbook was last seen, and neither the ledger nor the workbook knows what it made: that could be made again").
		Hinted("bring the ledger back, or give that run's results workbook too; where there is neither, look in the service for what it made after %s, and give --lost-run", path)}
}
