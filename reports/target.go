package reports

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claimsheet/importer/safefile"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/problem"
	"claimsheet/reports/xlsx"
)

// Placement is where a file is written and what happens to a file that is there; or where Write has put it, and what has happened.
type Placement struct {
	// Path is where to write. Write returns NAME.2.xlsx and so on beside it when the older file could not be replaced
	// because a program has it open.
	Path string
	// Aside is where the file at Path is kept because it was edited; "" when there is nothing to keep, or when it is still at the path.
	Aside string
	// Digest is the SHA-256 of the written file, in hex.
	Digest string
}

// DroppedProperty is in the binding that IsOurs returns of a workbook whose document
// properties were dropped by the program that saved it. What Mark has added is gone too.
const DroppedProperty = "claimsheet.dropped"

// IsOurs reports whether path is a workbook that Claimsheet wrote, whether or not it was edited since, and returns its binding (with
// KindProperty). Only the properties are read, so it is fast for any size, unless they were dropped. A file that is not a workbook is not
// ours; an error means that the file could not be read.
func IsOurs(path string) (binding map[string]string, ok bool, err error) {
	binding, err = sheet.Properties(path)
	if err != nil || binding == nil || binding[KindProperty] != "" {
		return binding, binding[KindProperty] != "", err
	}
	if repeated := repeatedProperties(path); repeated[KindProperty] != "" {
		repeated[DroppedProperty] = "yes"
		return repeated, true, nil
	}
	return binding, false, nil
}

// repeatedProperties returns what the hidden sheet of the workbook at path says; nil without one.
func repeatedProperties(path string) map[string]string {
	r, err := sheet.Open(path, sheet.Options{Name: xlsx.PropertiesSheet})
	if err != nil {
		return nil
	}
	defer r.Close()
	properties := map[string]string{}
	if first := r.Sheet().Header; len(first) == 2 {
		properties[first[0]] = first[1]
	}
	for record, err := range r.Records() {
		if err != nil {
			return nil
		}
		properties[record.Cell(0).Shown] = record.Cell(1).Shown
	}
	return properties
}

// Target decides whether a workbook may be written to path. It changes nothing, so a
// run can call it before it starts and again before it writes.
//
//   - Nothing is there, or a workbook of ours as we left it (its SHA-256 in hex is
//     lastDigest), or an earlier plan: it may be written.
//   - A results workbook of ours that was edited since, or whose digest is
//     unknown (lastDigest is ""): it is kept as NAME-<now>.xlsx.
//   - Anything else, and results where a dry run would write its plan: a
//     problem.Problem.
//
// Any other error means that the file there could not be read.
func Target(path string, dryRun bool, lastDigest string, now time.Time) (Placement, error) {
	place, folder := Placement{Path: path}, filepath.Dir(path)
	refuse := func(code, text string) (Placement, error) {
		return Placement{}, problem.At(problem.Where{File: path}, code, "%s", text).Hinted("choose another name with -o")
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return Placement{}, problem.At(problem.Where{File: path}, "output-no-folder",
			"the folder %s does not exist; expected an existing folder", folder).
			Hinted("make the folder, or choose another name with -o")
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return place, nil
	case err != nil:
		return Placement{}, fmt.Errorf("checking the place of the results: %w", err)
	case !info.Mode().IsRegular():
		return refuse("output-not-a-file", "is not a regular file; expected a free name or a workbook that Claimsheet wrote")
	}
	binding, ours, err := IsOurs(path)
	switch {
	case err != nil:
		return Placement{}, fmt.Errorf("reading the workbook that would be replaced: %w", err)
	case !ours:
		return refuse("output-exists", "exists and was not written by Claimsheet; expected a free name or a workbook that Claimsheet wrote")
	case binding[KindProperty] == Plan:
		return place, nil
	case dryRun:
		return refuse("output-is-results",
			"holds the results of a run, which a dry run's plan never replaces; expected a free name or an earlier plan")
	}
	digest, err := safefile.Digest(path)
	if err != nil {
		return Placement{}, fmt.Errorf("reading the workbook that would be replaced: %w", err)
	}
	if digest != lastDigest {
		ext := filepath.Ext(path)
		if place.Aside, err = freeName(strings.TrimSuffix(path, ext) + "-" + now.Format("20060102T150405") + ext); err != nil {
			return Placement{}, fmt.Errorf("finding a name for the edited workbook: %w", err)
		}
	}
	return place, nil
}

