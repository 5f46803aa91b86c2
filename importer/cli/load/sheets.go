package load

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claimsheet/importer/cli/statefolder"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/safefile"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Source is one of the sheets that a run reads.
type Source struct {
	Input    *Input
	Workbook *workbook.Binding // when the sheet is a results workbook, else nil
	Results  *workbook.Sheet   // the reader of that workbook

	table  int // index in Session.Sources
	copied func(column, row int) problem.Copy
	book   string // what places call the file; "" when there is only one
	reader table
}

// table reads the rows of a sheet.
type table interface {
	Sheet() cell.Sheet
	// Records returns the rows below the header. The cells of a record are valid
	// until the next record.
	Records() iter.Seq2[cell.Record, error]
	// Merged returns the merged cells that leave others empty.
	Merged() iter.Seq[cell.Area]
	// Encrypted reports whether the sheet's file is encrypted.
	Encrypted() bool
}

// Book returns what places call the sheet's file, "" when the session has one
// sheet only.
func (src *Source) Book() string { return src.book }

// Encrypted reports whether the sheet's file is encrypted.
func (src *Source) Encrypted() bool { return src.reader.Encrypted() }

// Sheet describes the sheet: its header, its file and its place among the
// session's sheets.
func (src *Source) Sheet() cell.Sheet {
	s := src.reader.Sheet()
	s.File, s.Book, s.Table, s.Copied = src.Input.Given, src.book, src.table, src.copied
	return s
}

// Records returns the rows of the sheet. Each range over it is a new pass; the
// cells of a record are valid until the next record.
func (src *Source) Records() iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for record, err := range src.Input.records(src.reader) {
			record.Table = src.table
			if !yield(record, err) {
				return
			}
		}
	}
}

// AddedColumns returns the columns that an earlier results workbook added.
func (src *Source) AddedColumns() []int {
	if src.Results == nil {
		return nil
	}
	return src.Results.AddedColumns()
}

// Records returns the rows of all sheets, one sheet after the other.
func (s *Session) Records() iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for _, src := range s.Sources {
			fill := mapping.FillDown(s.Mapping.FillDown(), src.Sheet())
			for record, err := range src.Records() {
				if err == nil {
					record = fill(record)
				}
				if !yield(record, err) || err != nil {
					return
				}
			}
		}
	}
}

// KeepInputs leaves the copies of the sheets in the state folder.
func (s *Session) KeepInputs() {
	for _, src := range s.Sources {
		src.Input.Keep()
	}
}

// CheckInputs fails when a copy of a sheet is no longer there. The caller holds the
// ledger's lock: after this nobody removes a copy. Before, a command that removes
// copies may have taken one for that of an earlier run.
func (s *Session) CheckInputs() error {
	for _, src := range s.Sources {
		digest, err := safefile.Digest(src.Input.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return safefile.Unreadable(src.Input.Path, err)
		}
		if digest != src.Input.Digest {
			return problem.At(problem.Where{File: src.Input.Given}, "input-removed",
				"the run's copy of the sheet in the state folder was removed by another command, such as history --purge, while the run was starting").
				Hinted("nothing was sent; run again")
		}
	}
	return nil
}

// openSheets opens every sheet, and collects the problems of all of them.
func (s *Session) openSheets(o Options) error {
	folder := ""
	if o.KeepInputs && s.State != "" {
		folder = statefolder.Inputs(s.State)
	}
	var found problem.List
	books := cell.BookNames(o.Sheets)
	for i, path := range o.Sheets {
		src := &Source{book: books[i]}
		if o.Workbooks != nil {
			src.Workbook = o.Workbooks[i]
		}
		err := s.openSheet(src, path, folder, o.Password)
		if err == nil {
			if o.Copied != nil {
				src.copied = o.Copied[i]
			}
			src.table = len(s.Sources)
			s.Sources = append(s.Sources, src)
		}
		if err := found.Collect(err); err != nil {
			return err
		}
	}
	for _, src := range s.Sources {
		s.Warnings = append(s.Warnings, mergedCells(src.reader.Merged(), src.Sheet(), s.Mapping.FillDown())...)
	}
	return found.Err()
}

