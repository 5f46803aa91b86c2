package apiclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A place is where an answer carries an id or a url:
//
//	/data/id              a JSON Pointer into the body; "" is the whole JSON document
//	text                  the whole body, which is plain text
//	header:X-Client-Id    a header
//	last-segment:PLACE    for ids: the last segment of the path of the url there
const (
	placeText        = "text"
	placeHeader      = "header:"
	placeLastSegment = "last-segment:"
)

// headerName is the name of a header, a token of RFC 9110.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// CheckIDPlace says why place cannot be where an answer carries an id; nil for
// a sound one. A header that holds a url by its definition (Location) needs
// last-segment: in front, because an id is never guessed out of a url.
func CheckIDPlace(place string) error {
	rest, segment := strings.CutPrefix(place, placeLastSegment)
	if name, ok := strings.CutPrefix(rest, placeHeader); ok && !segment {
		switch http.CanonicalHeaderKey(name) {
		case "Location", "Content-Location":
			return fmt.Errorf("the header %s holds a url and not an id: write %q for the last segment of its path", name, placeLastSegment+place)
		}
	}
	return CheckURLPlace(rest)
}

// CheckURLPlace says why place cannot be where an answer carries a url; nil for
// a sound one.
func CheckURLPlace(place string) error {
	name, ok := strings.CutPrefix(place, placeHeader)
	switch {
	case strings.HasPrefix(place, placeLastSegment):
		return errors.New(`"last-segment:" stands once, before the place of an id`)
	case ok && !headerName.MatchString(name):
		return fmt.Errorf("%q is not the name of a header", name)
	case ok || place == placeText:
		return nil
	}
	return CheckPointer(place)
}

// walker follows a JSON Pointer into a document, as follow and followMatch do.
type walker func(doc []byte, pointer string) found

// locate is what stands at a place of an answer. The error completes the
// sentence "the answer …".
func locate(a Answer, place string, walk walker) (found, error) {
	rest, segment := strings.CutPrefix(place, placeLastSegment)
	f, err := valuesAt(a, rest, walk)
	if err != nil || !segment {
		return f, err
	}
	for i, v := range f.values {
		last, err := segmentOf(v)
		if err != nil {
			return found{}, fmt.Errorf("%w at %s", err, rest)
		}
		f.values[i] = encode(last)
	}
	return f, nil
}

func valuesAt(a Answer, place string, walk walker) (found, error) {
	if name, ok := strings.CutPrefix(place, placeHeader); ok {
		var f found
		for _, v := range a.Header.Values(name) {
			f.values = append(f.values, encode(v))
		}
		return f, nil
	}
	if len(a.Body) == 0 {
		return found{}, errors.New("is empty")
	}
	if place == placeText {
		word, err := plainWord(a)
		return found{values: []json.RawMessage{encode(word)}}, err
	}
	doc, ok := document(a.Body)
	if !ok {
		return found{}, errors.New(notJSON(a))
	}
	return walk(doc, place), nil
}

// plainWord is a body that is one word: an id or a url as plain text. A web page
// is none, and neither is JSON that only holds one.
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
	}
	return text, nil
}

// segmentOf is the last segment of the path of a url, absolute or relative.
func segmentOf(value json.RawMessage) (string, error) {
	text, ok := scalar(value)
	if form(value) != "string" || !ok {
		return "", errors.New("has " + article(form(value)) + " instead of a url")
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return "", errors.New("has something else than a url")
	}
	path := u.EscapedPath()
	last, err := url.PathUnescape(path[strings.LastIndex(path, "/")+1:])
	if err != nil || last == "" || !strings.Contains(path, "/") {
		return "", errors.New("has a url whose path does not end with a segment")
	}
	return last, nil
}
