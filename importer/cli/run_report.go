package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/safefile"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// report writes the workbooks and the summary, also when a signal has ended ctx.
func (r *importRun) report(ctx context.Context) (err error) {
	signalled := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	if !r.options.dryRun {
		if err := r.session.Ledger.Flush(); err != nil {
			return err
		}
	}
	summary, problems, mappingChanged := r.job.Summary()
	summary.Environment = r.session.Env.Name
	summary.Seconds = time.Since(r.started).Seconds()
	if r.job.Dispatch != nil && r.session.Ledger.Stopped() == nil {
		if err = r.addKilledWorkers(ctx, &summary.Requests); err != nil {
			return err
		}
	}
	if summary.UncertainSteps, err = r.session.Ledger.CountUncertain(ctx, r.scope, r.session.Mapping.Name.Text); err != nil {
		return err
	}
	if summary.Rows.Total != r.survey.Rows {
		return fmt.Errorf("%d rows were read and %d have a result: this is a bug of Claimsheet's, and every id is safe in the ledger",
			r.survey.Rows, summary.Rows.Total)
	}
	if err := r.writeWorkbooks(ctx, &summary, problems); err != nil {
		return err
	}
	r.counts, r.object = summary.Rows, &summary
	console.PrintProblems(r.Err, problems.Listed())
	r.printFirstFailures(summary)
	if mappingChanged {
		console.PrintProblems(r.Err, problem.List{problem.At(problem.Where{File: r.session.Mapping.File}, "mapping-changed",
			"the mapping now asks for something other than what was sent; done steps are not sent again")})
	}
	if err := r.printSummary(summary, signalled); err != nil {
		return err
	}
	if !r.options.dryRun {
		r.dropInputs(ctx)
	}
	return nil
}

// addKilledWorkers adds to the counts of requests what workers have sent that were killed before they said so.
func (r *importRun) addKilledWorkers(ctx context.Context, requests *result.Requests) error {
	sent := map[string]int{}
	for _, run := range r.job.Runs {
		of, err := r.session.Ledger.SentIn(ctx, run)
		if err != nil {
			return err
		}
		for kind, n := range of {
			sent[kind] += n
		}
	}
	requests.Client, requests.Claim = max(requests.Client, sent[ledger.KindClient]), max(requests.Claim, sent[ledger.KindClaim])
	requests.Activity, requests.Link = max(requests.Activity, sent[ledger.KindActivity]), max(requests.Link, sent[ledger.KindLink])
	return nil
}

// inputsKept is how many runs of an environment keep the copies of their sheets, by which claimsheet report writes their workbooks again.
const inputsKept = 60

// dropInputs removes the copies of the sheets of older runs. The run's own outcome does not depend on it: what goes wrong is a warning.
func (r *importRun) dropInputs(ctx context.Context) {
	_, err := r.removeInputs(ctx, func() error { return r.session.Ledger.DropInputs(r.scope, inputsKept) })
	if err != nil {
		console.PrintProblems(r.Err, problem.List{problem.At(problem.Where{File: r.session.Place.String()}, "not-pruned",
			"the copies of the sheets of old runs could not be removed: %v", problem.Cause(err)).Hinted("nothing else depends on it")})
	}
}

// printFirstFailures names the first rows that failed or are uncertain, and where the others are.
func (r *importRun) printFirstFailures(summary result.Summary) {
	list := r.job.FirstFailures()
	if len(list) == 0 {
		return
	}
	const where = "the sheet " + reports.ProblemsSheet + " of the workbook"
	hint := where + " says what to do"
	if more := summary.Rows.Failed + summary.Rows.Uncertain - len(list); more > 0 {
		hint = fmt.Sprintf("%d more rows failed or are uncertain; %s has them all, and says what to do", more, where)
	}
	list[len(list)-1].Hint = hint
	console.PrintProblems(r.Err, list)
}

