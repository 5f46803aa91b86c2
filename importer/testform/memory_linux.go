package testform

import "syscall"

// inMemory returns a folder in memory for the temporary files of tests, "" if none has room for
// them. A killed process leaves the same behind in memory as on a disk; only a power
// loss does not, and for that importer/ledger records what is synced.
func inMemory() string {
	const folder, room = "/dev/shm", 2 << 30 // the tests need less than 500 MB at a time
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < room {
		return ""
	}
	return folder
}
