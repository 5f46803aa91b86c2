package cli

import (
	"iter"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"claimsheet/importer/cli/load"
	"claimsheet/importer/ledger"
	"claimsheet/importer/safefile"
	"claimsheet/importer/spool"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// sheetRun is what a run does with one of its sheets: the ledger has it as a run
// of its own, with its own results workbook. A client with rows in several sheets
// is still one client.
type sheetRun struct {
	source  *load.Source
	table   int // its index among the run's sheets
	record  ledger.Run
	target  target
	layout  sheetLayout
	preview *reports.Preview // of its workbook
	draft   *spool.Results   // what goes into it
	kept    *keptRun         // from the beginning of the run; nil for a dry run
	marked  string           // the digest of its source, a results workbook, once that is marked as superseded
}

// makeSheetRuns makes a sheetRun for each sheet; the first has the run's own id.
func (r *importRun) makeSheetRuns(previews []*reports.Preview) (sheets []*sheetRun, err error) {
	o, s := r.options, r.session
	if n := len(s.Sources); n > 1 && o.out != "" && !safefile.IsFolder(o.out) {
		return nil, problem.At(problem.Where{File: o.out}, "output-no-folder", "%d sheets make %d workbooks; -o must name a folder that exists", n, n).
			Hinted("make the folder, or leave -o out: each workbook goes beside its sheet")
	}
	var found problem.List
	var paths []string
	takenBy := map[string]string{}
	for i, src := range s.Sources {
		id := r.run
		if i > 0 {
			id = uuid.NewString()
		}
		path, given := o.output(src.Input.Given), src.Input.Given
		if other, taken := takenBy[safefile.Absolute(path)]; taken {
			found = append(found, problem.At(problem.Where{File: path}, "output-twice", "the workbooks of %s and %s would be written to the same file",
				other, given).Hinted("rename one of the sheets, or run them one after the other"))
		}
		takenBy[safefile.Absolute(path)] = given
		paths = append(paths, path)
		sheets = append(sheets, &sheetRun{source: src, table: i, layout: newSheetLayout(src.Sheet()),
			target: target{path: path, dryRun: o.dryRun, ledger: r.ledger.ledger},
			record: ledger.Run{
				ID: id, Environment: r.scope, EnvironmentName: s.Env.Name,
				Mapping: s.Mapping.Name.Text, MappingFile: safefile.Absolute(s.Mapping.File), MappingDigest: s.Mapping.Digest,
				Input: given, InputDigest: src.Input.Digest, KeptInput: src.Input.Path,
				Version: thisVersion(), Started: r.started.UTC(),
			}})
	}
	for i, name := range cell.BookNames(paths) {
		previews[i].File, previews[i].Own = name, s.Sources[i].AddedColumns()
		sheets[i].preview = previews[i]
	}
	return sheets, found.Err()
}

// output returns where the workbook of a sheet goes. -o is a file or, always for
// several sheets, a folder.
func (o runOptions) output(path string) string {
	switch {
	case o.out == "":
		return o.defaultOutput(path)
	case safefile.IsFolder(o.out):
		return filepath.Join(o.out, filepath.Base(o.defaultOutput(path)))
	}
	return o.out
}

func (o runOptions) defaultOutput(path string) string {
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	switch {
	case o.dryRun:
		return stem + ".plan.xlsx"
	case o.isRerun():
		return path
	}
	return stem + ".results.xlsx"
}

// rowsOf returns the rows of one sheet, as the first pass kept them.
func (r *importRun) rowsOf(table int) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for record, err := range r.rows.Records() {
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
