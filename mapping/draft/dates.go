package draft

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// dateFormats are the formats that people and programs write dates in. Where several fit equally well, the first is meant.
// Those that begin with the day and have a monthFirst stand for both orders.
var dateFormats = func() (all []string) {
	for _, time := range []string{"", " hh:mm", " hh:mm:ss", " h:mm AM/PM"} {
		for _, day := range []string{
			"yyyy-mm-dd", "yyyy/mm/dd", "yyyymmdd",
			"dd.mm.yyyy", "d.m.yyyy", "dd.mm.yy", "d.m.yy",
			"dd/mm/yyyy", "d/m/yyyy", "dd/mm/yy", "d/m/yy", "dd-mm-yyyy", "d-m-yyyy", "dd-mm-yy",
			"d mmm yyyy", "d-mmm-yyyy", "d mmmm yyyy", "d-mmm-yy", "d mmm yy", "mmm d, yyyy", "mmmm d, yyyy", "d. mmmm yyyy",
		} {
			all = append(all, day+time)
		}
	}
	return all
}()

// monthFirst returns a format with the month before the day; "" for a format that is not written so.
func monthFirst(format string) string {
	day, time, _ := strings.Cut(format, " ")
	if day[0] != 'd' || !strings.ContainsAny(day, "/-") || strings.Contains(day, "mmm") {
		return ""
	}
	return strings.TrimSuffix(strings.NewReplacer("d", "m", "m", "d").Replace(day)+" "+time, " ")
}

// dateReading is how the cells of a column can be read as dates.
type dateReading struct {
	formats []string // of text cells; nil when there are none, or all are ISO 8601
	read    int      // cells that read as a date
	timed   bool     // some have a time of day
	why     string   // the evidence for the formats
	ask     string   // what a person has to decide; "" when the formats are certain
	order   dateOrder
}

// readDates finds how the column writes dates, with the converter that a run reads the cells with.
func (c *column) readDates() (d dateReading) {
	for _, v := range c.cells {
		d.order.see(v)
	}
	var texts []text
	iso := 0
	for _, t := range c.texts {
		timed, ok := readDate(t.cell, "")
		if t.cell.Kind == cell.Text || t.cell.Kind == cell.Number {
			texts = append(texts, t)
		}
		if !ok {
			continue
		}
		d.read += t.count
		d.timed = d.timed || timed
		if t.cell.Kind == cell.Text {
			iso += t.count
		}
	}
	if float64(iso) < enough*float64(countOf(texts)) { // ISO 8601 is read without a format, and with formats it is one of them
		d.read -= iso
		d.selectFormats(texts)
	}
	return d
}

// readDate reads a cell as a date, and reports whether it has a time of day.
func readDate(v cell.Cell, format string) (timed, ok bool) {
	if v.Kind == cell.Number && format == "" {
		return false, false
	}
	_, refusal := (&convert.Converter{Type: convert.Date, Format: format}).Convert(v)
	return refusal != nil, refusal == nil || refusal.Code == "date-with-time"
}

// selectFormats finds the formats that read the most texts.
func (d *dateReading) selectFormats(texts []text) {
	const maxFormats = 3
	candidates := shortlist(texts)
	var whys []string
	for len(texts) > 0 && len(d.formats) < maxFormats {
		best, most := "", 0
		for _, f := range candidates {
			if day, month, both := compareOrders(texts, f); day+month+both > most {
				best, most = f, day+month+both
			}
		}
		if most == 0 {
			break
		}
		formats, why := d.selectOrder(texts, best)
		whys = append(whys, why)
		d.formats = append(d.formats, formats...)
		texts = slices.DeleteFunc(slices.Clone(texts), func(t text) bool {
			for _, f := range formats {
				if timed, ok := readDate(t.cell, f); ok {
					d.timed = d.timed || timed
					d.read += t.count
					return true
				}
			}
			return false
		})
	}
	d.why = strings.Join(whys, ", ")
}

