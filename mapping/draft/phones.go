package draft

import (
	"fmt"
	"strings"
	"unicode"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// regions are those of which a phone number without a country code may be, with the
// time zone of most of their sheets.
var regions = []struct{ name, zone string }{
	{"GB", "Europe/London"}, {"DE", "Europe/Berlin"}, {"IE", "Europe/Dublin"}, {"AT", "Europe/Vienna"}, {"CH", "Europe/Zurich"}, {"US", "America/New_York"},
}

// isPhone reports whether a cell is written like a phone number.
func isPhone(v cell.Cell) bool {
	s := textOf(v)
	digits := 0
	for i, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r == '+' && i == 0, unicode.IsSpace(r), strings.ContainsRune("()/-–", r):
		default:
			return false
		}
	}
	if digits < 7 || digits > 15 || v.Kind == cell.Date {
		return false
	}
	_, isDate := readDate(v, "", false)
	return !isDate && !strings.HasSuffix(v.Format, "0.00")
}

func isEmail(v cell.Cell) bool {
	_, refusal := (&convert.Converter{Type: convert.Email}).Convert(v)
	return refusal == nil
}

// mostPhones limits how many numbers are compared with the numbering plans.
const mostPhones = 300

// region finds the region of phone numbers without a country code. isMobile says that
// the column holds mobile numbers, which are told apart better: a mobile number of one
// region is often a landline of another. country is the region that the rest of the sheet shows, "" for none. ask
// is set when no region is certain.
func (c *column) region(isMobile bool, country string) (name, why, ask string) {
	var local []string
	plus := map[string]int{}
	for _, v := range c.filled() {
		s := textOf(v)
		if len(local) == mostPhones {
			break
		}
		if !strings.HasPrefix(s, "+") {
			local = append(local, s)
			continue
		}
		for _, r := range regions {
			if valid, _ := convert.PhoneIn(s, r.name); valid {
				plus[r.name]++
			}
		}
	}
	if len(local) == 0 {
		return "", "", ""
	}
	valid, score := make([]int, len(regions)), make([]int, len(regions))
	best, second := 0, -1
	for i, r := range regions {
		for _, s := range local {
			ok, mobile := convert.PhoneIn(s, r.name)
			if ok {
				valid[i]++
			}
			if ok && !isMobile {
				score[i]++
			}
			if ok && mobile { // a landline of another region is the likelier chance
				score[i]++
			}
		}
		score[i] += 2 * min(plus[r.name], len(local))
		if r.name == country {
			score[i] += len(local) / 4
		}
		if i > 0 && score[i] > score[best] {
			best = i
		}
	}
	for i := range regions {
		if i != best && (second < 0 || score[i] > score[second]) {
			second = i
		}
	}
	why = fmt.Sprintf("%d of %s without + %s assigned in %s, %d in %s", valid[best], numbersInWords(len(local)), isOrAre(valid[best]), regions[best].name, valid[second], regions[second].name)
	switch {
	case valid[best] == 0 && country != "" && possible(local, country):
		return country, fmt.Sprintf("%s without + have the length of numbers in %s, but are not assigned there", numbersInWords(len(local)), country), "which country are the numbers of?"
	case valid[best] == 0:
		return "", "", fmt.Sprintf("%s without a country code fit no region that is known here; add region: and the country's two letters", numbersInWords(len(local)))
	case float64(valid[best]) < enough*float64(len(local)), 3*score[second] > 2*score[best]:
		return regions[best].name, why, "which country are the numbers of?"
	}
	return regions[best].name, why, ""
}

// possible reports whether most numbers are possible in a region.
func possible(numbers []string, region string) bool {
	n := count(numbers, func(s string) bool {
		_, refusal := (&convert.Converter{Type: convert.Phone, Region: region}).Convert(cell.Cell{Kind: cell.Text, Raw: s, Shown: s})
		return refusal == nil
	})
	return float64(n) >= enough*float64(len(numbers))
}

func numbersInWords(n int) string {
	if n == 1 {
		return "1 number"
	}
	return fmt.Sprintf("%d numbers", n)
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
