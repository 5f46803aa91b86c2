package ledger

import "time"

// Clock is one reading of this machine's clocks.
type Clock struct {
	Wall time.Time
	// Boot names this start of the machine, and Uptime is the time since then,
	// sleep included. Nobody can set them. Boot is "" where the system does not
	// tell (outside Linux); Uptime then means nothing.
	Boot   string
	Uptime time.Duration
}

// Now reads the clocks.
func Now() Clock {
	boot, uptime := bootClock()
	return Clock{Wall: time.Now(), Boot: boot, Uptime: uptime}
}

// Age is how long ago a step got into its state. While the machine has not been
// started anew it goes by the boot clock, which no change of the wall clock
// reaches; otherwise by the wall clock. An age that is negative by the clock
// that counts is 0: when clocks contradict each other, nothing is old enough.
func (s Step) Age(now Clock) time.Duration {
	age := now.Wall.Sub(s.At)
	if s.Boot != "" && s.Boot == now.Boot {
		age = now.Uptime - s.Uptime
	}
	return max(age, 0)
}
