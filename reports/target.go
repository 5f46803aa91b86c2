package reports

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// Placement is where a file is written and what happens to a file that is there.
type Placement struct {
	// Path is where to write.
	Path string
	// Aside is where a copy of the file at Path is kept because somebody edited it; ""
	// when there is nothing to keep.
	Aside string
	// As is a file with what was at Path before Mark, to keep instead; "" to keep what
	// is at Path.
	As string
}

// Target decides whether a workbook may be written to path. It changes nothing, so a
// run can call it before it starts and again before it writes.
//
//   - Nothing is there, or a workbook of ours as we left it (its SHA-256 in hex is
//     lastDigest), or an earlier plan: it may be written.
//   - A results workbook of ours that somebody edited since, or whose digest is
//     unknown (lastDigest is ""): it is kept as NAME-<now>.xlsx.
//   - Anything else, and results where a dry run would write its plan: a
//     problem.Problem.
//
// Any other error means that the file there could not be read.
func Target(path string, dryRun bool, lastDigest string, now time.Time) (Placement, error) {
	if free, err := examine(path); err != nil {
		return Placement{}, err
	} else if free {
		return Placement{Path: path}, nil
	}
	binding, ours, err := IsOurs(path)
	if err != nil {
		return Placement{}, fmt.Errorf("reading the workbook that would be replaced: %w", err)
	}
	if !ours {
		return Placement{}, problem.At(problem.Where{File: path}, "output-exists", "exists and was not written by Claimsheet; expected a free name or a workbook that Claimsheet wrote").
			Hinted("choose another name with -o")
	}
	if Kind(binding[KindProperty]) == Plan {
		return Placement{Path: path}, nil
	}
	if dryRun {
		return Placement{}, problem.At(problem.Where{File: path}, "output-is-results", "holds the results of a run, which a dry run's plan never replaces; expected a free name or an earlier plan").
			Hinted("choose another name with -o")
	}
	return placeOver(path, lastDigest, now)
}

// examine reports whether nothing is at path. Something that is never replaced is a
// problem.
func examine(path string) (free bool, err error) {
	here := problem.Where{File: path}
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return false, problem.At(here, "output-no-folder", "the folder %s does not exist; expected an existing folder", folder).
			Hinted("make the folder, or choose another name with -o")
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("checking the place of the results: %w", err)
	}
	if !info.Mode().IsRegular() {
		return false, problem.At(here, "output-not-a-file", "is not a regular file; expected a free name or a workbook that Claimsheet wrote").
			Hinted("choose another name with -o")
	}
	return false, nil
}

// placeOver replaces results of ours, and keeps them if they are not as we left them.
func placeOver(path, lastDigest string, now time.Time) (Placement, error) {
	digest, err := safefile.Digest(path)
	if err != nil {
		return Placement{}, fmt.Errorf("reading the workbook that would be replaced: %w", err)
	}
	if digest == lastDigest {
		return Placement{Path: path}, nil
	}
	ext := filepath.Ext(path)
	aside := strings.TrimSuffix(path, ext) + "-" + now.Format("20060102T150405")
	name := aside + ext
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return Placement{Path: path, Aside: name}, nil
		} else if err != nil {
			return Placement{}, fmt.Errorf("finding a name for the edited workbook: %w", err)
		}
		name = fmt.Sprintf("%s.%d%s", aside, n, ext)
	}
}

// readBack is a file that is being written, for reading what was written so far.
type readBack interface {
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// writeAtomically makes a file at its place from what write writes; write may read it
// back before it returns.
func writeAtomically(place Placement, write func(dst io.Writer, file readBack) error) (w Written, err error) {
	err = makeFile(filepath.Dir(place.Path), write, func(finished, digest string) error {
		at, err := place.put(finished)
		w = Written{Path: at.Path, Aside: at.Aside, Digest: digest}
		return err
	})
	if err != nil {
		return Written{}, err
	}
	return w, nil
}

// makeFile makes a durable file from what write writes, in a private folder inside
// folder, and calls put with its path and its SHA-256 in hex, to move it to its place
// in folder. Nothing else is left behind.
func makeFile(folder string, write func(dst io.Writer, file readBack) error, put func(finished, digest string) error) (err error) {
	scratch, err := os.MkdirTemp(folder, ".claimsheet-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	temp, err := os.CreateTemp(scratch, "new-*") // 0600
	if err != nil {
		return err
	}
	digest := sha256.New()
	err = write(io.MultiWriter(temp, digest), temp)
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := put(temp.Name(), hex.EncodeToString(digest.Sum(nil))); err != nil {
		return err
	}
	return safefile.SyncFolder(folder)
}

// put moves a finished file to its place and returns where it is now. An edited
// workbook is copied before it is replaced, so that there is a workbook at Path at
// every moment: a run that is killed here can be repeated. Where Path cannot be
// replaced, such as a workbook that is open in Excel on Windows, it stays as it is and
// the file goes to the next free name of NAME.2.xlsx, NAME.3.xlsx …: a finished
// workbook is never thrown away.
func (p Placement) put(finished string) (now Placement, err error) {
	err = p.keep(filepath.Dir(finished))
	if err == nil {
		if err = os.Rename(finished, p.Path); err == nil {
			return p, nil
		}
		if p.Aside != "" {
			_ = os.Remove(p.Aside) // it is still at Path
		}
	}
	if other, ok := freeName(p.Path); ok && os.Rename(finished, other) == nil {
		return Placement{Path: other}, nil
	}
	return Placement{}, err
}

// keep makes the copy of an edited file, in the folder scratch first: it appears
// complete or not at all.
func (p Placement) keep(scratch string) error {
	if p.Aside == "" {
		return nil
	}
	copied := filepath.Join(scratch, "edited")
	err := copyFile(copied, cmp.Or(p.As, p.Path))
	if err == nil {
		err = os.Rename(copied, p.Aside)
	}
	if err != nil {
		return fmt.Errorf("keeping the edited workbook: %w", err)
	}
	return nil
}

// copyFile makes a durable copy that only its owner can read.
func copyFile(to, from string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(dst, src); err == nil {
		err = dst.Sync()
	}
	return errors.Join(err, dst.Close())
}

// freeName returns the next free name of NAME.2.xlsx, NAME.3.xlsx …
func freeName(path string) (string, bool) {
	ext := filepath.Ext(path)
	for n := 2; n < 1000; n++ {
		other := fmt.Sprintf("%s.%d%s", strings.TrimSuffix(path, ext), n, ext)
		if _, err := os.Lstat(other); os.IsNotExist(err) {
			return other, true
		}
	}
	return "", false
}
