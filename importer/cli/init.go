package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/safefile"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/draft"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const initHelp = `It looks at the headers and the cells, and with -e at the service's templates, and proposes a mapping: each line with its reason,
such as “412 of 420 cells read as dd/mm/yyyy”. What the cells do not decide is a question in a line with DECIDE: answer each of
them before the first run. Of several sheets only the columns that all of them have are used. claimsheet check finds no problem
in the result.

Examples:

    claimsheet init -e uat -o mapping.yaml leads.xlsx`

func (p *program) initCommand() *cli.Command {
	var api, out string
	o := sheet.Options{}
	return newCommand("init", "[-e ENVIRONMENT] [options] SHEET…",
		"propose a first mapping from a sheet's headers and cells and, with -e, the service's templates", initHelp,
		append(p.environmentFlags("the file's default"), // there is no mapping yet
			p.templatesFlag(),
			textFlag(&api, "api", "", "the `VERSION` of the interface: v1 or v2; default: v1 for an environment with a case_id, else v2"),
			textFlag(&o.Name, "sheet", "", "the `NAME` of the sheet; default: the one that looks like leads"),
			numberFlag(&o.HeaderRow, "header-row", "the headers are in row `N`", "found in the first rows"),
			p.passwordFlag(),
			textFlag(&out, "out", "o", "the new mapping's `FILE`; default: stdout"),
			p.traceFlag()),
		func(c *cli.Context) error {
			if !c.Args().Present() {
				return problem.New("no-sheet", "no sheet is given").Hinted("claimsheet init -e ENVIRONMENT leads.xlsx")
			}
			if api != "" && api != string(apiclient.V1) && api != string(apiclient.V2) {
				return problem.New("usage", "--api takes v1 or v2, not “%s”", problem.OneLine(api)).
					Hinted("leave it out to have the one that fits the environment")
			}
			if err := refuseExisting(out, "-o"); err != nil {
				return err
			}
			sheets, err := load.Sheets(c.Args().Slice())
			if err != nil {
				return err
			}
			o.Password = p.password
			f := &sheetFinder{options: o, request: draft.Request{API: cmp.Or(api, "v2")}}
			if c.IsSet("env") || c.IsSet("environments") {
				s, err := p.listTemplates(c.Context, api)
				if err != nil {
					return err
				}
				f.request.API, f.request.Service = string(s.Client.Routes().Version), s.Service
			}
			made, err := f.propose(sheets)
			if err != nil {
				return withInitHints(err)
			}
			return p.writeDraft(made, out, c)
		})
}

// sheetFinder finds out where the leads are in a file and how it is written, as far as the flags do not say it.
type sheetFinder struct {
	options sheet.Options // as the flags give them; a zero value is found out
	request draft.Request
}

