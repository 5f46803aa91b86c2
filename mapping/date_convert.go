package mapping

import (
	"claimsheet/mapping/cell"
	"time"
)

// LacksTimezone is the code of a cell that is refused for want of a timezone in
// the mapping: it is the mapping that is to be corrected.
const LacksTimezone = "time-zone"

// moment is a date and time as a clock on the wall shows it, rounded to the
// second.
type moment struct {
	wall int64 // seconds of Unix time at which a clock in UTC shows it
	// late reports that wall is a midnight to which the end of the day before was
	// rounded up: 23:59:59.997 is no moment of the next day. What is less than half
	// a millisecond before midnight is midnight with the noise of arithmetic.
	late      bool
	hasOffset bool // the text said how far that clock is from UTC
	offset    int  // seconds east of UTC
}

// convertDate reads a calendar day. It is the day that is written, in every
// time zone: midnight with an offset is that day too. Any other time of day
// is refused, because the day it falls on depends on the zone.
func (c *Conversion) convertDate(in cell.Cell) (string, *Refusal) {
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

// convertDateTime reads an instant: a text's own offset if it has one, else
// the time that clocks in Zone showed. A day alone is its midnight, as it is
// to spreadsheet programs. It is sent in UTC (service document, "dateTimeValue").
func (c *Conversion) convertDateTime(in cell.Cell) (string, *Refusal) {
	m, r := c.moment(in)
	if r != nil {
		return "", r
	}
	unix := m.wall - int64(m.offset)
	if !m.hasOffset {
		if c.Zone == nil {
			return "", refuse(LacksTimezone, "has no time zone", "name the zone it was written in under sheet.timezone, for example Europe/London")
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

// writeMoment writes the one layout that the standard library writes without
// interpreting it; in UTC its zone is Z.
func writeMoment(seconds int64) string {
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}

// moment reads a date cell, a bare number where the format is serial, or a
// text. A number that a person reads as the format says (19800501 by yyyymmdd)
// is as good as a text of these digits.
func (c *Conversion) moment(in cell.Cell) (moment, *Refusal) {
	switch {
	case in.Kind == cell.Date, in.Kind == cell.Number && c.Format == SerialFormat:
		return momentFromSerial(in.Raw, c.Date1904)
	case in.Kind == cell.Text && c.Format == SerialFormat:
		return momentFromSerial(trimToken(in.Raw), c.Date1904)
	case in.Kind == cell.Text:
		return c.momentFromText(trimToken(in.Raw))
	case in.Kind == cell.Number:
		if s, r := shownText(in); r == nil && c.Format != "" {
			if m, r := c.momentFromText(s); r == nil || r.Code != "not-date" {
				return m, r
			}
		}
		return moment{}, refuse("date-number", "is a bare number, not a date; expected a date cell, or a text written as "+c.expectedDate(),
			"format the column as a date; or write format: serial if it is a spreadsheet's day count")
	}
	return moment{}, refuse("not-date", "is TRUE or FALSE, not a date", "write a date, or map the column as Checkbox")
}

// momentFromText compiles the format each time: that costs less than the
// reading, and a Conversion stays plain data that cannot go stale.
func (c *Conversion) momentFromText(s string) (moment, *Refusal) {
	var (
		p  dateParts
		ok bool
	)
	if c.Format == "" {
		p, ok = matchISO(s)
	} else {
		f, err := ParseDateFormat(c.Format)
		if err != nil {
			return moment{}, refuse("date-format", "cannot be read as a date: "+err.Error(), "correct the format in the mapping")
		}
		p, ok = f.match(s)
	}
	if !ok {
		return moment{}, refuse("not-date", "is not a date; expected "+c.expectedDate(), c.dateHint())
	}
	return p.moment(c.expectedDate())
}

func (c *Conversion) expectedDate() string {
	if c.Format != "" {
		return c.Format
	}
	if c.Type == DateTime {
		return "ISO 8601 (yyyy-mm-ddThh:mm:ss)"
	}
	return "ISO 8601 (yyyy-mm-dd)"
}

func (c *Conversion) dateHint() string {
	if c.Format != "" {
		return "correct the date, or the format in the mapping: d and m take one digit or two, dd and mm exactly two"
	}
	return "say how the column writes dates, for example format: dd/mm/yyyy"
}

// moment checks that there is such a day and such a time on the clock.
func (p dateParts) moment(expected string) (moment, *Refusal) {
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
