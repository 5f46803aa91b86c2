//go:build unix

package cli

import "syscall"

// noCore keeps this process's memory, which holds secrets and personal data,
// from being written to disk when it is killed by a signal that does that.
func noCore() { _ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
