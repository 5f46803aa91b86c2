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

// dateFormats are the formats that people and programs write dates in, of one
// separator together. Where several fit equally well, the first is meant.
var dateFormats = func() []string {
	days := []string{
		"yyyy-mm-dd", "yyyy/mm/dd", "yyyymmdd", "yyyy.mm.dd",
		"dd.mm.yyyy", "d.m.yyyy", "dd.mm.yy", "d.m.yy",
		"dd/mm/yyyy", "mm/dd/yyyy", "d/m/yyyy", "m/d/yyyy", "dd/mm/yy", "mm/dd/yy", "d/m/yy", "m/d/yy",
		"dd-mm-yyyy", "mm-dd-yyyy", "d-m-yyyy", "m-d-yyyy", "dd-mm-yy",
		"d mmm yyyy", "d-mmm-yyyy", "d mmmm yyyy", "d-mmm-yy", "d mmm yy", "mmm d, yyyy", "mmmm d, yyyy", "d. mmmm yyyy",
	}
	all := slices.Clone(days)
	for _, time := range []string{" hh:mm", " hh:mm:ss", ", hh:mm", " h:mm AM/PM"} {
		for _, day := range days {
			all = append(all, day+time)
		}
	}
	return append(all, serial)
}()

// serial is the format of a spreadsheet's day count in number cells.
const serial = "serial"

// swapped returns a format with day and month exchanged; "" where that makes no
// format.
func swapped(format string) string {
	day, rest, _ := strings.Cut(format, " ")
	other := ""
	switch {
	case format == serial || strings.Contains(format, "mmm") || strings.HasPrefix(format, "y") || strings.Contains(day, "."):
		return ""
	case strings.HasPrefix(day, "dd"):
		other = "mm" + day[2:3] + "dd" + day[5:]
	case strings.HasPrefix(day, "mm"):
		other = "dd" + day[2:3] + "mm" + day[5:]
	case strings.HasPrefix(day, "d"):
		other = "m" + day[1:2] + "d" + day[3:]
	default:
		other = "d" + day[1:2] + "m" + day[3:]
	}
	if rest != "" {
		other += " " + rest
	}
	return other
}

// dateReading is how the cells of a column can be read as dates.
type dateReading struct {
	formats []string // of text cells; nil when there are none, or all are ISO 8601
	read    int      // cells that read as a date
	filled  int
	timed   bool   // some have a time of day
	why     string // the evidence for the formats
	ask     string // what a person has to decide; "" when the formats are certain
	idle    bool   // the decision is needed before the formats can be used
	order   dateOrder
	unread  []int // the indexes of rows that do not read
	header  headerOrder
	shows   string      // d, m or both: the orders of day and month that cells show
	stated  [][2]string // formats of both orders, that of the header first, where no cell shows the order
}

// headerOrder is what a header says of the order of day and month: “DOB (MM/DD/YYYY)”. The
// zero value is that of a header which says nothing.
type headerOrder struct {
	first     string // d or m
	separator string
}

// orderInHeader matches an order of day and month that stands alone in brackets, or at the end
// behind a comma, colon or dash. Anywhere else a header may say what its cells are not.
var orderInHeader = func() *regexp.Regexp {
	const order = `(dd?|mm?)([-/.])(dd?|mm?)([-/.]y{1,4})?`
	return regexp.MustCompile(`(?i)[(\[]\s*(?:(?:format|in)\s+)?` + order + `\s*[)\]]|(?:[,:]\s*|\s[-–—]\s+)` + order + `\s*$`)
}()

// orderOf reads the order of day and month from a header. Where it has several, or none that
// is clear, it says nothing. Single letters are an order with a year only: D/M and M.D. have
// other meanings.
func orderOf(header string) headerOrder {
	found := orderInHeader.FindAllStringSubmatch(header, -1)
	if len(found) != 1 {
		return headerOrder{}
	}
	parts := found[0][1:5]
	if parts[0] == "" {
		parts = found[0][5:]
	}
	first, second := strings.ToLower(parts[0]), strings.ToLower(parts[2])
	if first[0] == second[0] || parts[3] == "" && (len(first) == 1 || len(second) == 1) {
		return headerOrder{}
	}
	return headerOrder{first[:1], parts[1]}
}

