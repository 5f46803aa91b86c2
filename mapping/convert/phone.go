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
// numbering plans decide whether it is one. A number without a leading + is
// read as dialled in Region.
//
// A number cell is taken by its shown digits, as they are: where a leading
// zero was lost and the rest is no number, nothing is guessed. Letters are
// refused, so that an extension or a second number is not dropped in silence.
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
	// Possible, not valid: which ranges are given out changes faster than any
	// copy of the plans, and a claimant's number refused is worse than one
	// that rings nowhere.
	if err != nil || phonenumbers.IsPossibleNumberWithReason(number) != phonenumbers.IS_POSSIBLE || keepsTrunk(number) {
		return "", c.refusePhone(in)
	}
	s = phonenumbers.Format(number, phoneFormats[c.Format])
	return s, refuseTooLong(s, c.MaxLength)
}

// keepsTrunk tells of a number that begins with the 0 of its country's trunk
// calls behind the country code: the library leaves it there where digits are
// missing, and such a number is nobody's. (In Italy the 0 is no such prefix, and
// belongs to the number.)
func keepsTrunk(number *phonenumbers.PhoneNumber) bool {
	if !number.GetItalianLeadingZero() {
		return false
	}
	region := phonenumbers.GetRegionCodeForCountryCode(int(number.GetCountryCode()))
	return phonenumbers.GetNddPrefixForRegion(region, true) == "0" && !phonenumbers.IsValidNumber(number)
}

// dialled is a number without what people write between its digits, which the
// library would drop itself, in much more time. Digits of other scripts are
// left to it.
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
		hint = "a number cell loses leading zeros: format the column as text and fill it anew"
	}
	return refuse("not-phone", message, hint)
}

// isPhoneText tells digits and what people write between them, with a + in
// front alone.
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

// numberKey is how a phone key is read that is sent in another format than
// E.164. The client is the number, so that mappings which send it in different
// formats mean the same client by it. It is nil where what is sent is the key
// too: in E.164, or a text as it is written.
func (c *Converter) E164() *Converter {
	if c.IsVerbatim() || phoneFormats[c.Format] == phoneFormats[phoneE164] {
		return nil
	}
	return &Converter{Type: Phone, Format: phoneE164, Region: c.Region}
}

// isVerbatim tells a phone number that is sent as it is written, and so is a
// text like any other.
func (c *Converter) IsVerbatim() bool { return c.Type != Phone || c.Format == phoneRaw }
