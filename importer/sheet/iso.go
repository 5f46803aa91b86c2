package sheet

import (
	"strconv"
	"strings"
	"time"
)

// isoValue is the value of a cell of type d, as programs that write Strict Open
// XML store dates, times and elapsed times.
type isoValue struct {
	serial float64 // in days, in the workbook's date system
	format *format // shows it where the cell's style shows numbers as in General
}

// The formats of cells of type d that have none.
var (
	isoDate     = compile("yyyy-mm-dd")
	isoDateTime = compile("yyyy-mm-dd hh:mm:ss")
	isoTime     = compile("hh:mm:ss")
	isoElapsed  = compile("[h]:mm:ss")
)

// readISO reads 2026-05-01, 2026-05-01T14:30:05.25, 14:30:05 or PT1392H0M0.000S.
// A Z at the end is left out: spreadsheet programs show the time as it stands. ok
// is false for anything else, a day that the workbook's date system lacks and a
// time with another offset included: they are no day counts.
func readISO(s string, date1904 bool) (v isoValue, ok bool) {
	if strings.Contains(s, "P") {
		v.serial, ok = elapsedDays(s)
		v.format = isoElapsed
		return v, ok
	}
	s = strings.TrimSuffix(s, "Z")
	date, clock, both := strings.Cut(s, "T")
	switch {
	case both && date != "":
		v.format = isoDateTime
	case both || strings.Contains(date, ":"):
		v.format, date, clock = isoTime, "", strings.TrimPrefix(s, "T")
	default:
		v.format = isoDate
	}
	if date != "" {
		day, err := time.Parse(time.DateOnly, date)
		if err != nil {
			return v, false
		}
		n, ok := dayNumber(day, date1904)
		if !ok {
			return v, false
		}
		v.serial = float64(n)
	}
	if v.format != isoDate {
		at, err := time.Parse("15:04:05", clock) // takes a fraction too
		if err != nil {
			at, err = time.Parse("15:04", clock)
		}
		if err != nil {
			return v, false
		}
		midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		v.serial += at.Sub(midnight).Seconds() / secondsPerDay
	}
	return v, true
}

// dayNumber is the day's number in a date system. The 1900 system counts a 29
// February 1900, and its day 0 is written as 30 or 31 December 1899.
func dayNumber(day time.Time, date1904 bool) (n int64, ok bool) {
	if date1904 {
		n = (day.Unix() - time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC).Unix()) / secondsPerDay
		return n, n >= 0
	}
	n = (day.Unix() - time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Unix()) / secondsPerDay
	if n > 0 && n <= 60 {
		return n - 1, true
	}
	return n, n >= 0
}

// elapsedDays reads an ISO 8601 duration of days, hours, minutes and seconds. Years
// and months have no length of their own.
func elapsedDays(s string) (days float64, ok bool) {
	s, negative := strings.CutPrefix(s, "-")
	s, ok = strings.CutPrefix(s, "P")
	if !ok || s == "" || strings.HasSuffix(s, "T") {
		return 0, false
	}
	seconds := 0.0
	units := "DTHMS" // in this order, each once at most
	for s != "" {
		n := len(s) - len(strings.TrimLeft(s, "0123456789."))
		if n == len(s) {
			return 0, false
		}
		at := strings.IndexByte(units, s[n])
		if at < 0 || (s[n] == 'T') != (n == 0) || s[n] != 'D' && s[n] != 'T' && strings.Contains(units, "T") {
			return 0, false
		}
		units = units[at+1:]
		if s[n] != 'T' {
			value, err := strconv.ParseFloat(s[:n], 64)
			if err != nil {
				return 0, false
			}
			seconds += value * map[byte]float64{'D': secondsPerDay, 'H': 3600, 'M': 60, 'S': 1}[s[n]]
		}
		s = s[n+1:]
	}
	if negative {
		seconds = -seconds
	}
	return seconds / secondsPerDay, true
}
