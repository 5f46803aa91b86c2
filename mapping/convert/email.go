package convert

import (
	"claimsheet/mapping/cell"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// maxEmail is the longest address that mail allows (RFC 5321, 4.5.3.1.3), in
// bytes; maxEmailLocal limits the part before the @.
const (
	maxEmail      = 254
	maxEmailLocal = 64
)

// convertEmail reads one bare e-mail address. The domain is sent in ASCII and
// lower case. The part before the @ is sent as written, because only its own
// server knows whether case matters there.
//
// Display names, several addresses, local parts that are quoted or not ASCII, address
// literals and domains of one label (name@gmail, a typing mistake) are refused.
func (c *Converter) convertEmail(in cell.Cell) (string, *CellError) {
	s := token(in)
	at := strings.IndexByte(s, '@')
	if at > 0 && strings.ContainsFunc(s[:at], func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", refuse("not-email", "has a letter before the @ that is not one of a to z; such addresses are not supported",
			"ask for an address without it")
	}
	if at <= 0 || strings.Count(s, "@") != 1 || at > maxEmailLocal || !isDotAtom(s[:at]) {
		return "", refuseEmail
	}
	// The capital sharp s means the small one, which is a letter of its own in domains today; the
	// library's tables still turn it into ss.
	domain, err := s[at+1:], error(nil)
	if !isPlainDomain(domain) { // nearly all are, and the library takes long
		domain, err = idna.Lookup.ToASCII(strings.ReplaceAll(domain, "ẞ", "ß"))
	}
	if err != nil || !isPlainDomain(domain) {
		return "", refuse("email-domain", "has a part after the @ that is not a domain; expected one such as example.com",
			"correct the e-mail address")
	}
	if s = s[:at+1] + domain; len(s) > maxEmail {
		return "", refuseEmail
	}
	return s, refuseTooLong(s, c.MaxLength)
}

var refuseEmail = refuse("not-email", "is not an e-mail address; expected one bare address, name@domain", "correct the e-mail address")

// isDotAtom reports whether a text is a dot-atom (RFC 5322, 3.2.3).
func isDotAtom(s string) bool {
	isOther := func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&'*+/=?^_`{|}~-", r)
	}
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" || strings.ContainsFunc(atom, isOther) {
			return false
		}
	}
	return true
}

// isPlainDomain reports whether a text is a host name of two labels or more, in lower case, whose last label is not a number.
func isPlainDomain(s string) bool {
	labels := strings.Split(s, ".")
	for _, label := range labels {
		bare := strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-")
		if bare != "" || label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return len(labels) > 1 && !allDigits(labels[len(labels)-1])
}
