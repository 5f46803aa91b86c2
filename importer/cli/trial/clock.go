package trial

import (
	"os"
	"time"
	"unsafe"

	"claimsheet/importer/bootclock"
)

// clock reads this machine's clocks as TRIAL_CLOCK, TRIAL_BOOT and TRIAL_REBOOT
// have set them.
func clock() bootclock.Reading {
	now := bootclock.Now()
	now.Wall = set(now.Wall)
	if boot := os.Getenv("TRIAL_REBOOT"); boot != "" {
		now.Boot = boot
	} else {
		now.Uptime += ahead("TRIAL_BOOT")
	}
	return now
}

// now is the wall clock of clock.
func now() time.Time { return set(time.Now()) }

// set moves the wall clock's reading of a time that has a monotonic reading too. As
// on a real machine, the monotonic clock does not notice; time.Time has no method
// that moves one of the two only.
func set(now time.Time) time.Time {
	if by := ahead("TRIAL_CLOCK"); by != 0 {
		// The seconds stand above the 30 bits of the nanoseconds.
		wall := (*uint64)(unsafe.Pointer(&now))
		*wall = uint64(int64(*wall) + int64(by/time.Second)<<30)
	}
	return now
}
