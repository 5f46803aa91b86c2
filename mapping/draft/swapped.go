package draft

import (
	"fmt"
	"regexp"
	"strconv"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

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

// DateColumns looks at the cells of a sheet's columns, and finds those in which a spreadsheet program probably exchanged day and
// month.
type DateColumns struct {
	sheet  cell.Sheet
	orders []dateOrder
}

// NewDateColumns returns an empty DateColumns for a sheet.
func NewDateColumns(sheet cell.Sheet) *DateColumns {
	return &DateColumns{sheet: sheet, orders: make([]dateOrder, len(sheet.Header))}
}

// See looks at a row. It keeps nothing of the record.
func (d *DateColumns) See(record cell.Record) {
	for i := range d.orders {
		d.orders[i].see(record.Cell(i))
	}
}

// Warnings returns a warning for each column of exchanged dates.
func (d *DateColumns) Warnings() (list problem.List) {
	for i := range d.orders {
		why := d.orders[i].evidence()
		if why == "" {
			continue
		}
		list = append(list, problem.At(d.sheet.At(i, d.sheet.HeaderRow), "swapped-dates",
			"“%s”: day and month of the dates may be exchanged. %s: a spreadsheet program leaves that of a sheet "+
				"that has the other order of day and month",
			problem.OneLine(d.sheet.Header[i]), why).
			Hinted("compare some of these rows with the source; if they differ, import the source again with this column as text"))
	}
	return list
}
