package apiclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The places beside JSON Pointers; the second is a prefix. See Wire.
const (
	placeText   = "text"
	placeHeader = "header:"
)

// longestText is how long an id or a redirect url may be, in bytes: as long as a
// cell of a workbook. A longer one would be cut on its way to people.
const longestText = 32_767

var (
	// headerName matches the name of a header, a token of RFC 9110.
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	// uuidBeforeSlash finds a UUID and a slash at the end of a path. Any other segment before
	// a slash may be the name of a list.
	uuidBeforeSlash = regexp.MustCompile(`/[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/$`)
	// relativeURL matches a text that can only be a relative url. A bare word is not one: it may be an id, at a
	// place that is wrong. Two slashes are another host without a scheme.
	relativeURL = regexp.MustCompile(`^(/([^/]|$)|\./|\.\./|\?)`)
)

// CheckPlace says why place cannot be the place of an id or a url; nil for a valid one.
func CheckPlace(place string) error {
	name, ok := strings.CutPrefix(place, placeHeader)
	switch {
	case ok && !headerName.MatchString(name):
		return fmt.Errorf("%q is not the name of a header", name)
	case ok || place == placeText:
		return nil
	}
	return CheckPointer(place)
}

// The errors of the functions below complete the sentence "the answer …" and repeat nothing of the answer.

// errCut is for half a word or half a number, which looks like a whole one; half an object is no JSON.
var errCut = errors.New("was cut, or does not say how long it is")

// locate returns what an answer holds at the place of an id; walk is follow or followMatch. In a header that is defined to hold a
// url, the id is the last segment of its path, but no part of own, the url of the request.
func locate(a Answer, place string, walk func(doc []byte, pointer string) found, own *url.URL) (found, error) {
	f, err := valueAt(a, place, walk)
	if err != nil || !holdsURL(place) || f.value == nil {
		return f, err
	}
	last, err := segmentOf(f.value, own)
	if err != nil {
		return found{}, fmt.Errorf("%w at %s", err, place)
	}
	f.value = encode(last)
	return f, nil
}

func holdsURL(place string) bool {
	return strings.EqualFold(place, placeHeader+"Location") || strings.EqualFold(place, placeHeader+"Content-Location")
}

// valueAt returns what an answer holds at a place, as it is.
func valueAt(a Answer, place string, walk func(doc []byte, pointer string) found) (found, error) {
	if name, ok := strings.CutPrefix(place, placeHeader); ok {
		values := a.Header.Values(name)
		if len(values) == 0 {
			return found{}, nil
		}
		return found{value: encode(values[0]), repeated: len(values) > 1}, nil
	}
	doc, isJSON := document(a.Body)
	switch {
	case len(a.Body) == 0:
		return found{}, errors.New("is empty")
	case place == placeText:
		word, err := plainWord(a)
		return found{value: encode(word)}, err
	case !isJSON:
		return found{}, errors.New(notJSON(a))
	case a.Cut && form(doc) == "number":
		return found{}, errCut
	}
	return walk(doc, place), nil
}

// plainWord returns a body that is one word of plain text: an id or a url. It
// refuses a web page and JSON, even when they hold just one word.
func plainWord(a Answer) (string, error) {
	text := strings.TrimSpace(strings.TrimPrefix(string(a.Body), "\ufeff"))
	switch {
	case isPage(a):
		return "", errors.New("is a web page, not plain text")
	case text != "" && strings.ContainsRune(`{["`, rune(text[0])):
		return "", errors.New("is JSON, not plain text")
	case !utf8.ValidString(text):
		return "", errors.New("is not text in UTF-8")
	case len(strings.Fields(text)) != 1:
		return "", errors.New("is not one word of plain text")
	case a.Cut:
		return "", errCut
	}
	return text, nil
}

// segmentOf returns the last segment of the path of a url, absolute or relative, also
// where a slash follows a UUID. It refuses own and what is above it,
// because a service that has nothing to name may repeat those.
func segmentOf(value json.RawMessage, own *url.URL) (string, error) {
	text, _ := stringOf(value)
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return "", errors.New("does not have a url")
	}
	path := u.EscapedPath()
	if uuidBeforeSlash.MatchString(path) {
		path = strings.TrimSuffix(path, "/")
	}
	last, err := url.PathUnescape(path[strings.LastIndex(path, "/")+1:])
	if err != nil || last == "" || !strings.Contains(path, "/") {
		return "", errors.New("has a url whose path does not end with a segment")
	}
	if strings.EqualFold(last, lastSegment(own)) ||
		strings.HasPrefix(own.Path+"/", own.ResolveReference(u).Path+"/") {
		return "", errors.New("has the url of the request, or a part of it, instead of one with an id")
	}
	return last, nil
}

