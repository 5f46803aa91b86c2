package numfmt

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
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

// renderSerial appends a day count as ISO 8601: the day, the time of day or both,
// as the section shows it. ok is false for a number outside the calendar, which
// spreadsheet programs show as #####.
//
// A time is rounded to the second. A day alone is the day that contains the number,
// read to the millisecond, the finest unit that spreadsheet programs show: a
// smaller distance to midnight is arithmetic noise, but 23:59:59.997, a database's
// last moment of a day, belongs to the day that it ends.
//
// Two days of the 1900 system do not exist, and are shown as spreadsheet programs
// show them: 1900-01-00 for serial 0 and 1900-02-29 for serial 60.
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
	case day < 60: // before the day that does not exist
		epoch = epoch.AddDate(0, 0, 1)
	}
	return epoch.AddDate(0, 0, int(day)).Format(time.DateOnly)
}

// The usual formats of cells of type d.
var (
	isoDate     = Parse("yyyy-mm-dd")
	isoDateTime = Parse("yyyy-mm-dd hh:mm:ss")
	isoTime     = Parse("hh:mm:ss")
	isoElapsed  = Parse("[h]:mm:ss")
)

// ParseISO reads the value of a cell of type d: 2026-05-01, 2026-05-01T14:30:05.25,
// 14:30:05 or PT1392H0M0.000S, as programs that write Strict Open XML store dates,
// times and elapsed times. It returns the number that other workbooks hold in such
// a cell, and the format that shows it: style, or the usual format of such a value
// where style shows numbers as in General.
//
// A Z at the end is ignored: spreadsheet programs show the time as written. ok is
// false for anything else, including a day before the date system begins and a
// time with another offset: they are not day counts.
func ParseISO(text string, style *Format, date1904 bool) (number []byte, shownBy *Format, ok bool) {
	serial, usual, ok := readISO(text, date1904)
	if !ok {
		return nil, nil, false
	}
	number = strconv.AppendFloat(nil, serial, 'f', -1, 64)
	if d, ok := parseDecimal(number); ok {
		if section, _ := style.pick(d); section != nil {
			return number, style, true
		}
	}
	return number, usual, true
}

// readISO returns the days that a value of a cell of type d stands for, in the
// workbook's date system, and the format that usually shows them.
func readISO(s string, date1904 bool) (serial float64, usual *Format, ok bool) {
	if strings.Contains(s, "P") {
		serial, ok = elapsedDays(s)
		return serial, isoElapsed, ok
	}
	s = strings.TrimSuffix(s, "Z")
	date, clock, both := strings.Cut(s, "T")
	switch {
	case both && date != "":
		usual = isoDateTime
	case both || strings.Contains(date, ":"):
		usual, date, clock = isoTime, "", strings.TrimPrefix(s, "T")
	default:
		usual = isoDate
	}
	if date != "" {
		day, err := time.Parse(time.DateOnly, date)
		if err != nil {
			return 0, nil, false
		}
		n, ok := dayNumber(day, date1904)
		if !ok {
			return 0, nil, false
		}
		serial = float64(n)
	}
	if usual != isoDate {
		at, err := time.Parse("15:04:05", clock) // accepts a fraction too
		if err != nil {
			at, err = time.Parse("15:04", clock)
		}
		if err != nil {
			return 0, nil, false
		}
		midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		serial += at.Sub(midnight).Seconds() / secondsPerDay
	}
	return serial, usual, true
}

// dayNumber returns the day's number in a date system. The 1900 system counts a 29
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

// isoElapsedTime matches an ISO 8601 duration of days, hours, minutes and seconds. Years and months have no length of their own.
var isoElapsedTime = regexp.MustCompile(`^(-?)P(?:([\d.]+)D)?(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$`)

// elapsedDays reads an ISO 8601 duration.
func elapsedDays(s string) (days float64, ok bool) {
	parts := isoElapsedTime.FindStringSubmatch(s)
	if parts == nil || !strings.ContainsAny(s[len(s)-1:], "DHMS") {
		return 0, false
	}
	seconds := 0.0
	for i, length := range []float64{secondsPerDay, 3600, 60, 1} {
		if text := parts[i+2]; text != "" {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return 0, false
			}
			seconds += value * length
		}
	}
	if parts[1] == "-" {
		seconds = -seconds
	}
	return seconds / secondsPerDay, true
}
