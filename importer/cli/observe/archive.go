package observe

import (
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

// takeArchive refuses a folder that cannot be moved to, before anything is
// sent.
func (o *Observer) takeArchive() error {
	folder := o.options.Archive
	switch {
	case folder == "":
		return nil
	case o.options.DryRun:
		return problem.New("usage", "--archive moves sheets that are imported, and a dry run imports nothing").Hinted("leave it out")
	case o.options.Partial:
		return problem.New("usage", "--archive would put away rows that --limit or --only leave out").Hinted("leave it out, or run the whole sheet")
	case !safefile.IsFolder(folder):
		return problem.At(problem.Where{File: folder}, "archive", "there is no such folder to move the sheets into").Hinted("make it: mkdir %s", folder)
	}
	for _, sheet := range o.options.Sheets {
		if sameFolder(filepath.Dir(sheet), folder) {
			return problem.At(problem.Where{File: folder}, "archive", "the sheets are in this folder already").Hinted("name another folder")
		}
	}
	trial, err := os.CreateTemp(folder, ".claimsheet-*")
	if err != nil {
		return problem.At(problem.Where{File: folder}, "archive", "the folder cannot be written to: %v", problem.Cause(err)).
			Hinted("let this user write to it, or name another folder")
	}
	o.archive = folder
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

// archiveInputs moves the run's sheets into the archive. A sheet that cannot be moved
// stays, with a warning: importing it again tomorrow creates nothing twice.
func (o *Observer) archiveInputs() {
	if o.archive == "" {
		return
	}
	for _, in := range o.inputs {
		to, err := move(in, o.archive, time.Now())
		if err != nil {
			o.warn(problem.At(problem.Where{File: in.Path}, "archive", "the sheet could not be moved to %s: %v", o.archive, problem.Cause(err)).
				Hinted("move it by hand; if it stays, the next run finds it done already"))
			continue
		}
		o.log.Info("sheet archived", "sheet", in.Path, "archive", to)
	}
}

// move moves one sheet, completely or not at all, and never over another file. A
// sheet that was changed since it was imported stays where it is.
func move(in Input, folder string, now time.Time) (to string, err error) {
	info, err := os.Lstat(in.Path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is a symbolic link, and what it names may belong to others")
	}
	if digest, err := safefile.Digest(in.Path); err != nil {
		return "", err
	} else if digest != in.Digest {
		return "", errors.New("it has changed since it was imported")
	}
	if to, err = reserve(folder, filepath.Base(in.Path), now); err != nil {
		return "", err
	}
	if os.Rename(in.Path, to) == nil {
		return to, nil
	}
	// Another file system, most likely.
	if err := copyOver(in, to); err != nil {
		return "", errors.Join(err, os.Remove(to))
	}
	return to, errors.Join(safefile.SyncFolder(folder), os.Remove(in.Path))
}

// reserve takes a free name in a folder, the sheet's own or with the time added, by
// making an empty file that the sheet then replaces.
func reserve(folder, name string, now time.Time) (string, error) {
	ext := filepath.Ext(name)
	stamped := strings.TrimSuffix(name, ext) + "-" + now.Format("20060102T150405")
	names := []string{name, stamped + ext}
	for n := 2; n < 100; n++ {
		names = append(names, fmt.Sprintf("%s-%d%s", stamped, n, ext))
	}
	for _, name := range names {
		path := filepath.Join(folder, name)
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return path, f.Close()
	}
	return "", errors.New("its name is taken there, with today's time too")
}

// copyOver replaces the reserved file to with a durable copy of a sheet, unless the
// sheet was changed since it was imported.
func copyOver(in Input, to string) (err error) {
	src, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	defer src.Close()
	temp, err := os.CreateTemp(filepath.Dir(to), ".claimsheet-*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(temp, h), src)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != in.Digest {
		return errors.New("it has changed since it was imported")
	}
	return os.Rename(temp.Name(), to)
}

func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}