// lastSegment returns the last segment of a url's path, unescaped.
func lastSegment(u *url.URL) string {
	return u.Path[strings.LastIndex(u.Path, "/")+1:]
}

// only reads the one value at a place. One of several may be the wrong one, also where they look the same.
func (f found) only(place string, read func(json.RawMessage) (string, error)) (string, error) {
	switch {
	case f.value == nil:
		return "", errors.New("has no value at " + placeName(place))
	case f.repeated:
		return "", errors.New("has several values at " + placeName(place))
	}
	text, err := read(f.value)
	if err != nil {
		return "", fmt.Errorf("%w at %s", err, placeName(place))
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

// idAt returns the id at a place of the answer to a request of kind k, whose url is own. The first of several
// things need not be the one that was created, or sought.
func idAt(k Kind, a Answer, place string, own *url.URL) (string, error) {
	walk, crowded := follow, "has a list of several where the id of one is expected, at "+placeName(place)
	if k == FindClient {
		walk, crowded = followMatch, "has more than one match"
	}
	f, err := locate(a, place, walk, own)
	if err == nil && f.crowded {
		err = errors.New(crowded)
	}
	if err != nil {
		return "", err
	}
	return f.only(place, readID)
}

// readID reads an id: a string, trimmed, or a whole number to its last digit.
func readID(value json.RawMessage) (string, error) {
	kind := form(value)
	text, ok := scalar(value)
	text = strings.TrimSpace(text)
	switch {
	case kind == "number" && strings.ContainsAny(text, ".eE"):
		return "", errors.New("has a number that is not whole")
	case kind == "null":
		return "", errors.New("has null")
	case kind != "number" && (kind != "string" || !ok):
		return "", errors.New("has " + article(kind) + " instead of an id")
	case mangled(text):
		return "", errors.New("has an id with a character that cannot be read")
	case len(text) > longestText:
		return "", errors.New("has an id that is longer than a cell of a workbook can hold")
	}
	if err := checkSegment(text); err != nil {
		return "", errors.New("has an id that " + err.Error())
	}
	return text, nil
}

// mangled reports whether a text has lost a character: U+FFFD replaces half an
// escaped surrogate pair, and programs on the way write it for what they cannot
// read.
func mangled(text string) bool { return strings.ContainsRune(text, utf8.RuneError) }

// linkAt returns the redirect url at a place of an answer: an absolute http(s) url
// as it was written, or a relative one, resolved against the request's url, own. Inside
// an answer, the place may choose one link of a list, such as /links/1/href: they are
// the links of one client. An answer that is a list of several is refused, because it
// may be about several clients.
func linkAt(a Answer, place string, own *url.URL) (string, error) {
	f, err := valueAt(a, place, follow)
	if err == nil && f.whole {
		err = errors.New("has a list of several where the redirect url of one is expected, at " + placeName(place))
	}
	if err != nil {
		return "", err
	}
	return f.only(place, func(value json.RawMessage) (string, error) { return readLink(value, own) })
}

func readLink(value json.RawMessage, own *url.URL) (string, error) {
	text, ok := stringOf(value)
	text = strings.TrimSpace(text)
	unreadable := mangled(text)
	u, err := url.Parse(text)
	if err == nil && relativeURL.MatchString(text) {
		u = own.ResolveReference(u)
		text = u.String()
	}
	switch {
	case !ok:
		return "", errors.New("has " + article(form(value)) + " instead of a url")
	case unreadable:
		return "", errors.New("has a url with a character that cannot be read")
	case len(text) > longestText:
		return "", errors.New("has a url that is longer than a cell of a workbook can hold")
	case strings.HasPrefix(text, "//"):
		return "", errors.New("has a url that begins with // (another host, or a path with a slash too many) instead of http:// or https://")
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return "", errors.New("does not have an http(s) url")
	}
	return text, nil
}

// article returns a kind of JSON value with its article, for messages.
func article(kind string) string {
	switch kind {
	case "object", "array":
		return "an " + kind
	case "null":
		return kind
	}
	return "a " + kind
}
