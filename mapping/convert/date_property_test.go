package convert_test

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// anyDay draws a day of the years 1 to 9999.
func anyDay(t *rapid.T) time.Time {
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()/86400, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).Unix()/86400
	return time.Unix(86400*rapid.Int64Range(first, last).Draw(t, "day"), 0).UTC()
}

// dateFormats pairs our formats with the standard library's layouts, which
// write the same.
var dateFormats = map[string]string{
	"":                       "2006-01-02",
	"yyyy-mm-dd":             "2006-01-02",
	"dd/mm/yyyy":             "02/01/2006",
	"d/m/yyyy":               "2/1/2006",
	"mm-dd-yyyy":             "01-02-2006",
	"yyyymmdd":               "20060102",
	"d mmm yyyy":             "2 Jan 2006",
	"mmmm d, yyyy":           "January 2, 2006",
	"dd.mm.yyyy hh:mm":       "02.01.2006 15:04",
	"m/d/yyyy h:mm:ss AM/PM": "1/2/2006 3:04:05 PM",
}

// A day that is written in a format is read as that day, whatever the zone.
func TestDaysComeBack(t *testing.T) {
	everywhere := []*time.Location{nil, time.UTC, location(t, "Europe/London"), location(t, "Pacific/Kiritimati"), location(t, "America/Juneau")}
	rapid.Check(t, func(t *rapid.T) {
		day := anyDay(t)
		zone := rapid.SampledFrom(everywhere).Draw(t, "zone")
		for format, layout := range dateFormats {
			c := convert.Converter{Type: convert.Date, Format: format, Zone: zone}
			value, refusal := c.Convert(text(day.Format(layout)))
			if refusal != nil || value.Literal != day.Format(time.RFC3339) {
				t.Fatalf("%s in %q is read as %q (%v)", day, format, value.Literal, refusal)
			}
		}
	})
}

// A day is never taken for the one beside it: a day count is a day only where it
// is a midnight, give or take half a millisecond, or the half second after one
// that is rounded to it. The same holds for a text.
func TestDaysNeverShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := rapid.IntRange(63, 2_900_000).Draw(t, "day")
		micros := rapid.OneOf(rapid.Int64Range(-3_000, 3_000), rapid.Int64Range(-3e6, 3e6), rapid.Int64Range(-43_200e6, 43_200e6)).Draw(t, "microseconds from midnight")
		exact := 2 + int64(float64(day)*86_400e6/(1<<52)) // microseconds between this day count and the next one
		if distance := micros + 500; -exact < distance && distance < exact || 500_000-exact < micros && micros < 500_000+exact {
			t.Skip("a day count is not that exact")
		}
		midnight := time.Date(1899, 12, 30+day, 0, 0, 0, 0, time.UTC)
		isDay := -500 < micros && micros < 500_000
		date1904 := rapid.Bool().Draw(t, "1904")
		serial := float64(day) + float64(micros)/86_400e6
		if date1904 {
			serial -= 1462
		}
		if date1904 && serial < 1 {
			t.Skip("a time without a day")
		}
		c := convert.Converter{Type: convert.Date, IsBareDate: true, Date1904: date1904}
		for _, in := range []cell.Cell{
			date(strconv.FormatFloat(serial, 'f', -1, 64), ""),
			text(midnight.Add(time.Duration(micros) * time.Microsecond).Format("2006-01-02T15:04:05.000000")),
		} {
			value, refusal := c.Convert(in)
			switch {
			case isDay && (refusal != nil || value.Literal != midnight.Format(time.DateOnly)):
				t.Fatalf("%d µs from midnight: %q is %q, %v; want %s", micros, in.Raw, value.Literal, refusal, midnight.Format(time.DateOnly))
			case !isDay && (refusal == nil || refusal.Code != "date-with-time"):
				t.Fatalf("%d µs from midnight: %q is %q, %v; want a refusal", micros, in.Raw, value.Literal, refusal)
			}
		}
	})
}
