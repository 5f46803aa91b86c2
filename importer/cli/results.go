package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// complete tells that an error ended the run in good order: every row has its
// result.
func complete(err error, dryRun bool) bool {
	return err == nil || errors.Is(err, importer.ErrStopped) && !dryRun
}

// finish writes the workbook and the summary. It does so also when a signal
// has ended ctx.
func (p *program) finish(ctx context.Context, job *importer.Job, e *running) error {
	signalled := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	if !e.options.dryRun {
		if err := e.books.known.Flush(); err != nil {
			return err
		}
	}
	summary, problems, mappingChanged := job.Summary(e.options.dryRun)
	summary.Environment = e.setup.env.Name
	summary.Seconds = time.Since(e.started).Seconds()
	if summary.Rows.Total != e.survey.Rows {
		return fmt.Errorf("%d rows were read and %d have a result: this is a fault of Claimsheet's, and every id is safe in the ledger", e.survey.Rows, summary.Rows.Total)
	}
	if err := p.writeWorkbooks(ctx, e, job, &summary, problems); err != nil {
		return err
	}
	p.summary = &summary
	console.PrintProblems(p.Err, problems)
	if mappingChanged {
		console.PrintProblems(p.Err, problem.List{problem.At(problem.Where{File: e.setup.mapping.File}, "mapping-changed",
			"the mapping asks for something else than what was sent before; what is done is not sent again")})
	}
	return p.saySummary(e, summary, signalled)
}

// unwritten is why a workbook was not written, with the command that writes it.
func (e *running) unwritten(part *part, err error) problem.Problem {
	p, ok := errors.AsType[problem.Problem](err)
	if !ok {
		p = problem.At(problem.Where{File: part.target.path}, "output-failed", "the workbook could not be written: %v", err).Hinted("%s", hintOf(err))
	}
	if e.options.dryRun {
		return p
	}
	if p.Hint != "" {
		p.Hint += "; "
	}
	again := reports.CommandLine(append(e.options.words("report"), "-o", "FILE", part.record.ID))
	return p.Hinted("%severy id is safe in the ledger, and this writes the workbook: %s", p.Hint, again)
}

func (p *program) saySummary(e *running, summary result.Summary, signalled bool) error {
	switch {
	case e.options.json:
		return reports.WriteJSON(p.Out, summary)
	case e.options.quiet:
		return nil
	}
	words := reports.NextSteps{Command: e.options.command(), Settle: e.options.words("settle")}
	if e.options.format != formatCSV {
		words.Rerun = e.options.words("rerun")
	}
	if e.setup.env.Sandbox {
		words.Notice = sandboxNotice
	}
	switch {
	case e.why != nil:
		words.Stopped = e.why.Error()
	case signalled:
		words.Stopped, words.Interrupted = "a signal ended the run; what was in flight was finished", true
	}
	if err := reports.WriteSummary(p.Out, summary, words); err != nil {
		return err
	}
	sayUnknown(p.Out, e.setup.service.Unknown())
	return nil
}

// writeWorkbooks writes a workbook for each sheet. One that cannot be written
// keeps none of the others from being written.
func (p *program) writeWorkbooks(ctx context.Context, e *running, job *importer.Job, whole *result.Summary, problems problem.List) error {
	var failed problem.List
	for _, part := range e.parts {
		summary := job.OfSheet(*whole, part.table)
		if err := p.writeWorkbook(ctx, e, part, &summary, problemsOf(part.table, problems)); err != nil {
			failed = append(failed, e.unwritten(part, err))
			continue
		}
		whole.Sheets = append(whole.Sheets, result.SheetSummary{Sheet: part.source.input.given, Run: summary.Run,
			Rows: summary.Rows, Clients: summary.Clients, Results: summary.Results})
	}
	whole.Results = commonPlace(whole.Sheets)
	if len(e.parts) == 1 {
		whole.Sheets = nil
	}
	if len(failed) > 0 {
		return &incomplete{failed}
	}
	return nil
}

// problemsOf are the problems of one of the run's sheets. In its own workbook a
// place needs no file.
func problemsOf(table int, all problem.List) problem.List {
	var own problem.List
	for _, p := range all {
		if p.Where.Table == table {
			p.Where.File = ""
			own = append(own, p)
		}
	}
	return own
}

// commonPlace is the workbook's path, or the folder that holds all of several
// workbooks; "" when they stand in different ones.
func commonPlace(sheets []result.SheetSummary) string {
	if len(sheets) == 1 {
		return sheets[0].Results
	}
	place := ""
	for i, s := range sheets {
		folder := filepath.Dir(s.Results)
		if i > 0 && folder != place {
			return ""
		}
		place = folder
	}
	return place
}

