package cli

import (
	"path/filepath"

	"claimsheet/importer"
)

// setAside opens the private files of a run: the sheet's rows, which are gone
// through several times, and a dry run's results. They hold personal data, so
// they stand where that is at home, never in the system's folder for temporary
// files: in the state folder, and for a dry run, which leaves that as it is,
// beside the workbook to come.
func (b *books) setAside(s *setup, output string) (err error) {
	folder := s.state
	if b.dryRun {
		folder = filepath.Dir(output)
		if b.draft, err = importer.NewDraft(folder); err != nil {
			return err
		}
		b.closers = append(b.closers, func() { _ = b.draft.Close() })
	}
	if s.rows, err = importer.Keep(folder, s.reader.Records()); err != nil {
		return err
	}
	b.closers = append(b.closers, func() { _ = s.rows.Close() })
	return nil
}
