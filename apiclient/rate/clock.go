package rate

import "time"

// drift is by how much of the time that passes two clocks may come apart.
const drift = 1.0 / 1000

// clock tells the time of the shared clock by the process's own, as readings show
// it. Of the process's clock only what passes counts, not what it shows.
type clock struct {
	anchor   time.Time     // by the process's clock
	epoch    time.Time     // by the shared clock; zero before the first reading
	least    time.Duration // what has passed since anchor is ahead of what has passed since epoch by that at least,
	most     time.Duration // and by that at most
	measured time.Time
}

// learn takes a reading of the shared clock that was made between two moments of the
// process's. jumped says that one of the clocks was set since the last one.
func (c *clock) learn(sent, got, shared time.Time) (jumped bool) {
	if c.epoch.IsZero() {
		c.epoch = shared
		c.least, c.most, c.measured = sent.Sub(c.anchor), got.Sub(c.anchor), got
		return false
	}
	passed := shared.Sub(c.epoch)
	least, most := sent.Sub(c.anchor)-passed, got.Sub(c.anchor)-passed
	apart := time.Duration(drift * float64(got.Sub(c.measured)))
	c.measured = got
	c.least, c.most = max(c.least-apart, least), min(c.most+apart, most)
	if c.least > c.most {
		c.least, c.most = least, most
		return true
	}
	return false
}

// time is the earliest that the shared clock can show at a moment of the process's.
func (c *clock) time(now time.Time) time.Time {
	return c.epoch.Add(now.Sub(c.anchor) - c.most)
}

// uncertainty is by how much later it can be.
func (c *clock) uncertainty() time.Duration { return c.most - c.least }
