package convert

import (
	"claimsheet/mapping/cell"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"
)

// phoneRaw is the format of numbers that are sent as they are written.
const phoneRaw = "raw"

// convertPhone reads one phone number and writes it as Format says. The
// numbering plans decide whether it is a phone number. Without a leading + it
// is read as dialled in Region.
//
// A number cell is read by its shown digits: a leading zero that the
// spreadsheet dropped is not guessed. Letters are refused, so that an
// extension or a second number is not dropped silently.
func (c *Converter) convertPhone(in cell.Cell) (string, *CellError) {
	if in.Kind == cell.Bool || in.Kind == cell.Date || in.Kind == cell.Number && strings.HasPrefix(in.Raw, "-") {
		return "", c.refusePhone(in)
	}
	s, r := shownText(in)
	if r != nil {
		return "", r
	}
	s = trimToken(s)
	if c.Format == phoneRaw {
		if s == "" {
			return "", c.refusePhone(in)
		}
		return s, refuseTooLong(s, c.MaxLength)
	}
	digits, ok := dialled(s)
	if !ok {
		return "", c.refusePhone(in)
	}
	if c.Region == "" && !strings.HasPrefix(digits, "+") {
		return "", refuse("phone-region", "has no country code; expected a number that begins with +",
			"give the value in the mapping the country of such numbers, for example region: GB; a field and a look-up each need their own")
	}
	region := strings.ToUpper(c.Region)
	if phoneFormats[c.Format] == phonenumbers.E164 {
		if m := british.FindStringSubmatch(digits); m != nil && (region == "GB" || digits[0] == '+') {
			s = "+44" + m[1]
			return s, refuseTooLong(s, c.MaxLength)
		}
	}
	// Possible is enough, because the valid ranges change faster than any copy of the plans: refusing
	// a claimant's number is worse than sending one that rings nowhere.
	number, err := phonenumbers.Parse(digits, region)
	if err != nil || phonenumbers.IsPossibleNumberWithReason(number) != phonenumbers.IS_POSSIBLE || keepsTrunk(number) {
		return "", c.refusePhone(in)
	}
	s = phonenumbers.Format(number, phoneFormats[c.Format])
	return s, refuseTooLong(s, c.MaxLength)
}

// british matches most numbers of sheets, as they are dialled in Britain and from abroad. The library takes ten times as long
// to read them as the same numbers.
var british = regexp.MustCompile(`^(?:0|\+44)([1-357-9][0-9]{9})$`)

// IsPhoneIn reports whether a text, dialled in a region, is an assigned phone number of
// the region's country code. It is stricter than a Converter, because it serves to find out whether
// numbers are of a region.
func IsPhoneIn(text, region string) bool {
	digits, ok := dialled(trimToken(text))
	number, err := phonenumbers.Parse(digits, region)
	return ok && err == nil && int(number.GetCountryCode()) == phonenumbers.GetCountryCodeForRegion(region) && phonenumbers.IsValidNumber(number)
}

// InventPhone returns a random number of a region as the format writes it, such as is in no
// sheet: of the British mobile numbers for drama, 07700 900000 to 900999 (Ofcom), or like the
// library's example of the region.
func InventPhone(format, region string) string {
	like := "+447700900000"
	if region = strings.ToUpper(region); region != "" && region != "GB" {
		if example := phonenumbers.GetExampleNumberForType(region, phonenumbers.MOBILE); example != nil {
			like = phonenumbers.Format(example, phonenumbers.E164)
		}
	}
	invented := fmt.Sprintf("%s%03d", like[:len(like)-3], rand.IntN(1000))
	number, err := phonenumbers.Parse(invented, "")
	if err != nil {
		return invented
	}
	return phonenumbers.Format(number, phoneFormats[format])
}

// keepsTrunk reports whether a number has its country's trunk prefix 0 after
// the country code. The library keeps the 0 when digits are missing; such a
// number belongs to nobody. (In Italy the 0 is part of the number, not a
// prefix.)
func keepsTrunk(number *phonenumbers.PhoneNumber) bool {
	if !number.GetItalianLeadingZero() {
		return false
	}
	region := phonenumbers.GetRegionCodeForCountryCode(int(number.GetCountryCode()))
	return phonenumbers.GetNddPrefixForRegion(region, true) == "0" && !phonenumbers.IsValidNumber(number)
}

// dialled returns a number without what people write between its digits; it is not ok with anything else in it, or with a + that is
// not in front.
func dialled(s string) (digits string, ok bool) {
	var b strings.Builder
	for i, r := range s {
		switch {
		case unicode.IsDigit(r):
			b.WriteRune(r)
		case i == 0 && (r == '+' || r == '＋'):
			b.WriteByte('+')
		case !unicode.IsSpace(r) && !unicode.Is(unicode.Pd, r) && !isDirectionMark(r) && !strings.ContainsRune("()./\u2212\u200b\u2060", r):
			return "", false
		}
	}
	return b.String(), true
}

var phoneFormats = map[string]phonenumbers.PhoneNumberFormat{
	"":              phonenumbers.E164,
	"e164":          phonenumbers.E164,
	"national":      phonenumbers.NATIONAL,
	"international": phonenumbers.INTERNATIONAL,
}

func (c *Converter) refusePhone(in cell.Cell) *CellError {
	message := "is not a valid phone number"
	if c.Region != "" {
		message += "; expected one of the region " + c.Region + ", or one with + and a country code"
	}
	hint := "write one number, without words or an extension"
	if in.Kind == cell.Number {
		hint = "a number cell loses leading zeros: format the column as text and fill it again"
	}
	return refuse("not-phone", message, hint)
}

// E164 returns the converter that reads the same cells as E.164 numbers; nil
// when c sends that format already, or a text as it is written. A client key
// uses it, so that mappings that send a number in different formats mean the
// same client.
func (c *Converter) E164() *Converter {
	if c.IsVerbatim() || phoneFormats[c.Format] == phonenumbers.E164 {
		return nil
	}
	return &Converter{Type: Phone, Region: c.Region}
}

// IsVerbatim reports whether the text is sent as it is written: every type except a Phone in a format other than raw.
func (c *Converter) IsVerbatim() bool { return c.Type != Phone || c.Format == phoneRaw }
