package cli

import (
	"context"
	"time"

	"claimsheet/importer"
	"claimsheet/mapping/problem"
)

// completes takes what is to be told of a run whose workbooks are written,
// while its ledger is still open.
func (a *attended) completes(ctx context.Context, job *importer.Job, e *running) error {
	ctx = context.WithoutCancel(ctx)
	a.retries = job.Retries()
	if e.options.dryRun {
		return nil
	}
	waiting, err := e.books.known.CountUnsettled(ctx, e.setup.scope, e.setup.mapping.Name.Text)
	if err != nil {
		return err
	}
	a.uncertain = &waiting
	if e.options.origins == nil {
		for _, part := range e.parts {
			a.inputs = append(a.inputs, part.source.input)
		}
		return a.compare(ctx, job, e)
	}
	return nil
}

// compare warns of sheets that are, to the byte, those of an earlier run: an
// export that was not made anew. An earlier run that left more of the sheet
// aside than this one, with --limit perhaps, is none to compare with, nor is
// this one when it does. It is for the log and what is sent: a person who gives
// a command again knows that.
func (a *attended) compare(ctx context.Context, job *importer.Job, e *running) error {
	if e.options.limit > 0 || e.options.only != "" {
		return nil
	}
	summary, _, _ := job.Summary(false)
	for _, part := range e.parts {
		earlier, found, err := e.books.known.SameInput(ctx, part.record, string(importer.Skipped))
		if err != nil {
			return err
		}
		if !found || earlier.Rows > job.OfSheet(summary, part.table).Rows.Skipped {
			continue
		}
		a.same = true
		warning := problem.At(problem.Where{File: part.source.input.given}, "same-input",
			"this is the same file as in the run of %s: there was no new export since", earlier.Started.Format(time.RFC3339))
		a.warnings = append(a.warnings, warning.Error())
		a.log.Warn(warning.Message, "code", warning.Code, "where", warning.Where.String(), "earlierRun", earlier.ID)
	}
	return nil
}
