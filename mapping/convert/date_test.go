package convert_test

import (
	"testing"

	"claimsheet/mapping/convert"
)

func TestConvertDate(t *testing.T) {
	iso := convert.Converter{Type: convert.Date, IsBareDate: true}
	as := func(format string, others ...string) convert.Converter {
		return convert.Converter{Type: convert.Date, IsBareDate: true, Format: format, OtherFormats: others}
	}
	several, orders := as("dd/mm/yyyy", "d-mmm-yyyy"), as("dd/mm/yyyy", "mm/dd/yyyy")
	yy := as("dd/mm/yy")
	yy.Today = "2026-11-26"
	past, future := yy, yy
	past.Years, future.Years = convert.PastYears, convert.FutureYears
	apple := convert.Converter{Type: convert.Date, IsBareDate: true, Date1904: true}
	serial := as("serial")
	const day, bad, impossible = `"1980-05-01"`, "not-date", "date-impossible"
	runConversions(t, []conversionCase{
		{"output datetime", convert.Converter{Type: convert.Date}, text("1980-05-01"), `"1980-05-01T00:00:00Z"`, ""},
		{"the zone does not matter", convert.Converter{Type: convert.Date, Zone: location(t, "Pacific/Auckland")}, text("1980-05-01"), `"1980-05-01T00:00:00Z"`, ""},
		{"ISO", iso, text(" 1980-05-01\u00a0"), day, ""},
		{"ISO with midnight elsewhere", iso, text("1980-05-01 00:00:00.000+01:00"), day, ""},
		{"ISO with a time", iso, text("1980-04-30T23:00:00Z"), "", "date-with-time"},
		{"ISO with the end of the day before, to the millisecond", iso, text("1980-04-30T23:59:59.9994"), "", "date-with-time"},
		{"ISO with midnight and noise below it", iso, text("1980-04-30T23:59:59.99999979"), day, ""},
		{"no format, day first", iso, text("01/05/1980"), "", bad},
		{"year 0", iso, text("0000-01-01"), "", "date-range"},
		{"year 1", iso, text("0001-01-01"), `"0001-01-01"`, ""},
		{"year 9999", iso, text("9999-12-31"), `"9999-12-31"`, ""},
		{"rounded beyond year 9999", iso, text("9999-12-31T23:59:59.9"), "", "date-range"},

		{"dd/mm/yyyy", as("dd/mm/yyyy"), text("01/05/1980"), day, ""},
		{"month first, taken at its word", as("dd/mm/yyyy"), text("05/13/1980"), "", impossible},
		{"d/m/yyyy of two digits", as("d/m/yyyy"), text("01/05/1980"), day, ""},
		{"upper case", as("DD.MM.YYYY"), text("01.05.1980"), day, ""},
		{"mmmm", as("d mmmm yyyy"), text("1 september 1980"), `"1980-09-01"`, ""},
		{"space is any white space", as("d mmm yyyy"), text("1\u00a0 May\u202f1980"), day, ""},
		{"yy 30", as("dd/mm/yy"), text("01/05/30"), `"1930-05-01"`, ""},
		{"yy of today", yy, text("26/11/26"), `"2026-11-26"`, ""},
		{"yy of tomorrow", yy, text("27/11/26"), "", "date-future"},
		{"yyyy after today", convert.Converter{Type: convert.Date, Format: "dd/mm/yyyy", Today: "2026-11-26"}, text("12/03/2028"), `"2028-03-12T00:00:00Z"`, ""},
		{"yy of the past, 2000s", past, text("26/11/26"), `"2026-11-26"`, ""},
		{"yy of the past, tomorrow", past, text("27/11/26"), `"1926-11-27"`, ""},
		{"yy of the future, after 2029", future, text("31/01/35"), `"2035-01-31"`, ""},
		{"time of day", as("dd/mm/yyyy hh:mm"), text("01/05/1980 00:01"), "", "date-with-time"},
		{"date cell with a declared format", as("mm/dd/yyyy"), date("29342", "1980-05-01"), day, ""},
		{"number of a format of digits, no such day", as("yyyymmdd"), number("19801301"), "", "date-impossible"},
		{"number that lost its leading zero", as("ddmmyyyy"), number("1051980"), "", "date-number"},
		{"number that shows its leading zero", as("ddmmyyyy"), formatted("1051980", "01051980", "00000000"), day, ""},
		{"format that is none", as("dd/qq/yyyy"), text("01/05/1980"), "", "date-format"},

		{"date cell", iso, date("29342", "1980-05-01"), day, ""},
		{"date cell short of midnight by noise", iso, date("29341.999999999996", "1980-05-01"), day, ""},
		{"serial 60", iso, date("60", "1900-02-29"), "", "date-range"},
		{"serial 61", iso, date("61", "1900-03-01"), `"1900-03-01"`, ""},
		{"last serial", iso, date("2958465", "9999-12-31"), `"9999-12-31"`, ""},
		{"negative serial", iso, date("-1", ""), "", "date-range"},
		{"endless serial", iso, date("1E+300", ""), "", "date-range"},
		{"hexadecimal serial", iso, date("0x1p4", ""), "", "date-serial"},
		{"1904: serial 0", apple, date("0", "1904-01-01"), `"1904-01-01"`, ""},
		{"1904: serial 0.5", apple, date("0.5", "12:00:00"), "", "date-without-day"},
		{"1904: the same day", apple, date("27880", "1980-05-01"), day, ""},
		{"1904: beyond", apple, date("2957004", ""), "", "date-range"},
		{"several formats, the second", several, text("1-May-1980"), day, ""},
		{"several formats, no such day", several, text("31-Apr-1980"), "", impossible},
		{"several formats, TRUE", several, boolean(true), "", bad},
		{"two orders of day and month, the same day", orders, text("05/05/1980"), "\"1980-05-05\"", ""},
		{"two orders of day and month, the other exists", orders, text("05/31/1980"), "\"1980-05-31\"", ""},
		{"two orders of the digits of a number", as("yyyymmdd", "ddmmyyyy"), number("12101011"), "", "date-ambiguous"},
		{"a day count or digits", as("serial", "yyyymmdd"), number("29342"), day, ""},

		{"format serial, date in a text", serial, text("1980-05-01"), "", "date-serial"},
	})
}

