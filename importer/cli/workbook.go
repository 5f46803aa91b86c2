package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// ending is what is at hand when a run is over.
type ending struct {
	options runOptions
	setup   *setup
	books   *books
	survey  *importer.Survey
	record  ledger.Run
	target  target
	why     error // why the run had to stop before its end, nil when it had not
}

// complete tells that an error ended the run in good order: every row has its
// result.
func complete(err error, dryRun bool) bool {
	return err == nil || errors.Is(err, importer.ErrStopped) && !dryRun
}

// output is where the workbook goes.
func (o runOptions) output() string {
	if o.out != "" {
		return o.out
	}
	stem := strings.TrimSuffix(o.sheet, filepath.Ext(o.sheet))
	switch {
	case o.dryRun:
		return stem + ".plan.xlsx"
	case o.origin != nil:
		return o.sheet
	}
	return stem + ".results.xlsx"
}

// target is the workbook's place and what may be done with a file that is
// there.
type target struct {
	path   string
	dryRun bool
	ledger *ledger.Ledger
}

// check refuses a place that cannot be written to, before anything is sent.
func (t target) check(ctx context.Context, now time.Time) error {
	if _, err := t.placement(ctx, now); err != nil {
		return err
	}
	folder := filepath.Dir(t.path)
	trial, err := os.MkdirTemp(folder, ".claimsheet-*") // as the writing of the workbook begins
	if err != nil {
		return problem.At(problem.Where{File: t.path}, "output-no-access", "the folder %s cannot be written to: %v", folder, errors.Unwrap(err)).
			Hinted("let this user write to it, or choose another folder with -o")
	}
	return os.Remove(trial)
}

