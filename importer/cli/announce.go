package cli

import (
	"context"
	"fmt"
	"slices"

	"claimsheet/importer/cli/console"
	"claimsheet/importer/result"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// unasked is how many clients a first run may create without a question.
const unasked = 5

// announce says what the user may want to know before anything is sent, and asks before
// a first run.
func (r *importRun) announce(ctx context.Context) error {
	if r.options.dryRun {
		return nil
	}
	if r.options.limit == 0 && r.options.only == "" { // the others may have no part in the run
		console.PrintProblems(r.Err, r.survey.Problems)
		if more := r.survey.Invalid - rowsOf(r.survey.Problems); more > 0 {
			fmt.Fprintf(r.Err, "claimsheet: invalid rows besides these: %d; the results workbook names every cell\n", more)
		}
	}
	return r.confirmFirst(ctx)
}

// rowsOf counts the rows that problems are about.
func rowsOf(list problem.List) int {
	rows := map[[2]int]bool{}
	for _, p := range list {
		rows[[2]int{p.Where.Table, p.Where.Row}] = true
	}
	return len(rows)
}

// announced reports whether announce has printed a problem.
func (r *importRun) announced(p problem.Problem) bool {
	return !r.options.dryRun && r.options.limit == 0 && r.options.only == "" && slices.ContainsFunc(r.survey.Problems, func(said problem.Problem) bool {
		return said.Where == p.Where && said.Code == p.Code && said.Message == p.Message
	})
}

// confirmFirst asks before the first run of a mapping that would create more than a few
// clients. Without a terminal it never asks: a run that nobody watches must not wait.
func (r *importRun) confirmFirst(ctx context.Context) error {
	o := r.options
	if o.yes || o.isRerun() || r.session.Env.Sandbox || !console.IsTerminal(r.In) || !console.IsTerminal(r.stderr) {
		return nil
	}
	_, known, err := r.ledger.ledger.Definition(ctx, r.scope, r.session.Mapping.Name.Text)
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

// stopping says what a run waits for after a signal, while it still runs.
func (r *importRun) stopping() {
	fmt.Fprintf(r.Err, "claimsheet: stopping: requests in flight: %d; waiting for their answers; press Ctrl-C again to stop at once\n", r.session.Client.InFlight())
}
