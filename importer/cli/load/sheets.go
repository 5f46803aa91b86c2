package load

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claimsheet/importer"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/safefile"
	"claimsheet/importer/sheet"
	"claimsheet/importer/spool"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Input is one of the sheets that a run reads: a copy, because an export that is being written or replaced must not change under the run.
type Input struct {
	*workbook.Table
	Path     string            // of the copy
	Given    string            // the path that the user gave
	Digest   string            // SHA-256 in hex
	Password string            // opens it when it is encrypted, which the copy stays
	Workbook *workbook.Results // when the sheet is a results workbook; else nil
	Book     string            // what places call the file; "" when there is only one

	table  int // index in Session.Inputs
	copied func(column, row int) problem.Copy
	remove func() // removes the copy, unless it is kept
}

// Open opens the copy. Problems name the file that the user gave.
func (src *Input) Open(o sheet.Options) (*sheet.Reader, error) {
	o.As, o.Password = src.Given, src.Password
	return sheet.Open(src.Path, o)
}

// copyTo copies the sheet into folder (0700), as a file (0600) of its own. With an empty folder the copy is temporary.
func (src *Input) copyTo(folder string) error {
	given, err := safefile.Open(src.Given)
	if err != nil {
		return err
	}
	defer given.Close()
	if folder == "" {
		safefile.RemoveLeftovers(os.TempDir())
		folder, err = os.MkdirTemp("", safefile.Temporary) // 0700
	} else {
		err = os.MkdirAll(folder, 0o700)
	}
	if info, failed := os.Lstat(folder); failed == nil && !info.IsDir() {
		return problem.At(problem.Where{File: folder}, "state-folder", "this is not a folder; a link could lead the copies elsewhere").
			Hinted("move it away")
	}
	src.remove = func() {
		_ = os.Remove(src.Path)
		_ = os.Remove(folder) // stays unless it is empty
	}
	if err == nil {
		err = src.copy(given, folder)
	}
	if err != nil {
		src.remove()
		return problem.At(problem.Where{File: folder}, "state-folder", "the sheet cannot be copied there: %v", problem.Cause(err)).
			Hinted("let this user write there, and see that the disk has room; or name another state folder with --state")
	}
	return nil
}

// copy makes the copy, durable because it may be kept, and computes its digest.
func (src *Input) copy(given io.Reader, folder string) error {
	dst, err := os.CreateTemp(folder, "*"+strings.ToLower(filepath.Ext(src.Given))) // 0600
	if err != nil {
		return err
	}
	src.Path = dst.Name()
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(dst, h), given)
	src.Digest = hex.EncodeToString(h.Sum(nil))
	return errors.Join(err, dst.Sync(), dst.Close())
}

// Sheet describes the sheet: its header, its file and its place among the session's sheets.
func (src *Input) Sheet() cell.Sheet {
	s := src.Table.Sheet()
	s.File, s.Book, s.Table, s.Copied = src.Given, src.Book, src.table, src.copied
	return s
}

