package convert

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"math"
	"strconv"
	"strings"
	"time"
)

// The centuries.
const (
	spreadsheetYears = ""       // 1930 to 2029, and a day after Today is refused
	PastYears        = "past"   // that of the last such day up to Today
	FutureYears      = "future" // 2000 to 2099
)

// moment is a date and time as a clock on the wall shows it.
type moment struct {
	wall      time.Time // when a clock in UTC shows it
	hasOffset bool      // the text had a UTC offset
	offset    int       // seconds east of UTC
}

const wholeDay = 24 * time.Hour

// convertDate reads a calendar day. It is the day that is written, in every
// time zone; midnight with an offset is that day too. Any other time of day is
// refused, because its day depends on the zone. Less than half a millisecond
// before midnight is midnight with arithmetic noise, but 23:59:59.997 is a time.
func (c *Converter) convertDate(in cell.Cell) (string, *CellError) {
	m, r := c.moment(in)
	if r != nil {
		return "", r
	}
	day := m.wall.Round(time.Second)
	if !day.Equal(day.Truncate(wholeDay)) || day.After(m.wall.Round(time.Millisecond)) {
		return "", refuse("date-with-time", "has a time of day; expected a day alone",
			"take the time out of the cell, or map the column as DateTime")
	}
	if c.IsBareDate {
		return day.Format(time.DateOnly), nil
	}
	return day.Format(time.RFC3339), nil
}

// convertDateTime reads an instant, rounded to the second: with the text's own offset if it has one,
// else as the time that clocks in Zone showed. A day alone is its midnight, as
// in spreadsheet programs. It is sent in UTC (service document,
// "dateTimeValue").
func (c *Converter) convertDateTime(in cell.Cell) (string, *CellError) {
	m, r := c.moment(in)
	if r != nil {
		return "", r
	}
	at := m.wall.Round(time.Second)
	switch {
	case m.hasOffset:
		at = at.Add(-time.Duration(m.offset) * time.Second)
	case c.Zone == nil:
		return "", refuse("no-timezone", "has no time zone", "name the zone it was written in under sheet.timezone, for example Europe/London")
	default:
		if at, r = inZone(at, c.Zone); r != nil {
			return "", r
		}
	}
	if at = at.UTC(); at.Year() < 1 || at.Year() > 9999 {
		return "", refuseDayRange
	}
	return at.Format(time.RFC3339), nil
}

// moment reads a date cell, or a number or text by whichever of the formats fits. When several fit, they must agree.
func (c *Converter) moment(in cell.Cell) (found moment, refusal *CellError) {
	switch {
	case in.Kind == cell.Date:
		return momentFromSerial(in.Raw, c.Date1904)
	case in.Kind == cell.Bool:
		return found, refuse("not-date", "is TRUE or FALSE, not a date", "write a date, or map the column as Checkbox")
	case refuseFormat(in) == refuseElapsed:
		return found, refuseElapsed
	case len(c.OtherFormats) == 0:
		return c.momentByFormat(in, c.Format)
	}
	by := "" // the format that read found
	for _, format := range c.formats() {
		m, r := c.momentByFormat(in, format)
		switch {
		case r != nil: // what is said of a day that one of the formats reads says most
			if refusal == nil || refusal.Code == "date-serial" || strings.HasSuffix(r.Code, "-impossible") || r.Code == "date-range" {
				refusal = r
			}
		case by == "":
			found, by = m, format
		case m != found:
			return found, refuse("date-ambiguous", "is one date read as "+by+" and another read as "+format,
				"write the date so that only one format of the mapping fits, for example with the month's name; or leave one of the formats out of the mapping")
		}
	}
	if by == "" {
		return found, refusal
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
	case format == serialFormat:
		return momentFromSerial(trimToken(in.Raw), c.Date1904)
	case in.Kind == cell.Text:
		return c.momentFromText(trimToken(in.Raw), format)
	}
	if s, r := shownText(in); r == nil && format != "" {
		if m, r := c.momentFromText(s, format); r == nil || r.Code != "not-date" && len(s) == len(format) {
			return m, r
		}
	}
	return moment{}, refuse("date-number", "is a bare number, not a date; expected a date cell, or a text written as "+c.expectedDate(),
		"format the column as a date; or write format: serial if it is a spreadsheet's day count")
}

// momentFromText reads a text.
func (c *Converter) momentFromText(s, format string) (moment, *CellError) {
	if format == "" {
		return c.momentFromISO(s)
	}
	f, err := parseDateFormat(format)
	if err != nil {
		return moment{}, refuse("date-format", "cannot be read as a date: "+err.Error(), "correct the format in the mapping")
	}
	if s = FoldSpace(s); f.has("AM/PM") {
		s = strings.ToUpper(s)
	}
	at, err := time.Parse(f.layout, s)
	if err != nil || !f.short {
		return c.checked(moment{wall: at}, err)
	}
	year := 2000 + at.Year()%100
	if c.Years == spreadsheetYears && year >= 2030 {
		year -= 100
	}
	in := func(year int) time.Time { return at.AddDate(year-at.Year(), 0, 0) } // leap years stay so
	if c.Today != "" && in(year).Format(time.DateOnly) > c.Today {
		switch c.Years {
		case PastYears:
			year -= 100
		case spreadsheetYears:
			return moment{}, refuse("date-future", "has a year of two digits, and would be a day after that of the run",
				"say which century is meant in the mapping: years: past (dates of birth) or years: future; or write the year with four digits")
		}
	}
	return c.checked(moment{wall: in(year)}, nil)
}