// says is what the header says, in words.
func (h headerOrder) says() string {
	if h.first == "m" {
		return "the header says that the month comes first"
	}
	return "the header says that the day comes first"
}

// isOf reports whether the header speaks of texts that are written in a format.
func (h headerOrder) isOf(format string) bool {
	day, _, _ := strings.Cut(format, " ")
	return h.first != "" && strings.Contains(day, h.separator)
}

// contradicts reports whether the header says another order than a format.
func (h headerOrder) contradicts(format string) bool {
	return h.first != "" && (h.first == "m" && strings.HasPrefix(format, "d") && !strings.Contains(format, "mmm") ||
		h.first == "d" && strings.HasPrefix(format, "m") && !strings.HasPrefix(format, "mmm"))
}

// mostFormats limits how many formats are proposed for one column.
const mostFormats = 3

// readDates finds how a column writes dates. It reads every cell with the converter
// that a run reads it with.
func (c *column) readDates() *dateReading {
	if c.dates == nil {
		c.dates = c.findDates()
	}
	return c.dates
}

func (c *column) findDates() *dateReading {
	d := &dateReading{header: orderOf(c.name)}
	unread := map[string][]int{} // by text, the rows that only a format can read
	var texts []text
	iso := 0
	for i, v := range c.filled() {
		d.filled++
		d.order.see(v, c.is1904, place{row: i})
		if m, ok := readDate(v, "", c.is1904); ok {
			d.read++
			d.timed = d.timed || m
			if v.Kind == cell.Text {
				iso++
			}
			continue
		}
		if v.Kind != cell.Text && v.Kind != cell.Number {
			d.unread = append(d.unread, i)
			continue
		}
		s := textOf(v)
		if unread[s] == nil {
			texts = append(texts, text{s, 0, v.Kind})
		}
		unread[s] = append(unread[s], i)
	}
	for i := range texts {
		texts[i].count = len(unread[texts[i].text])
	}
	rest := d.choose(texts)
	for _, t := range rest {
		d.unread = append(d.unread, unread[t.text]...)
	}
	slices.Sort(d.unread)
	if len(d.formats) > 0 && iso > 0 { // with formats, ISO 8601 is one of them or is not read
		d.formats = append(d.formats, "yyyy-mm-dd")
		d.why += fmt.Sprintf(", %d are yyyy-mm-dd", iso)
	}
	return d
}

// readDate reads a cell as a date, and reports whether it has a time of day.
func readDate(v cell.Cell, format string, is1904 bool) (timed, ok bool) {
	if v.Kind == cell.Number && format == "" {
		return false, false
	}
	if _, refusal := (&convert.Converter{Type: convert.Date, Format: format, Date1904: is1904}).Convert(v); refusal == nil {
		return false, true
	} else if refusal.Code != "date-with-time" {
		return false, false
	}
	return true, true
}

// choose finds the formats that read the most texts, and returns the texts that none
// of them reads.
func (d *dateReading) choose(texts []text) (unread []text) {
	candidates := shortlist(texts)
	var whys []string
	for len(texts) > 0 && len(d.formats) < mostFormats {
		best, most := "", 0
		for _, f := range candidates {
			if n := total(readable(texts, f)); n > most {
				best, most = f, n
			}
		}
		if most == 0 {
			break
		}
		why, ask, isIdle, formats := d.weigh(texts, best)
		d.ask, d.idle = joined(d.ask, ask), d.idle || isIdle
		whys = append(whys, why)
		for _, f := range formats {
			d.formats = append(d.formats, f)
			for _, t := range readable(texts, f) {
				if timed, _ := readDate(cellOf(t), f, false); timed {
					d.timed = true
				}
			}
			texts = slices.DeleteFunc(slices.Clone(texts), func(t text) bool { _, ok := readDate(cellOf(t), f, false); return ok })
		}
		candidates = slices.DeleteFunc(candidates, func(f string) bool { return slices.Contains(d.formats, f) || slices.Contains(d.formats, swapped(f)) })
	}
	d.read = d.filled - len(d.unread) - total(texts)
	d.why = strings.Join(whys, ", ")
	return texts
}

