package ledger

import "time"

// Clock is one reading of this machine's clocks.
type Clock struct {
	Wall time.Time
	// Boot identifies this start of the machine, and Uptime is the time since then,
	// sleep included. Nobody can set them. Boot is "" where the system has none
	// (outside Linux); then Uptime means nothing.
	Boot   string
	Uptime time.Duration
}

// Now reads the clocks.
func Now() Clock {
	boot, uptime := bootClock()
	return Clock{Wall: time.Now(), Boot: boot, Uptime: uptime}
}

// Age is how long ago a step got into its state: by the boot clock, which ignores
// changes of the wall clock, unless the machine was restarted since; then by the
// wall clock. A negative age is 0: when the clocks contradict each other, nothing is
// old enough.
func (s Step) Age(now Clock) time.Duration {
	age := now.Wall.Sub(s.At)
	if s.Boot != "" && s.Boot == now.Boot {
		age = now.Uptime - s.Uptime
	}
	return max(age, 0)
}
