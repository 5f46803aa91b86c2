package trial

import (
	"os"
	"strings"
	"time"
	"unsafe"
)

// now is the wall clock, ahead by what the file says that TRIAL_CLOCK names. As on a real machine,
// the monotonic clock does not notice; time.Time has no method that moves one of the two only.
func now() time.Time {
	now := time.Now()
	if ahead, err := os.ReadFile(os.Getenv("TRIAL_CLOCK")); err == nil {
		wall := (*uint64)(unsafe.Pointer(&now)) // the seconds stand above the 30 bits of the nanoseconds
		*wall = uint64(int64(*wall) + int64(duration(strings.TrimSpace(string(ahead)))/time.Second)<<30)
	}
	return now
}
