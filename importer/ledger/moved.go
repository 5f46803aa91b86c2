package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// moved tells that a file that the ledger writes is not where it was any more.
// The system goes on taking what is written to a file without a name, and
// forgets it when the process ends.
type moved struct {
	path string
	was  fs.FileInfo // nil until the file was first seen
}

func (m *moved) check() error {
	is, err := os.Lstat(m.path)
	if m.was == nil && errors.Is(err, fs.ErrNotExist) {
		return nil // SQLite makes the log when it first needs it
	}
	if err != nil {
		return fmt.Errorf("%s is gone: %w", filepath.Base(m.path), bare(err))
	}
	if m.was == nil {
		m.was = is
	}
	if !os.SameFile(m.was, is) {
		return fmt.Errorf("%s was replaced while it was open", filepath.Base(m.path))
	}
	return nil
}
