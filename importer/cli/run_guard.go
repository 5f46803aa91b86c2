package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// guardCodes are what --accept takes: the code of the problem that a guard reports, or for service-changed the two answers that there are.
var guardCodes = []string{"new-identity", "new-ledger", "ledger-missing", "lost-run", "same-service", "new-service", "similar-key", "claims-moved"}

// acceptedGuards reads --accept.
func acceptedGuards(codes []string) (map[string]bool, error) {
	accept := map[string]bool{}
	for _, code := range codes {
		if !slices.Contains(guardCodes, code) {
			return nil, problem.New("usage", "--accept takes the code of a guard, not “%s”", problem.Shorten(code)).
				Hinted("%s", problem.Suggestion(code, guardCodes))
		}
		accept[code] = true
	}
	if accept["same-service"] && accept["new-service"] {
		return nil, problem.New("usage", "--accept same-service and --accept new-service exclude each other")
	}
	return accept, nil
}

// guardRule is a reason to refuse a run before anything is sent: one question about it. --accept with its code passes it.
type guardRule struct {
	code  string
	check func(*importRun, context.Context) error
}

// ledgerGuards are asked before the rows are read: is this the ledger of these sheets?
var ledgerGuards = []guardRule{
	{"new-ledger", (*importRun).guardNewLedger},
	{"lost-run", (*importRun).guardLostRun},
}

// planGuards are asked when the plans are known: would done work get a new name?
var planGuards = []guardRule{
	{"new-identity", (*importRun).guardIdentity},
	{"claims-moved", (*importRun).guardClaims},
}

// guardClaims refuses claims that most likely have the wrong clients, and warns of some that may.
func (r *importRun) guardClaims(ctx context.Context) error {
	warning, err := r.job.CheckMovedClaims(ctx, r.plans())
	console.PrintProblems(r.Err, warning)
	return err
}

