package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/safefile"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// stateFolder is where the environment's ledger, inputs and, for the sandbox,
// its data are kept.
func (w place) stateFolder(env *environment.Environment, environmentsFile string) string {
	dir := environment.StateDir(w.mapping, environmentsFile, w.state)
	if env.Sandbox {
		return filepath.Join(dir, "sandbox")
	}
	return dir
}

// ledgerFile is the ledger in a state folder.
func ledgerFile(state string) string { return filepath.Join(state, "ledger.db") }

// input is the run's own copy of a sheet: an export that is being written or
// replaced cannot change under the run.
type input struct {
	path   string // of the copy
	given  string // as the user named it
	digest string // SHA-256 in hex
	// password opens it when it is encrypted, which the copy stays.
	password string
	remove   func() // removes the copy, unless it is kept or was there before
}

// keep leaves a run's copy in the state folder, to make workbooks from again.
func (in *input) keep() { in.remove = func() {} }

// keepInput copies a sheet into folder (0700), as a file of 0600 that is named
// by its digest. With an empty folder the copy is temporary.
func keepInput(given, folder string) (*input, error) {
	src, err := safefile.Open(given)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	in := &input{given: given}
	keep := folder != ""
	if !keep {
		folder, err = os.MkdirTemp("", "claimsheet-*") // 0700
		in.remove = func() { _ = os.RemoveAll(folder) }
	} else {
		return in, in.copyInto(src, folder)
	}
	if err == nil {
		err = in.copy(src, folder, keep)
	}
	if err != nil {
		in.remove()
		return nil, err
	}
	return in, nil
}

// foldersTried is how often folders are made that another run, which gives up,
// may remove again meanwhile.
const foldersTried = 1000

// copyInto makes the folder and the copy in it.
func (in *input) copyInto(src io.ReadSeeker, folder string) error {
	made := missing(folder)
	in.remove = func() {
		for _, dir := range made {
			_ = os.Remove(dir) // stays when something else is in it
		}
	}
	var err error
	for range foldersTried {
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
	if err == nil {
		return nil
	}
	in.remove()
	if _, isProblem := errors.AsType[problem.Problem](err); isProblem {
		return err
	}
	return problem.At(problem.Where{File: folder}, "state-folder", "the folder cannot be made: %v", problem.Cause(err)).
		Hinted("name a state folder that this user may write to with --state")
}

// missing are the folder and those above it that are not there, the deepest
// first.
func missing(folder string) []string {
	var dirs []string
	for dir := filepath.Clean(folder); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			return dirs
		}
		dirs = append(dirs, dir)
	}
}

// copy makes the copy, durable if it is to be kept, and takes its digest on the
// way.
func (in *input) copy(src io.Reader, folder string, keep bool) error {
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
	in.digest = hex.EncodeToString(h.Sum(nil))
	in.path = filepath.Join(folder, in.digest+sheet.Ext(in.given))
	info, err := os.Lstat(in.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		rest := in.remove
		in.remove = func() { _ = os.Remove(in.path); rest() }
	case err == nil && info.Mode().IsRegular():
		if digest, err := reports.DigestOf(in.path); err == nil && digest == in.digest {
			return os.Remove(dst.Name()) // kept by an earlier run
		}
	}
	// What has become of an earlier run's copy, or been planted there, since, is
	// replaced.
	return os.Rename(dst.Name(), in.path)
}

func cannotRead(path string, err error) problem.Problem {
	at := problem.Where{File: path}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return problem.At(at, "no-file", "there is no such file")
	case errors.Is(err, os.ErrPermission):
		return problem.At(at, "no-access", "the file may not be read by this user")
	}
	return problem.At(at, "unreadable", "the file cannot be read: %v", errors.Unwrap(err))
}

// open opens the copy; what is wrong with it is said of the file that the user
// named.
func (in *input) open(o sheet.Options) (*sheet.Reader, error) {
	o.As, o.Password = in.given, in.password
	return sheet.Open(in.path, o)
}