func (p *program) writeWorkbook(ctx context.Context, e *running, part *part, summary *result.Summary, problems problem.List) error {
	book, run := e.book(ctx, part, *summary, problems), part.record
	run.Finished = time.Now().UTC()
	kept, err := e.memo(ctx, book)
	if err != nil {
		return err
	}
	// What the workbook is made from goes first: where it cannot be written,
	// claimsheet report writes it later.
	if err := e.finishRun(run, kept, *summary); err != nil {
		return err
	}
	place, err := part.placement(ctx, time.Now())
	if err != nil {
		return err
	}
	write := place.WriteWorkbook
	if part.target.format == formatCSV {
		write = place.WriteCSV
	}
	written, err := write(book)
	if err != nil {
		return err
	}
	if err := p.sayKept(e, part, written); err != nil {
		return err
	}
	if written.Path != part.target.path {
		console.PrintProblems(p.Err, problem.List{heldOutput(part.target.path, written.Path)})
	}
	summary.Results = written.Path
	run.Output, run.OutputDigest = absolute(written.Path), written.Digest
	return e.finishRun(run, kept, *summary)
}

// finishRun records the end of a run; a dry run leaves no trace.
func (e *running) finishRun(run ledger.Run, kept *memo, s result.Summary) (err error) {
	if e.options.dryRun {
		return nil
	}
	if run.Summary, err = kept.text(s); err != nil {
		return err
	}
	return e.books.known.FinishRun(run)
}

// heldOutput says that the results are beside their place.
func heldOutput(asked, written string) problem.Problem {
	return problem.At(problem.Where{File: asked}, "output-held", "could not be replaced: another program has it open, or it is protected; the results are in %s", written).
		Hinted("close it before the next run")
}

// book is what the workbook shows.
func (e *running) book(ctx context.Context, part *part, summary result.Summary, problems problem.List) reports.Book {
	s, r, sheet := e.setup, part.record, part.source.sheet(part.table)
	book := reports.Book{
		Sheet:    sheet,
		Records:  s.rowsOf(part.table),
		Widths:   &part.widths,
		Made:     r.Started,
		Rows:     e.books.known.Rows(ctx, r.ID),
		Steps:    e.books.known.RunSteps(ctx, r.ID),
		Problems: problems,
		Summary:  summary,
		Facts: []reports.Fact{
			{Label: "Mapping", Text: s.mapping.Name.Text + " (" + s.mapping.File + ")"},
			{Label: "Sheet", Text: r.Input},
			{Label: "Started (UTC)", Time: r.Started},
			{Label: "Ledger", Text: ledgerFile(s.state)},
			{Label: "Claimsheet", Text: Version},
		},
		ClientIDHeader: "contactId",
		Binding: map[string]string{
			runProperty: r.ID, environmentProperty: r.Environment, environmentNameProperty: r.EnvironmentName,
			mappingProperty: r.Mapping, mappingFileProperty: absolute(r.MappingFile), mappingDigestProperty: r.MappingDigest,
			keySpaceProperty: s.binding.KeySpace(), sheetProperty: cmp.Or(sheet.Origin, sheet.Name),
			sheetsProperty: strconv.Itoa(len(e.parts)), startedProperty: r.Started.Format(time.RFC3339Nano),
			inputProperty: absolute(r.Input), inputDigestProperty: r.InputDigest, ledgerProperty: absolute(ledgerFile(s.state)),
		},
	}
	if e.options.dryRun {
		draft := e.books.drafts[part.table]
		book.Rows, book.Steps = draft.Rows(), draft.Steps()
	}
	book.Own = part.own()
	if s.mapping.V1() {
		book.ClientIDHeader = "clientId"
	}
	if s.env.Sandbox {
		book.Notice = sandboxNotice
	}
	if len(e.parts) > 1 {
		book.Facts = append(book.Facts, reports.Fact{Label: "Sheets in the run", Text: fmt.Sprintf("%d; requests are those of the whole run", len(e.parts))})
	}
	named := map[string]bool{}
	for _, u := range s.binding.Untyped() {
		if name := u.Name(); !named[name] {
			named[name] = true
			book.Facts = append(book.Facts, reports.Fact{Label: "Sent as Text, because nobody says the type", Text: name})
		}
	}
	book.Facts = append(book.Facts, unknownFacts(s.service.Unknown())...)
	return book
}

