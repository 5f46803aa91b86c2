package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/safefile"
	"claimsheet/importer/spool"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const reportHelp = `A RUN is its id, or enough of its first characters; claimsheet history lists the runs. The default is the latest run. The workbook
has the run's own copy of the sheet, and beside each row what the ledger says of it now: what was settled or done since is shown.
Neither the sheet, nor the mapping, nor the service is needed. A run that was killed has its workbook too.

Examples:

    claimsheet report -e uat
    claimsheet report -e uat -o friday.xlsx 3f9a`

func (p *program) reportCommand() *cli.Command {
	out := ""
	return newCommand("report", "[options] [RUN]", "write a run's results workbook again, from the ledger and the kept input", reportHelp,
		p.ledgerFlags(p.passwordFlag(), textFlag(&out, "out", "o",
			"the workbook's `FILE`; default: where the run wrote it, unless a later run did so too")),
		func(c *cli.Context) error { return p.report(c, out) })
}

// report writes the workbook of a run again, to the path out.
func (p *program) report(c *cli.Context, out string) error {
	ctx := c.Context
	if c.NArg() > 1 {
		return problem.New("usage", "one run at a time; %d are named", c.NArg()).Hinted("claimsheet history lists the runs")
	}
	if err := p.openLedger(p.openSharedAndReplay); err != nil {
		return err
	}
	run, err := p.findRun(ctx, c.Args().First())
	if err != nil {
		return err
	}
	book, binding, err := p.planAgain(ctx, run)
	if err != nil {
		return err
	}
	if out == "" {
		if out, err = p.usualOutput(ctx, run, binding.Input); err != nil {
			return err
		}
	}
	place, err := placement(ctx, p.session.Ledger, out, false)
	if err != nil {
		return err
	}
	if err := p.markOlder(ctx, run, &binding, out); err != nil {
		return err
	}
	book.Binding = binding.Properties()
	written, err := place.Write(book)
	if err != nil {
		return err
	}
	if written.Aside != "" {
		console.PrintProblems(p.Err, problem.List{workbookKept(out, written.Aside, p.commandFor("rerun", written.Aside))})
	}
	if err := p.session.Ledger.NoteOutput(run.ID, safefile.Absolute(written.Path), written.Digest); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s: the results of run %s of %s\n", problem.OneLine(written.Path), run.ID, moment(run.Started))
	return nil
}

// usualOutput returns where the run wrote its workbook, or would have. It fails when another run has written a workbook there since.
func (p *program) usualOutput(ctx context.Context, run ledger.Run, input string) (string, error) {
	path := cmp.Or(run.Output, strings.TrimSuffix(input, filepath.Ext(input))+".results.xlsx")
	by, _, known, err := p.session.Ledger.OutputOf(ctx, path)
	if known && by != run.ID {
		err = problem.At(problem.Where{File: path}, "output-of-another-run", "this file has the results of another run, %s", by).
			Hinted("name another file with -o")
	}
	return path, err
}

// moment formats a time in the local timezone.
func moment(at time.Time) string { return at.Local().Format(time.DateTime) }

// findRun returns the run whose id begins with prefix; the latest for "".
func (p *program) findRun(ctx context.Context, prefix string) (ledger.Run, error) {
	runs, err := p.runs(ctx)
	if err != nil {
		return ledger.Run{}, err
	}
	var found []ledger.Run
	for _, r := range runs {
		if strings.HasPrefix(r.ID, strings.ToLower(prefix)) {
			found = append(found, r)
		}
	}
	switch {
	case len(runs) == 0:
		return ledger.Run{}, p.noRun()
	case len(found) == 0:
		return ledger.Run{}, problem.New("unknown-run", "no run in the environment “%s” has an id that begins with “%s”", p.session.Env.Name,
			problem.OneLine(prefix)).
			Hinted("%s lists the runs", p.commandFor("history"))
	case len(found) > 1 && prefix != "":
		return ledger.Run{}, problem.New("ambiguous-run", "%d runs have ids that begin with “%s”", len(found), problem.OneLine(prefix)).
			Hinted("write more of the id; %s lists the runs", p.commandFor("history"))
	}
	return found[0], nil
}

