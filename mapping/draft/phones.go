package draft

import (
	"fmt"
	"slices"
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
// the column holds mobile numbers, and only such count then: a mobile number of one
// region is often a landline of another. It is only returned when it is certain: enough
// numbers fit it, and the rest of the sheet shows it. ask is set when it is not; the
// numbers cannot be read until a person adds the region.
func (c *column) region(isMobile bool, from country) (name, why, ask string) {
	var local []string
	for _, v := range c.filled() {
		if s := textOf(v); !isAbroad(s) && len(local) < mostPhones {
			local = append(local, s)
		}
	}
	if len(local) == 0 {
		return c.dialledAbroad(from)
	}
	fits := fitting(local)
	slices.SortStableFunc(fits, func(a, b fit) int { return b.of(isMobile) - a.of(isMobile) })
	var likely []fit // regions that enough numbers fit
	var counts []string
	for _, f := range fits {
		if n := f.of(isMobile); n > 0 {
			counts = append(counts, fmt.Sprintf("%d fit %s", n, f.region))
		}
		if float64(f.of(isMobile)) >= enough*float64(len(local)) {
			likely = append(likely, f)
		}
	}
	why = fmt.Sprintf("of %s without +, %s", numbersInWords(len(local)), strings.Join(counts[:min(len(counts), 3)], ", "))
	if isMobile {
		why = strings.Replace(why, "numbers", "mobile numbers", 1)
	}
	if sure := from.only(likely, local); sure != "" {
		if from.regions != nil {
			why += "; the " + from.why + " show " + sure
		}
		return sure, why, ""
	}
	const until = "until you add region: and the country's two letters, they are invalid"
	switch {
	case len(counts) == 0:
		return "", "", fmt.Sprintf("%s without + fit no region that is known here; %s", numbersInWords(len(local)), until)
	case len(likely) == 1 && from.regions == nil:
		why += "; nothing else in the sheet shows the country"
	case from.regions != nil:
		why += "; the " + from.why + " show " + strings.Join(from.regions, " or ")
	}
	return "", why, "which country are the numbers without + of? " + strings.ToUpper(until[:1]) + until[1:]
}

// dialledAbroad returns a region for numbers that all have a country code. A number
// that begins with 00 needs one, and it is the same in all regions that dial so.
func (c *column) dialledAbroad(from country) (name, why, ask string) {
	zeros, _ := c.count(func(v cell.Cell) bool { return strings.HasPrefix(textOf(v), "00") })
	if zeros == 0 {
		return "", "", ""
	}
	for _, r := range append(slices.Clone(from.regions), "GB") {
		if r != "US" {
			return r, "the numbers have a country code after 00", ""
		}
	}
	return "", "", ""
}

// fit is how many phone numbers are assigned in a region.
type fit struct {
	region         string
	valid, mobiles int
}

func (f fit) of(isMobile bool) int {
	if isMobile {
		return f.mobiles
	}
	return f.valid
}

// fitting counts how many numbers are assigned in each region.
func fitting(numbers []string) []fit {
	var all []fit
	for _, r := range regions {
		f := fit{region: r.name}
		for _, s := range numbers {
			valid, mobile := convert.PhoneIn(s, r.name)
			if example, isMobile := isExample(s); example {
				valid, mobile = r.name == "GB", r.name == "GB" && isMobile
			}
			if valid {
				f.valid++
			}
			if mobile {
				f.mobiles++
			}
		}
		all = append(all, f)
	}
	return all
}

// fewestMobiles is how many numbers it takes to know a region by its mobile numbers.
const fewestMobiles = 10

// only returns the one of the likely regions that the sheet shows; "" for none or
// several. Where its post codes, currency and country codes do not leave one, the
// language decides if no other region is likely, or if nearly all are mobile numbers in
// one region, and none is in the others. Numbers of one town do not show that: those of
// some towns look like mobile numbers elsewhere.
func (c country) only(likely []fit, numbers []string) string {
	found := slices.DeleteFunc(slices.Clone(likely), func(f fit) bool { return !c.supports(f.region) })
	if len(found) == 1 && (c.regions != nil || len(likely) == 1) {
		return found[0].region
	}
	if all := len(numbers); all < fewestMobiles || 10*mostAlike(numbers) > 9*all {
		return ""
	}
	for _, f := range found {
		others := slices.ContainsFunc(likely, func(o fit) bool { return o.region != f.region && o.mobiles > 0 })
		if 10*f.mobiles >= 9*len(numbers) && !others {
			return f.region
		}
	}
	return ""
}

// mostAlike returns how many numbers begin with the same digits as most do.
func mostAlike(numbers []string) int {
	const long, short = 3, 2 // with a trunk prefix and without
	of, most := map[string]int{}, 0
	for _, s := range numbers {
		digits := digitsOf(s)
		n := short
		if strings.HasPrefix(digits, "0") {
			n = long
		}
		digits = digits[:min(n, len(digits))]
		of[digits]++
		most = max(most, of[digits])
	}
	return most
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// exampleNumbers are the beginnings of the national numbers that Britain's regulator
// keeps for films and examples. No plan assigns them, and sheets that try a program
// out are full of them.
var exampleNumbers = []string{"7700900", "1632960", "3069990", "8081570", "9098790"}

// isExample reports whether a number is such a British one, and whether it is a
// mobile's.
func isExample(s string) (ok, isMobile bool) {
	digits := strings.TrimLeft(digitsOf(s), "0")
	return len(digits) == 10 && slices.ContainsFunc(exampleNumbers, func(e string) bool { return strings.HasPrefix(digits, e) }), strings.HasPrefix(digits, "7")
}

func numbersInWords(n int) string {
	if n == 1 {
		return "1 number"
	}
	return fmt.Sprintf("%d numbers", n)
}
