package bootclock

import (
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bootID does not change while the machine runs; "" when it cannot be read.
var bootID = sync.OnceValue(func() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
})

// read identifies this start of the machine and returns the time since then.
func read() (boot string, uptime time.Duration) {
	var t unix.Timespec
	if bootID() == "" || unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return "", 0
	}
	return bootID(), time.Duration(t.Nano())
}
