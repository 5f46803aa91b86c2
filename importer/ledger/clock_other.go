//go:build !linux

package ledger

import "time"

// bootClock returns nothing: ages go by the wall clock only.
func bootClock() (boot string, uptime time.Duration) { return "", 0 }
