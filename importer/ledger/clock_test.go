package ledger_test

import (
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

func TestAge(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	at := ledger.Clock{Wall: noon, Boot: "a", Uptime: 3 * time.Hour}
	later := func(wall, up time.Duration, boot string) ledger.Clock {
		return ledger.Clock{Wall: noon.Add(wall), Boot: boot, Uptime: 3*time.Hour + up}
	}
	in1970 := ledger.Clock{Wall: time.Unix(0, 0), Boot: "a", Uptime: 3*time.Hour + 5*time.Minute}
	rebooted1970 := in1970
	rebooted1970.Boot = "b"
	tests := []struct {
		name string
		at   ledger.Clock
		now  ledger.Clock
		want time.Duration
	}{
		{"no jump", at, later(5*time.Minute, 5*time.Minute, "a"), 5 * time.Minute},
		{"an hour forward", at, later(time.Hour, 5*time.Minute, "a"), 5 * time.Minute},
		{"an hour back", at, later(-time.Hour, 5*time.Minute, "a"), 5 * time.Minute},
		{"a day forward", at, later(day, 5*time.Minute, "a"), 5 * time.Minute},
		{"a day back", at, later(-day, 5*time.Minute, "a"), 5 * time.Minute},
		{"back to 1970", at, in1970, 5 * time.Minute},
		{"the boot clock goes back, as after a snapshot", at, later(time.Hour, -time.Minute, "a"), 0},
		{"rebooted", at, later(time.Hour, -2*time.Hour, "b"), time.Hour},
		{"rebooted, an hour back", at, later(-time.Hour, -2*time.Hour, "b"), 0},
		{"rebooted, a day back", at, later(-day, -2*time.Hour, "b"), 0},
		{"rebooted, back to 1970", at, rebooted1970, 0},
		{"no boot clock", ledger.Clock{Wall: noon}, ledger.Clock{Wall: noon.Add(time.Hour)}, time.Hour},
		{"no boot clock then", ledger.Clock{Wall: noon}, later(time.Hour, time.Minute, "a"), time.Hour},
		{"no boot clock now", at, ledger.Clock{Wall: noon.Add(time.Hour)}, time.Hour},
		{"no boot clock, back to 1970", ledger.Clock{Wall: noon}, ledger.Clock{Wall: time.Unix(0, 0)}, 0},
	}
	l := fresh(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			id := jane("", "client")
			id.Client = test.name
			do(t, l.Append(
				ledger.Event{StepID: id, To: ledger.Intent, At: noon.Add(-day), Kind: "client", Boot: "a"},
				ledger.Event{StepID: id, To: ledger.Parked, At: test.at.Wall, Boot: test.at.Boot, Uptime: test.at.Uptime}))
			steps, err := l.Steps(t.Context(), id.ClientKey, "m")
			do(t, err)
			s := steps["client"]
			if test.at.Boot == "" { // as a system without a boot clock stores it
				s.Boot, s.Uptime = "", 0
			}
			same(t, "age", s.Age(test.now), test.want)
		})
	}
}

// TestAppendReadsTheBootClock: what the ledger stores can be compared with what
// the clock says now.
func TestAppendReadsTheBootClock(t *testing.T) {
	before := ledger.Now()
	if before.Boot == "" {
		t.Skip("this system has no boot clock")
	}
	l := fresh(t)
	id := jane("", "client")
	do(t, l.Append(ledger.Event{StepID: id, To: ledger.Intent, At: noon.AddDate(-30, 0, 0), Kind: "client"}))
	steps, err := l.Steps(t.Context(), id.ClientKey, "m")
	do(t, err)
	s, after := steps["client"], ledger.Now()
	if most := after.Uptime - before.Uptime + time.Microsecond; s.Age(after) > most {
		t.Errorf("the step is %s old by the boot clock, want at most %s", s.Age(after), most)
	}
	if s.Boot != before.Boot || s.Uptime < before.Uptime.Truncate(time.Microsecond) || s.Uptime > after.Uptime {
		t.Errorf("stored %q %s, want it between %+v and %+v", s.Boot, s.Uptime, before, after)
	}
}
