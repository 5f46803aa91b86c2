package convert_test

import (
	"testing"
	"time"

	"claimsheet/mapping/convert"
)

func TestConvertDate(t *testing.T) {
	iso := convert.Converter{Type: convert.Date, Output: convert.AsDate}
	as := func(format string, others ...string) convert.Converter {
		return convert.Converter{Type: convert.Date, Output: convert.AsDate, Format: format, OtherFormats: others}
	}
	several, orders := as("dd/mm/yyyy", "d-mmm-yyyy"), as("dd/mm/yyyy", "mm/dd/yyyy")
	yy := as("dd/mm/yy")
	yy.Today = "2026-11-26"
	past, future := yy, yy
	past.Years, future.Years = convert.PastYears, convert.FutureYears
	apple := convert.Converter{Type: convert.Date, Output: convert.AsDate, Date1904: true}
	serial := as("serial")
	const day, bad, impossible = `"1980-05-01"`, "not-date", "date-impossible"
	runConversions(t, []conversionCase{
		{"output datetime", convert.Converter{Type: convert.Date}, text("1980-05-01"), `"1980-05-01T00:00:00Z"`, ""},
		{"the zone does not matter", convert.Converter{Type: convert.Date, Zone: location(t, "Pacific/Auckland")}, text("1980-05-01"), `"1980-05-01T00:00:00Z"`, ""},
		{"ISO", iso, text(" 1980-05-01\u00a0"), day, ""},
		{"ISO of one digit", iso, text("1980-5-1"), "", bad},
		{"ISO basic", iso, text("19800501"), "", bad},
		{"ISO with midnight", iso, text("1980-05-01T00:00:00Z"), day, ""},
		{"ISO with midnight elsewhere", iso, text("1980-05-01 00:00:00.000+01:00"), day, ""},
		{"ISO with a time", iso, text("1980-04-30T23:00:00Z"), "", "date-with-time"},
		{"ISO with more behind", iso, text("1980-05-01x"), "", bad},
		{"ISO with the end of the day before", iso, text("1980-04-30T23:59:59.997"), "", "date-with-time"},
		{"ISO with the end of the day before, to the millisecond", iso, text("1980-04-30T23:59:59.9994"), "", "date-with-time"},
		{"ISO with midnight and noise below it", iso, text("1980-04-30T23:59:59.99999979"), day, ""},
		{"ISO with midnight and noise above it", iso, text("1980-05-01T00:00:00.00000024"), day, ""},
		{"ISO week", iso, text("1980-W18-4"), "", bad},
		{"ISO of a month", iso, text("1980-05"), "", bad},
		{"no format, day first", iso, text("01/05/1980"), "", bad},
		{"full-width digits", iso, text("１９８０-05-01"), "", bad},
		{"typographic dashes", iso, text("1980–05–01"), "", bad},
		{"29 February of a leap year", iso, text("2000-02-29"), `"2000-02-29"`, ""},
		{"29 February 1900", iso, text("1900-02-29"), "", impossible},
		{"29 February 2023", iso, text("2023-02-29"), "", impossible},
		{"month 0", iso, text("1980-00-01"), "", impossible},
		{"month 13", iso, text("1980-13-01"), "", impossible},
		{"day 0", iso, text("1980-01-00"), "", impossible},
		{"year 0", iso, text("0000-01-01"), "", "date-range"},
		{"year 1", iso, text("0001-01-01"), `"0001-01-01"`, ""},
		{"year 9999", iso, text("9999-12-31"), `"9999-12-31"`, ""},
		{"rounded beyond year 9999", iso, text("9999-12-31T23:59:59.9"), "", "date-range"},
		{"year of five digits", iso, text("12026-01-01"), "", bad},
		{"sentinel words", iso, text("n/a"), "", bad},
		{"bare number", iso, number("29342"), "", "date-number"},
		{"TRUE", iso, boolean(true), "", bad},

		{"dd/mm/yyyy", as("dd/mm/yyyy"), text("01/05/1980"), day, ""},
		{"dd/mm/yyyy of one digit", as("dd/mm/yyyy"), text("1/5/1980"), "", bad},
		{"dd/mm/yyyy with yy", as("dd/mm/yyyy"), text("01/05/80"), "", bad},
		{"dd/mm/yyyy with ISO", as("dd/mm/yyyy"), text("1980-05-01"), "", bad},
		{"dd/mm/yyyy with more behind", as("dd/mm/yyyy"), text("01/05/1980 10:00"), "", bad},
		{"31/04", as("dd/mm/yyyy"), text("31/04/1980"), "", impossible},
		{"29/02/1900", as("dd/mm/yyyy"), text("29/02/1900"), "", impossible},
		{"00/01", as("dd/mm/yyyy"), text("00/01/1980"), "", impossible},
		{"month first, taken at its word", as("dd/mm/yyyy"), text("05/13/1980"), "", impossible},
		{"mm/dd/yyyy", as("mm/dd/yyyy"), text("05/01/1980"), day, ""},
		{"d/m/yyyy", as("d/m/yyyy"), text("1/5/1980"), day, ""},
		{"d/m/yyyy of two digits", as("d/m/yyyy"), text("01/05/1980"), day, ""},
		{"d/m/yyyy of three digits", as("d/m/yyyy"), text("001/5/1980"), "", bad},
		{"upper case", as("DD.MM.YYYY"), text("01.05.1980"), day, ""},
		{"no separators", as("yyyymmdd"), text("19800501"), day, ""},
		{"mmm", as("d mmm yyyy"), text("1 MAY 1980"), day, ""},
		{"mmm with a whole name", as("d mmm yyyy"), text("1 September 1980"), "", bad},
		{"mmmm", as("d mmmm yyyy"), text("1 september 1980"), `"1980-09-01"`, ""},
		{"mmmm with a short name", as("d mmmm yyyy"), text("1 Sep 1980"), "", bad},
		{"month name of another language", as("d mmmm yyyy"), text("1 mai 1980"), "", bad},
		{"space is any white space", as("d mmm yyyy"), text("1\u00a0 May\u202f1980"), day, ""},
		{"quoted text", as(`yyyy"年"m"月"d"日"`), text("1980年5月1日"), day, ""},
		{"escaped text", as(`dd\d mm yyyy`), text("01d 05 1980"), day, ""},
		{"yy 29", as("dd/mm/yy"), text("01/05/29"), `"2029-05-01"`, ""},
		{"yy 30", as("dd/mm/yy"), text("01/05/30"), `"1930-05-01"`, ""},
		{"yy 00", as("dd/mm/yy"), text("29/02/00"), `"2000-02-29"`, ""},
		{"yy after today", yy, text("12/03/28"), "", "date-future"},
		{"yy of today", yy, text("26/11/26"), `"2026-11-26"`, ""},
		{"yy of tomorrow", yy, text("27/11/26"), "", "date-future"},
		{"yyyy after today", convert.Converter{Type: convert.Date, Format: "dd/mm/yyyy", Today: "2026-11-26"}, text("12/03/2028"), `"2028-03-12T00:00:00Z"`, ""},
		{"yy of the past", past, text("12/03/28"), `"1928-03-12"`, ""},
		{"yy of the past, 2000s", past, text("26/11/26"), `"2026-11-26"`, ""},
		{"yy of the past, tomorrow", past, text("27/11/26"), `"1926-11-27"`, ""},
		{"yy of the past, 29 February", past, text("29/02/28"), `"1928-02-29"`, ""},
		{"yy of the future", future, text("12/03/28"), `"2028-03-12"`, ""},
		{"yy of the future, after 2029", future, text("31/01/35"), `"2035-01-31"`, ""},
		{"yy of the future, done with", future, text("31/01/20"), `"2020-01-31"`, ""},
		{"time of midnight", as("dd/mm/yyyy hh:mm"), text("01/05/1980 00:00"), day, ""},
		{"time of day", as("dd/mm/yyyy hh:mm"), text("01/05/1980 00:01"), "", "date-with-time"},
		{"date cell with a declared format", as("mm/dd/yyyy"), date("29342", "1980-05-01"), day, ""},
		{"bare number with a declared format", as("dd/mm/yyyy"), number("29342"), "", "date-number"},
		{"number of a format of digits", as("yyyymmdd"), number("19800501"), day, ""},
		{"number of a format of digits, no such day", as("yyyymmdd"), number("19801301"), "", "date-impossible"},
		{"number that lost its leading zero", as("ddmmyyyy"), number("1051980"), "", "date-number"},
		{"number that shows its leading zero", as("ddmmyyyy"), formatted("1051980", "01051980", "00000000"), day, ""},
		{"number shown as a date", as("yyyy-mm-dd"), formatted("19800501", "1980-05-01", "0000-00-00"), day, ""},
		{"number with a fraction", as("yyyymmdd"), number("19800501.5"), "", "date-number"},
		{"format that is none", as("dd/qq/yyyy"), text("01/05/1980"), "", "date-format"},

		{"date cell", iso, date("29342", "1980-05-01"), day, ""},
		{"date cell with a time", iso, date("29342.5", "1980-05-01T12:00:00"), "", "date-with-time"},
		{"date cell short of midnight by noise", iso, date("29341.999999999996", "1980-05-01"), day, ""},
		{"date cell short of midnight by half a second", iso, date("29341.999994", "1980-05-01"), "", "date-with-time"},
		{"date cell with an exponent", iso, date("2.9342E+4", "1980-05-01"), day, ""},
		{"serial 0", iso, date("0", "00:00:00"), "", "date-without-day"},
		{"serial 0.5", iso, date("0.5", "12:00:00"), "", "date-without-day"},
		{"serial 1", iso, date("1", "1900-01-01"), `"1900-01-01"`, ""},
		{"serial 59", iso, date("59", "1900-02-28"), `"1900-02-28"`, ""},
		{"serial 60", iso, date("60", "1900-02-29"), "", impossible},
		{"serial 59.9999999", iso, date("59.9999999", ""), "", impossible},
		{"serial 61", iso, date("61", "1900-03-01"), `"1900-03-01"`, ""},
		{"last serial", iso, date("2958465", "9999-12-31"), `"9999-12-31"`, ""},
		{"beyond the last serial", iso, date("2958466", ""), "", "date-range"},
		{"negative serial", iso, date("-1", ""), "", "date-range"},
		{"endless serial", iso, date("1E+300", ""), "", "date-range"},
		{"broken serial", iso, date("Inf", ""), "", "date-serial"},
		{"hexadecimal serial", iso, date("0x1p4", ""), "", "date-serial"},
		{"1904: serial 0", apple, date("0", "1904-01-01"), `"1904-01-01"`, ""},
		{"1904: serial 0.5", apple, date("0.5", "12:00:00"), "", "date-without-day"},
		{"1904: serial 60", apple, date("60", "1904-03-01"), `"1904-03-01"`, ""},
		{"1904: the same day", apple, date("27880", "1980-05-01"), day, ""},
		{"1904: last serial", apple, date("2957003", "9999-12-31"), `"9999-12-31"`, ""},
		{"1904: beyond", apple, date("2957004", ""), "", "date-range"},
		{"several formats, the first", several, text("01/05/1980"), day, ""},
		{"several formats, the second", several, text("1-May-1980"), day, ""},
		{"several formats, none", several, text("1980-05-01"), "", bad},
		{"several formats, no such day", several, text("31-Apr-1980"), "", impossible},
		{"several formats, no such day in the first", several, text("31/04/1980"), "", impossible},
		{"several formats, date cell", several, date("29342", "1980-05-01"), day, ""},
		{"several formats, bare number", several, number("29342"), "", "date-number"},
		{"several formats, TRUE", several, boolean(true), "", bad},
		{"two orders of day and month, read differently", orders, text("01/05/1980"), "", "date-ambiguous"},
		{"two orders of day and month, the same day", orders, text("05/05/1980"), "\"1980-05-05\"", ""},
		{"two orders of day and month, one of them exists", orders, text("31/05/1980"), "\"1980-05-31\"", ""},
		{"two orders of day and month, the other exists", orders, text("05/31/1980"), "\"1980-05-31\"", ""},
		{"two orders of day and month, neither exists", orders, text("31/31/1980"), "", impossible},
		{"two formats for one text", as("d/m/yyyy", "dd/mm/yyyy"), text("01/05/1980"), day, ""},
		{"two orders of the digits of a number", as("yyyymmdd", "ddmmyyyy"), number("12101011"), "", "date-ambiguous"},
		{"a day count or digits", as("serial", "yyyymmdd"), number("29342"), day, ""},
		{"digits or a day count", as("serial", "yyyymmdd"), number("19800501"), day, ""},
		{"three formats, the last two differ", as("yyyy-mm-dd", "dd/mm/yyyy", "mm/dd/yyyy"), text("01/05/1980"), "", "date-ambiguous"},

		{"format serial, number", serial, number("29342"), day, ""},
		{"format serial, text", serial, text("29342"), day, ""},
		{"format serial, date cell", serial, date("29342", "1980-05-01"), day, ""},
		{"format serial, date in a text", serial, text("1980-05-01"), "", "date-serial"},
		{"format serial, full-width digits", serial, text("２９３４２"), "", "date-serial"},
	})
}

