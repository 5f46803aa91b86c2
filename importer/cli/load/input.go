package load

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"claimsheet/importer/safefile"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Input is a copy of a sheet: an export that is being written or replaced cannot
// change under the run.
type Input struct {
	Path     string // of the copy
	Given    string // the path that the user gave
	Digest   string // SHA-256 in hex
	Password string // opens it when it is encrypted, which the copy stays

	remove func() // removes the copy, unless it is kept or was there before
}

// Keep leaves the copy in the state folder when the session is closed, so that
// workbooks can be made from it again.
func (in *Input) Keep() { in.remove = func() {} }

// copyInput copies a sheet into folder (0700), as a file (0600) that is named by
// its digest. With an empty folder the copy is temporary.
func copyInput(given, folder string) (in *Input, err error) {
	src, err := safefile.Open(given)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	in = &Input{Given: given}
	if folder == "" {
		if folder, err = os.MkdirTemp("", "claimsheet-*"); err != nil { // 0700
			return nil, err
		}
		in.remove = func() { _ = os.RemoveAll(folder) }
		err = in.copy(src, folder, false)
	} else {
		made := missing(folder)
		in.remove = func() {
			for _, dir := range made {
				_ = os.Remove(dir) // stays when something else is in it
			}
		}
		err = in.keepIn(src, folder)
	}
	if err != nil {
		in.remove()
		return nil, err
	}
	return in, nil
}

// keepIn makes the folder and a durable copy in it. Another run that gives up may remove the
// folder in between.
func (in *Input) keepIn(src io.ReadSeeker, folder string) (err error) {
	for range 100 {
		if err = os.MkdirAll(folder, 0o700); err == nil {
			if info, err := os.Lstat(folder); err == nil && !info.IsDir() {
				return problem.At(problem.Where{File: folder}, "state-folder", "this is not a folder; a link could lead the copies elsewhere").
					Hinted("move it away")
			}
			if _, err = src.Seek(0, io.SeekStart); err == nil {
				err = in.copy(src, folder, true)
			}
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if _, isProblem := errors.AsType[problem.Problem](err); isProblem || err == nil {
		return err
	}
	return problem.At(problem.Where{File: folder}, "state-folder", "the folder cannot be made: %v", problem.Cause(err)).
		Hinted("name a state folder that this user may write to with --state")
}

// missing returns those of the folder and the folders above it that do not exist,
// the deepest first.
func missing(folder string) []string {
	var dirs []string
	for dir := filepath.Clean(folder); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			return dirs
		}
		dirs = append(dirs, dir)
	}
}

// copy makes the copy and computes its digest. With keep the copy is durable.
func (in *Input) copy(src io.Reader, folder string, keep bool) error {
	dst, err := os.CreateTemp(folder, "incoming-*") // 0600
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(dst, h), src)
	if keep && err == nil {
		err = dst.Sync()
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		return errors.Join(err, os.Remove(dst.Name()))
	}
	in.Digest = hex.EncodeToString(h.Sum(nil))
	in.Path = filepath.Join(folder, in.Digest+strings.ToLower(filepath.Ext(in.Given)))
	info, err := os.Lstat(in.Path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		rest := in.remove
		in.remove = func() { _ = os.Remove(in.Path); rest() }
	case err == nil && info.Mode().IsRegular():
		if digest, err := safefile.Digest(in.Path); err == nil && digest == in.Digest {
			return os.Remove(dst.Name()) // an earlier run kept it
		}
	}
	// A damaged copy of an earlier run, or a file planted there, is replaced.
	return os.Rename(dst.Name(), in.Path)
}

// Open opens the copy. Problems name the file that the user gave.
func (in *Input) Open(o sheet.Options) (*sheet.Reader, error) {
	o.As, o.Password = in.Given, in.Password
	return sheet.Open(in.Path, o)
}

// records returns the rows of a reader of the copy. Problems name the file that
// the user gave, not the copy.
func (in *Input) records(of table) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for record, err := range of.Records() {
			if p, ok := errors.AsType[problem.Problem](err); ok && p.Where.File == in.Path {
				p.Where.File = in.Given
				err = p
			}
			if !yield(record, err) {
				return
			}
		}
	}
}
