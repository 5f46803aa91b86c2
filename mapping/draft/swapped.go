package draft

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// dateOrder counts what shows that a spreadsheet program read the dates of a column with day and month exchanged. It makes a date
// of 03/04/2020, the wrong one, and leaves 13/04/2020 a text, because there is no month 13.
type dateOrder struct {
	dates, low, texts, day, month int   // cells that are dates, those with a day up to 12, and texts that are written like dates
	lowRows, dayRows, monthRows   []int // the first rows with such a date, and with a text of which only this number can be the day
}

// firstRows adds a row to the first few.
func firstRows(rows []int, row int) []int {
	const most = 3
	if len(rows) < most {
		rows = append(rows, row)
	}
	return rows
}

// slashed matches the beginning of a date in numbers that begins with its day or its month.
var slashed = regexp.MustCompile(`^([0-9]{1,2})[/-]([0-9]{1,2})[/-][0-9]{2,4}\b`)

func (o *dateOrder) see(v cell.Cell, is1904 bool, row int) {
	switch v.Kind {
	case cell.Date:
		o.dates++
		serial, err := strconv.ParseFloat(v.Raw, 64)
		start := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
		if is1904 {
			start = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		if err == nil && serial >= 1 && serial < 1e6 && start.AddDate(0, 0, int(serial)).Day() <= 12 {
			o.low++
			o.lowRows = firstRows(o.lowRows, row)
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
			o.dayRows = firstRows(o.dayRows, row)
		case second > 12 && first <= 12:
			o.month++
			o.monthRows = firstRows(o.monthRows, row)
		}
	}
}

// evidence says why day and month of the dates are probably exchanged; "" when the cells do not look so.
func (o *dateOrder) evidence(nameOf func(row int) string) string {
	texts, rows, format := o.day, o.dayRows, "dd/mm"
	if o.month > o.day {
		texts, rows, format = o.month, o.monthRows, "mm/dd"
	}
	isMost := func(n, all int) bool { return n > 0 && float64(n) >= enough*float64(all) }
	if !isMost(o.low, o.dates) || !isMost(texts, o.texts) {
		return ""
	}
	all := ""
	if o.low == o.dates && texts == o.texts {
		all = "all "
	}
	list := func(rows []int, count int) string {
		var names []string
		for _, row := range rows {
			names = append(names, nameOf(row))
		}
		if more := count - len(rows); more > 0 {
			return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
		}
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s that are dates %shave a day up to 12 (row %s); %s that stayed texts in the order %s %shave a day over 12 (row %s)",
		cellsInWords(o.low), all, list(o.lowRows, o.low), cellsInWords(texts), format, all, list(rows, texts))
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
		d.orders[i].see(record.Cell(i), d.sheet.Date1904, record.Row)
	}
}

// Warnings returns a warning for each column of exchanged dates.
func (d *DateColumns) Warnings() (list problem.List) {
	for i := range d.orders {
		why := d.orders[i].evidence(strconv.Itoa)
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