func TestConvertDateTime(t *testing.T) {
	in := func(zone, format string) convert.Converter {
		return convert.Converter{Type: convert.DateTime, Zone: location(t, zone), Format: format}
	}
	earlier := func(zone string) convert.Converter {
		c := in(zone, "")
		c.Ambiguous = convert.EarlierAmbiguous
		return c
	}
	london := in("Europe/London", "")
	utc := convert.Converter{Type: convert.DateTime, Zone: time.UTC}
	nowhere := convert.Converter{Type: convert.DateTime}
	noon := func(z string) string { return `"1980-05-01T` + z + `"` }
	runConversions(t, []conversionCase{
		{"summer", london, text("1980-05-01T14:30:05"), noon("13:30:05Z"), ""},
		{"winter", london, text("1980-01-01T14:30"), `"1980-01-01T14:30:00Z"`, ""},
		{"space for T", london, text("1980-05-01 14:30:05"), noon("13:30:05Z"), ""},
		{"UTC", utc, text("1980-05-01T14:30:05"), noon("14:30:05Z"), ""},
		{"own Z", london, text("1980-05-01T14:30:05Z"), noon("14:30:05Z"), ""},
		{"own offset", london, text("1980-05-01T14:30:05+05:30"), noon("09:00:05Z"), ""},
		{"own offset without colon", london, text("1980-05-01T14:30:05-0800"), noon("22:30:05Z"), ""},
		{"own offset of hours", london, text("1980-05-01 14:30:05+02"), noon("12:30:05Z"), ""},
		{"own offset apart", london, text("1980-05-01 14:30:05 +02:00"), noon("12:30:05Z"), ""},
		{"offset beyond the world", london, text("1980-05-01T14:30+15:00"), "", "not-date"},
		{"offset of nothing", london, text("1980-05-01T14:30+"), "", "not-date"},
		{"zone's name", london, text("1980-05-01T14:30 BST"), "", "not-date"},
		{"fraction down", london, text("1980-05-01T14:30:05.499Z"), noon("14:30:05Z"), ""},
		{"fraction up", london, text("1980-05-01T14:30:59,5Z"), noon("14:31:00Z"), ""},
		{"no zone", nowhere, text("1980-05-01T14:30"), "", "no-timezone"},
		{"no zone, own offset", nowhere, text("1980-05-01T14:30Z"), noon("14:30:00Z"), ""},
		{"no zone, date cell", nowhere, date("29342.5", "1980-05-01T12:00:00"), "", "no-timezone"},
		{"date cell", london, date("29342.604166666664", "1980-05-01T14:30:00"), noon("13:30:00Z"), ""},
		{"day alone", london, text("1980-05-01"), `"1980-04-30T23:00:00Z"`, ""},
		{"date cell of a day alone", london, date("29342", "1980-05-01"), `"1980-04-30T23:00:00Z"`, ""},
		{"time alone", london, date("0.5", "12:00:00"), "", "date-without-day"},
		{"24:00", london, text("1980-05-01T24:00:00"), "", "time-impossible"},
		{"leap second", london, text("2016-12-31T23:59:60Z"), "", "time-impossible"},
		{"minute 60", london, text("1980-05-01T10:60"), "", "time-impossible"},
		{"last day of a leap year after 2037", london, text("2040-12-31T12:00:00"), `"2040-12-31T12:00:00Z"`, ""},
		{"last day of a leap year after 2037, elsewhere", in("America/Indiana/Indianapolis", ""), text("2056-12-30T19:00:00"), `"2056-12-31T00:00:00Z"`, ""},
		{"the clocks go forward", london, text("2026-03-29T01:30:00"), "", "time-skipped"},
		{"just before", london, text("2026-03-29T00:59:59"), `"2026-03-29T00:59:59Z"`, ""},
		{"just after", london, text("2026-03-29T02:00:00"), `"2026-03-29T01:00:00Z"`, ""},
		{"the clocks go back", london, text("2026-10-25T01:30:00"), "", "time-twice"},
		{"the clocks go back, own offset", london, text("2026-10-25T01:30:00+01:00"), `"2026-10-25T00:30:00Z"`, ""},
		{"just before they do", london, text("2026-10-25T00:59:59"), `"2026-10-24T23:59:59Z"`, ""},
		{"first second that comes twice", london, text("2026-10-25T01:00:00"), "", "time-twice"},
		{"just after they did", london, text("2026-10-25T02:00:00"), `"2026-10-25T02:00:00Z"`, ""},
		{"the clocks go back, the earlier is meant", earlier("Europe/London"), text("2026-10-25T01:30:00"), `"2026-10-25T00:30:00Z"`, ""},
		{"the earlier of the first second", earlier("Europe/London"), text("2026-10-25T01:00:00"), `"2026-10-25T00:00:00Z"`, ""},
		{"the earlier of the last second", earlier("Europe/London"), text("2026-10-25T01:59:59"), `"2026-10-25T00:59:59Z"`, ""},
		{"the earlier, west of Greenwich", earlier("America/New_York"), text("2026-11-01T01:30:00"), `"2026-11-01T05:30:00Z"`, ""},
		{"the earlier, once only", earlier("Europe/London"), text("2026-10-25T02:00:00"), `"2026-10-25T02:00:00Z"`, ""},
		{"the earlier, own offset", earlier("Europe/London"), text("2026-10-25T01:30:00Z"), `"2026-10-25T01:30:00Z"`, ""},
		{"the earlier of none", earlier("Europe/London"), text("2026-03-29T01:30:00"), "", "time-skipped"},
		{"midnight that never was", in("America/Sao_Paulo", ""), text("2018-11-04"), "", "time-skipped"},
		{"day that never was", in("Pacific/Apia", ""), text("2011-12-30T12:00"), "", "time-skipped"},
		{"half an hour that comes twice", in("Australia/Lord_Howe", ""), text("2026-04-05T01:45"), "", "time-twice"},
		{"before year 1", in("Asia/Tokyo", ""), text("0001-01-01T00:00"), "", "date-range"},
		{"after year 9999", in("America/New_York", ""), text("9999-12-31T23:00"), "", "date-range"},
		{"format", in("Europe/London", "dd/mm/yyyy hh:mm:ss"), text("01/05/1980 14:30:05"), noon("13:30:05Z"), ""},
		{"format, minutes before the day", in("UTC", "hh:mm dd/mm/yyyy"), text("14:30 01/05/1980"), noon("14:30:00Z"), ""},
		{"format without separators", in("UTC", "yyyymmddhhmmss"), text("19800501143005"), noon("14:30:05Z"), ""},
		{"AM/PM, afternoon", in("UTC", "m/d/yyyy h:mm AM/PM"), text("5/1/1980 2:30 pm"), noon("14:30:00Z"), ""},
		{"AM/PM, midnight", in("UTC", "m/d/yyyy h:mm AM/PM"), text("5/1/1980 12:30 AM"), noon("00:30:00Z"), ""},
		{"AM/PM, noon", in("UTC", "m/d/yyyy h:mm AM/PM"), text("5/1/1980 12:30 PM"), noon("12:30:00Z"), ""},
		{"AM/PM, hour 13", in("UTC", "m/d/yyyy h:mm AM/PM"), text("5/1/1980 13:30 PM"), "", "time-impossible"},
		{"AM/PM missing", in("UTC", "m/d/yyyy h:mm AM/PM"), text("5/1/1980 2:30"), "", "not-date"},
		{"hour 25 by format", in("UTC", "dd/mm/yyyy hh:mm"), text("01/05/1980 25:00"), "", "time-impossible"},
		{"serial", in("UTC", "serial"), number("29342.75"), noon("18:00:00Z"), ""},
	})
}
