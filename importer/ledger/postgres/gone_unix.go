//go:build unix

package postgres

import (
	"errors"
	"syscall"
)

// gone reports whether no process of this machine has the number.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
