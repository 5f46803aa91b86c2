package convert_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// zones are some that were or are far from UTC, change by half an hour or at midnight, changed
// their side of the date line, or have an offset with seconds in their past.
func zones(t testing.TB) []*time.Location {
	t.Helper()
	var all []*time.Location
	for name := range strings.FieldsSeq(`UTC Europe/London Europe/Dublin Europe/Amsterdam Europe/Moscow America/New_York America/Sao_Paulo
		America/St_Johns America/Caracas America/Havana America/Scoresbysund America/Juneau Africa/Casablanca Africa/Monrovia Asia/Kathmandu
		Asia/Gaza Asia/Tehran Asia/Pyongyang Asia/Manila Australia/Lord_Howe Pacific/Apia Pacific/Kiritimati Pacific/Kwajalein Antarctica/Troll`) {
		all = append(all, location(t, name))
	}
	return all
}

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
	everywhere := append(zones(t), nil)
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

// An instant that is written with its offset is read as that instant. Without
// the offset it is either that instant, or refused because the clocks were
// changed: then there is another instant that reads the same.
func TestInstantsComeBackInEveryZone(t *testing.T) {
	everywhere := zones(t)
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(everywhere).Draw(t, "zone")
		instant := time.Unix(rapid.Int64Range(-5e9, 5e9).Draw(t, "unix"), 0).In(zone)
		if _, end := instant.ZoneBounds(); !end.IsZero() && rapid.Bool().Draw(t, "near a change") {
			instant = end.Add(time.Duration(rapid.IntRange(-30000, 30000).Draw(t, "seconds")) * time.Second)
		}
		c := convert.Converter{Type: convert.DateTime, Zone: zone}
		want := instant.UTC().Format(time.RFC3339)
		if _, offset := instant.Zone(); offset%60 == 0 {
			value, refusal := c.Convert(text(instant.Format(time.RFC3339)))
			if refusal != nil || value.Literal != want {
				t.Fatalf("%s is read as %q (%v)", instant.Format(time.RFC3339), value.Literal, refusal)
			}
		}
		wall := instant.Format("2006-01-02T15:04:05")
		value, refusal := c.Convert(text(wall))
		twins := twinsOf(instant)
		switch {
		case refusal == nil && (value.Literal != want || twins):
			t.Fatalf("%s in %s is read as %s; want %s, or a refusal if it comes twice (%t)", wall, zone, value.Literal, want, twins)
		case refusal != nil && (refusal.Code != "time-of-change" || !twins):
			t.Fatalf("%s in %s is refused (%s), though it comes once", wall, zone, refusal.Code)
		}
	})
}

// twinsOf searches for another instant that clocks show alike, at every
// distance at which a zone has ever been set back.
func twinsOf(instant time.Time) bool {
	const layout = "2006-01-02T15:04:05"
	wall := instant.Format(layout)
	_, here := instant.Zone()
	for days := -2; days <= 2; days++ {
		for hours := range 24 {
			_, there := instant.Add(time.Duration(24*days+hours) * time.Hour).Zone()
			twin := instant.Add(time.Duration(here-there) * time.Second)
			if !twin.Equal(instant) && twin.Format(layout) == wall {
				return true
			}
		}
	}
	return false
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
