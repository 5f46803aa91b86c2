package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Replace writes a file as a whole: a crash leaves the old one or the new one. A link stays one. mode is that of a new file.
func Replace(path string, data []byte, mode fs.FileMode) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	folder := filepath.Dir(path)
	temp, err := os.CreateTemp(folder, ".claimsheet-*")
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