// sayKept says that an edited workbook was in the place of the new one, where it
// is now, and whether anybody has used what was written into it.
func (p *program) sayKept(e *running, part *part, written reports.Written) error {
	if written.Aside == "" {
		return nil
	}
	digest, err := reports.DigestOf(written.Aside)
	if err != nil {
		return err
	}
	again := reports.CommandLine(append(e.options.words("rerun"), written.Aside))
	kept := keptAside(part.target.path, written.Aside, again)
	switch {
	case digest == part.source.input.digest:
		kept.Hint = "the corrections in it were used in this run"
	case part.target.format == formatCSV:
		kept.Hint = "nothing was taken from it: a CSV file is for reading"
	}
	console.PrintProblems(p.Err, problem.List{kept})
	return nil
}

// keptAside says where an edited workbook is kept; again is the command that uses
// it.
func keptAside(path, aside, again string) problem.Problem {
	return problem.At(problem.Where{File: path}, "output-edited", "is not as the last run wrote it; what was here is kept as %s", aside).
		Hinted("corrections made in it are not in the new workbook; to use them: %s", again)
}

// memo is what a run's workbook shows besides the kept input and what stands in
// the ledger's tables. It is kept with the run, so that claimsheet report needs
// neither the mapping nor the service.
type memo struct {
	Event          int64 // the ledger's newest event when the workbook was made
	Sheet          sheet.Options
	ClientIDHeader string
	Facts          []reports.Fact
	Binding        map[string]string
	Notice         string
	Problems       problem.List // with what cells say: personal data
}

// runSummary is a run's summary as the ledger keeps it.
type runSummary struct {
	result.Summary
	Workbook *memo `json:"workbook,omitempty"` // nil once it was purged
}

// memo is what is to be kept of a workbook.
func (e *running) memo(ctx context.Context, b reports.Book) (*memo, error) {
	event, err := e.books.known.LastEvent(ctx)
	return &memo{Event: event, Sheet: e.setup.sheetOptions(), ClientIDHeader: b.ClientIDHeader,
		Facts: b.Facts, Binding: b.Binding, Notice: b.Notice, Problems: b.Problems}, err
}

// text is the memo with the run's summary, for the ledger.
func (m *memo) text(s result.Summary) ([]byte, error) {
	return json.Marshal(runSummary{s, m})
}

// readSummary reads what the ledger has of a run's end; the zero runSummary for
// a run that did not end.
func readSummary(text []byte) (s runSummary, err error) {
	if len(text) == 0 {
		return runSummary{}, nil
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return runSummary{}, fmt.Errorf("the summary of a run in the ledger cannot be read: %w", err)
	}
	return s, nil
}

// withoutMemo is a run's summary without personal data. What cannot be read is
// dropped whole.
func withoutMemo(text []byte) []byte {
	s, err := readSummary(text)
	if err != nil || len(text) == 0 {
		return nil
	}
	if s.Workbook == nil {
		return text
	}
	s.Workbook = nil
	if text, err = json.Marshal(s); err != nil {
		return nil
	}
	return text
}

// target is the workbook's place and what may be done with a file that is
// there.
type target struct {
	path   string
	format string
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
	if t.format == formatCSV {
		return reports.TargetCSV(t.path, digest, now)
	}
	return reports.Target(t.path, t.dryRun, digest, now)
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// mostUnknown is how many kinds of unexplained answers are printed; the
// workbook has them all.
const mostUnknown = 10

// sayUnknown lists the answers that no rule of the environment explains, each
// with a rule to begin with.
func sayUnknown(w io.Writer, list []apiclient.Unknown) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, "Answers that none of the environment's errors rules explains:")
	for i, u := range list {
		if i == mostUnknown {
			fmt.Fprintf(w, "  … and %d more, in the sheet Summary of the results workbook\n", len(list)-i)
			break
		}
		fmt.Fprintln(w, "  "+problem.OneLine(unknownText(u)))
		fmt.Fprintln(w, "    - "+problem.OneLine(u.Rule()))
	}
	fmt.Fprintln(w, "If the service's operator says that one means something else (retry, failed, done, stop, uncertain), add its line to errors.")
}

func unknownText(u apiclient.Unknown) string {
	return fmt.Sprintf("%d × %s to %s, taken as %s", u.Count, u.Shape, u.Route, u.Means)
}

// unknownFacts are the same for the workbook's sheet Summary.
func unknownFacts(list []apiclient.Unknown) []reports.Fact {
	var facts []reports.Fact
	for _, u := range list {
		facts = append(facts, reports.Fact{Label: "Unexplained answer", Text: unknownText(u) + "; as a rule: " + u.Rule()})
	}
	return facts
}
