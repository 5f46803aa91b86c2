package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/result"
	"claimsheet/importer/safefile"
	"claimsheet/importer/stoprule"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// guards are the flags that set or lift what keeps a run from doing harm.
type guards struct {
	maxFailures stoprule.MaxFailures
	accept      map[string]bool // of guardCodes
}

// guardCodes are what --accept takes: the code of the problem that a guard reports, or for
// service-changed the two answers that there are.
var guardCodes = []string{"new-identity", "new-ledger", "ledger-missing", "lost-run", "same-service", "new-service", "similar-key", "claims-moved"}

func guardFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "max-failures", Usage: "stop when more than `N` or N% of the clients fail (20%)"},
		&cli.StringSliceFlag{Name: "accept", Usage: "pass the guard whose message names this `CODE`"},
	}
}

func guardsOf(c *cli.Context) (guards, error) {
	g := guards{maxFailures: stoprule.Default, accept: map[string]bool{}}
	for _, code := range c.StringSlice("accept") {
		if !slices.Contains(guardCodes, code) {
			hint := "expected one of " + strings.Join(guardCodes, ", ")
			if nearest, ok := problem.Nearest(code, guardCodes); ok {
				hint = "did you mean --accept " + nearest + "? " + hint
			}
			return g, problem.New("usage", "--accept takes the code of a guard, not “%s”", problem.Shorten(code)).Hinted("%s", hint)
		}
		g.accept[code] = true
	}
	if g.accept["same-service"] && g.accept["new-service"] {
		return g, problem.New("usage", "--accept same-service and --accept new-service exclude each other")
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

func parseMaxFailures(text string) (stoprule.MaxFailures, bool) {
	if share, ok := strings.CutSuffix(text, "%"); ok {
		percent, err := strconv.ParseFloat(share, 64)
		return stoprule.MaxFailures{Percent: percent}, err == nil && percent > 0 && percent <= 100
	}
	count, err := strconv.Atoi(text)
	return stoprule.MaxFailures{Count: count}, err == nil && count >= 0
}

// words returns the flags of the guards that were lifted.
func (g guards) words() []string {
	var words []string
	for _, code := range slices.Sorted(maps.Keys(g.accept)) {
		words = append(words, "--accept", code)
	}
	return words
}

// settleScope finds the ledger's name for the run's environment. When the base
// url has changed under the environment's name, the user has to say whether it
// leads to the same service.
func (r *importRun) settleScope(ctx context.Context) error {
	env, g, known := r.session.Env, r.options.guards, r.ledger.ledger
	scope, err := scopeOf(ctx, known, r.session.Scope())
	if err != nil {
		return err
	}
	r.scope = scope
	then, err := movedFrom(ctx, known, env, scope)
	if err != nil || then == "" || g.accept["new-service"] {
		return err
	}
	now, rest := environment.ServiceOf(scope)
	if !g.accept["same-service"] {
		return serviceChanged(env.Name, then, now, movedHint)
	}
	if any, err := hasClients(ctx, known, now); err != nil || any {
		if err == nil {
			err = problem.New("service-known", "the ledger knows clients of %s already: it cannot be the service that was at %s", now, then).
				Hinted("put the base url back, or give --accept new-service instead")
		}
		return err
	}
	if !r.options.dryRun {
		if err := known.SetMoved(now, then); err != nil {
			return err
		}
	}
	r.scope, err = scopeOf(ctx, known, then+rest)
	return err
}

// guardRule is a reason to refuse a run before anything is sent: one question about it. --accept
// with its code passes it.
type guardRule struct {
	code  string // "" for one that nothing passes
	check func(*importRun, context.Context) error
}

// ledgerGuards are asked before the rows are read: is this the ledger of these sheets?
var ledgerGuards = []guardRule{
	{"", (*importRun).guardEnvironment},
	{"new-ledger", (*importRun).guardNewLedger},
	{"lost-run", (*importRun).guardLostRun},
}

// planGuards are asked when the plans are known: would done work get a new name?
var planGuards = []guardRule{
	{"new-identity", (*importRun).guardIdentity},
	{"claims-moved", (*importRun).guardMovedClaims},
}

// pass asks guards in their order.
func (r *importRun) pass(ctx context.Context, guards []guardRule) error {
	for _, g := range guards {
		if !r.options.accept[g.code] {
			if err := g.check(r, ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// guardEnvironment: do the workbooks of a rerun belong to the environment?
func (r *importRun) guardEnvironment(context.Context) error {
	for _, b := range r.options.workbooks {
		if err := b.CheckEnvironment(r.session.Env.Name, r.scope); err != nil {
			return err
		}
	}
	return nil
}

// guardNewLedger: does the ledger know the run whose results workbook is where the new one goes?
// Else it is new, or older than that run, and everything done since would be done again. For a dry
// run, whose plan goes elsewhere, that is where the results of the run would go.
func (r *importRun) guardNewLedger(ctx context.Context) error {
	for path, b := range r.replaced() {
		known, err := r.ledger.knownRun(ctx, b.Run)
		if err != nil {
			return err
		}
		if known != runEnded {
			return &incomplete{problem.At(problem.Where{File: path}, "new-ledger",
				"is of a run that the ledger %s does not know to its end: the ledger is new, or was restored from before that time, and what was done since would be done again", r.ledger.path()).
				Hinted("bring the ledger back; or import what the workbook knows: %s; or add --accept new-ledger to create everything again", r.ledger.command("rerun", path))}
		}
	}
	return nil
}

// replaced yields the results workbooks that new ones would replace. Those that a rerun is given are
// not among them, because each of their lines is compared with the ledger, and none of the sandbox's,
// whose data and ledger are in one folder: neither is lost alone.
func (r *importRun) replaced() iter.Seq2[string, *workbook.Binding] {
	o := r.options
	if o.dryRun {
		o.dryRun, o.out = false, ""
	}
	return func(yield func(string, *workbook.Binding) bool) {
		for _, s := range r.sheets {
			path := o.output(s.source.Input.Given)
			if isGiven(o.workbooks, path) || r.session.Env.Sandbox {
				continue
			}
			if b := r.findOwn(path); b != nil && !yield(path, b) {
				return
			}
		}
	}
}

// guardLostRun: does the ledger know every run that began after the workbooks that are given, those
// that new ones would replace, and those of the mapping's latest run? Else it was restored from before
// that run; where the whole state folder was, nothing else shows that.
func (r *importRun) guardLostRun(ctx context.Context) error {
	if r.session.Env.Sandbox {
		return nil
	}
	marked := slices.Clone(r.options.workbooks)
	if !r.options.accept["new-ledger"] {
		for _, b := range r.replaced() {
			marked = append(marked, b)
		}
		latest, err := r.ledger.ledger.LatestOutputs(ctx, r.scope, r.session.Mapping.Name.Text)
		if err != nil {
			return err
		}
		for _, path := range latest {
			if b := r.findOwn(path); b != nil && !isGiven(r.options.workbooks, path) {
				marked = append(marked, b)
			}
		}
	}
	for _, b := range marked {
		if err := r.checkLatest(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// guardIdentity: would changed keys, a renamed mapping or a new id of an activity have things done
// again under new names?
func (r *importRun) guardIdentity(ctx context.Context) error {
	err := r.job.CheckIdentity(ctx, r.plans(ctx))
	if p, ok := errors.AsType[problem.Problem](err); ok && r.session.Env.Sandbox {
		return p.Hinted("%s; or begin with an empty sandbox: %s", p.Hint, r.session.ResetCommand())
	}
	return err
}

// guardMovedClaims: are the new claims those of other clients?
func (r *importRun) guardMovedClaims(ctx context.Context) error {
	return r.job.CheckMovedClaims(ctx, r.plans(ctx))
}

// findOwn reads whose results workbook is at path; nil when it is not one of the run's
// environment, or cannot be read.
func (r *importRun) findOwn(path string) *workbook.Binding {
	b, _ := workbook.Find(path)
	if b == nil || !environment.SameService(b.Environment, r.scope) && b.EnvironmentName != r.session.Env.Name {
		return nil
	}
	return b
}

// runKnowledge is how much of a run a ledger knows.
type runKnowledge int

const (
	runUnknown runKnowledge = iota
	runBegun                // it was killed, or the ledger is a copy from before its end; only the latter has its workbook
	runEnded
)

// knownRun returns how much of a run the ledger knows. A workbook is written after the
// run's end was recorded, so the ledger is older than the workbook of a run that has
// only begun.
func (l *ledgerSession) knownRun(ctx context.Context, id string) (runKnowledge, error) {
	run, known, err := l.ledger.Run(ctx, id)
	switch {
	case err != nil || !known:
		return runUnknown, err
	case run.Finished.IsZero():
		return runBegun, nil
	}
	return runEnded, nil
}

// isGiven reports whether path is one of the workbooks of a rerun.
func isGiven(workbooks []*workbook.Binding, path string) bool {
	return slices.ContainsFunc(workbooks, func(b *workbook.Binding) bool { return safefile.Absolute(b.Path) == safefile.Absolute(path) })
}

// checkLatest refuses a workbook after which a run began that the ledger does not
// know to its end, unless the results of that run, or those that have replaced them, are
// given too: what it did would be done again. A run that the ledger knows to have begun was killed, and the ledger has
// all that it did, unless its workbook is there.
func (r *importRun) checkLatest(ctx context.Context, b *workbook.Binding) error {
	if b.NextRun == "" {
		return nil
	}
	if slices.ContainsFunc(r.options.workbooks, func(other *workbook.Binding) bool { return other.Run == b.NextRun || replaces(other, b) }) {
		return nil
	}
	next, _ := workbook.Find(b.NextResults) // before the ledger is asked: a run beside this one may end now, and then write it
	if next != nil && next.Run != b.NextRun {
		next = nil
	}
	latest, err := r.ledger.knownRun(ctx, b.NextRun)
	if err != nil || latest == runEnded {
		return err
	}
	if latest == runBegun && next == nil {
		return nil
	}
	p := problem.At(problem.Where{File: b.Path}, "lost-run",
		"a later run began after the workbook was written, and the ledger does not know all that it created: that could be created again")
	const byHand = "look in the service for what was created, and add --accept lost-run"
	if b.NextResults != "" {
		return &incomplete{p.Hinted("give that run's results workbook in the same command: %s; if it is lost too, %s", r.ledger.command("rerun", b.Path, b.NextResults), byHand)}
	}
	return &incomplete{p.Hinted("bring the ledger back, or give that run's results workbook too; if you have neither, %s", byHand)}
}

// replaces reports whether a workbook is of a later run than b's, and lies where the
// run that has marked b would have put its own: that run was killed, and the later one
// had the ledger that knows what it did.
func replaces(other, b *workbook.Binding) bool {
	return b.NextResults != "" && safefile.Absolute(other.Path) == b.NextResults && other.Started.After(b.Started)
}

// unasked is how many clients a first run may create without a question.
const unasked = 5

// confirmFirst asks before the first run of a mapping that would create more than a few
// clients. Without a terminal it never asks: an unattended run must not wait.
func (r *importRun) confirmFirst(ctx context.Context) error {
	o := r.options
	if o.dryRun || o.yes || o.isRerun() || r.session.Env.Sandbox || !console.IsTerminal(r.In) || !console.IsTerminal(r.stderr) {
		return nil
	}
	definitions, err := r.ledger.ledger.Definitions(ctx, r.scope)
	_, known := definitions[r.session.Mapping.Name.Text]
	if err != nil || known {
		return err
	}
	wanted, err := r.job.Wanted(r.plans(ctx))
	if err != nil || wanted.Client <= unasked {
		return err
	}
	question := fmt.Sprintf("This is the first run of the mapping “%s” in the environment “%s”. It creates up to %s at %s.\nContinue?",
		r.session.Mapping.Name.Text, r.session.Env.Name, wantedInWords(wanted), r.session.Env.BaseURL)
	if console.Confirm(ctx, r.In, r.Err, question) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return &incomplete{problem.New("not-confirmed", "nothing was sent: the first run was not confirmed").
		Hinted("look at it first: %s", reports.CommandLine(slices.Insert(o.command(), 2, "--dry-run")))}
}

// wantedInWords names what a run creates.
func wantedInWords(n result.Requests) string {
	text := fmt.Sprintf("%d clients", n.Client)
	if n.Claim > 0 {
		text += fmt.Sprintf(" and %d claims", n.Claim)
	}
	return text
}
