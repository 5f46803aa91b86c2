package sheet

import (
	"fmt"
	"math"
	"time"
)

const (
	secondsPerDay      = 86_400
	millisecondsPerDay = 1_000 * secondsPerDay
)

// The day after the last one of each date system: both end with 9999-12-31.
const (
	end1900 = 2_958_466
	end1904 = 2_957_004
)

// renderSerial appends a day count as ISO 8601: the day, the time of day or
// both, as the section shows it. ok is false for a number outside of the
// calendar, which spreadsheet programs show as #####.
//
// A time is rounded to the second. A day alone is the day that the number lies
// in, read to the millisecond, the finest that spreadsheet programs show: what is
// nearer to midnight is the noise of arithmetic, but 23:59:59.997, the last moment
// of a day to databases, belongs to the day that it ends.
//
// Two days of the 1900 system are in no calendar, and are shown as spreadsheet
// programs do: 1900-01-00 for serial 0 and 1900-02-29 for serial 60.
func (s *section) renderSerial(dst []byte, d decimal, date1904 bool) (shown []byte, ok bool) {
	serial, end := d.float(), float64(end1900)
	if date1904 {
		end = end1904
	}
	if serial < 0 || serial >= end {
		return dst, false
	}
	seconds := int64(math.Round(serial * secondsPerDay))
	day, second := seconds/secondsPerDay, seconds%secondsPerDay
	if !s.clock {
		day = int64(math.Round(serial*millisecondsPerDay)) / millisecondsPerDay
	}
	if float64(day) >= end { // rounded up into the year 10000
		day, second = day-1, secondsPerDay-1
	}
	if s.date {
		dst = append(dst, isoDay(day, date1904)...)
	}
	if s.date && s.clock {
		dst = append(dst, 'T')
	}
	if s.clock {
		dst = fmt.Appendf(dst, "%02d:%02d:%02d", second/3600, second/60%60, second%60)
	}
	return dst, true
}

func isoDay(day int64, date1904 bool) string {
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case date1904:
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case day == 0:
		return "1900-01-00"
	case day == 60:
		return "1900-02-29"
	case day < 60: // the days before the one that never was
		epoch = epoch.AddDate(0, 0, 1)
	}
	return epoch.AddDate(0, 0, int(day)).Format(time.DateOnly)
}
