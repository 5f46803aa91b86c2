package safefile

import "github.com/gofrs/flock"

// NewLock returns the lock of a lock file, which is made when it is taken. It ends with the process.
func NewLock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(LockFlags), flock.SetPermissions(0o600))
}
