package draft

import (
	"regexp"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// country is what a sheet shows about where it is from, apart from phone numbers
// without a country code.
type country struct {
	regions []string // that its post codes, currency signs and country codes all fit; nil when it has none, or they disagree
	why     string   // what they are
	spoken  []string // where the language of its headers is spoken
}

// supports reports whether the sheet shows a region. The language alone counts only
// where nothing else shows a region.
func (c country) supports(region string) bool {
	if c.regions != nil {
		return slices.Contains(c.regions, region)
	}
	return slices.Contains(c.spoken, region)
}

// isEnglish reports whether the sheet is certainly from where numbers have a decimal
// point.
func (c country) isEnglish() bool {
	return len(c.regions) > 0 && len(without(c.regions, []string{"GB", "IE", "US"})) == 0
}

// isGerman reports whether numbers in the sheet most likely have a decimal comma.
func (c country) isGerman() bool {
	return slices.ContainsFunc([]string{"DE", "AT"}, c.supports)
}

// shown finds the country of a sheet.
func (p *proposer) shown() country {
	made := country{spoken: spokenIn(p.ordinary)}
	var whys []string
	agree := true
	for _, found := range []struct {
		regions []string
		why     string
	}{{p.postcodes(made.spoken), "post codes"}, {p.currencies(), "currency signs"}, {p.countryCodes(), "country codes"}} {
		if found.regions == nil {
			continue
		}
		whys = append(whys, found.why)
		if made.regions == nil {
			made.regions = found.regions
			continue
		}
		made.regions = among(made.regions, found.regions)
		agree = agree && len(made.regions) > 0
	}
	if made.why = strings.Join(whys, " and "); !agree {
		made.regions, made.why = nil, ""
	}
	return made
}

// germanWords and englishWords are words of headers by which a sheet's language is
// known.
var (
	germanWords = []string{"vorname", "nachname", "kunde", "kunden", "kundennr", "kundennummer", "plz", "postleitzahl", "strasse", "ort", "geburtsdatum", "geb", "anrede", "telefon", "tel", "handy", "betrag", "vertragsnr", "vertragsnummer",
		"datum", "kreditbetrag", "laufzeit", "zinssatz", "einwilligung", "bemerkung", "aktiv", "darlehensnr", "kennzeichen", "anschrift", "wohnort"}
	englishWords = []string{"first", "last", "surname", "forename", "phone", "telephone", "address", "lender", "agreement", "number", "date", "amount", "postcode", "town", "birth", "dob", "loan", "client", "customer"}
)

// spokenIn returns the regions that speak the language of most headers; nil when they
// do not show it.
func spokenIn(columns []*column) []string {
	german, english := 0, 0
	for _, c := range columns {
		words := wordsOf(c.name)
		if len(among(words, germanWords)) > 0 {
			german++
		}
		if len(among(words, englishWords)) > 0 {
			english++
		}
	}
	switch {
	case german > 1 && german > english:
		return []string{"DE", "AT", "CH"}
	case english > 1 && english > german:
		return []string{"GB", "IE", "US"}
	}
	return nil
}

var (
	britishPostcode = regexp.MustCompile(`(?i)^[a-z]{1,2}[0-9][0-9a-z]? ?[0-9][a-z]{2}$`)
	irishPostcode   = regexp.MustCompile(`(?i)^[ac-fhknprtv-y][0-9][0-9w] ?[0-9ac-fhknprtv-y]{4}$`)
	fiveDigits      = regexp.MustCompile(`^[0-9]{5}$`)
	fourDigits      = regexp.MustCompile(`^[1-9][0-9]{3}$`)
	zipCode         = regexp.MustCompile(`^[0-9]{5}(-[0-9]{4})?$`)
)

// postcodes returns the regions that the sheet's post codes are of.
func (p *proposer) postcodes(spoken []string) []string {
	isGerman := slices.Contains(spoken, "DE")
	for _, c := range p.ordinary {
		if !slices.Contains(c.meaning, "postcode") {
			continue
		}
		words := wordsOf(c.name)
		isGerman := isGerman || slices.Contains(words, "plz") || slices.Contains(words, "postleitzahl")
		for _, kind := range []struct {
			pattern *regexp.Regexp
			regions []string
			can     bool
		}{
			{britishPostcode, []string{"GB"}, true},
			{irishPostcode, []string{"IE"}, true},
			{fiveDigits, []string{"DE"}, isGerman},
			{fourDigits, []string{"AT", "CH"}, isGerman},
			{zipCode, []string{"US"}, !isGerman && slices.Contains(words, "zip")},
		} {
			if kind.can && c.mostly(func(v cell.Cell) bool { return kind.pattern.MatchString(textOf(v)) }) {
				return kind.regions
			}
		}
	}
	return nil
}

// currencies returns the regions that pay with the only currency whose sign is in
// headers, cells or their formats.
func (p *proposer) currencies() []string {
	var found []string
	for _, currency := range []struct {
		sign    string
		regions []string
	}{{"£", []string{"GB"}}, {"$", []string{"US"}}, {"€", []string{"DE", "AT", "IE"}}, {"CHF", []string{"CH"}}} {
		if !p.hasSign(currency.sign) {
			continue
		}
		if found != nil {
			return nil
		}
		found = currency.regions
	}
	return found
}

// localeFormat is the part of a number format that names a locale: [$-809] has no
// currency, and [$£-809] has one.
var localeFormat = regexp.MustCompile(`\[\$([^-\]]*)(-[^\]]*)?\]`)

// hasSign reports whether a currency sign is in a header, or in enough numbers of a
// column.
func (p *proposer) hasSign(sign string) bool {
	return slices.ContainsFunc(p.seen.columns, func(c *column) bool {
		if strings.Contains(c.name, sign) {
			return true
		}
		with, filled := c.count(func(v cell.Cell) bool {
			if v.Kind == cell.Number {
				return strings.Contains(localeFormat.ReplaceAllString(v.Format, "$1"), sign)
			}
			return v.Kind == cell.Text && len(v.Raw) <= 30 && strings.Contains(v.Raw, sign) && strings.ContainsAny(v.Raw, "0123456789")
		})
		return with > 0 && 5*with >= filled
	})
}

// countryCodes returns the region of the country code that enough of the phone numbers
// with one have.
func (p *proposer) countryCodes() []string {
	found, all := map[string]int{}, 0
	for _, c := range p.ordinary {
		for _, v := range c.filled() {
			s := textOf(v)
			if !isAbroad(s) || !isPhone(v) {
				continue
			}
			if all++; all > mostPhones {
				break
			}
			for _, r := range regions {
				if valid, _ := convert.PhoneIn(s, r.name); valid {
					found[r.name]++
				}
			}
		}
	}
	for _, r := range regions {
		if n := found[r.name]; n > 0 && float64(n) >= enough*float64(all) {
			return []string{r.name}
		}
	}
	return nil
}

// isAbroad reports whether a phone number begins with a country code.
func isAbroad(s string) bool { return strings.HasPrefix(s, "+") || strings.HasPrefix(s, "00") }
