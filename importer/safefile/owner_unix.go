//go:build unix

package safefile

import (
	"io/fs"
	"os"
	"syscall"
)

// nonblock lets the opening of a pipe return at once, also without a process at its other end. It changes nothing for regular files.
const nonblock = syscall.O_NONBLOCK

// LockFlags open a lock file without following a link or waiting for a pipe.
const LockFlags = os.O_CREATE | os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// Ours reports whether a file belongs to the user who runs the program.
func Ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// trusted reports whether a file is this user's or root's.
func trusted(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 || Ours(info)
}

// forbidden are the classes of users that could write to a file though it is not theirs, as chmod names them; "" for none.
func forbidden(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	mode, classes := info.Mode().Perm(), ""
	if mode&0o020 != 0 && (!ok || stat.Gid != stat.Uid) {
		classes += "g"
	}
	if mode&0o002 != 0 {
		classes += "o"
	}
	return classes
}
