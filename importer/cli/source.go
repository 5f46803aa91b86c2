package cli

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"claimsheet/importer/sheet"
	"claimsheet/importer/spool"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// source is one of the sheets that a run reads: its copy, and the reader of it.
type source struct {
	input   *input
	reader  table
	results *resultSheet // the reader of a rerun's workbook; nil for a sheet
	origin  *origin      // of a rerun's workbook
	book    string       // what places call the file; "" when there is only one
	// places are where the sheet's cells will be in the results workbook; nil when
	// there will be none that can be corrected.
	places *reports.Places
}

// table is the sheet that a source holds.
type table interface {
	Sheet() cell.Sheet
	// Records are the rows below the header. A Record's cells are valid until
	// the next one.
	Records() iter.Seq2[cell.Record, error]
	// Merged are the merged cells that leave others empty.
	Merged() iter.Seq[sheet.Area]
	// Encrypted tells that the sheet's file is.
	Encrypted() bool
}

// sheet is what is known of the source besides its records; i is its place
// among the run's sheets.
func (src *source) sheet(i int) cell.Sheet {
	s := src.reader.Sheet()
	s.File, s.Book, s.Table = src.input.given, src.book, i
	if src.places != nil {
		s.Copied = src.places.At
	}
	return s
}

// rowsOf are the rows of one of the run's sheets, as the first pass kept them.
func (s *setup) rowsOf(table int) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for record, err := range s.rows.Records() {
			switch {
			case err == nil && record.Table < table:
				continue
			case err == nil && record.Table > table:
				return
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// recordsOf are the rows of one of the run's sheets.
func (s *setup) recordsOf(i int) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for record, err := range s.sources[i].input.records(s.sources[i].reader) {
			record.Table = i
			if !yield(record, err) {
				return
			}
		}
	}
}

// records are the rows of all of the run's sheets, one sheet after the other.
func (s *setup) records() iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for i := range s.sources {
			for record, err := range s.recordsOf(i) {
				if !yield(record, err) || err != nil {
					return
				}
			}
		}
	}
}

