//go:build !linux

package ledger

import "time"

// bootClock tells nothing: ages go by the wall clock alone.
func bootClock() (boot string, uptime time.Duration) { return "", 0 }
