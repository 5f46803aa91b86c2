package reports

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"

	"claimsheet/importer/result"
	"claimsheet/reports/xlsx"
)

// KindProperty is the document property that marks a workbook as ours; its value is a
// Kind. WriteWorkbook sets it.
const KindProperty = "claimsheet.kind"

// Kind is what a workbook of ours is.
type Kind string

// The kinds.
const (
	Results Kind = "results"
	Plan    Kind = "plan" // of a dry run
)

func kindOf(s result.Summary) Kind {
	if s.DryRun {
		return Plan
	}
	return Results
}

// IsOurs reports whether path is a workbook that Claimsheet wrote, whether or not it
// was edited since, and returns its binding (with KindProperty). Only the properties
// are read, so it is fast for any size. A file that is not a workbook is not ours; an
// error means that the file could not be read.
func IsOurs(path string) (binding map[string]string, ok bool, err error) {
	binding, err = xlsx.ReadProperties(path)
	return binding, binding[KindProperty] != "", err
}

// Mark sets document properties of a workbook that IsOurs; "" removes one. Everything
// else in it stays the same, byte by byte. The file is replaced completely or not at
// all. Before that, Mark calls replacing with the new SHA-256 in hex; if that returns
// an error, the file stays as it was.
func Mark(path string, properties map[string]string, replacing func(digest string) error) error {
	from, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return makeFile(filepath.Dir(path), func(dst io.Writer, _ readBack) error {
		return xlsx.CopyWithProperties(dst, &from.Reader, properties)
	}, func(finished, digest string) error {
		if err := os.Chmod(finished, info.Mode().Perm()); err != nil {
			return err
		}
		if err := replacing(digest); err != nil {
			return err
		}
		return os.Rename(finished, path)
	})
}