// passing lets each part see its rows as they pass.
func passing(records iter.Seq2[cell.Record, error], parts []*part) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for record, err := range records {
			if err == nil {
				parts[record.Table].see(record)
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// keepInputs leaves the run's copies in the state folder, to make workbooks
// from again.
func (s *setup) keepInputs() {
	for _, src := range s.sources {
		src.input.keep()
	}
}

// openSheets opens every sheet of the run, and collects what is wrong with any
// of them.
func (s *setup) openSheets(want settings) error {
	folder := ""
	if want.keepIn != nil {
		folder = want.keepIn(s)
	}
	var found problem.List
	books := bookNames(want.sheets)
	for i, path := range want.sheets {
		var from *origin
		if want.origins != nil {
			from = want.origins[i]
		}
		err := s.openSheet(path, folder, want.password, books[i], from)
		if n := len(s.sources); err == nil && want.corrected {
			s.sources[n-1].places = new(reports.Places)
			if results := s.sources[n-1].results; results != nil {
				s.sources[n-1].places.Own = results.ownColumns()
			}
		}
		if err := found.Collect(err); err != nil {
			return err
		}
	}
	for i, src := range s.sources {
		s.warnings = append(s.warnings, mergedCells(src.reader.Merged(), src.sheet(i))...)
	}
	return found.Err()
}

func (s *setup) openSheet(path, folder, password, book string, from *origin) error {
	in, err := keepInput(path, folder)
	if err != nil {
		return err
	}
	in.password = password
	src := &source{input: in, origin: from, book: book}
	s.closers = append(s.closers, func() { in.remove() })
	if from != nil {
		if src.results, err = openResults(in, from); err != nil {
			return err
		}
		s.closers = append(s.closers, func() { _ = src.results.Close() })
		src.reader = src.results
		s.sources = append(s.sources, src)
		return nil
	}
	if err := refuseResults(path, in.path); err != nil {
		return err
	}
	r, err := in.open(s.sheetOptions())
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() { _ = r.Close() })
	src.reader = r
	s.sources = append(s.sources, src)
	return nil
}

// bookNames are what places call the files: nothing when there is one, their
// base names when these differ, else the paths as given.
func bookNames(paths []string) []string {
	names, seen := make([]string, len(paths)), map[string]bool{}
	if len(paths) < 2 {
		return names
	}
	for i, path := range paths {
		names[i] = filepath.Base(path)
		seen[names[i]] = true
	}
	if len(seen) < len(paths) {
		return paths
	}
	return names
}

// expand makes sheets of patterns. The shell does it where there is one; a
// scheduled task on Windows has none, and a pattern in quotes passes over the
// workbooks that Claimsheet wrote beside the sheets.
func expand(given []string) ([]string, error) {
	return expandTo(given, func(path string) bool { return !ourName(path) })
}

// expandAll is expand for a rerun, whose sheets are such workbooks.
func expandAll(given []string) ([]string, error) {
	return expandTo(given, func(string) bool { return true })
}

// expandTo takes the matches that are wanted.
func expandTo(given []string, wanted func(string) bool) ([]string, error) {
	var paths []string
	seen := map[string]bool{}
	for _, arg := range given {
		matches, err := matching(arg, wanted)
		if err != nil {
			return nil, err
		}
		for _, path := range matches {
			if name := absolute(path); seen[name] {
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
			Hinted("look whether the export was made")
	}
	return sheets, nil
}

// ourName tells that Claimsheet wrote a file, or that a spreadsheet program did
// for one that is open in it. A text file says so by its name alone; a workbook
// that is only named like ours is a sheet.
func ourName(path string) bool {
	stem, name := strings.TrimSuffix(path, filepath.Ext(path)), filepath.Base(path)
	if strings.HasPrefix(name, "~$") || strings.HasPrefix(name, ".") {
		return true
	}
	if !strings.HasSuffix(stem, ".results") && !strings.Contains(name, ".results-") && !strings.HasSuffix(stem, ".plan") {
		return false
	}
	_, ours, err := reports.IsOurs(path)
	return ours || err != nil || strings.EqualFold(filepath.Ext(path), ".csv")
}

// mostAreas is how many merged cells are named.
const mostAreas = 5

// mergedCells warns of cells that look filled and are not: what a merged cell
// shows is the value of its first one alone.
func mergedCells(merged iter.Seq[sheet.Area], s cell.Sheet) problem.List {
	var names []string
	count, first := 0, ""
	for area := range merged {
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
		Hinted("unmerge them, and fill in every cell that the value is meant for")}
}

// setAside opens the private files of a run: the sheets' rows, which are gone
// through several times, and a dry run's results. They hold personal data, so
// they stand where that is at home, never in the system's folder for temporary
// files: in the state folder, and for a dry run, which leaves that as it is,
// beside the workbook to come.
func (b *books) setAside(s *setup, parts []*part) (err error) {
	folder := s.state
	if b.dryRun {
		folder = filepath.Dir(parts[0].target.path)
		for range parts {
			draft, err := spool.NewResults(folder)
			if err != nil {
				return err
			}
			b.drafts = append(b.drafts, draft)
			b.closers = append(b.closers, func() { _ = draft.Close() })
		}
	}
	if s.rows, err = spool.NewRows(folder, passing(s.records(), parts)); err != nil {
		return err
	}
	b.closers = append(b.closers, func() { _ = s.rows.Close() })
	return nil
}

// records are the sheet's; what is wrong with it while it is read is said of
// the file that the user named, not of the copy.
func (in *input) records(of table) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for record, err := range of.Records() {
			if p, ok := errors.AsType[problem.Problem](err); ok && p.Where.File == in.path {
				p.Where.File = in.given
				err = p
			}
			if !yield(record, err) {
				return
			}
		}
	}
}
