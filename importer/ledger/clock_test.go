package ledger_test

import (
	"testing"
	"time"

	"claimsheet/importer/bootclock"
	"claimsheet/importer/ledger"
)

// TestAppendReadsTheBootClock: what the ledger stores can be compared with what
// the clock says now.
func TestAppendReadsTheBootClock(t *testing.T) {
	before := bootclock.Now()
	if before.Boot == "" {
		t.Skip("this system has no boot clock")
	}
	l := fresh(t)
	id := jane("", "client")
	do(t, l.Append(ledger.Event{StepID: id, To: ledger.Intent, At: noon.AddDate(-30, 0, 0), Kind: "client"}))
	steps, err := l.Steps(t.Context(), id.ClientKey, "m")
	do(t, err)
	s, after := steps["client"], bootclock.Now()
	if most := after.Uptime - before.Uptime + time.Microsecond; s.Age(after) > most {
		t.Errorf("the step is %s old by the boot clock, want at most %s", s.Age(after), most)
	}
	if s.Boot != before.Boot || s.Uptime < before.Uptime.Truncate(time.Microsecond) || s.Uptime > after.Uptime {
		t.Errorf("stored %q %s, want it between %+v and %+v", s.Boot, s.Uptime, before, after)
	}
}