// planAgain plans the kept copy of the run's sheet, which must be what the run read, again with the mapping and the templates of then, and
// lays the plans beside what the ledger knows now. Requests and seconds are those of the run, the counts are of now.
func (p *program) planAgain(ctx context.Context, run ledger.Run) (book reports.Workbook, binding workbook.Results, err error) {
	s, err := readSummary(run.Summary)
	switch {
	case err != nil:
		return book, binding, err
	case run.KeptInput == "" || s.Kept == nil:
		return book, binding, problem.New("input-purged",
			"the input of run %s of %s was purged, or never here, so its workbook cannot be written again", run.ID, moment(run.Started)).
			Hinted("what is known of a client: %s", p.commandFor("history", "CLIENT-KEY"))
	}
	m, found := mapping.Parse(run.MappingFile, []byte(s.Kept.Mapping))
	if len(found) > 0 {
		return book, binding, found.Err()
	}
	path := filepath.Join(load.InputsFolder(p.session.State), filepath.Base(run.KeptInput))
	digest, err := safefile.Digest(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return book, binding, safefile.Unreadable(path, err)
	}
	if digest != run.InputDigest {
		return book, binding, problem.At(problem.Where{File: path}, "input-changed", "the run's copy of its sheet is gone, or was changed since the run").
			Hinted("bring the file back from a backup of the state folder")
	}
	preview := new(reports.Preview)
	if s.Kept.Sheets > 1 {
		preview.File = filepath.Base(run.Output)
	}
	then, err := load.Reopen(m, &load.Input{Path: path, Given: run.Input, Password: p.password}, preview.At, s.Kept.Service, s.Kept.Date)
	p.closers = append(p.closers, then.Close)
	if err != nil {
		return book, binding, err
	}
	preview.Own = then.Inputs[0].AddedColumns()
	draft, err := spool.NewResults(p.session.State)
	if err != nil {
		return book, binding, err
	}
	p.closers = append(p.closers, func() { _ = draft.Close() })
	rows, survey, err := then.Survey(ctx, p.session.State, false, preview.Note)
	if err != nil {
		return book, binding, err
	}
	job := &importer.Job{Runs: []string{run.ID}, Environment: run.Environment, Binding: then.Binding, Ledger: p.session.Ledger,
		Drafts: []*spool.Results{draft}, Groups: survey.Groups, Limit: s.Kept.Limit, SimilarKeys: s.Kept.SimilarKeys}
	now, problems, err := job.Project(ctx, survey.Plans(then.Binding, rows))
	if err != nil {
		return book, binding, err
	}
	book = p.workbookOf(then, run, s.Kept, draft)
	book.Sheet, book.Records, book.Preview = then.Inputs[0].Sheet(), rows.Records(), preview
	book.Problems, book.Summary = problemsOf(0, problems), s.Summary
	book.Summary.Run, book.Summary.Environment = run.ID, run.EnvironmentName
	book.Summary.Rows, book.Summary.Clients, book.Summary.WithoutLink = now.Rows, now.Clients, now.WithoutLink
	return book, p.bindingOf(then, run, s.Kept, book.Sheet), nil
}

// markOlder marks the workbook that goes to path as older than the run that began after its run. What a restored ledger does not know of
// that is in the mark of an earlier writing of the workbook.
func (p *program) markOlder(ctx context.Context, run ledger.Run, binding *workbook.Results, path string) error {
	for _, place := range []string{path, run.Output} {
		b, err := workbook.Find(place)
		if err != nil {
			console.PrintProblems(p.Err, problem.List{problem.At(problem.Where{File: place}, "not-marked",
				"cannot be read: %v; if it says that a later run began, the new workbook does not", problem.Cause(err)).
				Hinted("it must not be used alone to bring a lost ledger back")})
		}
		if binding.NextRun == "" && b != nil && b.Run == run.ID {
			binding.NextRun, binding.NextResults = b.NextRun, b.NextResults
		}
	}
	if binding.NextRun != "" {
		return nil
	}
	next, _, err := p.session.Ledger.RunAfter(ctx, run)
	binding.NextRun, binding.NextResults = next.ID, next.Output
	return err
}

