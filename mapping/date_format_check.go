package mapping

import "fmt"

// dateUnit is what several tokens say in different ways.
type dateUnit uint8

const (
	unitNone dateUnit = iota
	unitDay
	unitMonth
	unitYear
	unitHour
	unitMinute
	unitSecond
	unitHalf
)

var dateUnitNames = [...]string{"", "day", "month", "year", "hour", "minute", "second", "AM/PM"}

var dateUnits = [...]dateUnit{
	dateLiteral: unitNone,
	dateDay:     unitDay, dateDay2: unitDay,
	dateMonth: unitMonth, dateMonth2: unitMonth, dateMonthShort: unitMonth, dateMonthLong: unitMonth,
	dateYear2: unitYear, dateYear4: unitYear,
	dateHour: unitHour, dateHour2: unitHour,
	dateMinute2: unitMinute,
	dateSecond2: unitSecond,
	dateHalf:    unitHalf,
}

// check refuses formats that cannot give one certain moment.
func (f *DateFormat) check() error {
	var has [unitHalf + 1]bool
	for i, t := range f.tokens[:f.n] {
		unit := dateUnits[t.kind]
		if unit != unitNone && has[unit] {
			return fmt.Errorf("the date format has the %s twice", dateUnitNames[unit])
		}
		has[unit] = true
		if i+1 < f.n && t.takesOneOrTwo() && f.tokens[i+1].isDigits() {
			return fmt.Errorf("the date format has two numbers side by side, the first of them of one digit or two; write dd, mm or hh, or something between them")
		}
	}
	for _, unit := range []dateUnit{unitDay, unitMonth, unitYear} {
		if !has[unit] {
			return fmt.Errorf("the date format has no %s; expected day, month and year in the tokens %s", dateUnitNames[unit], dateTokens)
		}
	}
	switch {
	case has[unitSecond] && !has[unitMinute]:
		return fmt.Errorf("the date format has seconds without minutes; write mm after h or hh")
	case has[unitHalf] && !has[unitHour]:
		return fmt.Errorf("the date format has AM/PM without an hour; write h or hh")
	}
	return nil
}

func (t dateToken) takesOneOrTwo() bool {
	return t.kind == dateDay || t.kind == dateMonth || t.kind == dateHour
}

func (t dateToken) isDigits() bool {
	switch t.kind {
	case dateLiteral, dateMonthShort, dateMonthLong, dateHalf:
		return false
	}
	return true
}
