package convert

import (
	"claimsheet/mapping/cell"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"
)

// The formats of a Phone.
const (
	phoneE164          = "e164"
	phoneNational      = "national"
	phoneInternational = "international"
	phoneRaw           = "raw"
)

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
	international := strings.HasPrefix(s, "+") || strings.HasPrefix(s, "＋")
	if !isPhoneText(s) {
		return "", c.refusePhone(in)
	}
	if !international && c.Region == "" {
		return "", refuse("phone-region", "has no country code; expected a number that begins with +",
			"give the mapping the region that such numbers belong to, for example region: GB")
	}
	number, err := phonenumbers.Parse(dialled(s), strings.ToUpper(c.Region))
	// Possible is enough, because the valid ranges change faster than any copy of
	// the plans: refusing a claimant's number is worse than sending one that
	// rings nowhere.
	if err != nil || phonenumbers.IsPossibleNumberWithReason(number) != phonenumbers.IS_POSSIBLE || keepsTrunk(number) {
		return "", c.refusePhone(in)
	}
	s = phonenumbers.Format(number, phoneFormats[c.Format])
	return s, refuseTooLong(s, c.MaxLength)
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

// dialled returns a number without what people write between its digits. The
// library would drop it too, but much more slowly. Digits of other scripts are
// left to the library.
func dialled(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r >= '0' && r <= '9', i == 0 && r == '+':
			b.WriteRune(r)
		case i == 0 && r == '＋':
			b.WriteByte('+')
		case unicode.IsDigit(r):
			return s
		}
	}
	return b.String()
}

var phoneFormats = map[string]phonenumbers.PhoneNumberFormat{
	"":                 phonenumbers.E164,
	phoneE164:          phonenumbers.E164,
	phoneNational:      phonenumbers.NATIONAL,
	phoneInternational: phonenumbers.INTERNATIONAL,
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

// isPhoneText reports whether a text has only digits and what people write
// between them, with a + in front only.
func isPhoneText(s string) bool {
	for i, r := range s {
		between := unicode.IsDigit(r) || unicode.IsSpace(r) || unicode.Is(unicode.Pd, r) ||
			isDirectionMark(r) || strings.ContainsRune("()./\u2212\u200b\u2060", r)
		if plus := r == '+' || r == '＋'; !between && (!plus || i > 0) {
			return false
		}
	}
	return true
}

// E164 returns the converter that reads the same cells as E.164 numbers; nil
// when c sends that format already, or a text as it is written. A client key
// uses it, so that mappings that send a number in different formats mean the
// same client.
func (c *Converter) E164() *Converter {
	if c.IsVerbatim() || phoneFormats[c.Format] == phoneFormats[phoneE164] {
		return nil
	}
	return &Converter{Type: Phone, Format: phoneE164, Region: c.Region}
}

// IsVerbatim reports whether the text is sent as it is written: every type
// except a Phone in a format other than raw.
func (c *Converter) IsVerbatim() bool { return c.Type != Phone || c.Format == phoneRaw }
