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

// isoDay writes a day. Two days of the 1900 system do not exist, and are written as spreadsheet programs show them.
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

// isoLayouts are the ways in which programs that write Strict Open XML store dates and times, each with the usual format of its cells.
var isoLayouts = []struct {
	layout string
	usual  *Format
}{
	{time.DateOnly, Parse("yyyy-mm-dd")},
	{"2006-01-02T15:04:05", Parse("yyyy-mm-dd hh:mm:ss")}, {"2006-01-02T15:04", Parse("yyyy-mm-dd hh:mm:ss")},
	{"15:04:05", Parse("hh:mm:ss")}, {"15:04", Parse("hh:mm:ss")},
}

// ParseISO reads the value of a cell of type d: 2026-05-01, 2026-05-01T14:30:05.25
// or 14:30:05. It returns the number that other workbooks hold in such
// a cell, and the format that shows it: style, or the usual format of such a value
// where style shows numbers as in General.
//
// A Z at the end is ignored: spreadsheet programs show the time as written. ok is
// false for anything else, including a day before the date system begins and a
// time with another offset: they are not day counts.
func ParseISO(text string, style *Format, date1904 bool) (number []byte, shownBy *Format, ok bool) {
	text = strings.TrimPrefix(strings.TrimSuffix(text, "Z"), "T")
	for _, way := range isoLayouts {
		at, err := time.Parse(way.layout, text)
		if err != nil {
			continue
		}
		midnight := at.Truncate(24 * time.Hour)
		serial := at.Sub(midnight).Seconds() / secondsPerDay
		if at.Year() > 0 { // else there is only a time
			day, ok := dayNumber(midnight, date1904)
			if !ok {
				return nil, nil, false
			}
			serial += float64(day)
		}
		if s, _ := style.pick(serial); s != nil {
			way.usual = style
		}
		return strconv.AppendFloat(nil, serial, 'f', -1, 64), way.usual, true
	}
	return nil, nil, false
}

// dayNumber returns the day's number in a date system. The 1900 system counts a 29
// February 1900, and its day 0 is written as 30 or 31 December 1899.
func dayNumber(day time.Time, date1904 bool) (n int64, ok bool) {
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if date1904 {
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	n = (day.Unix() - epoch.Unix()) / secondsPerDay
	if !date1904 && n > 0 && n <= 60 {
		n--
	}
	return n, n >= 0
}
