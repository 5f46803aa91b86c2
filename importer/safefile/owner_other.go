//go:build !unix

package safefile

import (
	"io/fs"
	"os"
)

const nonblock = 0

// LockFlags open a lock file.
const LockFlags = os.O_CREATE | os.O_RDWR

// Ours is true: a number does not say whose a file is here, and the folder's own rights decide who may write to it.
func Ours(fs.FileInfo) bool { return true }

func trusted(fs.FileInfo) bool { return true }

func forbidden(fs.FileInfo) string { return "" }