// isoLayouts are the ways to write ISO 8601 in its extended form.
var isoLayouts = []string{time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04Z07"}

// momentFromISO reads ISO 8601. A space may stand for the T, as databases write it, and before an offset.
func (c *Converter) momentFromISO(s string) (moment, *CellError) {
	const day = len(time.DateOnly)
	if len(s) < day || s[4] != '-' { // most texts that are no dates
		return moment{}, c.refuseDate()
	}
	if len(s) > day && s[day] == ' ' {
		s = s[:day] + "T" + s[day+1:]
	}
	s = strings.Replace(s, " ", "", 1)
	layouts := isoLayouts[1:]
	if len(s) == day {
		layouts = isoLayouts[:1]
	}
	for _, layout := range layouts {
		at, err := time.Parse(layout, s)
		_, offset := at.Zone()
		if err == nil || isImpossible(err) {
			return c.checked(moment{at.Add(time.Duration(offset) * time.Second).UTC(), strings.Contains(layout, "Z"), offset}, err)
		}
	}
	return moment{}, c.refuseDate()
}

// checked returns a moment that was read, or why a text is none.
func (c *Converter) checked(m moment, err error) (moment, *CellError) {
	switch {
	case err == nil && (m.wall.Year() < 1 || m.wall.Round(time.Second).Year() > 9999):
		return moment{}, refuseDayRange
	case err == nil:
		return m, nil
	case !isImpossible(err):
		return moment{}, c.refuseDate()
	case strings.HasSuffix(err.Error(), ": day out of range") || strings.HasSuffix(err.Error(), ": month out of range"):
		return moment{}, refuse("date-impossible", "is not a day of the calendar; expected "+c.expectedDate(),
			"correct the date; if day and month are swapped, correct the format in the mapping")
	}
	return moment{}, refuse("time-impossible", "has a time that no clock shows; expected "+c.expectedDate(), "correct the time")
}

// isImpossible reports whether a text was read, and its day or time does not exist.
func isImpossible(err error) bool { return strings.HasSuffix(err.Error(), " out of range") }

func (c *Converter) refuseDate() *CellError {
	hint := "correct the date, or say how the column writes dates, for example format: dd/mm/yyyy"
	if c.Format != "" {
		hint = "correct the date, or the format in the mapping: d and m take one digit or two, dd and mm exactly two"
	}
	return refuse("not-date", "is not a date; expected "+c.expectedDate(), hint)
}

func (c *Converter) expectedDate() string {
	if c.Format != "" {
		return problem.OrList(c.formats())
	}
	if c.Type == DateTime {
		return "ISO 8601 (yyyy-mm-ddThh:mm:ss)"
	}
	return "ISO 8601 (yyyy-mm-dd)"
}

// Day 0 of each date system. The 1900 system counts a 29 February 1900, which never existed, as serial 60; spreadsheet
// programs do not agree on the days before it, which are refused.
var (
	day0Of1900 = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	day0Of1904 = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
)

const (
	phantomDay = 60
	// maxSerial is beyond 9999-12-31 in both systems.
	maxSerial = 3e6
)

// momentFromSerial returns the moment of a spreadsheet's day count. A fraction
// of day 0 is a time without a day and is refused.
func momentFromSerial(literal string, date1904 bool) (moment, *CellError) {
	serial, err := strconv.ParseFloat(literal, 64)
	if err != nil || strings.Trim(literal, "0123456789.eE+-") != "" { // ParseFloat reads hexadecimal and infinity too
		return moment{}, refuse("date-serial", "does not hold a spreadsheet's day count", "type the date again")
	}
	if serial < 0 || serial >= maxSerial {
		return moment{}, refuseDayRange
	}
	seconds := math.Round(serial * wholeDay.Seconds())
	day := int(seconds / wholeDay.Seconds())
	start := day0Of1900
	switch {
	case date1904 && day == 0 && seconds > 0, !date1904 && day == 0:
		return moment{}, refuse("date-without-day", "holds a time without a day", "write day and time into the cell")
	case date1904:
		start = day0Of1904
	case day <= phantomDay:
		return moment{}, refuse("date-range", "is a day before March 1900, which spreadsheet programs count in different ways",
			"write the date as a text")
	}
	whole, fraction := math.Modf(serial)
	wall := start.AddDate(0, 0, int(whole)).Add(time.Duration(math.Round(fraction*wholeDay.Seconds()*1e6)) * time.Microsecond)
	if wall.Round(time.Second).Year() > 9999 {
		return moment{}, refuseDayRange
	}
	return moment{wall: wall}, nil
}

var refuseDayRange = refuse("date-range", "is outside the years 1 to 9999", "correct the date")

// inZone returns the instant at which a clock in the zone shows what a clock in UTC shows at wall. Where
// clocks change there may be no such instant, or two, and the time is refused.
func inZone(wall time.Time, zone *time.Location) (time.Time, *CellError) {
	var found []time.Time
	for _, days := range []int{-1, 1} { // of a change of clocks between these, both offsets are tried
		_, offset := wall.AddDate(0, 0, days).In(zone).Zone()
		at := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if _, is := at.Zone(); is == offset && (len(found) == 0 || !at.Equal(found[0])) {
			found = append(found, at)
		}
	}
	if len(found) != 1 {
		return wall, refuse("time-of-change", "is a time that clocks in "+zone.String()+" showed twice or never, as they were changed",
			"correct the time; where the mapping gives no format, its offset can be written in ISO 8601 (2026-01-31T12:00:00+00:00)")
	}
	return found[0], nil
}
