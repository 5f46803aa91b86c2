//go:build unix

package cli

import "syscall"

// disableCore keeps the system from writing this process's memory to disk when a signal kills it.
func disableCore() { _ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