func (t target) placement(ctx context.Context, now time.Time) (reports.Placement, error) {
	digest, _, err := t.ledger.LastOutput(ctx, absolute(t.path))
	if err != nil {
		return reports.Placement{}, err
	}
	return reports.Target(t.path, t.dryRun, digest, now)
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// finish writes the workbook and the summary. It does so also when a signal
// has ended ctx.
func (p *program) finish(ctx context.Context, job *importer.Job, e ending) error {
	signalled := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	if err := e.books.results.Flush(); err != nil {
		return err
	}
	summary, problems, mappingChanged := job.Summary(e.options.dryRun)
	summary.Environment = e.setup.env.Name
	summary.Seconds = time.Since(e.record.Started).Seconds()
	if summary.Rows.Total != e.survey.Rows {
		return fmt.Errorf("%d rows were read and %d have a result: this is a fault of Claimsheet's, and every id is safe in the ledger", e.survey.Rows, summary.Rows.Total)
	}
	if err := p.writeWorkbook(ctx, e, &summary, problems); err != nil {
		return fmt.Errorf("every id is safe in the ledger, but the results workbook could not be written: %w", err)
	}
	p.summary = &summary
	sayProblems(p.Err, problems)
	if mappingChanged {
		sayProblems(p.Err, problem.List{problem.At(problem.Where{File: e.setup.mapping.File}, "mapping-changed",
			"the mapping asks for something else than what was sent before; what is done is not sent again")})
	}
	return p.saySummary(e, summary, signalled)
}

func (p *program) saySummary(e ending, summary importer.Summary, signalled bool) error {
	switch {
	case e.options.json:
		return reports.WriteJSON(p.Out, summary)
	case e.options.quiet:
		return nil
	}
	words := reports.Ending{Command: e.options.command(), Settle: e.options.words("settle"),
		Rerun: append(e.options.words("rerun"), summary.Results)}
	if e.setup.env.Sandbox {
		words.Notice = sandboxNotice
	}
	switch {
	case e.why != nil:
		words.Stopped = e.why.Error()
	case signalled:
		words.Stopped = "a signal ended the run; what was in flight was finished"
	}
	if err := reports.WriteSummary(p.Out, summary, words); err != nil {
		return err
	}
	sayUnknown(p.Out, e.setup.service.Unknown())
	return nil
}

// command is the command of the run, without --dry-run.
func (o runOptions) command() []string {
	verb := "run"
	if o.origin != nil {
		verb = "rerun"
	}
	words := o.words(verb)
	if o.templates != "" {
		words = append(words, "--templates", o.templates)
	}
	if o.only != "" {
		words = append(words, "--only", o.only)
	}
	if o.limit > 0 {
		words = append(words, "--limit", fmt.Sprint(o.limit))
	}
	if o.out != "" && !o.dryRun {
		words = append(words, "-o", o.out)
	}
	return append(words, o.sheet)
}

// words are a command with the flags that say where things are. The rerun after
// a run knows the mapping and the environment from its workbook.
func (o runOptions) words(verb string) []string {
	words := []string{"claimsheet", verb}
	flags := []struct{ name, value string }{
		{"-m", o.mapping}, {"-e", o.env}, {"--environments", o.environments}, {"--state", o.state},
	}
	if verb == "rerun" && o.origin == nil {
		flags = flags[2:]
	}
	for _, f := range flags {
		if f.value != "" {
			words = append(words, f.name, f.value)
		}
	}
	return words
}

func (p *program) writeWorkbook(ctx context.Context, e ending, summary *importer.Summary, problems problem.List) error {
	place, err := e.target.placement(ctx, time.Now())
	if err == nil {
		err = place.MakeRoom()
	}
	if err != nil {
		return err
	}
	summary.Results = place.Path
	written, err := reports.WriteWorkbook(place.Path, e.book(ctx, *summary, problems))
	if err != nil {
		return err
	}
	summary.Results = written.Path
	run := e.record
	run.Finished, run.Output, run.OutputDigest = time.Now().UTC(), absolute(written.Path), written.Digest
	var text bytes.Buffer
	if err := reports.WriteJSON(&text, *summary); err != nil {
		return err
	}
	run.Summary = text.Bytes()
	return e.books.results.FinishRun(run)
}

// book is what the workbook shows.
func (e ending) book(ctx context.Context, summary importer.Summary, problems problem.List) reports.Book {
	s, r := e.setup, e.record
	book := reports.Book{
		Sheet:    s.binding.Sheet(),
		Records:  s.reader.Records(),
		Rows:     importer.RowResults(ctx, e.books.results, r.ID),
		Steps:    importer.StepResults(ctx, e.books.results, r.ID),
		Problems: problems,
		Summary:  summary,
		Facts: []reports.Fact{
			{Label: "Mapping", Text: s.mapping.Name.Text + " (" + s.mapping.File + ")"},
			{Label: "Sheet", Text: r.Input},
			{Label: "Started", Text: r.Started.Format(time.RFC3339)},
			{Label: "Ledger", Text: ledgerFile(s.state)},
			{Label: "Claimsheet", Text: Version},
		},
		ClientIDHeader: "contactId",
		Binding: map[string]string{
			runProperty: r.ID, environmentProperty: r.Environment, environmentNameProperty: r.EnvironmentName,
			mappingProperty: r.Mapping, mappingFileProperty: absolute(r.MappingFile), mappingDigestProperty: r.MappingDigest,
			keySpaceProperty: s.binding.KeySpace(), sheetProperty: cmp.Or(s.reader.Sheet().Origin, s.reader.Sheet().Name),
			inputProperty: absolute(r.Input), inputDigestProperty: r.InputDigest, ledgerProperty: absolute(ledgerFile(s.state)),
		},
	}
	if s.results != nil {
		book.Own = s.results.ownColumns()
	}
	if s.mapping.V1() {
		book.ClientIDHeader = "clientId"
	}
	if s.env.Sandbox {
		book.Notice = sandboxNotice
	}
	for _, name := range s.binding.Untyped() {
		book.Facts = append(book.Facts, reports.Fact{Label: "Sent as Text for want of a type", Text: name})
	}
	book.Facts = append(book.Facts, unknownFacts(s.service.Unknown())...)
	return book
}