func (r *importRun) printSummary(summary result.Summary, signalled bool) error {
	o := r.options
	if r.observer.Quiet {
		return nil
	}
	words := reports.NextSteps{Command: o.words(), Settle: commandWords(o.where, "settle"), Rerun: commandWords(o.where, "rerun")}
	if r.session.Env.Sandbox {
		words.Notice = sandboxNotice
	}
	if r.session.Env.Sandbox && !o.dryRun {
		words.Sandbox = []string{"claimsheet", "sandbox", "--state", o.where.StateDir(false)}
		if o.where.Templates != "" {
			words.Sandbox = append(words.Sandbox, "--templates", o.where.Templates)
		}
	}
	switch {
	case r.stopped != nil:
		words.Stopped = strings.TrimPrefix(r.stopped.Error(), importer.ErrStopped.Error()+": ")
	case signalled:
		words.Stopped, words.Interrupted = "a signal ended the run; requests under way were finished", true
	}
	return reports.WriteSummary(r.Out, summary, words)
}

// writeWorkbooks writes a workbook for each sheet. When one cannot be written, the others are still written.
func (r *importRun) writeWorkbooks(ctx context.Context, whole *result.Summary, problems problem.List) error {
	var failed problem.List
	folders := map[string]bool{}
	for _, s := range r.sheets {
		summary := r.job.OfSheet(*whole, s.table)
		if err := r.writeWorkbook(ctx, s, &summary, problemsOf(s.table, problems)); err != nil {
			failed = append(failed, r.unwritten(s, err))
			continue
		}
		whole.Results, folders[filepath.Dir(summary.Results)] = summary.Results, true
		whole.Sheets = append(whole.Sheets, result.SheetSummary{Sheet: s.source.Given, Run: summary.Run,
			Rows: summary.Rows, Clients: summary.Clients, Results: summary.Results})
	}
	switch {
	case len(failed) > 0:
		return failed.Err()
	case len(r.sheets) == 1:
		whole.Sheets = nil
	case len(folders) == 1:
		whole.Results = filepath.Dir(whole.Results)
	default:
		whole.Results = ""
	}
	return nil
}

// unwritten says why a workbook was not written, and which command writes it.
func (r *importRun) unwritten(s *sheetRun, err error) problem.Problem {
	p, ok := errors.AsType[problem.Problem](err)
	if !ok {
		p = problem.At(problem.Where{File: s.output}, "output-failed", "the workbook could not be written: %v", err).Hinted("%s", hintOf(err))
	}
	if p.Class = problem.Stopped; r.options.dryRun {
		return p
	}
	if p.Hint != "" {
		p.Hint += "; "
	}
	return p.Hinted("%severy id is safe in the ledger, and this command writes the workbook: %s", p.Hint, r.commandFor("report", "-o",
		"FILE", s.record.ID))
}

func (r *importRun) writeWorkbook(ctx context.Context, s *sheetRun, summary *result.Summary, problems problem.List) (err error) {
	kept := r.keep(s)
	book := r.workbookOf(r.session, s.record, kept, s.draft)
	book.Sheet, book.Records, book.Preview = s.source.Sheet(), r.rowsOf(s.table), s.preview
	book.Problems, book.Summary = problems, *summary
	book.Binding = r.bindingOf(r.session, s.record, kept, book.Sheet).Properties()
	// The run's end is recorded first: if the workbook cannot be written, claimsheet report writes it later.
	run := s.record
	run.Finished = time.Now().UTC()
	if err := r.finishRun(run, kept, *summary); err != nil {
		return err
	}
	if r.options.dryRun {
		if book.Values, err = r.plannedValues(s); err != nil {
			return err
		}
	}
	place, err := placement(ctx, r.session.Ledger, s.output, r.options.dryRun)
	if err != nil {
		return err
	}
	written, err := place.Write(book)
	if err != nil {
		return err
	}
	r.reportBackup(s, written)
	if written.Path != s.output {
		console.PrintProblems(r.Err, problem.List{problem.At(problem.Where{File: s.output}, "output-held",
			"could not be replaced: another program has it open, or it is protected; the results are in %s", written.Path).
			Hinted("close it before the next run")})
	}
	summary.Results = written.Path
	run.Output, run.OutputDigest = safefile.Absolute(written.Path), written.Digest
	return r.finishRun(run, kept, *summary)
}