// checkGuards asks guards in their order.
func (r *importRun) checkGuards(ctx context.Context, guards []guardRule) error {
	for _, g := range guards {
		if !r.options.accept[g.code] {
			if err := g.check(r, ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// guardNewLedger refuses a run whose workbook would replace that of a run which the ledger does not know to
// its end: the ledger is new, or older than that run, and everything done since would be done again. Two
// workbooks are left out: the one that a rerun is given, because each of its lines is compared with the
// ledger, and one of the sandbox, whose data and ledger are in one folder and are not lost one by one.
func (r *importRun) guardNewLedger(ctx context.Context) error {
	for _, path := range r.resultsPaths() {
		b, err := r.findOwn(path)
		if err != nil {
			return err
		}
		if b == nil || r.options.isOfRerun(path) || r.session.Env.Sandbox {
			continue
		}
		if known, err := r.knowsWorkbook(ctx, b); err != nil {
			return err
		} else if !known {
			return problem.At(problem.Where{File: b.Path}, "new-ledger",
				"is of a run that the ledger %s does not know to its end: the ledger is new, or was restored from before that time, and what was done since would be done again", r.session.Place).
				Of(problem.Stopped).Hinted("bring the ledger back; or import what the workbook knows: %s; or add --accept new-ledger to create everything again", r.commandFor("rerun", b.Path))
		}
	}
	return nil
}

// resultsPaths returns where the results go; for a dry run, where those of the run would go.
func (r *importRun) resultsPaths() (paths []string) {
	o := r.options
	if o.dryRun {
		o.dryRun, o.out = false, ""
	}
	for _, s := range r.sheets {
		paths = append(paths, o.output(s.source.Given))
	}
	return paths
}

// guardLostRun refuses a ledger that was restored from before a run: from before one that began after the
// workbook of a rerun, after a workbook that would be replaced, or after those of the mapping's latest run.
// Where the whole state folder was restored, nothing else shows that. A rerun is refused for the last only
// once the ids of its own workbook are recorded, because the workbooks are run again newest first.
func (r *importRun) guardLostRun(ctx context.Context) error {
	book := r.options.workbook
	if r.session.Env.Sandbox {
		return nil
	}
	if book != nil {
		if err := r.checkNextRun(ctx, book); err != nil {
			return err
		}
	}
	if r.options.accept["new-ledger"] {
		return nil
	}
	latest, err := r.session.Ledger.LatestOutputs(ctx, r.scope, r.session.Mapping.Name.Text)
	if err != nil {
		return err
	}
	for _, path := range append(latest, r.resultsPaths()...) {
		b, err := r.findOwn(path)
		if err != nil || b == nil || r.options.isOfRerun(path) {
			continue // supersede warns of one that cannot be read
		}
		if book != nil && (b.NextRun == book.Run || r.options.isOfRerun(b.NextResults)) {
			continue // the ledger knows that run after this rerun
		}
		err = r.checkNextRun(ctx, b)
		if hasCode(err, "lost-run") && book != nil {
			r.lost = err // who is in doubt by another workbook could be taken for a client of this one
		} else if err != nil {
			return err
		}
	}
	return nil
}

// checkNextRun refuses a workbook whose next run the ledger does not know to its end: what that did would be
// done again. Two cases pass: the ledger knows that the next run began, and it was killed and wrote no
// workbook; or the ledger knows the later workbook that stands in the place of the next run's now.
func (r *importRun) checkNextRun(ctx context.Context, b *workbook.Results) error {
	if b.NextRun == "" {
		return nil
	}
	next, err := workbook.Find(b.NextResults) // before the ledger is asked: a run beside this one may end now, and then write it
	if err != nil {
		return err
	}
	began, ended, err := r.knownRun(ctx, b.NextRun)
	isThere := next != nil && next.Run == b.NextRun
	if err != nil || ended || began && !isThere {
		return err
	}
	if next != nil && (isThere || next.Started.After(b.Started)) {
		if known, err := r.knowsWorkbook(ctx, next); err != nil || known {
			return err
		}
	}
	p := problem.At(problem.Where{File: b.Path}, "lost-run",
		"a later run began after the workbook was written, and the ledger does not know all that it created: that could be created again")
	const byHand = "look in the service for what was created, and add --accept lost-run"
	if b.NextResults != "" && (next == nil || next.Run != b.Run) {
		return p.Of(problem.Stopped).Hinted("run that run's results workbook again first: %s; if it is lost too, %s", r.commandFor("rerun",
			b.NextResults), byHand)
	}
	return p.Of(problem.Stopped).Hinted("bring the ledger back; if it is lost, %s", byHand)
}

// findOwn reads whose results workbook is at path; nil when it is not one of the run's environment.
func (r *importRun) findOwn(path string) (*workbook.Results, error) {
	b, err := workbook.Find(path)
	if b == nil || b.Environment != r.scope && b.EnvironmentName != r.session.Env.Name {
		return nil, err
	}
	return b, nil
}

// knownRun reports whether the ledger knows that a run began, and that it ended. One that has only begun was killed, or the ledger is a
// copy from before its end: a run writes its workbook after its end was recorded, so only in the latter case its workbook is there.
func (p *program) knownRun(ctx context.Context, id string) (began, ended bool, err error) {
	run, began, err := p.session.Ledger.Run(ctx, id)
	return began, began && !run.Finished.IsZero(), err
}

// knowsWorkbook reports whether the ledger knows all that a results workbook shows: the end of its run,
// or that claimsheet report wrote the workbook there, for a run that was killed.
func (p *program) knowsWorkbook(ctx context.Context, b *workbook.Results) (bool, error) {
	began, ended, err := p.knownRun(ctx, b.Run)
	if err != nil || ended || !began {
		return ended, err
	}
	by, _, _, err := p.session.Ledger.OutputOf(ctx, safefile.Absolute(b.Path))
	return by == b.Run, err
}

// guardIdentity refuses changed keys, a renamed mapping and a new id of an activity: done steps would be done again under new names.
func (r *importRun) guardIdentity(ctx context.Context) error {
	err := r.checkVersion(ctx)
	if err == nil {
		err = r.job.CheckIdentity(ctx, r.plans())
	}
	if p, ok := errors.AsType[problem.Problem](err); ok && r.session.Env.Sandbox {
		return p.Hinted("%s; or begin with an empty sandbox: %s", p.Hint, r.session.ResetCommand())
	}
	return err
}

// checkVersion refuses a mapping that is new under its version of the service's interface, or in its case of version 1,
// and has run under another one: each has steps of its own, so what is done would be done again.
func (r *importRun) checkVersion(ctx context.Context) error {
	m, known := r.session.Mapping, r.session.Ledger
	own, ownCase := environment.ServiceOf(r.scope) // version 2 has no case
	scopes, err := known.Environments(ctx)
	elsewhere := ""
	for _, scope := range scopes {
		definitions, err := known.Definitions(ctx, scope)
		if err != nil {
			return err
		}
		service, inCase := environment.ServiceOf(scope)
		switch _, ran := definitions[m.Name.Text]; {
		case !ran || service != own:
		case scope == r.scope:
			return nil
		case inCase == "":
			elsewhere = "with api: v2"
		case ownCase == "":
			elsewhere = "with api: v1"
		default:
			elsewhere = "in another case"
		}
	}
	if err != nil || elsewhere == "" {
		return err
	}
	return problem.At(m.At(m.Name.At), "new-identity",
		"the mapping “%s” has run before %s: what is done would be done again", m.Name.Text, elsewhere).
		Hinted("take the change of api or case_id back; or add --accept new-identity if everything in the sheet should be created again")
}

// unasked is how many clients a first run may create without a question.
const unasked = 5

// confirmFirst asks before a mapping's first run creates more than a few clients. Without a terminal it never asks, and waits for nothing.
func (r *importRun) confirmFirst(ctx context.Context) error {
	o := r.options
	if o.dryRun || o.yes || o.workbook != nil || r.session.Env.Sandbox || !console.IsTerminal(r.In) || !console.IsTerminal(r.stderr) {
		return nil
	}
	definitions, err := r.session.Ledger.Definitions(ctx, r.scope)
	_, known := definitions[r.session.Mapping.Name.Text]
	if err != nil || known {
		return err
	}
	clients := r.survey.Clients
	if o.limit > 0 {
		clients = min(clients, o.limit)
	}
	if clients <= unasked || o.only != "" {
		return nil
	}
	question := fmt.Sprintf("This is the first run of the mapping “%s” in the environment “%s”. It creates up to %d clients at %s.\nContinue?",
		r.session.Mapping.Name.Text, r.session.Env.Name, clients, r.session.Env.BaseURL)
	return r.agree(ctx, false, question, "nothing was sent: the first run was not confirmed",
		"look at it first: "+reports.CommandLine(slices.Insert(o.words(), 2, "--dry-run")))
}
