package cli

import (
	"errors"
	"iter"
	"path/filepath"

	"claimsheet/importer"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

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
			draft, err := importer.NewDraft(folder)
			if err != nil {
				return err
			}
			b.drafts = append(b.drafts, draft)
			b.closers = append(b.closers, func() { _ = draft.Close() })
		}
	}
	if s.rows, err = importer.Keep(folder, passing(s.records(), parts)); err != nil {
		return err
	}
	b.closers = append(b.closers, func() { _ = s.rows.Close() })
	return nil
}

// records are the sheet's; what is wrong with it while it is read is said of
// the file that the user named, not of the copy.
func (in *input) records(of table) iter.Seq2[mapping.Record, error] {
	return func(yield func(mapping.Record, error) bool) {
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
