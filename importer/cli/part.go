package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/importer/sheet"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// part is one sheet's share of a run: what the ledger calls a run of its own,
// with its own results workbook. A client whose rows stand in several sheets is
// one client all the same.
type part struct {
	source *source
	table  int // its place among the run's sheets
	record ledger.Run
	target target
	rows   int // as the first pass counted them
	hidden hiddenRows
	layout *layout
	ruler  reports.Ruler
	marked string // the digest of its source, a results workbook, once that is marked; "" before
}

// parts are the run's sheets. The first has the run's own id.
func (o runOptions) parts(s *setup, known *ledger.Ledger, id string, started time.Time) ([]*part, error) {
	if n := len(s.sources); n > 1 && o.out != "" && !isFolder(o.out) {
		return nil, problem.At(problem.Where{File: o.out}, "output-no-folder", "%d sheets make %d workbooks; -o must name a folder that exists", n, n).
			Hinted("make the folder, or leave -o out: each workbook goes beside its sheet")
	}
	var parts []*part
	var found problem.List
	takenBy := map[string]string{}
	for i, src := range s.sources {
		if i > 0 {
			id = uuid.NewString()
		}
		path := o.output(src.input.given)
		if other, taken := takenBy[absolute(path)]; taken {
			found = append(found, problem.At(problem.Where{File: path}, "output-twice", "the workbooks of %s and %s would be written to the same file",
				other, src.input.given).Hinted("rename one of the sheets, or run them one after the other"))
		}
		takenBy[absolute(path)] = src.input.given
		parts = append(parts, &part{source: src, table: i, layout: newLayout(s, i),
			record: o.runRecord(s, src, id, started),
			target: target{path: path, format: o.format, dryRun: o.dryRun, ledger: known}})
	}
	nameWorkbooks(parts)
	return parts, found.Err()
}

// nameWorkbooks sets what places call the results workbooks.
func nameWorkbooks(parts []*part) {
	paths := make([]string, len(parts))
	for i, part := range parts {
		paths[i] = part.target.path
	}
	for i, name := range bookNames(paths) {
		if places := parts[i].source.places; places != nil {
			places.File = name
		}
	}
}

// output is where a sheet's workbook goes. -o is a file, or for several sheets,
// and whenever it is one, a folder.
func (o runOptions) output(path string) string {
	switch {
	case o.out == "":
		return o.defaultOutput(path)
	case isFolder(o.out):
		return filepath.Join(o.out, filepath.Base(o.defaultOutput(path)))
	}
	return o.out
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (o runOptions) defaultOutput(path string) string {
	stem := strings.TrimSuffix(path, sheet.Ext(path))
	switch {
	case o.dryRun:
		return stem + ".plan.xlsx"
	case o.format == formatCSV:
		return strings.TrimSuffix(stem, ".results") + ".results.csv"
	case o.origins != nil:
		return path
	}
	return stem + ".results.xlsx"
}

func (o runOptions) runRecord(s *setup, src *source, id string, started time.Time) ledger.Run {
	return ledger.Run{
		ID: id, Environment: s.scope, EnvironmentName: s.env.Name,
		Mapping: s.mapping.Name.Text, MappingFile: absolute(s.mapping.File), MappingDigest: s.mapping.Digest,
		Input: src.input.given, InputDigest: src.input.digest, KeptInput: src.input.path,
		Version: Version, Started: started.UTC(),
	}
}

// sheet is what is known of the part's sheet besides its records.
func (p *part) sheet() mapping.Sheet { return p.source.sheet(p.table) }

// see counts a row.
func (p *part) see(record mapping.Record) {
	p.rows++
	p.ruler.Measure(record)
	if places := p.source.places; places != nil {
		places.Note(record)
	}
	p.layout.see(record)
	if record.Hidden {
		p.hidden.note(record.Row)
	}
}

// own are the columns that an earlier results workbook added, of a rerun.
func (p *part) own() []int {
	if p.source.results == nil {
		return nil
	}
	return p.source.results.ownColumns()
}

// checkWidths refuses sheets that leave no room for the columns that Claimsheet
// adds, before anything is sent.
func checkWidths(parts []*part) error {
	var found problem.List
	for _, part := range parts {
		if part.target.format == formatCSV {
			continue // a text file is as wide as it likes
		}
		if err := addProblems(&found, part.ruler.Fits(part.sheet(), part.own())); err != nil {
			return err
		}
	}
	return found.Err()
}

// checkTargets refuses places that cannot be written to, before anything is
// sent.
func checkTargets(ctx context.Context, parts []*part, now time.Time) error {
	var found problem.List
	for _, part := range parts {
		if err := addProblems(&found, part.target.check(ctx, now)); err != nil {
			return err
		}
	}
	return found.Err()
}

// survey makes the first pass over all the sheets. It refuses one with too few
// rows or a title for its header, and typed cells whose attribute nobody gave a
// type.
func (p *program) survey(ctx context.Context, o runOptions, s *setup, parts []*part) (*importer.Survey, error) {
	survey, err := importer.Take(ctx, s.binding, s.rows, !o.dryRun)
	if err != nil {
		return nil, err
	}
	found, untyped := s.binding.CheckTypes(survey.Typed)
	sayWarnings(p.Err, untyped)
	for _, part := range parts {
		wrong, warnings := part.layout.verdict()
		found = append(found, wrong...)
		sayWarnings(p.Err, warnings)
		if !s.mapping.Sheet.SkipHidden {
			sayProblems(p.Err, part.hidden.taken(part.sheet()))
		}
		if part.rows < o.minRows {
			return nil, tooFewRows(part, o.minRows)
		}
	}
	return survey, found.Err()
}

func runsOf(parts []*part) []string {
	ids := make([]string, len(parts))
	for i, part := range parts {
		ids[i] = part.record.ID
	}
	return ids
}

// notices are what is to be known of a run before it starts.
func (o runOptions) notices(s *setup) (problem.List, error) {
	var notices problem.List
	for _, from := range o.origins {
		if p, ok := from.together(len(o.origins)); ok {
			notices = append(notices, p)
		}
	}
	for _, src := range s.sources {
		if !src.reader.Encrypted() {
			continue
		}
		p, err := unencrypted(src.input.given, o.output(src.input.given))
		if err != nil {
			return nil, err
		}
		notices = append(notices, p)
	}
	return notices, nil
}
