// Package bootclock measures how long ago something happened, in this process or in
// an earlier one, by a clock that nobody can set: the time since the machine
// started, sleep included (CLOCK_BOOTTIME of Linux). The wall clock alone can jump by
// hours or days, and then a step would look old enough to be sent again.
package bootclock

import "time"

// Reading is one reading of this machine's clocks.
type Reading struct {
	Wall time.Time
	// Boot identifies this start of the machine, and Uptime is the time since then,
	// sleep included. Boot is "" where the system has none (outside Linux); then
	// Uptime means nothing.
	Boot   string
	Uptime time.Duration
}

// Now reads the clocks.
func Now() Reading {
	boot, uptime := read()
	return Reading{Wall: time.Now(), Boot: boot, Uptime: uptime}
}

// Since returns how much time is between then and r: by the boot clock, unless the
// machine was restarted in between; then by the wall clock. A negative time is 0:
// when the clocks contradict each other, nothing is old enough.
func (r Reading) Since(then Reading) time.Duration {
	age := r.Wall.Sub(then.Wall)
	if then.Boot != "" && then.Boot == r.Boot {
		age = r.Uptime - then.Uptime
	}
	return max(age, 0)
}