func TestConvertDateTime(t *testing.T) {
	in := func(zone, format string) convert.Converter {
		return convert.Converter{Type: convert.DateTime, Zone: location(t, zone), Format: format}
	}
	london := in("Europe/London", "")
	nowhere := convert.Converter{Type: convert.DateTime}
	noon := func(z string) string { return `"1980-05-01T` + z + `"` }
	runConversions(t, []conversionCase{
		{"summer", london, text("1980-05-01T14:30:05"), noon("13:30:05Z"), ""},
		{"winter", london, text("1980-01-01T14:30"), `"1980-01-01T14:30:00Z"`, ""},
		{"own offset", london, text("1980-05-01T14:30:05+05:30"), noon("09:00:05Z"), ""},
		{"own offset apart", london, text("1980-05-01 14:30:05 +02:00"), noon("12:30:05Z"), ""},
		{"no zone", nowhere, text("1980-05-01T14:30"), "", "no-timezone"},
		{"no zone, own offset", nowhere, text("1980-05-01T14:30Z"), noon("14:30:00Z"), ""},
		{"date cell", london, date("29342.604166666664", "1980-05-01T14:30:00"), noon("13:30:00Z"), ""},
		{"time alone", london, date("0.5", "12:00:00"), "", "date-without-day"},
		{"minute 60", london, text("1980-05-01T10:60"), "", "time-impossible"},
		{"last day of a leap year after 2037", london, text("2040-12-31T12:00:00"), `"2040-12-31T12:00:00Z"`, ""},
		{"the clocks go forward", london, text("2026-03-29T01:30:00"), "", "time-of-change"},
		{"the clocks go back", london, text("2026-10-25T01:30:00"), "", "time-of-change"},
		{"the clocks go back, own offset", london, text("2026-10-25T01:30:00+01:00"), `"2026-10-25T00:30:00Z"`, ""},
		{"just before they do", london, text("2026-10-25T00:59:59"), `"2026-10-24T23:59:59Z"`, ""},
		{"midnight that never was", in("America/Sao_Paulo", ""), text("2018-11-04"), "", "time-of-change"},
		{"before year 1", in("Asia/Tokyo", ""), text("0001-01-01T00:00"), "", "date-range"},
		{"after year 9999", in("America/New_York", ""), text("9999-12-31T23:00"), "", "date-range"},
		{"format, minutes before the day", in("UTC", "hh:mm dd/mm/yyyy"), text("14:30 01/05/1980"), noon("14:30:00Z"), ""},
		{"format without separators", in("UTC", "yyyymmddhhmmss"), text("19800501143005"), noon("14:30:05Z"), ""},
		{"AM/PM, afternoon", in("UTC", "m/d/yyyy h:mm AM/PM"), text("5/1/1980 2:30 pm"), noon("14:30:00Z"), ""},
		{"AM/PM, midnight", in("UTC", "m/d/yyyy h:mm AM/PM"), text("5/1/1980 12:30 AM"), noon("00:30:00Z"), ""},
		{"AM/PM, hour 13", in("UTC", "m/d/yyyy h:mm AM/PM"), text("5/1/1980 13:30 PM"), "", "time-impossible"},
		{"serial", in("UTC", "serial"), number("29342.75"), noon("18:00:00Z"), ""},
	})
}
