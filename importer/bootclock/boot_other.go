//go:build !linux

package bootclock

import "time"

// read returns nothing: ages go by the wall clock only.
func read() (boot string, uptime time.Duration) { return "", 0 }
