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

	"claimsheet/mapping/problem"
)

// Placement says where a workbook goes and what becomes of a file that is there.
type Placement struct {
	// Path is where to write.
	Path string
	// Aside is where a copy of the file at Path is kept, because somebody edited
	// it; "" when there is nothing to keep.
	Aside string
	// As is a file that holds what was at Path before Mark, to be kept in its
	// stead; "" to keep what is at Path.
	As string
}

// put moves a finished file to its place and says where it is now. An edited
// workbook is copied before it is replaced, so that a workbook is at Path at every
// moment: a run that is killed here can be repeated. Where Path
// cannot be replaced, as a workbook that is open in Excel cannot under Windows,
// it stays as it is and the file goes to the next free of NAME.2.xlsx,
// NAME.3.xlsx …: a finished workbook is not thrown away.
func (p Placement) put(finished string) (now Placement, err error) {
	err = p.keep(filepath.Dir(finished))
	if err == nil {
		if err = os.Rename(finished, p.Path); err == nil {
			return p, nil
		}
		if p.Aside != "" {
			_ = os.Remove(p.Aside) // it stays at Path
		}
	}
	if other, ok := freeName(p.Path); ok && os.Rename(finished, other) == nil {
		return Placement{Path: other}, nil
	}
	return Placement{}, err
}

// keep makes the second file, of a copy in the folder scratch: it appears whole or
// not at all.
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

// Target decides whether a workbook may be written to path. It changes nothing,
// so it can be asked before a run starts and again before it writes.
//
//   - Nothing is there, or a workbook of ours as we left it (its SHA-256 in hex
//     is lastDigest), or an earlier plan: it is written.
//   - A results workbook of ours that somebody edited since, or whose digest
//     nobody remembers (lastDigest is ""): it is kept as NAME-<now>.xlsx.
//   - Anything else, and results where a dry run's plan is to go: a
//     problem.Problem.
//
// Any other error means that the file there could not be examined.
func Target(path string, dryRun bool, lastDigest string, now time.Time) (Placement, error) {
	if free, err := examine(path); err != nil {
		return Placement{}, err
	} else if free {
		return Placement{Path: path}, nil
	}
	binding, ours, err := IsOurs(path)
	if err != nil {
		return Placement{}, fmt.Errorf("examining the workbook that is to be replaced: %w", err)
	}
	if !ours {
		return Placement{}, notOurs(path, "a workbook that Claimsheet wrote")
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

// TargetCSV is Target for a CSV file, which cannot say who wrote it: it is ours
// if lastDigest is not "", because then one of ours was written there.
func TargetCSV(path, lastDigest string, now time.Time) (Placement, error) {
	if free, err := examine(path); err != nil {
		return Placement{}, err
	} else if free {
		return Placement{Path: path}, nil
	}
	if lastDigest == "" {
		return Placement{}, notOurs(path, "a CSV file that Claimsheet wrote there")
	}
	return placeOver(path, lastDigest, now)
}

// examine tells whether nothing is at path. What can never be written over is a
// problem.
func examine(path string) (free bool, err error) {
	here := problem.Where{File: path}
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return false, problem.At(here, "output-no-folder", "the folder %s is not there; expected a folder that exists", folder).
			Hinted("make the folder, or choose another name with -o")
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("examining the place of the results: %w", err)
	}
	if !info.Mode().IsRegular() {
		return false, problem.At(here, "output-not-a-file", "is not a plain file; expected a free name or a workbook that Claimsheet wrote").
			Hinted("choose another name with -o")
	}
	return false, nil
}

func notOurs(path, expected string) error {
	return problem.At(problem.Where{File: path}, "output-exists", "exists and was not written by Claimsheet; expected a free name or %s", expected).
		Hinted("choose another name with -o")
}

// placeOver replaces results of ours, keeping them when they are not as we left
// them.
func placeOver(path, lastDigest string, now time.Time) (Placement, error) {
	digest, err := DigestOf(path)
	if err != nil {
		return Placement{}, fmt.Errorf("examining the workbook that is to be replaced: %w", err)
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

// DigestOf is a file's SHA-256 in hex.
func DigestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