// compareOrders counts the cells that a format reads only with the day first, only with the month first, and both ways.
func compareOrders(texts []text, format string) (day, month, both int) {
	other := monthFirst(format)
	for _, t := range texts {
		_, isDay := readDate(t.cell, format)
		isMonth := false
		if other != "" {
			_, isMonth = readDate(t.cell, other)
		}
		switch {
		case isDay && isMonth:
			both += t.count
		case isDay:
			day += t.count
		case isMonth:
			month += t.count
		}
	}
	return day, month, both
}

// selectOrder decides between the two orders of a format by the cells that only one of them reads. Where these show no order,
// or both, both formats are proposed: a run refuses a cell that they read differently.
func (d *dateReading) selectOrder(texts []text, format string) (formats []string, why string) {
	all, other := cellsInWords(countOf(texts)), monthFirst(format)
	day, month, both := compareOrders(texts, format)
	switch {
	case other == "":
		return []string{format}, fmt.Sprintf("%d of %s read as %s", day, all, format)
	case day > 0 && month > 0:
		d.ask = joined("day and month are in both orders; a cell that fits both is invalid until one format is left", d.ask)
		return []string{format, other}, fmt.Sprintf("%d of %s read as %s only, %d as %s only, %d fit both", day, all, format, month, other, both)
	case day == 0 && month == 0:
		d.ask = joined("day or month first? No cell shows it; keep one of the two", d.ask)
		return []string{format, other}, fmt.Sprintf("%s fit both %s and %s", cellsInWords(both), format, other)
	case month > 0:
		format = other
	}
	return []string{format}, fmt.Sprintf("%d of %s read as %s, %d fit both orders of day and month", day+month+both, all, format, both)
}

// shortlist returns the formats that read any of the first texts.
func shortlist(texts []text) []string {
	const first = 200
	var digits []text
	for _, t := range texts[:min(len(texts), first)] {
		if len(t.text) >= 5 && len(t.text) <= 40 && strings.ContainsAny(t.text, "0123456789") {
			digits = append(digits, t)
		}
	}
	return slices.DeleteFunc(slices.Clone(dateFormats), func(f string) bool {
		day, month, both := compareOrders(digits, f)
		return day+month+both == 0
	})
}

// dateOrder counts what shows that a spreadsheet program read the dates of a column with day and month exchanged. It makes a date
// of 03/04/2020, the wrong one, and leaves 13/04/2020 a text, because there is no month 13.
type dateOrder struct {
	dates, texts    int // cells that are dates, and texts that are written like dates
	low, day, month int // dates with a day up to 12, and texts of which only the first or the second number can be the day
}

// slashed matches the beginning of a date in numbers that begins with its day or its month.
var slashed = regexp.MustCompile(`^([0-9]{1,2})[/-]([0-9]{1,2})[/-][0-9]{2,4}\b`)

func (o *dateOrder) see(v cell.Cell) {
	switch v.Kind {
	case cell.Date:
		o.dates++
		if len(v.Shown) >= len("2006-01-02") && v.Shown[len("2006-01-"):len("2006-01-02")] <= "12" { // dates are shown as ISO 8601
			o.low++
		}
	case cell.Text:
		parts := slashed.FindStringSubmatch(textOf(v))
		if parts == nil {
			return
		}
		o.texts++
		first, _ := strconv.Atoi(parts[1])
		second, _ := strconv.Atoi(parts[2])
		switch {
		case first > 12 && second <= 12:
			o.day++
		case second > 12 && first <= 12:
			o.month++
		}
	}
}

// evidence says why day and month of the dates are probably exchanged; "" when the cells do not look so.
func (o *dateOrder) evidence() string {
	texts, format := o.day, "dd/mm"
	if o.month > o.day {
		texts, format = o.month, "mm/dd"
	}
	isMost := func(n, all int) bool { return n > 0 && float64(n) >= enough*float64(all) }
	if !isMost(o.low, o.dates) || !isMost(texts, o.texts) {
		return ""
	}
	return fmt.Sprintf("%d of %s that are dates have a day up to 12; %d of %s that stayed texts in the order %s have a day over 12",
		o.low, cellsInWords(o.dates), texts, cellsInWords(o.texts), format)
}
