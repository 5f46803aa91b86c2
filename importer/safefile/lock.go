package safefile

import (
	"os"

	"github.com/gofrs/flock"
)

// Lock is a lock that ends with the process.
type Lock = flock.Flock

// NewLock returns the lock of a lock file, which is made when it is taken.
func NewLock(path string) *Lock {
	return flock.New(path, flock.SetFlag(LockFlags), flock.SetPermissions(0o600))
}

// LockOf returns the lock of a file that exists.
func LockOf(path string) *Lock {
	return flock.New(path, flock.SetFlag(LockFlags&^os.O_CREATE))
}
