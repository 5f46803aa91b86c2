package safefile

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
)

// SyncFolder makes the names in a folder durable: files that were created,
// renamed or removed in it stay so after a power loss. It does nothing for a
// folder that this user may use but not read, and on Windows, which has no such
// call and writes names through its own journal.
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
