// Package safefile opens files that other users of the machine could have planted. It trusts a file of this user or of root that others
// cannot write to.
//
// Windows has no owners and modes of this kind: there the checks of owner and mode pass, and the folders' own rights decide.
package safefile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"claimsheet/mapping/problem"
)

// Read returns a configuration file of at most limit bytes. It refuses what Open and CheckPath refuse. The error is a problem.Problem.
func Read(path string, limit int64) ([]byte, error) {
	if err := checkLink(path); err != nil {
		return nil, err
	}
	f, info, err := open(path, os.O_RDONLY, Unreadable)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := check(path, info); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, Unreadable(path, err)
	}
	if int64(len(data)) > limit {
		most := fmt.Sprintf("%d KiB", limit>>10)
		if limit >= 1<<20 {
			most = fmt.Sprintf("%d MiB", limit>>20)
		}
		return nil, problem.At(problem.Where{File: path}, "too-large", "the file is larger than %s; what belongs here takes a few kilobytes", most)
	}
	return data, nil
}

// Open opens a regular file for reading, also through links. A pipe, a device or a folder is refused at once. The error is a
// problem.Problem.
func Open(path string) (*os.File, error) {
	f, _, err := open(path, os.O_RDONLY, Unreadable)
	return f, err
}

// OpenAppend opens a regular file of this user or of root for reading and appending, and creates it (0600) when it is missing. It follows a
// link of this user or root, and never waits. The error is a problem.Problem.
func OpenAppend(path string) (*os.File, error) {
	if err := checkLink(path); err != nil {
		return nil, err
	}
	f, info, err := open(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, func(path string, err error) problem.Problem {
		return problem.At(problem.Where{File: path}, "no-access", "the file cannot be written: %v", problem.Cause(err))
	})
	if err == nil && !trusted(info) {
		_ = f.Close()
		return nil, problem.At(problem.Where{File: path}, "other-owner", "the file belongs to another user").
			Hinted("name a file of your own")
	}
	return f, err
}

// open opens a regular file. failed makes a problem of an error of the system.
func open(path string, flags int, failed func(path string, err error) problem.Problem) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, flags|nonblock, 0o600)
	if err != nil {
		return nil, nil, failed(path, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = failed(path, err)
	case !info.Mode().IsRegular():
		p := problem.At(problem.Where{File: path}, "not-a-file", "this is %s, not a file", Kind(info))
		if info.Mode()&fs.ModeNamedPipe != 0 && flags == os.O_RDONLY {
			p = p.Hinted("write it to a file first: pipes, and <(…) of the shell, are not read")
		}
		err = p
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// CheckPath refuses a file of another user than this one or root, one that others can write to, and a link that another user made. A group
// of the owner's number is the owner's own. A missing file passes. The error is a problem.Problem.
func CheckPath(path string) error {
	if err := checkLink(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil // opening it will report what is wrong
	}
	return check(path, info)
}

func check(path string, info fs.FileInfo) error {
	at := problem.Where{File: path}
	if !trusted(info) {
		return problem.At(at, "other-owner", "the file belongs to another user, who could change what this user does with it").
			Hinted("use a copy of your own, or run as that user")
	}
	if rights := forbidden(info); rights != "" {
		return problem.At(at, "others-can-write",
			"other users can write to the file (mode %04o), and so could change what this user does with it", info.Mode().Perm()).
			Hinted("chmod %s-w %s", rights, path)
	}
	return nil
}

// Owner refuses a file or folder of another user than this one or root; of a link it checks the link itself. A missing file passes. The
// error is a problem.Problem.
func Owner(path string) error {
	info, err := os.Lstat(path)
	if err != nil || trusted(info) {
		return nil // opening it will report what is wrong
	}
	return problem.At(problem.Where{File: path}, "other-owner", "this belongs to another user, who could change what it says").
		Hinted("use a folder of your own (--state), or run as that user")
}

// Kind names the type of a file that is not a regular one.
func Kind(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "a special file"
}

// checkLink refuses a link of another user, who could point it at another of this user's files, which would pass every other check.
func checkLink(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 || trusted(info) {
		return nil
	}
	return problem.At(problem.Where{File: path}, "other-owner", "this is a link that another user has made and can turn elsewhere").
		Hinted("name the file itself")
}

// Unreadable turns an error of opening or reading the file at path into a problem.
func Unreadable(path string, err error) problem.Problem {
	at := problem.Where{File: path}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		missing := problem.At(at, "no-file", "there is no such file")
		if near, ok := nearestFile(path); ok {
			return missing.Hinted("did you mean %s?", near)
		}
		return missing
	case errors.Is(err, fs.ErrPermission):
		return problem.At(at, "no-access", "the file may not be read by this user")
	}
	return problem.At(at, "cannot-read", "the file cannot be read: %v", problem.Cause(err))
}

// nearestFile returns the file of the same folder whose name is most like that of a file which is not there.
func nearestFile(path string) (string, bool) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // a folder that cannot be read has no nearest file
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	near, ok := problem.Nearest(filepath.Base(path), names)
	return filepath.Join(filepath.Dir(path), near), ok
}

// Digest returns a file's SHA-256 in hex.
func Digest(path string) (string, error) {
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

// Absolute returns path as an absolute path, or unchanged when the working directory is gone.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// IsFolder reports whether path is a folder, or a link to one.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// NewLock returns the lock of a lock file, which is made when it is taken. It ends with the process.
func NewLock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(LockFlags), flock.SetPermissions(0o600))
}

// Temporary is the pattern for the names of files and folders that are removed before the command ends.
const Temporary = ".claimsheet-*"

// leftoverAge is after which time without a change a temporary file is one that a killed process has left.
const leftoverAge = 24 * time.Hour

// RemoveLeftovers removes from a folder what killed processes have left there under temporary names.
func RemoveLeftovers(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		info, err := e.Info()
		if isTemporary, _ := filepath.Match(Temporary, e.Name()); err == nil && isTemporary && time.Since(info.ModTime()) > leftoverAge {
			_ = os.RemoveAll(filepath.Join(folder, e.Name()))
		}
	}
}

// Replace writes a file as a whole: a crash leaves the old one or the new one. A link stays one. mode is that of a new file.
func Replace(path string, data []byte, mode fs.FileMode) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	folder := filepath.Dir(path)
	temp, err := os.CreateTemp(folder, Temporary)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // of what failed
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	_ = SyncFolder(folder) // the file is there already
	return nil
}

// SyncFolder makes the names in a folder durable, over a power loss. It does nothing for a folder that this user may not read, and on
// Windows, which has no such call and writes names through its own journal.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
