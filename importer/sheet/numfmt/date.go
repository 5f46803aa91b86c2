package numfmt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const secondsPerDay = 86_400

// The day after the last one of each date system: both end with 9999-12-31.
const (
	end1900 = 2_958_466
	end1904 = 2_957_004
)

// appendSerial appends a day count as ISO 8601: the day, the time of day or both,
// as the section shows it. ok is false for a number outside the calendar, which
// spreadsheet programs show as #####.
//
// A time is rounded to the second. A day alone is the day that contains the number,
// read to the millisecond, the finest unit that spreadsheet programs show: a
// smaller distance to midnight is arithmetic noise, but 23:59:59.997, a database's
// last moment of a day, belongs to the day that it ends.
func (s *section) appendSerial(dst []byte, serial float64, date1904 bool) (shown []byte, ok bool) {
	end := float64(end1900)
	if date1904 {
		end = end1904
	}
	if serial < 0 || serial >= end {
		return dst, false
	}
	seconds := int64(math.Round(serial * secondsPerDay))
	day, second := seconds/secondsPerDay, seconds%secondsPerDay
	if !s.clock {
		day = int64(math.Round(serial*1000*secondsPerDay)) / (1000 * secondsPerDay)
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

// epoch is day 0 of a date system. The 1900 system counts a 29 February 1900, so its days before that are one later.
func epoch(date1904 bool) time.Time {
	if date1904 {
		return time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
}

// firstReal is the first day after the one that does not exist, in the 1900 system.
const firstReal = 61

// isoDay writes a day. Two days of the 1900 system do not exist, and are written as spreadsheet programs show them.
func isoDay(day int64, date1904 bool) string {
	switch {
	case date1904 || day >= firstReal:
	case day == 0:
		return "1900-01-00"
	case day == firstReal-1:
		return "1900-02-29"
	default:
		day++
	}
	return epoch(date1904).AddDate(0, 0, int(day)).Format(time.DateOnly)
}

// The usual formats of a moment and of a day.
var usualMoment, usualDay = Parse("yyyy-mm-dd hh:mm:ss"), Parse("yyyy-mm-dd")

// ParseISO reads the value of a cell of type d, as Strict Open XML stores a day or a moment: 2026-05-01 or
// 2026-05-01T14:30:05.25, also without the seconds. It returns the number that other workbooks hold in such a cell, and the format that shows
// it: style, or the usual one where style shows numbers as in General.
//
// A Z at the end is ignored: spreadsheet programs show the time as written. ok is false for anything else, a time
// without a day or with another offset, and a day before 1 March 1900 among it.
func ParseISO(text string, style *Format, date1904 bool) (number []byte, shownBy *Format, ok bool) {
	text = strings.TrimSuffix(text, "Z")
	at, err := time.Parse("2006-01-02T15:04:05", text)
	shownBy = usualMoment
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04", text)
	}
	if err != nil {
		at, err = time.Parse(time.DateOnly, text)
		shownBy = usualDay
	}
	midnight, first := at.Truncate(24*time.Hour), epoch(date1904)
	day := (midnight.Unix() - first.Unix()) / secondsPerDay
	if err != nil || day < 0 || day < firstReal && !date1904 {
		return nil, nil, false
	}
	serial := float64(day) + at.Sub(midnight).Seconds()/secondsPerDay
	if s, _ := style.pick(serial); s != nil {
		shownBy = style
	}
	return strconv.AppendFloat(nil, serial, 'f', -1, 64), shownBy, true
}
