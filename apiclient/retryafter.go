package apiclient

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// longestAsked is what a service is taken to ask for that asks for longer.
const longestAsked = 365 * 24 * time.Hour

// retryAfter reads the header Retry-After, in seconds or as a date; 0 when
// there is none, when it cannot be read or when it is past. A date is compared
// with the service's own, where it gives one: this machine's clock may be wrong.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if value == "" {
		return 0
	}
	seconds, err := strconv.ParseUint(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(longestAsked/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs
	}
	return min(max(0, at.Sub(now)), longestAsked)
}
