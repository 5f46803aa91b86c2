package convert

import (
	"claimsheet/mapping/cell"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Output is how a Date is written.
type Output string

// The outputs of a Date.
const (
	AsDateTime Output = ""     // 1980-05-01T00:00:00Z
	AsDate     Output = "date" // 1980-05-01
)

// Years says which century a year of two digits is of.
type Years string

// The centuries.
const (
	SpreadsheetYears Years = ""       // 1930 to 2029, and a day after Today is refused
	PastYears        Years = "past"   // that of the last such day up to Today
	FutureYears      Years = "future" // 2000 to 2099
)

// MissingTimezone is the code of a cell that is refused because the mapping
// has no timezone: the mapping must be corrected, not the cell.
const MissingTimezone = "no-timezone"

// moment is a date and time as a clock on the wall shows it, rounded to the
// second.
type moment struct {
	wall int64 // the Unix time, in seconds, at which a clock in UTC shows it
	// late reports that wall is midnight only because the end of the day
	// before was rounded up: 23:59:59.997 is not a moment of the next day.
	// Less than half a millisecond before midnight counts as midnight with
	// arithmetic noise.
	late      bool
	hasOffset bool // the text had a UTC offset
	offset    int  // seconds east of UTC
}

// convertDate reads a calendar day. It is the day that is written, in every
// time zone; midnight with an offset is that day too. Any other time of day is
// refused, because its day depends on the zone.
func (c *Converter) convertDate(in cell.Cell) (string, *CellError) {
	m, r := c.moment(in)
	if r != nil {
		return "", r
	}
	if m.wall%secondsPerDay != 0 || m.late {
		return "", refuse("date-with-time", "has a time of day; expected a day alone",
			"take the time out of the cell, or map the column as DateTime")
	}
	literal := writeMoment(m.wall)
	if c.Output == AsDate {
		literal = literal[:len(time.DateOnly)]
	}
	return literal, nil
}

// convertDateTime reads an instant: with the text's own offset if it has one,
// else as the time that clocks in Zone showed. A day alone is its midnight, as
// in spreadsheet programs. It is sent in UTC (service document,
// "dateTimeValue").
func (c *Converter) convertDateTime(in cell.Cell) (string, *CellError) {
	m, r := c.moment(in)
	if r != nil {
		return "", r
	}
	unix := m.wall - int64(m.offset)
	if !m.hasOffset {
		if c.Zone == nil {
			return "", refuse(MissingTimezone, "has no time zone", "name the zone it was written in under sheet.timezone, for example Europe/London")
		}
		if unix, r = unixFromWall(m.wall, c.Zone, c.Ambiguous); r != nil {
			return "", r
		}
	}
	if unix < startOfYear1 || unix >= afterYear9999 {
		return "", refuseDayRange()
	}
	return writeMoment(unix), nil
}

// writeMoment writes Unix seconds in RFC 3339, in UTC with Z.
func writeMoment(seconds int64) string {
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}

// moment reads a date cell, or a number or text by the formats.
func (c *Converter) moment(in cell.Cell) (moment, *CellError) {
	switch in.Kind {
	case cell.Date:
		return momentFromSerial(in.Raw, c.Date1904)
	case cell.Number, cell.Text:
		if isElapsed(in) {
			return moment{}, refuseElapsed()
		}
		if len(c.OtherFormats) > 0 {
			return c.momentByAnyFormat(in)
		}
		return c.momentByFormat(in, c.Format)
	}
	return moment{}, refuse("not-date", "is TRUE or FALSE, not a date", "write a date, or map the column as Checkbox")
}

// momentByAnyFormat reads a number or text by whichever of the formats fits.
// When several fit, they must agree.
func (c *Converter) momentByAnyFormat(in cell.Cell) (moment, *CellError) {
	var (
		found   moment
		by      string // the format that read found
		refusal *CellError
	)
	for _, format := range c.formats() {
		m, r := c.momentByFormat(in, format)
		switch {
		case r != nil:
			// That a text is no day count says nothing of the other formats; what is said
			// of a day that one of them reads says most.
			weak := []string{"date-serial", "not-date", "date-number"}
			if refusal == nil || r.Code != "date-serial" && slices.Contains(weak, refusal.Code) {
				refusal = r
			}
		case by == "":
			found, by = m, format
		case m != found:
			return moment{}, refuse("date-ambiguous", "is one date read as "+by+" and another read as "+format,
				"write the date so that only one format of the mapping fits, for example with the month's name; or leave one of the formats out of the mapping")
		}
	}
	if by == "" {
		return moment{}, refusal
	}
	return found, nil
}

// formats returns all formats, at least one.
func (c *Converter) formats() []string {
	return append([]string{c.Format}, c.OtherFormats...)
}

// momentByFormat reads a number or text by one format. A bare number is a day
// count if the format is serial. A number whose shown digits fit the format
// (19800501 with yyyymmdd) counts as a text of these digits.
func (c *Converter) momentByFormat(in cell.Cell, format string) (moment, *CellError) {
	switch {
	case in.Kind == cell.Number && format == serialFormat:
		return momentFromSerial(in.Raw, c.Date1904)
	case in.Kind == cell.Text && format == serialFormat:
		return momentFromSerial(trimToken(in.Raw), c.Date1904)
	case in.Kind == cell.Text:
		return c.momentFromText(trimToken(in.Raw), format)
	}
	if s, r := shownText(in); r == nil && format != "" {
		if m, r := c.momentFromText(s, format); r == nil || r.Code != "not-date" {
			return m, r
		}
	}
	return moment{}, refuse("date-number", "is a bare number, not a date; expected a date cell, or a text written as "+c.expectedDate(),
		"format the column as a date; or write format: serial if it is a spreadsheet's day count")
}

// momentFromText reads a text. Formats are compiled once and kept apart, so that a Converter stays plain data.
func (c *Converter) momentFromText(s, format string) (moment, *CellError) {
	var (
		p  dateParts
		ok bool
	)
	if format == "" {
		p, ok = matchISO(s)
	} else {
		f, err := parseDateFormat(format)
		if err != nil {
			return moment{}, refuse("date-format", "cannot be read as a date: "+err.Error(), "correct the format in the mapping")
		}
		p, ok = f.match(s)
	}
	if !ok {
		return moment{}, refuse("not-date", "is not a date; expected "+c.expectedDate(), c.dateHint())
	}
	if !p.shortYear {
		return p.moment(c.expectedDate())
	}
	if c.Years != SpreadsheetYears {
		p.year = 2000 + p.year%100
	}
	isLate := c.Today != "" && fmt.Sprintf("%04d-%02d-%02d", p.year, p.month, p.day) > c.Today
	if isLate && c.Years == PastYears {
		p.year -= 100
	}
	m, r := p.moment(c.expectedDate())
	if r == nil && isLate && c.Years == SpreadsheetYears {
		return moment{}, refuse("date-future", "has a year of two digits, and would be a day after that of the run",
			"say which century is meant in the mapping: years: past (dates of birth) or years: future; or write the year with four digits")
	}
	return m, r
}

func (c *Converter) expectedDate() string {
	if c.Format != "" {
		return someWords(c.formats())
	}
	if c.Type == DateTime {
		return "ISO 8601 (yyyy-mm-ddThh:mm:ss)"
	}
	return "ISO 8601 (yyyy-mm-dd)"
}

func (c *Converter) dateHint() string {
	if c.Format != "" {
		return "correct the date, or the format in the mapping: d and m take one digit or two, dd and mm exactly two"
	}
	return "correct the date, or say how the column writes dates, for example format: dd/mm/yyyy"
}

// moment checks that the day and the time exist.
func (p dateParts) moment(expected string) (moment, *CellError) {
	switch {
	case p.year < 1:
		return moment{}, refuseDayRange()
	case p.month < 1 || p.month > 12 || p.day < 1 || p.day > daysIn(p.year, p.month):
		return moment{}, refuse("date-impossible", "is not a day of the calendar; expected "+expected,
			"correct the date; if day and month are swapped, correct the format in the mapping")
	case p.hour > 23 || p.minute > 59 || p.second > 59:
		return moment{}, refuse("time-impossible", "has a time that no clock shows; expected "+expected, "correct the time")
	}
	wall := time.Date(p.year, time.Month(p.month), p.day, p.hour, p.minute, p.second, 0, time.UTC).Unix()
	if p.roundUp {
		wall++
	}
	if wall >= afterYear9999 {
		return moment{}, refuseDayRange()
	}
	late := p.roundUp && !p.almostNext && wall%secondsPerDay == 0
	return moment{wall: wall, late: late, hasOffset: p.hasOffset, offset: p.offset}, nil
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// Day 0 of each date system and the limits of dates, in Unix seconds. The 1900
// system counts a 29 February 1900, which never existed, as serial 60; so the
// days before it are counted from one day later.
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
	// maxSerial is beyond 9999-12-31 in both systems; below it, seconds are
	// counted exactly.
	maxSerial = 3e6
)

// momentFromSerial returns the moment of a spreadsheet's day count. A fraction
// of day 0 is a time without a day and is refused.
func momentFromSerial(literal string, date1904 bool) (moment, *CellError) {
	serial, ok := parseSerial(literal)
	if !ok {
		return moment{}, refuse("date-serial", "does not hold a spreadsheet's day count", "type the date again")
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
			"correct the date: spreadsheet programs show a day in 1900 that never existed")
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

// parseSerial accepts digits, a point and an exponent. ParseFloat alone
// accepts more (hexadecimal, infinity), which no spreadsheet writes.
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

func refuseDayRange() *CellError {
	return refuse("date-range", "is outside the years 1 to 9999", "correct the date")
}

// iso8601 matches ISO 8601 in its extended form.
var iso8601 = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z| ?([+-])(\d\d)(?::?(\d\d))?)?)?$`)

// matchISO reads ISO 8601 in its extended form:
//
//	1980-05-01
//	1980-05-01T14:30   1980-05-01T14:30:05   1980-05-01T14:30:05.25
//
// It accepts a space for the T, as databases write it, and after a time Z,
// +01:00, +0100 or +01, and a space before these. Fractions of a second are rounded.
func matchISO(s string) (p dateParts, ok bool) {
	if day, err := time.Parse(time.DateOnly, s); err == nil { // most of them, in a tenth of the time
		return dateParts{year: day.Year(), month: int(day.Month()), day: day.Day()}, true
	}
	at := iso8601.FindStringSubmatch(s)
	if at == nil {
		return p, false
	}
	n := func(i int) int { v, _ := strconv.Atoi(at[i]); return v } // 0 for what is not written
	p = dateParts{year: n(1), month: n(2), day: n(3), hour: n(4), minute: n(5), second: n(6), hasOffset: at[8] != ""}
	p.roundUp, p.almostNext = at[7] >= "5", at[7] >= "9995" // comparing texts compares the decimals
	if p.offset = n(10)*3600 + n(11)*60; at[9] == "-" {
		p.offset = -p.offset
	}
	return p, n(10) <= 14 && n(11) <= 59
}

// AmbiguousTimes says what to do with a time that occurred twice because the
// clocks went back.
type AmbiguousTimes string

// What to do with a time that occurred twice.
const (
	RefuseAmbiguous  AmbiguousTimes = ""        // the cell is refused
	EarlierAmbiguous AmbiguousTimes = "earlier" // the first of the two is taken
)

// unixFromWall returns the instant at which a clock in the zone shows wall,
// which is given as the Unix seconds at which a clock in UTC shows it. When
// clocks change there may be no such instant, which is refused, or two: then
// twice decides.
func unixFromWall(wall int64, zone *time.Location, twice AmbiguousTimes) (int64, *CellError) {
	if zone == time.UTC {
		return wall, nil
	}
	w := time.Unix(wall, 0).UTC()
	t := time.Date(w.Year(), w.Month(), w.Day(), w.Hour(), w.Minute(), w.Second(), 0, zone)
	_, offset := t.Zone()
	if t.Unix()+int64(offset) != wall {
		return 0, refuse("time-skipped", "is a time that did not exist in "+zone.String()+": the clocks went forward over it",
			"correct the time, or write its offset in ISO 8601 (2026-01-31T12:00:00+00:00)")
	}
	// Only another offset gives another instant. Bounds without a change exist: package time
	// ends a zone a day too early in leap years after those that its table lists.
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		_, before := start.Add(-time.Second).Zone()
		if earlier := wall - int64(before); before != offset && earlier < start.Unix() {
			return earlier, twice.refuse(zone)
		}
	}
	if !end.IsZero() {
		_, after := end.Zone()
		if after != offset && wall-int64(after) >= end.Unix() {
			return t.Unix(), twice.refuse(zone)
		}
	}
	return t.Unix(), nil
}

func (a AmbiguousTimes) refuse(zone *time.Location) *CellError {
	if a == EarlierAmbiguous {
		return nil
	}
	return refuse("time-twice", "is a time that occurred twice in "+zone.String()+": the clocks went back over it",
		"write its offset in ISO 8601 (2026-01-31T12:00:00+00:00), or sheet: {ambiguous_times: earlier} in the mapping")
}
