package apiclient

import (
	"net/http"
	"strconv"
	"time"
)

// retryAfter reads the header Retry-After, in seconds or as a date; 0 when
// there is none, when it cannot be read or when it is past. A date is compared
// with the service's own, where it gives one: this machine's clock may be wrong.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs
	}
	return max(0, at.Sub(now))
}
