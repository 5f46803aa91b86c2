package bootclock_test

import (
	"testing"
	"time"

	"claimsheet/importer/bootclock"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestSince: only the boot clock counts while the machine runs.
func TestSince(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	at := bootclock.Reading{Wall: noon, Boot: "a", Uptime: 3 * time.Hour}
	later := func(wall, up time.Duration, boot string) bootclock.Reading {
		return bootclock.Reading{Wall: noon.Add(wall), Boot: boot, Uptime: 3*time.Hour + up}
	}
	in1970 := bootclock.Reading{Wall: time.Unix(0, 0), Boot: "a", Uptime: 3*time.Hour + 5*time.Minute}
	rebooted1970 := in1970
	rebooted1970.Boot = "b"
	tests := []struct {
		name string
		at   bootclock.Reading
		now  bootclock.Reading
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
		{"no boot clock", bootclock.Reading{Wall: noon}, bootclock.Reading{Wall: noon.Add(time.Hour)}, time.Hour},
		{"no boot clock then", bootclock.Reading{Wall: noon}, later(time.Hour, time.Minute, "a"), time.Hour},
		{"no boot clock now", at, bootclock.Reading{Wall: noon.Add(time.Hour)}, time.Hour},
		{"no boot clock, back to 1970", bootclock.Reading{Wall: noon}, bootclock.Reading{Wall: time.Unix(0, 0)}, 0},
	}
	for _, test := range tests {
		if got := test.now.Since(test.at); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestNow: the boot clock goes on, and its start has a name.
func TestNow(t *testing.T) {
	first := bootclock.Now()
	time.Sleep(time.Millisecond)
	second := bootclock.Now()
	if first.Boot != second.Boot || second.Since(first) <= 0 {
		t.Errorf("%+v, then %+v", first, second)
	}
}
