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

// region finds the region of phone numbers without a country code: the one that the sheet shows, if enough numbers fit it. Where only the
// language shows where the sheet is from, they must be mobile numbers of one region alone: a mobile number of one is often a landline of
// another. Else ask is set; the numbers cannot be read until a person adds the region.
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
	regions, isShown, all := regionNames, p.country.region != "", countOf(local)
	if isShown {
		regions = []string{p.country.region}
	}
	var likely []string
	for _, r := range regions {
		fit := 0
		for _, t := range local {
			valid, mobile := convert.PhoneIn(t.text, r)
			if mobile || valid && isShown || r == "GB" && isExample(t.text) {
				fit += t.count
			}
		}
		if float64(fit) >= enough*float64(all) {
			likely, why = append(likely, r), fmt.Sprintf("%d of %s without + fit %s", fit, inWords(all, "number"), r)
		}
	}
	switch {
	case len(likely) == 1 && isShown:
		return likely[0], why + "; the " + p.country.why + " show it", ""
	case len(likely) == 1 && p.country.supports(likely[0]) && (isExample(local[0].text) || !isOneTown(local)):
		return likely[0], why, ""
	}
	return "", "", "which country are the numbers without + of? Until you add region: and the country's two letters, they are invalid"
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