// rowsOf returns the rows of one sheet, as the first pass kept them.
func (r *importRun) rowsOf(table int) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for record, err := range r.rows.Records() {
			if (err != nil || record.Table == table) && !yield(record, err) {
				return
			}
		}
	}
}

// finishRun records the end of a run; a dry run leaves no trace.
func (r *importRun) finishRun(run ledger.Run, kept *keptRun, summary result.Summary) (err error) {
	if r.options.dryRun {
		return nil
	}
	if run.Summary, err = json.Marshal(runSummary{summary, kept}); err != nil {
		return err
	}
	return r.session.Ledger.FinishRun(run)
}

// valuesOf is of how many clients the plan workbook shows every value.
const valuesOf = 100

// plannedValues returns what the run would send for the first clients of a sheet.
func (r *importRun) plannedValues(s *sheetRun) ([]reports.Value, error) {
	calls := map[int]map[string]result.Step{} // by the client's number and the step's key
	for step, err := range s.draft.Steps() {
		if err != nil {
			return nil, err
		}
		if step.State != string(result.Planned) {
			continue
		}
		if calls[step.Client] == nil {
			if len(calls) == valuesOf {
				break
			}
			calls[step.Client] = map[string]result.Step{}
		}
		calls[step.Client][step.Step] = step
	}
	var values []reports.Value
	for plan, err := range r.plans() {
		if err != nil {
			return nil, err
		}
		for i := range plan.Steps {
			call, planned := calls[plan.Number][plan.Steps[i].Key]
			if !planned {
				continue
			}
			for _, v := range plan.Steps[i].Fields {
				if v.Value.Literal != "" {
					values = append(values, reports.Value{Call: call, Name: v.Name, Sent: v.Value.Literal, Cells: r.cellsOf(s, v.Source)})
				}
			}
		}
		if delete(calls, plan.Number); len(calls) == 0 {
			break
		}
	}
	return values, nil
}

// cellsOf names the cells of a value, with their sheet where that is another one than s.
func (r *importRun) cellsOf(s *sheetRun, from mapping.Source) string {
	var names []string
	for _, column := range from.Columns {
		at := r.session.Binding.At(column, from.Row)
		name := at.Cell
		if at.Table != s.table {
			name = at.String()
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// reportBackup says that another workbook, or an edited one, was in the place of the new one, where it is now, and whether it was used.
func (r *importRun) reportBackup(s *sheetRun, written reports.Placement) {
	if written.Aside == "" {
		return
	}
	kept := workbookKept(s.output, written.Aside, r.commandFor("rerun", written.Aside))
	if r.options.isOfRerun(s.output) {
		kept.Hint = "the corrections that it had when this rerun began were used"
	} else if other, err := workbook.Find(written.Aside); err == nil && other != nil && other.CheckEnvironment(r.session.Env.Name, r.scope) != nil {
		kept.Message = fmt.Sprintf("is a workbook of the environment “%s”; the file that was here is kept as %s", other.EnvironmentName, written.Aside)
		kept.Hint = "give each environment its own results with -o"
	}
	console.PrintProblems(r.Err, problem.List{kept})
}

// keep returns what is kept of the run of a sheet besides the sheet.
func (r *importRun) keep(s *sheetRun) *keptRun {
	service := *r.session.Service
	service.Templates = slices.DeleteFunc(slices.Clone(service.Templates), func(t mapping.Template) bool {
		return !slices.ContainsFunc(r.session.Mapping.Activities, func(a mapping.ActivityRule) bool {
			return a.Template.Text == t.Name || service.TemplateIDs[a.Template.Text] == t.ID
		})
	})
	return &keptRun{Mapping: string(r.session.MappingText), Service: &service, Date: r.session.RunDate, Limit: r.options.limit,
		SimilarKeys: r.job.SimilarKeys,
		Sheets:      len(r.sheets), Input: safefile.Absolute(s.source.Given)}
}
