package draft

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// regionNames are the regions of which a phone number without a country code may be.
var regionNames = []string{"GB", "DE", "IE", "AT", "CH", "US"}

// zones are the time zones of most sheets of a region.
var zones = map[string]string{"GB": "Europe/London", "DE": "Europe/Berlin", "IE": "Europe/Dublin", "AT": "Europe/Vienna",
	"CH": "Europe/Zurich", "US": "America/New_York"}

// country is what a sheet shows about where it is from, apart from its phone numbers without a country code.
type country struct {
	region    string   // "" when nothing shows it
	why       string   // what shows it
	countries []string // in which the language of the headers is spoken
}

// supports reports whether the sheet may be from a region. The language counts only where nothing else shows a region.
func (c country) supports(region string) bool {
	if c.region != "" {
		return region == c.region
	}
	return slices.Contains(c.countries, region)
}

// isEnglish reports whether the sheet is certainly from where numbers have a decimal point.
func (c country) isEnglish() bool { return slices.Contains([]string{"GB", "IE", "US"}, c.region) }

var (
	britishPostcode = regexp.MustCompile(`(?i)^[a-z]{1,2}[0-9][0-9a-z]? ?[0-9][a-z]{2}$`)
	fiveDigits      = regexp.MustCompile(`^[0-9]{5}(-[0-9]{4})?$`)
)

// findCountry finds the country of a sheet.
func (p *proposer) findCountry() country {
	german := count(p.ordinary, func(c *column) bool { return len(among(wordsOf(c.name), germanWords)) > 0 })
	english := count(p.ordinary, func(c *column) bool { return len(among(wordsOf(c.name), englishWords)) > 0 })
	var from country
	switch {
	case german > 1 && german > english:
		from.countries = []string{"DE", "AT", "CH"}
	case english > 1 && english > german:
		from.countries = []string{"GB", "IE", "US"}
	}
	isGerman := from.supports("DE")
	for _, c := range p.ordinary {
		fits := func(pattern *regexp.Regexp) bool {
			return slices.Contains(c.meaning, "postcode") && c.isMostly(c.count(func(v cell.Cell) bool { return pattern.MatchString(textOf(v)) }))
		}
		words := wordsOf(c.name)
		british := c.count(func(v cell.Cell) bool {
			return strings.Contains(textOf(v)+v.Format, "£") || strings.HasPrefix(textOf(v), "+44")
		})
		region, why := "", "post codes"
		switch {
		case fits(britishPostcode):
			region = "GB"
		case fits(fiveDigits) && (isGerman || len(among(words, []string{"plz", "postleitzahl"})) > 0):
			region = "DE"
		case fits(fiveDigits) && slices.Contains(words, "zip"):
			region = "US"
		case british > 0 && 2*british >= c.filled:
			region, why = "GB", "pound signs or +44"
		}
		switch {
		case region == "" || region == from.region && why != "post codes":
		case from.region == "" || region == from.region:
			from.region, from.why = region, why
		default: // they disagree
			return country{}
		}
	}
	return from
}

// isPhone reports whether a cell is written like a phone number.
func isPhone(v cell.Cell) bool {
	digits := 0
	for i, r := range textOf(v) {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r == '+' && i == 0, unicode.IsSpace(r), strings.ContainsRune("()/-–", r):
		default:
			return false
		}
	}
	_, isDate := readDate(v, "", false)
	return digits >= 7 && digits <= 15 && !isDate && v.Kind != cell.Date
}

// mostPhones limits how many numbers are compared with the numbering plans.
const mostPhones = 300

// region finds the region of phone numbers without a country code. It is only returned when it is certain: enough numbers fit it, and
// the rest of the sheet shows it, by its language only where they fit no other region. Of mobile numbers only these count: a mobile
// number of one region is often a landline of another. Else ask is set; the numbers cannot be read until a person adds the region.
func (p *proposer) region(c *column) (name, why, ask string) {
	var local []text
	hasZeros := false
	for _, t := range c.texts {
		switch {
		case strings.HasPrefix(t.text, "00"):
			hasZeros = true
		case !strings.HasPrefix(t.text, "+") && len(local) < mostPhones:
			local = append(local, t)
		}
	}
	if len(local) == 0 {
		if !hasZeros {
			return "", "", ""
		}
		abroad := without(regionNames, []string{"US"}) // in these, 00 means +
		return abroad[max(slices.IndexFunc(abroad, p.country.supports), 0)], "the numbers have a country code after 00", ""
	}
	fits, mobiles := map[string]int{}, map[string]int{} // by region, the numbers that it assigns
	for _, r := range regionNames {
		for _, t := range local {
			valid, mobile := convert.PhoneIn(t.text, r)
			if isExample(t.text) {
				valid, mobile = r == "GB", r == "GB"
			}
			if valid {
				fits[r] += t.count
			}
			if mobile {
				mobiles[r] += t.count
			}
		}
	}
	all, noun := countOf(local), "number"
	if slices.Contains(c.meaning, "mobile") || !isOneTown(local) && slices.ContainsFunc(regionNames, func(r string) bool {
		return p.country.supports(r) && 10*mobiles[r] >= 9*all
	}) {
		fits, noun = mobiles, "mobile number"
	}
	names := slices.Clone(regionNames)
	slices.SortStableFunc(names, func(a, b string) int { return fits[b] - fits[a] })
	var counts, likely []string
	for _, r := range names {
		if fits[r] > 0 && len(counts) < 3 {
			counts = append(counts, fmt.Sprintf("%d fit %s", fits[r], r))
		}
		if float64(fits[r]) >= enough*float64(all) {
			likely = append(likely, r)
		}
	}
	if len(counts) == 0 {
		counts = []string{"0 fit a region that is known here"}
	}
	why = fmt.Sprintf("of %s without +, %s", inWords(all, noun), strings.Join(counts, ", "))
	if p.country.region != "" {
		why += "; the " + p.country.why + " show " + p.country.region
	}
	if i := slices.IndexFunc(likely, p.country.supports); i >= 0 && (p.country.region != "" || len(likely) == 1) {
		return likely[i], why, ""
	}
	return "", why, "which country are the numbers without + of? Until you add region: and the country's two letters, they are invalid"
}

// isOneTown reports whether numbers may be of one town, because they are few or begin alike. Those of some towns look like mobile
// numbers elsewhere.
func isOneTown(numbers []text) bool {
	begin := map[string]int{}
	for _, t := range numbers {
		begin[t.text[:min(len(t.text), 4)]] += t.count
	}
	for _, n := range begin {
		if 4*n > 3*countOf(numbers) {
			return true
		}
	}
	return countOf(numbers) < 10
}

// isExample reports whether a number is one of those that Britain's regulator keeps for films and examples. The numbering plan does
// not assign them, and sheets that try a program out are full of them.
func isExample(s string) bool {
	return strings.HasPrefix(strings.ReplaceAll(s, " ", ""), "07700900")
}