// write makes a workbook of the sheets that fill writes, and moves it to its place.
func (p Placement) write(fill func(file io.Writer) (*xlsx.Writer, error)) (w Placement, err error) {
	err = writeBeside(p.Path, func(to io.Writer) error {
		book, err := fill(to)
		if err == nil {
			err = book.Close()
		}
		return err
	}, func(finished, digest string) (err error) {
		w, err = p.put(finished)
		w.Digest = digest
		return err
	})
	if err != nil {
		return Placement{}, fmt.Errorf("writing the workbook %s: %w", p.Path, err)
	}
	return w, nil
}

// writeBeside calls write with a file beside path that only its owner can read, and put, which moves it, with the path of the finished file
// and its SHA-256 in hex. The file and its name are durable then. Nothing else is left behind.
func writeBeside(path string, write func(to io.Writer) error, put func(finished, digest string) error) error {
	safefile.RemoveLeftovers(filepath.Dir(path))
	file, err := os.CreateTemp(filepath.Dir(path), safefile.Temporary) // 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // unless it was moved
	sum := sha256.New()
	if err = write(io.MultiWriter(file, sum)); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := put(file.Name(), hex.EncodeToString(sum.Sum(nil))); err != nil {
		return err
	}
	return safefile.SyncFolder(filepath.Dir(path))
}

// put moves a finished file to its place and returns where it is now. An edited workbook gets its second name before it is replaced, so
// that there is a workbook at Path at every moment, and a run that is killed here can be repeated; on a file system without links it is
// renamed. Where Path cannot be replaced, such as a workbook that is open in Excel on Windows, it stays as it is and the file goes to the
// next free name of NAME.2.xlsx, NAME.3.xlsx …: a finished workbook is never thrown away.
func (p Placement) put(finished string) (Placement, error) {
	var err error
	if p.Aside != "" {
		if err = os.Link(p.Path, p.Aside); err != nil && !errors.Is(err, fs.ErrExist) { // such as on a file system without links
			err = os.Rename(p.Path, p.Aside)
		}
	}
	if err == nil {
		if err = os.Rename(finished, p.Path); err == nil {
			return p, nil
		}
		if p.Aside != "" {
			_ = os.Rename(p.Aside, p.Path) // which does nothing to two names of one file
			if _, gone := os.Lstat(p.Path); gone == nil {
				_ = os.Remove(p.Aside)
			}
		}
	}
	if other, nameErr := freeName(p.Path); nameErr == nil && os.Rename(finished, other) == nil {
		return Placement{Path: other}, nil
	}
	return Placement{}, err
}

// freeName returns path if nothing is there, else the next free name of NAME.2.xlsx, NAME.3.xlsx …
func freeName(path string) (string, error) {
	ext := filepath.Ext(path)
	name := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
		name = fmt.Sprintf("%s.%d%s", strings.TrimSuffix(path, ext), n, ext)
	}
}

// Mark sets document properties of a workbook that IsOurs; "" removes one. Its custom properties become texts, and everything else in it
// stays the same, byte by byte. The file is replaced completely or not at all. Before that, Mark calls replacing with the new SHA-256 in
// hex; if that returns an error, the file stays as it was.
func Mark(path string, properties map[string]string, replacing func(digest string) error) error {
	all, err := sheet.Properties(path)
	if err != nil || all[KindProperty] == "" {
		return cmp.Or(err, errors.New("the workbook has no document properties of Claimsheet's"))
	}
	maps.Copy(all, properties)
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	from, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return writeBeside(path, func(to io.Writer) error {
		return xlsx.CopyWithProperties(to, &from.Reader, all)
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