// workbookOf returns a workbook with the results of a draft and what its sheet Summary says of the run besides its counts; without a sheet. s
// is the session that planned the run.
func (p *program) workbookOf(s *load.Session, run ledger.Run, kept *keptRun, draft *spool.Results) reports.Workbook {
	b := reports.Workbook{ClientIDHeader: cell.ContactIDHeader, Contacts: len(s.Mapping.Contacts) > 0, Rows: draft.Rows(), Steps: draft.Steps()}
	if s.Mapping.V1() {
		b.ClientIDHeader = cell.ClientIDHeader
	}
	if p.session.Env.Sandbox {
		b.Notice = sandboxNotice + " " + sandboxLinks
	}
	b.Facts = []reports.Fact{
		{Label: "Mapping", Text: run.Mapping + " (" + run.MappingFile + ")"},
		{Label: "Sheet", Text: run.Input},
		{Label: "Started (UTC)", Text: run.Started.UTC().Format(time.DateTime)},
		{Label: "Ledger", Text: p.session.Place.String()},
		{Label: "Claimsheet", Text: run.Version},
	}
	if kept.Sheets > 1 {
		b.Facts = append(b.Facts, reports.Fact{Label: "Sheets in the run", Text: fmt.Sprintf("%d; requests are those of the whole run", kept.Sheets)})
	}
	for _, name := range s.Binding.Untyped() {
		b.Facts = append(b.Facts, reports.Fact{Label: "Sent as Text, because nobody says the type", Text: name})
	}
	return b
}

// bindingOf binds the workbook of a sheet to its run, as in workbookOf.
func (p *program) bindingOf(s *load.Session, run ledger.Run, kept *keptRun, sheet cell.Sheet) workbook.Results {
	b := workbook.Results{
		Run: run.ID, Environment: run.Environment, EnvironmentName: run.EnvironmentName,
		Mapping: run.Mapping, MappingFile: run.MappingFile, MappingDigest: run.MappingDigest,
		KeySpace: s.Binding.KeySpace(), Sheet: cmp.Or(sheet.Origin, sheet.Name), Sheets: kept.Sheets, Started: run.Started,
		Input: kept.Input, InputDigest: run.InputDigest, Ledger: p.session.Place.String(),
		Contacts: len(s.Mapping.Contacts) > 0,
	}
	if p.session.Place.Server == nil {
		b.Ledger = safefile.Absolute(b.Ledger)
	}
	return b
}

// problemsOf returns the problems of one of the run's sheets, without the file in their places: they are shown in its own workbook.
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

// workbookKept says where an edited workbook is kept; again is the command that uses its corrections.
func workbookKept(path, aside, again string) problem.Problem {
	return problem.At(problem.Where{File: path}, "output-edited", "is not as the last run wrote it; the file that was here is kept as %s", aside).
		Hinted("its corrections are not in the new workbook; to use them: %s", again)
}

// keptRun is what is kept of a run besides its input: all that claimsheet report needs to show what has become of it. It is JSON, and holds
// nothing personal.
type keptRun struct {
	Mapping     string           // the content of the mapping file
	Service     *mapping.Service // what the mapping was bound to, with the templates that it uses
	Date        string           // of the run, as {run.date}
	Limit       int              // of --limit
	SimilarKeys bool             // of --accept similar-key
	Sheets      int              // how many sheets the run had
	Input       string           // the absolute path of the sheet
}

// runSummary is a run's summary as the ledger keeps it.
type runSummary struct {
	result.Summary
	Kept *keptRun `json:"kept,omitempty"` // nil for a run that is known only from a results workbook
}

// readSummary reads what the ledger has about a run's end; the zero runSummary for a run of which it has nothing.
func readSummary(text []byte) (s runSummary, err error) {
	if len(text) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("the summary of a run in the ledger cannot be read: %w", err)
	}
	return s, nil
}

// placement decides where a workbook goes, and refuses a place that cannot be written to.
func placement(ctx context.Context, l *ledger.Ledger, path string, dryRun bool) (place reports.Placement, err error) {
	_, digest, _, err := l.OutputOf(ctx, safefile.Absolute(path))
	if err == nil {
		place, err = reports.Target(path, dryRun, digest, time.Now())
	}
	if strings.EqualFold(filepath.Ext(path), ".csv") {
		err = problem.At(problem.Where{File: path}, "usage", "results are always a workbook").Hinted("let the name given with -o end in .xlsx")
	}
	if err != nil {
		return place, err
	}
	folder := filepath.Dir(path)
	trial, err := os.MkdirTemp(folder, safefile.Temporary) // a workbook is written beside its place first
	if err != nil {
		return place, problem.At(problem.Where{File: path}, "output-no-access", "the folder %s cannot be written to: %v", folder, errors.Unwrap(err)).
			Hinted("let this user write to it, or choose another folder with -o")
	}
	return place, os.Remove(trial)
}
