package apiclient

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// DefaultWire reads answers by the field names that the document gives
// (clientId, contactId, claimId); where it gives none (redirect url, data
// type), by the likeliest.
func DefaultWire() Wire {
	return Wire{
		ClientID:    "/clientId",
		ContactID:   "/contactId",
		ClaimID:     "/claimId",
		RedirectURL: "/redirectUrl",
		DataType:    "/dataType",
		LinkBody:    []byte("{}"),
	}
}

// DefaultNotFound takes a 404 and an empty 2xx answer for nobody.
func DefaultNotFound() NotFound {
	return NotFound{Status: []int{http.StatusNotFound}, Empty: true}
}

// only is the one value that a pointer leads to. A repeated key is no trouble
// while both say the same.
func only(values []json.RawMessage, pointer, what string, read func(json.RawMessage) (string, error)) (string, error) {
	if len(values) == 0 {
		return "", errors.New("has no value at " + placeName(pointer))
	}
	text, err := read(values[0])
	for _, v := range values[1:] {
		other, otherErr := read(v)
		if other != text || (err == nil) != (otherErr == nil) {
			return "", errors.New("has two different " + what + "s at " + placeName(pointer))
		}
	}
	if err != nil {
		return "", errors.New(err.Error() + " at " + placeName(pointer))
	}
	return text, nil
}

// placeName names a place in a message.
func placeName(place string) string {
	if place == "" {
		return "its top level"
	}
	return place
}

// identifier is the id that pointer leads to: a string, trimmed, or a whole
// number to its last digit. The error completes the sentence "the answer …"
// and holds nothing of the answer.
func identifier(f found, pointer string) (string, error) {
	return only(f.values, pointer, "id", readID)
}

func readID(value json.RawMessage) (string, error) {
	kind := form(value)
	text, ok := scalar(value)
	switch {
	case kind == "string" && ok:
		text = strings.TrimSpace(text)
	case kind == "number" && !strings.ContainsAny(text, ".eE"):
	case kind == "number":
		return "", errors.New("has a number that is not whole")
	case kind == "null":
		return "", errors.New("has null")
	default:
		return "", errors.New("has " + article(kind) + " instead of an id")
	}
	if err := checkSegment(text); err != nil {
		return "", errors.New("has an id that " + err.Error())
	}
	if mangled(text) {
		return "", errors.New("has an id with a character that cannot be read")
	}
	if len(text) > longestText {
		return "", errors.New("has an id that is longer than a cell of a workbook can hold")
	}
	return text, nil
}

// mangled tells that a text is not what was meant: U+FFFD stands where half a
// surrogate pair was escaped, or where somebody before us lost a character.
func mangled(text string) bool { return strings.ContainsRune(text, utf8.RuneError) }

// link is the redirect url at a place: an absolute http(s) url, as it was
// written, or a relative one, resolved against base. The error is as
// identifier's.
func link(f found, place string, base *url.URL) (string, error) {
	return only(f.values, place, "url", func(value json.RawMessage) (string, error) { return readLink(value, base) })
}

func readLink(value json.RawMessage, base *url.URL) (string, error) {
	kind := form(value)
	text, ok := scalar(value)
	if kind != "string" || !ok {
		return "", errors.New("has " + article(kind) + " instead of a url")
	}
	text = strings.TrimSpace(text)
	if mangled(text) {
		return "", errors.New("has a url with a character that cannot be read")
	}
	if len(text) > longestText {
		return "", errTooLong
	}
	u, err := url.Parse(text)
	if err == nil && isRelative(text) {
		u = base.ResolveReference(u)
		text = u.String()
	}
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		return "", errors.New("has something else than an http(s) url")
	}
	return text, nil
}

// longestText is how long an id or a redirect url may be, in bytes: what a cell
// of a workbook can hold. One that is longer would reach nobody whole.
const longestText = 32_767

var errTooLong = errors.New("has a url that is longer than a cell of a workbook can hold")

// isRelative reports whether text is a relative url that cannot be anything
// else: a bare word is as likely an id, at a place that is wrong.
func isRelative(text string) bool {
	if strings.HasPrefix(text, "//") {
		return false // another host without a scheme
	}
	for _, start := range []string{"/", "./", "../", "?"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

func article(kind string) string {
	switch kind {
	case "object", "array":
		return "an " + kind
	case "null":
		return kind
	}
	return "a " + kind
}