func (s *Session) openSheet(src *Source, path, folder, password string) error {
	in, err := copyInput(path, folder)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() { in.remove() })
	in.Password, src.Input = password, in
	if src.Workbook != nil {
		if src.Results, err = workbook.Open(in.Open, src.Workbook); err != nil {
			return err
		}
		s.closers = append(s.closers, func() { _ = src.Results.Close() })
		src.reader = src.Results
		return nil
	}
	if err := workbook.RefuseAsSheet(path, in.Path); err != nil {
		return err
	}
	r, err := in.Open(SheetOptions(s.Mapping))
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() { _ = r.Close() })
	src.reader = r
	return nil
}

// mostAreas limits how many merged cells a warning names.
const mostAreas = 5

// mergedCells warns about merged cells: only the first cell of each has the value,
// and the others, which look filled, are empty.
func mergedCells(merged iter.Seq[cell.Area], s cell.Sheet, filled []string) problem.List {
	var names []string
	count, first := 0, ""
	var fills []int
	for _, name := range filled {
		fills = append(fills, mapping.FindColumn(s, name))
	}
	for area := range merged {
		if area.Left == area.Right && slices.Contains(fills, area.Left) {
			continue
		}
		if count++; count == 1 {
			first = area.First()
		}
		if count <= mostAreas {
			names = append(names, area.String())
		}
	}
	if count == 0 {
		return nil
	}
	where, belongs := strings.Join(names, ", "), "the value of each belongs to its first cell alone"
	switch {
	case count == 1:
		belongs = "the value belongs to " + first + " alone"
	case count > mostAreas:
		where += fmt.Sprintf(" and %d more", count-mostAreas)
	}
	return problem.List{problem.At(problem.Where{File: s.Book, Table: s.Table, Sheet: s.Name}, "merged-cells",
		"cells are merged: %s; %s, and the others count as empty", where, belongs).
		Hinted("unmerge them, and fill in every cell that the value is meant for; sheet: {fill_down: [COLUMN]} lets empty cells of a column take the one above")}
}

// Sheets replaces patterns by the files that match. A shell usually does so; a
// scheduled task on Windows has none. A pattern does not match the workbooks that
// Claimsheet wrote beside the sheets.
func Sheets(given []string) ([]string, error) {
	return expand(given, func(path string) bool { return !workbook.IsOwnOutput(path) })
}

// Workbooks is Sheets for a rerun, whose sheets are such workbooks.
func Workbooks(given []string) ([]string, error) {
	return expand(given, func(string) bool { return true })
}

// expand replaces patterns by the wanted files that match.
func expand(given []string, wanted func(string) bool) ([]string, error) {
	var paths []string
	seen := map[string]bool{}
	for _, arg := range given {
		matches, err := matching(arg, wanted)
		if err != nil {
			return nil, err
		}
		for _, path := range matches {
			if name := safefile.Absolute(path); seen[name] {
				return nil, problem.At(problem.Where{File: path}, "usage", "the sheet is given twice").Hinted("name every sheet once")
			} else {
				seen[name] = true
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

func matching(arg string, wanted func(string) bool) ([]string, error) {
	if _, err := os.Lstat(arg); err == nil || !strings.ContainsAny(arg, "*?[") {
		return []string{arg}, nil
	}
	all, err := filepath.Glob(arg) // sorted
	if err != nil {
		return nil, problem.At(problem.Where{File: arg}, "usage", "this is not a pattern: %v", err)
	}
	var sheets []string
	for _, path := range all {
		if wanted(path) {
			sheets = append(sheets, path)
		}
	}
	if len(sheets) == 0 {
		return nil, problem.At(problem.Where{File: arg}, "no-file", "no sheet matches this pattern").
			Hinted("check whether the export was made")
	}
	return sheets, nil
}
