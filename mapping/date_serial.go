package mapping

import (
	"math"
	"strconv"
	"time"
)

// Day 0 of each date system and the bounds of what is taken, in seconds of Unix
// time. The 1900 system counts a 29 February 1900 that never was, as serial
// 60, so that the days before it are counted from one day later.
var (
	day0Of1900      = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Unix()
	day0Of1900Early = time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC).Unix()
	day0Of1904      = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	startOfYear1    = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	afterYear9999   = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
)

const (
	secondsPerDay = 86400
	phantomDay    = 60
	// maxSerial is beyond 9999-12-31 in both systems; what is under it counts
	// seconds exactly.
	maxSerial = 3e6
)

// momentFromSerial is the moment that a spreadsheet's day count names. A
// fraction of day 0 is a time without a day, and is refused.
func momentFromSerial(literal string, date1904 bool) (moment, *Refusal) {
	serial, ok := parseSerial(literal)
	if !ok {
		return moment{}, refuse("date-serial", "does not hold a spreadsheet's day count", "write the date anew")
	}
	if serial < 0 || serial >= maxSerial {
		return moment{}, refuseDayRange()
	}
	seconds := int64(math.Round(serial * secondsPerDay))
	day := seconds / secondsPerDay
	start := day0Of1900
	switch {
	case date1904 && day == 0 && seconds > 0, !date1904 && day == 0:
		return moment{}, refuse("date-without-day", "holds a time without a day", "write day and time into the cell")
	case date1904:
		start = day0Of1904
	case day == phantomDay:
		return moment{}, refuse("date-impossible", "is not a day of the calendar",
			"correct the date: spreadsheet programs show a day in 1900 that never was")
	case day < phantomDay:
		start = day0Of1900Early
	}
	wall := start + seconds
	if wall >= afterYear9999 {
		return moment{}, refuseDayRange()
	}
	late := seconds%secondsPerDay == 0 && math.Round(serial*1000*secondsPerDay) < float64(1000*seconds)
	return moment{wall: wall, late: late}, nil
}

// parseSerial takes digits, a point and an exponent; ParseFloat takes more
// (hexadecimal, infinity), which no spreadsheet writes.
func parseSerial(literal string) (float64, bool) {
	for i := range len(literal) {
		b := literal[i]
		if (b < '0' || b > '9') && b != '.' && b != 'E' && b != 'e' && b != '+' && b != '-' {
			return 0, false
		}
	}
	serial, err := strconv.ParseFloat(literal, 64)
	return serial, err == nil
}

func refuseDayRange() *Refusal {
	return refuse("date-range", "is outside the years 1 to 9999", "correct the date")
}
