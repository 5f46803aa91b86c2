package trial

import (
	"time"
	"unsafe"
)

// now is the wall clock, as TRIAL_CLOCK has set it.
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
