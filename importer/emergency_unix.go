//go:build unix

package importer

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs tells whether a file belongs to the user who runs this process.
func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
