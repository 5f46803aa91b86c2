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

// zones are the time zones of most sheets of a region.
var zones = map[string]string{"GB": "Europe/London", "DE": "Europe/Berlin", "US": "America/New_York"}

var (
	britishPostcode = regexp.MustCompile(`(?i)^[a-z]{1,2}[0-9][0-9a-z]? ?[0-9][a-z]{2}$`)
	fiveDigits      = regexp.MustCompile(`^[0-9]{5}(-[0-9]{4})?$`)
)

// findCountry finds the region that a sheet is from by its post codes, pound signs and +44, and which of them show it; "" where they
// disagree.
func (p *proposer) findCountry() (from, shownBy string) {
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
		case fits(fiveDigits) && len(among(words, []string{"plz", "postleitzahl"})) > 0:
			region = "DE"
		case fits(fiveDigits) && slices.Contains(words, "zip"):
			region = "US"
		case british > 0 && 2*british >= c.filled:
			region, why = "GB", "pound signs or +44"
		}
		switch {
		case region == "" || region == from && why != "post codes":
		case from == "" || region == from:
			from, shownBy = region, why
		default: // they disagree
			return "", ""
		}
	}
	return from, shownBy
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
	_, isDate := readDate(v, "")
	return digits >= 7 && digits <= 15 && !isDate && v.Kind != cell.Date
}

// region returns the region of phone numbers without a country code: the one that the sheet shows, if enough numbers fit it. Else ask
// is set; the numbers cannot be read until a person adds the region.
func (p *proposer) region(c *column) (name, why, ask string) {
	const most = 300 // texts, each of which is compared with the numbering plan
	name = p.country
	local, fit := 0, 0
	for _, t := range c.texts[:min(len(c.texts), most)] {
		if strings.HasPrefix(t.text, "+") {
			continue
		}
		local += t.count
		// The plan does not assign the numbers that Britain's regulator keeps for films.
		isExample := strings.HasPrefix(strings.ReplaceAll(t.text, " ", ""), "07700900")
		if convert.IsPhoneIn(t.text, name) || name == "GB" && isExample {
			fit += t.count
		}
	}
	switch {
	case local == 0:
		return "", "", ""
	case name != "" && float64(fit) >= enough*float64(local):
		return name, fmt.Sprintf("%d of %s without + fit %s; the %s show it", fit, inWords(local, "number"), name, p.countryWhy), ""
	}
	return "", "", "which country are the numbers without + of? Until you add region: and the country's two letters, they are invalid"
}
