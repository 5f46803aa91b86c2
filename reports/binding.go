package reports

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
	scratch, err := os.MkdirTemp(filepath.Dir(path), ".claimsheet-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	temp, err := os.CreateTemp(scratch, "marked-*") // 0600
	if err != nil {
		return err
	}
	digest := sha256.New()
	err = xlsx.CopyWithProperties(io.MultiWriter(temp, digest), &from.Reader, properties)
	if err == nil {
		err = temp.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := replacing(hex.EncodeToString(digest.Sum(nil))); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}
