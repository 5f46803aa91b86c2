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
	dates      int     // cells that are dates
	low        rowList // those with a day up to 12
	texts      int     // that are written like dates
	day, month rowList // texts whose first number can only be a day, and whose second can
}

// rowList counts rows, and keeps the first of them.
type rowList struct {
	count int
	first []int
}

func (l *rowList) add(row int) {
	const mostNamed = 3
	if l.count++; len(l.first) < mostNamed {
		l.first = append(l.first, row)
	}
}

// names lists the rows: 2, 5, 7 and 10 more.
func (l rowList) names(nameOf func(row int) string) string {
	var names []string
	for _, row := range l.first {
		names = append(names, nameOf(row))
	}
	list := strings.Join(names, ", ")
	if more := l.count - len(l.first); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
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
			o.low.add(row)
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
			o.day.add(row)
		case second > 12 && first <= 12:
			o.month.add(row)
		}
	}
}

// evidence says why day and month of the dates are probably exchanged; "" when the cells do not look so.
func (o *dateOrder) evidence(nameOf func(row int) string) string {
	texts, format := o.day, "dd/mm"
	if o.month.count > o.day.count {
		texts, format = o.month, "mm/dd"
	}
	isMost := func(n, all int) bool { return n > 0 && float64(n) >= enough*float64(all) }
	if !isMost(o.low.count, o.dates) || !isMost(texts.count, o.texts) {
		return ""
	}
	all := ""
	if o.low.count == o.dates && texts.count == o.texts {
		all = "all "
	}
	return fmt.Sprintf("%s that are dates %shave a day up to 12 (row %s); %s that stayed texts in the order %s %shave a day over 12 (row %s)",
		cellsInWords(o.low.count), all, o.low.names(nameOf), cellsInWords(texts.count), format, all, texts.names(nameOf))
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
			"“%s”: day and month of the dates may be exchanged. %s: a spreadsheet program leaves that of a sheet that has the other order of day and month",
			problem.OneLine(d.sheet.Header[i]), why).
			Hinted("compare some of these rows with the source; if they differ, import the source again with this column as text"))
	}
	return list
}