// weigh compares a format with the one that exchanges day and month. A text that only one of
// the two reads decides. Where none does, the header decides. Where that says nothing, both
// are proposed, as where texts show both orders: a run takes no cell that fits both. Any other
// question has to be answered before the format can be used, and is idle.
func (d *dateReading) weigh(texts []text, best string) (why, ask string, isIdle bool, formats []string) {
	fits := readable(texts, best)
	n, all := total(fits), total(texts)
	if best == serial {
		return fmt.Sprintf("%d of %s are plain numbers", n, cellsInWords(all)), "are the plain numbers a spreadsheet's day count?", true, []string{best}
	}
	why = fmt.Sprintf("%d of %s read as %s", n, cellsInWords(all), best)
	if strings.Contains(best, "yy") && !strings.Contains(best, "yyyy") {
		ask, isIdle = "a year of two digits is sent as one of 1930 to 2029; are these the years?", true
	}
	other := swapped(best)
	both, others := 0, 0
	if other != "" {
		both = total(readable(fits, other))
		others = total(readable(texts, other)) - both
		why = fmt.Sprintf("%s, %d fit both orders of day and month", why, both)
		if n > both {
			d.shows += best[:1]
		}
		if others > 0 {
			d.shows += other[:1]
		}
	}
	switch {
	case other != "" && n == both && others == 0 && d.header.isOf(best):
		if d.header.contradicts(best) {
			best, other = other, best
		}
		d.stated = append(d.stated, [2]string{best, other})
		return fmt.Sprintf("%s fit both %s and %s; %s", cellsInWords(n), best, other, d.header.says()), ask, isIdle, []string{best}
	case other != "" && n == both && others == 0:
		return fmt.Sprintf("%s fit both %s and %s", cellsInWords(n), best, other),
			joined("day or month first? No cell shows it; keep one of the two", ask), isIdle, []string{best, other}
	case others > 0:
		return fmt.Sprintf("%d of %s read as %s only, %d as %s only, %d fit both", n-both, cellsInWords(all), best, others, other, both),
			joined("day and month are in both orders; a cell that fits both is invalid until one format is left", ask), isIdle, []string{best, other}
	case d.header.contradicts(best):
		return why, joined(d.header.says()+", and its cells have the other order; which is right?", ask), true, []string{best}
	}
	return why, ask, isIdle, []string{best}
}

func cellsInWords(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return fmt.Sprintf("%d cells", n)
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
		fit := readable(digits, f)
		return len(fit) == 0 || f == serial && count(fit, isDayCount) < len(fit)
	})
}

// isDayCount reports whether a number may be a spreadsheet's day count, of 1920 to 2077.
// Other numbers count something else.
func isDayCount(t text) bool {
	n, err := strconv.ParseFloat(t.text, 64)
	return err == nil && n > 7_300 && n < 65_000
}

// readable returns the texts that a format reads.
func readable(texts []text, format string) []text {
	var fit []text
	for _, t := range texts {
		if _, ok := readDate(cellOf(t), format, false); ok {
			fit = append(fit, t)
		}
	}
	return fit
}

func cellOf(t text) cell.Cell { return cell.Cell{Kind: t.kind, Raw: t.text, Shown: t.text} }

func total(texts []text) int {
	n := 0
	for _, t := range texts {
		n += t.count
	}
	return n
}
