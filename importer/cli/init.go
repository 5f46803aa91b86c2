package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/draft"
	"claimsheet/mapping/problem"
)

const initHelp = `It matches the sheet's columns with the client's fields and, with -e, with the attributes of the service's templates, by their
names. The lines marked DECIDE are guesses: check each of them before the first run. Of several sheets only the columns that all
of them have are used. claimsheet check finds no problem in the result.

Examples:

    claimsheet init -e uat -o mapping.yaml leads.xlsx`

func (p *program) initCommand() *cli.Command {
	flags := placeFlags()[1:] // there is no mapping yet
	return &cli.Command{
		Name:        "init",
		Usage:       "write a first mapping from a sheet's headers and, with -e, the service's templates",
		UsageText:   "claimsheet init [-e ENVIRONMENT] [options] SHEET…",
		Description: initHelp,
		Flags: append(flags,
			apiFlag("v1 for an environment with a case_id, else v2"),
			numberFlag("header-row", "the headers are in row `N`", "found in the first rows"),
			textFlag("out", "o", "the new mapping's `FILE`; default: stdout")),
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return problem.New("no-sheet", "no sheet is given").Hinted("claimsheet init -e ENVIRONMENT leads.xlsx")
			}
			api, err := apiOf(c)
			if err != nil {
				return err
			}
			if err := refuseExisting(c.String("out"), "-o"); err != nil {
				return err
			}
			sheets, err := load.Sheets(c.Args().Slice())
			if err != nil {
				return err
			}
			row := c.Int("header-row")
			if c.IsSet("header-row") && row < 1 {
				return problem.New("usage", "--header-row must be more than 0").Hinted("leave it out to have it found")
			}
			first, read, err := draftOf(sheets, row)
			if err != nil {
				return err
			}
			if first.API = api; api == "" {
				first.API = "v2"
			}
			if c.IsSet("env") || c.IsSet("environments") {
				s, err := p.listTemplates(c.Context, p.where(c), api)
				if err != nil {
					return err
				}
				first.API, first.Service = string(s.version), s.Service
			}
			if err := fits(first, read); err != nil {
				return err
			}
			return p.writeDraft(first, c.String("out"))
		},
	}
}

// draftOf makes a draft from the headers of the sheets, which are in the same row of
// all sheets. headerRow is that row; 0 finds it in the first sheet.
func draftOf(paths []string, headerRow int) (draft.Draft, []cell.Sheet, error) {
	stem := filepath.Base(paths[0])
	d := draft.Draft{Name: strings.TrimSuffix(stem, sheet.Ext(stem)), HeaderRow: headerRow}
	var found problem.List
	var all []cell.Sheet
	for i, path := range paths {
		read, err := headerOf(path, d.HeaderRow)
		if p, ok := errors.AsType[problem.Problem](err); ok {
			found = append(found, p)
			continue
		}
		if err != nil {
			return d, nil, err
		}
		if len(paths) > 1 {
			read.Book = filepath.Base(path)
		}
		all = append(all, read)
		d.Sources = append(d.Sources, filepath.Base(path))
		if i == 0 {
			d.Headers, d.HeaderRow = read.Header, read.HeaderRow
		}
		d.Headers = slices.DeleteFunc(slices.Clone(d.Headers), func(h string) bool { return !slices.Contains(read.Header, h) })
	}
	if err := found.Err(); err != nil {
		return d, nil, err
	}
	if d.HeaderRow == 1 && headerRow == 0 {
		d.HeaderRow = 0 // the default of mappings
	}
	if !d.Usable() {
		return d, nil, problem.At(problem.Where{File: paths[0]}, "no-columns", "there is no column that a mapping could name").
			Hinted("each column needs a header of its own in one row, which --header-row names; of several sheets, the same in all")
	}
	return d, all, nil
}

// fits returns the problems that a check of the mapping would find: headers that no
// mapping can use, such as those of Claimsheet's own columns.
func fits(d draft.Draft, sheets []cell.Sheet) error {
	var found problem.List
	for _, s := range sheets {
		found = append(found, d.Problems(s)...)
	}
	return found.Err()
}

// headerOf reads the headers in a row; 0 finds the row.
func headerOf(path string, row int) (cell.Sheet, error) {
	if err := workbook.RefuseAsSheet(path, path); err != nil {
		return cell.Sheet{}, err
	}
	if row == 0 {
		var err error
		if row, err = findHeader(path); err != nil {
			return cell.Sheet{}, err
		}
	}
	r, err := sheet.Open(path, sheet.Options{HeaderRow: row})
	if err != nil {
		return cell.Sheet{}, err
	}
	return r.Sheet(), r.Close()
}

// findHeader returns the row that most likely has the headers: the first that is not
// empty, unless it looks like a title.
func findHeader(path string) (int, error) {
	var first error // what is wrong with the first row
	for row := 1; row <= draft.SoughtRows; row++ {
		r, err := sheet.Open(path, sheet.Options{HeaderRow: row})
		if err != nil {
			if first == nil {
				first = err
			}
			if !movesOn(err) {
				break
			}
			continue
		}
		found, err := likelyHeader(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return 0, err
		}
		return found, nil
	}
	return 0, first
}

// movesOn reports whether another header row may avoid the error: the row has no
// headers, or is a title in a text file, whose rows have more fields.
func movesOn(err error) bool {
	var p problem.Problem
	var list problem.List
	if errors.As(err, &list) {
		return !slices.ContainsFunc(list, func(p problem.Problem) bool { return p.Code != "extra-field" })
	}
	return errors.As(err, &p) && (p.Code == "no-header" || p.Code == "extra-field")
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

// writeDraft prints the mapping, or writes it to a new file.
func (p *program) writeDraft(d draft.Draft, out string) error {
	if out == "" {
		_, err := p.Out.Write(d.YAML())
		return err
	}
	f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return problem.At(problem.Where{File: out}, "output-no-access", "the file cannot be made: %v", errors.Unwrap(err)).
			Hinted("choose another place with -o")
	}
	_, err = f.Write(d.YAML())
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(out))
	}
	fmt.Fprintf(p.Out, "%s: a first mapping; look at the lines marked DECIDE\n", problem.OneLine(out))
	return nil
}
