package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// guards are the flags by which an operator sets or lifts what keeps a run
// from doing harm.
type guards struct {
	maxFailures importer.MaxFailures
	newIdentity bool
	newLedger   bool
	sameService bool
	newService  bool
	lostRun     bool
}

func guardFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "max-failures", DefaultText: "20%",
			Usage: "stop when more than `N` clients, or N% of at least 20, have failed; 100% never stops"},
		switchFlag("new-identity", "the mapping's keys have changed on purpose: make everything anew under them"),
		switchFlag("new-ledger", "the ledger is new on purpose, although the service knows these clients"),
		switchFlag("lost-run", "go on although a later run, and its ledger, are lost"),
		switchFlag("same-service", "the environment's base url has changed, and leads to the same service"),
		switchFlag("new-service", "the environment's base url has changed, and leads to another service"),
	}
}

func guardsOf(c *cli.Context) (guards, error) {
	g := guards{maxFailures: importer.DefaultMaxFailures, newIdentity: c.Bool("new-identity"), newLedger: c.Bool("new-ledger"),
		sameService: c.Bool("same-service"), newService: c.Bool("new-service"), lostRun: c.Bool("lost-run")}
	if g.sameService && g.newService {
		return g, problem.New("usage", "--same-service and --new-service exclude each other")
	}
	if text := c.String("max-failures"); text != "" {
		var ok bool
		if g.maxFailures, ok = parseMaxFailures(text); !ok {
			return g, problem.New("usage", "--max-failures takes a number such as 10 or a share such as 5%%").
				Hinted("leave it out to have 20%%")
		}
	}
	return g, nil
}

func parseMaxFailures(text string) (importer.MaxFailures, bool) {
	if share, ok := strings.CutSuffix(text, "%"); ok {
		percent, err := strconv.ParseFloat(share, 64)
		return importer.MaxFailures{Percent: percent}, err == nil && percent > 0 && percent <= 100
	}
	count, err := strconv.Atoi(text)
	return importer.MaxFailures{Count: count}, err == nil && count >= 0
}

// vet refuses a run that would make things again under new names, and says what
// is new in its mapping.
func (g guards) vet(ctx context.Context, job *importer.Job, s *setup, survey *importer.Survey) (problem.List, error) {
	if !g.newIdentity {
		if err := job.CheckIdentity(ctx, job.Recorded(ctx, survey.Plans(s.binding, s.rows))); err != nil {
			return nil, err
		}
	}
	return job.Growth(ctx, job.Recorded(ctx, survey.Plans(s.binding, s.rows)))
}

// words are the guards that were lifted, as they are given.
func (g guards) words() []string {
	var words []string
	for _, flag := range []struct {
		given bool
		name  string
	}{
		{g.newIdentity, "--new-identity"}, {g.newLedger, "--new-ledger"}, {g.sameService, "--same-service"}, {g.newService, "--new-service"},
		{g.lostRun, "--lost-run"},
	} {
		if flag.given {
			words = append(words, flag.name)
		}
	}
	return words
}

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
		console.PrintProblems(p.Err, problem.List{problem.At(problem.Where{File: path}, "not-marked",
			"could not be marked as older than this run: %v", problem.Cause(err)).
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