// Survey is the one pass over the rows of all sheets: see takes each row, spool.Rows keeps them in a private file in folder until the session
// is closed, to be read again, and importer.Survey groups them by client. With convert every cell is converted too.
func (s *Session) Survey(ctx context.Context, folder string, convert bool, see func(cell.Record)) (*spool.Rows, *importer.Survey, error) {
	rows, err := spool.NewRows(folder, func(yield func(cell.Record, error) bool) {
		for _, src := range s.Inputs {
			for record, err := range src.Records() {
				if record.Table = src.table; err == nil {
					see(record)
				}
				if !yield(record, err) || err != nil {
					return
				}
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	s.closers = append(s.closers, func() { _ = rows.Close() })
	survey, err := importer.NewSurvey(ctx, s.Binding, rows, convert)
	return rows, survey, err
}

// KeepInputs leaves the copies of the sheets in the state folder, so that workbooks can be made from them again.
func (s *Session) KeepInputs() {
	for _, src := range s.Inputs {
		src.remove = func() {}
	}
}

// openSheets opens every sheet, and collects the problems of all of them.
func (s *Session) openSheets(o Options) error {
	folder := ""
	if o.KeepInputs && s.State != "" {
		folder = InputsFolder(s.State)
	}
	var found problem.List
	books := cell.BookNames(o.Sheets)
	for i, path := range o.Sheets {
		src := &Input{Given: path, Password: o.Password, Workbook: o.Workbook, Book: books[i], table: len(s.Inputs)}
		if o.Copied != nil {
			src.copied = o.Copied[i]
		}
		err := s.openSheet(src, folder)
		if err == nil {
			s.Inputs = append(s.Inputs, src)
		}
		if err := found.Collect(err); err != nil {
			return err
		}
	}
	for _, src := range s.Inputs {
		s.Warnings = append(s.Warnings, src.mergedCells(s.Mapping.FillDown())...)
		s.Warnings = append(s.Warnings, src.otherSheets()...)
	}
	return found.Err()
}

func (s *Session) openSheet(src *Input, folder string) (err error) {
	if err := src.copyTo(folder); err != nil {
		return err
	}
	s.closers = append(s.closers, func() { src.remove() })
	if src.Workbook == nil {
		if err := workbook.RefuseAsSheet(src.Given, src.Path); err != nil {
			return err
		}
	}
	if src.Table, err = workbook.Open(src.Open, s.Mapping, src.Workbook); err == nil {
		s.closers = append(s.closers, func() { _ = src.Close() })
	}
	return err
}

// Reopen opens the copy of a sheet that a run has kept, of which src has Path, Given and Password, and binds the run's mapping to it as it
// was bound then. copied is that of cell.Sheet. The session must be closed, also after an error.
func Reopen(m *mapping.Mapping, src *Input, copied func(column, row int) problem.Copy, service *mapping.Service, date string) (*Session, error) {
	s := &Session{Mapping: m, Service: service, RunDate: date}
	src.copied = copied
	var err error
	if src.Workbook, err = workbook.Find(src.Path); err != nil {
		return s, err
	}
	if src.Table, err = workbook.Open(src.Open, m, src.Workbook); err != nil {
		return s, err
	}
	s.Inputs, s.closers = []*Input{src}, []func(){func() { _ = src.Close() }}
	var found problem.List
	s.Binding, found = mapping.BindAll(m, []cell.Sheet{src.Sheet()}, service, date)
	return s, found.Err()
}

// otherSheets names the visible sheets of a workbook that have rows which are not read.
func (src *Input) otherSheets() problem.List {
	if src.Workbook != nil { // its other sheets are ours
		return nil
	}
	hasRows := func(name string) bool { // one that cannot be read has none: it is not used
		other, err := src.Open(sheet.Options{Name: name})
		if err != nil {
			return false
		}
		defer other.Close()
		for _, err := range other.Records() {
			return err == nil
		}
		return false
	}
	var names []string
	for _, name := range src.SheetNames {
		if name != src.Sheet().Name && hasRows(name) {
			names = append(names, "“"+name+"”")
		}
	}
	if len(names) == 0 {
		return nil
	}
	return problem.List{problem.At(problem.Where{File: src.Given, Table: src.table}, "other-sheets",
		"only the sheet “%s” is read; these have rows too: %s", src.Sheet().Name, strings.Join(names, ", ")).
		Hinted("sheet: {name: …} in the mapping names another one; rows of several sheets go into one, or into a file each")}
}

// mergedCells warns about merged cells that fill_down does not fill: all but the first of each look filled, and are empty.
func (src *Input) mergedCells(filled []string) problem.List {
	s := src.Sheet()
	var fills []int
	for _, name := range filled {
		fills = append(fills, mapping.FindColumn(s, name))
	}
	areas := slices.DeleteFunc(slices.Clone(src.Merged), func(a cell.Area) bool { return a.Left == a.Right && slices.Contains(fills, a.Left) })
	if len(areas) == 0 {
		return nil
	}
	where := areas[0].String()
	if more := len(areas) - 1; more > 0 {
		where += fmt.Sprintf(" and %d more", more)
	}
	return problem.List{problem.At(problem.Where{File: s.Book, Table: s.Table, Sheet: s.Name}, "merged-cells",
		"cells are merged: %s; the value of each belongs to its first cell alone, and the others count as empty", where).
		Hinted("unmerge them, and fill in every cell that the value is meant for; sheet: {fill_down: [COLUMN]} lets empty cells of a column take the one above")}
}

// Sheets replaces patterns by the files that match, as a shell usually does; not by workbooks that Claimsheet wrote beside the sheets.
func Sheets(given []string) (paths []string, err error) {
	seen := map[string]bool{}
	for _, arg := range given {
		matches := []string{arg}
		if _, err := os.Lstat(arg); err != nil && strings.ContainsAny(arg, "*?[") {
			all, err := filepath.Glob(arg) // sorted
			if err != nil {
				return nil, problem.At(problem.Where{File: arg}, "usage", "this is not a pattern: %v", err)
			}
			matches = slices.DeleteFunc(all, workbook.IsOwnOutput)
		}
		if len(matches) == 0 {
			return nil, problem.At(problem.Where{File: arg}, "no-file", "no sheet matches this pattern").
				Hinted("check whether the export was made")
		}
		for _, path := range matches {
			name := safefile.Absolute(path)
			if seen[name] {
				return nil, problem.At(problem.Where{File: path}, "usage", "the sheet is given twice").Hinted("name every sheet once")
			}
			seen[name] = true
			paths = append(paths, path)
		}
	}
	return paths, nil
}