// propose reads the sheets and proposes a mapping. Name, header row and writing are found in the first sheet, and are the same in all.
func (f *sheetFinder) propose(paths []string) (*draft.Proposal, error) {
	stem := filepath.Base(paths[0])
	f.request.Name = strings.TrimSuffix(stem, filepath.Ext(stem))
	readers, err := f.open(paths)
	defer func() {
		for _, r := range readers {
			_ = r.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	headers := readers[0].Sheet().Header
	for _, r := range readers[1:] {
		headers = slices.DeleteFunc(slices.Clone(headers), func(h string) bool { return !slices.Contains(r.Sheet().Header, h) })
	}
	seen := draft.NewProfile(headers)
	if seen.IsEmpty() {
		return nil, problem.At(problem.Where{File: paths[0]}, "no-columns", "there is no column that a mapping could name").
			Hinted("each column needs a header of its own in one row, which --header-row names; of several sheets, the same in all")
	}
	var sheets []cell.Sheet
	for i, r := range readers {
		s := r.Sheet()
		if s.Table = i; len(paths) > 1 {
			s.Book = filepath.Base(paths[i])
		}
		sheets = append(sheets, s)
		f.request.Sources = append(f.request.Sources, filepath.Base(paths[i]))
		if err := seen.Read(s, r.Records()); err != nil {
			return nil, err
		}
	}
	made := draft.Propose(f.request, seen)
	var found problem.List
	for _, s := range sheets { // headers that no mapping can use, such as those of Claimsheet's own columns
		found = append(found, made.Problems(s)...)
	}
	return made, found.Err()
}

// open opens the sheets, and collects what is wrong with all of them. It also returns the readers that it opened when there is an error.
func (f *sheetFinder) open(paths []string) (readers []*sheet.Reader, err error) {
	var found problem.List
	for _, path := range paths {
		err := workbook.RefuseAsSheet(path, path)
		var r *sheet.Reader
		switch {
		case err != nil:
		case len(readers) == 0:
			r, err = f.find(path)
		default:
			r, err = sheet.Open(path, f.options)
		}
		if err == nil {
			readers = append(readers, r)
		} else if err = found.Collect(err); err != nil {
			return readers, err
		}
	}
	return readers, found.Err()
}

// initHints are what to do about problems of a sheet by flags: there is no mapping yet that could say it.
var initHints = map[string]string{
	"not-text":          "save the sheet as UTF-8",
	"unknown-delimiter": "export the sheet again, with commas or semicolons between the fields",
	"other-delimiter":   "export the sheet again with one of these",
	"no-header":         "name the row that holds the column names with --header-row",
	"empty-sheet":       "name another sheet with --sheet, or export the sheet again",
	"sheet-not-found":   "name one of the workbook's sheets with --sheet",
}

// withInitHints puts the hint of init in the place of one that speaks of a mapping.
func withInitHints(err error) error {
	var list problem.List
	if err := list.Collect(err); err != nil {
		return err
	}
	for i, p := range list {
		if hint, ok := initHints[p.Code]; ok && (strings.Contains(p.Hint, "mapping") || p.Code == "unknown-delimiter") {
			list[i].Hint = hint
		}
	}
	return list.Err()
}

// find opens the first sheet with what it finds out, and keeps that for the others.
func (f *sheetFinder) find(path string) (*sheet.Reader, error) {
	o, request := f.options, &f.request
	r, err := f.openLikely(path, &o)
	if err != nil {
		return nil, err
	}
	request.SheetName = draft.Setting{Value: o.Name, Why: "as given"}
	if names := r.SheetNames; o.Name == "" && len(names) > 1 {
		r, request.SheetName = f.choose(path, names, r, o)
	}
	switch s := r.Sheet(); {
	case o.HeaderRow > 0:
		request.HeaderRow = draft.Setting{Value: fmt.Sprint(o.HeaderRow), Why: "as given"}
	case s.HeaderRow > 1:
		request.HeaderRow = draft.Setting{Value: fmt.Sprint(s.HeaderRow),
			Why: fmt.Sprintf("the first row that names the columns, %d of them", draft.NamedColumns(s.Header))}
	}
	if o.Encoding != "" {
		request.Encoding = draft.Setting{Value: o.Encoding, Why: "the file is not in UTF-8"}
	}
	o.Name, o.HeaderRow = request.SheetName.Value, r.Sheet().HeaderRow
	if request.Delimiter.Value, request.Delimiter.Why = o.Delimiter, "it makes the most columns"; o.Delimiter == "" || isFound(path, o) {
		request.Delimiter = draft.Setting{}
	}
	f.options = o
	return r, nil
}

// isFound reports whether a run finds the delimiter of a text file in its header, so that the mapping need not name it.
func isFound(path string, o sheet.Options) bool {
	named := o.Delimiter
	o.Delimiter = ""
	r, err := sheet.Open(path, o)
	if err != nil {
		return false
	}
	defer r.Close()
	return r.Delimiter == named
}

// openLikely opens a sheet at its likely header. A text file that is not UTF-8 is read as Windows-1252. One whose header can be split in
// several ways, or has one column because of a title above it, is split at the delimiter that makes the most columns. o then says so.
func (f *sheetFinder) openLikely(path string, o *sheet.Options) (*sheet.Reader, error) {
	r, err := openAtHeader(path, *o)
	if hasCode(err, "not-text") {
		second := *o
		second.Encoding = "windows-1252"
		if again, failed := openAtHeader(path, second); !hasCode(failed, "not-text") {
			r, err, *o = again, failed, second
		}
	}
	switch {
	case hasCode(err, "unknown-delimiter"):
		f.request.Delimiter.Ask = "what separates the fields?"
	case err != nil || r.Delimiter == "" || len(r.Sheet().Header) > 1:
		return r, err
	}
	for _, d := range []string{",", ";", "\t"} {
		one := *o
		one.Delimiter = d
		other, failed := openAtHeader(path, one)
		if failed != nil {
			continue
		}
		if r == nil || len(other.Sheet().Header) > len(r.Sheet().Header) {
			r, other, err, o.Delimiter = other, r, nil, d
		}
		if other != nil {
			_ = other.Close()
		}
	}
	return r, err
}

// choose opens the sheet of a workbook that looks most like leads: the first of those with the most headers that mean something here. It
// closes the others, also first, the reader of the first visible sheet.
func (f *sheetFinder) choose(path string, names []string, first *sheet.Reader, o sheet.Options) (best *sheet.Reader, chosen draft.Setting) {
	best = first
	known, alike := f.request.Knows(first.Sheet().Header), ""
	for _, name := range names[1:] {
		o.Name = name
		r, err := openAtHeader(path, o)
		if err != nil {
			continue // an empty sheet, or one without headers
		}
		if n := f.request.Knows(r.Sheet().Header); n > known {
			best, r, known, alike = r, best, n, ""
		} else if n == known && slices.Equal(r.Sheet().Header, best.Sheet().Header) {
			alike = name
		}
		_ = r.Close()
	}
	s := best.Sheet()
	chosen = draft.Setting{Value: s.Name, Why: fmt.Sprintf("of %d sheets; %d of its %d headers are known words", len(names), known,
		draft.NamedColumns(s.Header))}
	if alike != "" {
		chosen.Ask = fmt.Sprintf("this sheet or “%s”, which has the same headers?", problem.OneLine(alike))
	}
	return best, chosen
}

// openAtHeader opens a sheet. Without a header row in o it takes the row that most
// likely has the headers: the first that is not empty, unless it looks like a title.
func openAtHeader(path string, o sheet.Options) (*sheet.Reader, error) {
	if o.HeaderRow > 0 {
		return sheet.Open(path, o)
	}
	var first error // what is wrong with the first row
	for o.HeaderRow = 1; o.HeaderRow <= draft.SoughtRows; o.HeaderRow++ {
		r, err := sheet.Open(path, o)
		if err != nil {
			if first == nil {
				first = err
			}
			if !movesOn(err) {
				break
			}
			continue
		}
		if first != nil && slices.ContainsFunc(r.Sheet().Header, isNoHeader) { // a row of data with a field too many, and not a header below a title
			return nil, errors.Join(first, r.Close())
		}
		row, err := likelyHeader(r)
		if err == nil && row == o.HeaderRow {
			return r, nil
		}
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		o.HeaderRow = row
		return sheet.Open(path, o)
	}
	return nil, first
}

// isNoHeader reports whether a cell is a number, or has an e-mail address.
func isNoHeader(text string) bool {
	return text != "" && (strings.Contains(text, "@") || !strings.ContainsFunc(text, unicode.IsLetter))
}

// movesOn reports whether another header row may avoid the error: this one has no headers, or is a title above rows with more fields.
func movesOn(err error) bool {
	var list problem.List
	return list.Collect(err) == nil && !slices.ContainsFunc(list, func(p problem.Problem) bool {
		return p.Code != "extra-field" && p.Code != "no-header"
	})
}

func hasCode(err error, code string) bool {
	p, ok := errors.AsType[problem.Problem](err)
	return ok && p.Code == code
}

func likelyHeader(r *sheet.Reader) (int, error) {
	var rows []cell.Record
	for record, err := range r.Records() {
		if err != nil {
			return 0, err
		}
		record.Cells = slices.Clone(record.Cells)
		if rows = append(rows, record); len(rows) == draft.SoughtRows {
			break
		}
	}
	return draft.LikelyHeader(r.Sheet(), rows), nil
}

// writeDraft prints the mapping, or writes it to a new file and shows the line that checks it with the sheets that it was made for.
func (p *program) writeDraft(made *draft.Proposal, out string, c *cli.Context) error {
	if out == "" {
		_, err := p.Out.Write(made.YAML())
		return err
	}
	if err := safefile.Replace(out, made.YAML(), 0o644); err != nil {
		return problem.At(problem.Where{File: out}, "output-no-access", "the file cannot be made: %v", problem.Cause(err)).
			Hinted("choose another place with -o")
	}
	where := p.where
	if where.Environments == "" && filepath.Dir(out) != "." {
		if file, found := environment.Find(where.Mapping, ""); found {
			where.Environments = file // those beside the mapping would be others
		}
	}
	where.Mapping = out
	words := slices.Concat([]string{"check"}, givenFlags(c, "templates", "password"), c.Args().Slice())
	next := reports.CommandLine(commandWords(where, words...))
	fmt.Fprintf(p.Out, "%s: a first mapping; look at the lines marked DECIDE\n", problem.OneLine(out))
	fmt.Fprintf(p.Out, "Next: answer them, and check the mapping with the sheet:\n  %s\n", next)
	return nil
}
