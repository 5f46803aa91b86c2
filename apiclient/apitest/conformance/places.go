package conformance

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// found is a place of an answer that may be the one of an id or a url, written as the
// environment's wire does.
type found struct {
	place, value string
	rank         int // how well its name fits
}

// best returns the place with the best name. ok is false when there is none, or when two places fit
// equally well and hold different values. of is a value that is right for sure; "" for
// none: then only places with it count.
func best(all []found, of string) (found, bool) {
	if of != "" {
		all = slices.DeleteFunc(slices.Clone(all), func(f found) bool { return f.value != of })
	}
	if len(all) == 0 {
		return found{}, false
	}
	first := slices.MaxFunc(all, func(a, b found) int {
		return cmp.Or(a.rank-b.rank, len(b.place)-len(a.place), strings.Compare(b.place, a.place))
	})
	return first, !slices.ContainsFunc(all, func(f found) bool { return f.rank == first.rank && f.value != first.value })
}

// idPlaces returns where an answer may have the id of a thing of a kind: client,
// contact, claim or activity.
func idPlaces(a answer, kind string) []found {
	var all []found
	add := func(place, value string, rank int) {
		if rank > 0 && isID(value) {
			all = append(all, found{place, value, rank})
		}
	}
	for _, name := range []string{"Location", "Content-Location"} {
		if id, of := lastSegment(a.header.Get(name), a.url); id != "" {
			add("last-segment:header:"+name, id, segmentRank(of, kind))
		}
	}
	for name := range a.header {
		if plainly(name) == kind+"id" {
			add("header:"+name, strings.TrimSpace(a.header.Get(name)), 4)
		}
	}
	if word := a.word(); word != "" {
		add("text", word, 3)
		return all
	}
	if !a.isJSON {
		return all
	}
	for _, l := range leaves(a.doc) {
		text, isText := l.value.(string)
		number, isNumber := l.value.(json.Number)
		switch {
		case l.crowded:
		case l.pointer == "" && (isText || isNumber):
			add("", cmp.Or(text, number.String()), 3)
		case isText && isLink(text):
			if id, of := lastSegment(text, a.url); id != "" && slices.Contains([]string{"self", "href", "url", "uri", "location"}, plainly(l.name)) && segmentRank(of, kind) > 1 {
				add("last-segment:"+l.pointer, id, 1)
			}
		case isText:
			add(l.pointer, strings.TrimSpace(text), idRank(l, kind))
		case isNumber:
			add(l.pointer, number.String(), idRank(l, kind))
		}
	}
	return all
}

// idRank says how well the name of a field fits the id of a thing of a kind; 0 for not at
// all.
func idRank(l leaf, kind string) int {
	name, parent := plainly(l.name), plainly(l.parent)
	around := parent == "" || slices.Contains([]string{kind, kind + "s", "data", "result", "results", "item", "items", "value", "response", "payload"}, parent)
	switch {
	case slices.Contains([]string{kind + "id", kind + "uuid", kind + "guid", kind + "identifier"}, name):
		return 4
	case slices.Contains([]string{"id", "uuid", "guid", "identifier"}, name) && around:
		return 3
	case name == kind, kind == "client" && name == "contactid", kind == "contact" && name == "clientid":
		return 2
	}
	return 0
}

// segmentRank says how well the path segment before the last one fits a thing of a kind.
func segmentRank(of, kind string) int {
	if of == kind || of == kind+"s" || kind == "activity" && of == "activities" {
		return 3
	}
	return 1
}

// idText matches what an id looks like: no date, no address and no sentence.
var (
	idText   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~=+-]{0,199}$`)
	dateText = regexp.MustCompile(`^\d{4}-\d\d-\d\d`)
)

func isID(text string) bool {
	return idText.MatchString(text) && (!dateText.MatchString(text) || uuidText.MatchString(text))
}

// lastSegment returns the last segment of the path of a url and the one before it; ""
// for a url that only repeats that of the request, or a part of it.
func lastSegment(text string, own *url.URL) (last, before string) {
	u, err := url.Parse(strings.TrimSpace(text))
	if text == "" || err != nil {
		return "", ""
	}
	path := u.EscapedPath()
	if trimmed := strings.TrimSuffix(path, "/"); uuidText.MatchString(trimmed[strings.LastIndex(trimmed, "/")+1:]) {
		path = trimmed
	}
	segments := strings.Split(path, "/")
	last, err = url.PathUnescape(segments[len(segments)-1])
	repeats := strings.HasPrefix(own.EscapedPath()+"/", own.ResolveReference(u).EscapedPath()+"/") ||
		strings.EqualFold(last, own.Path[strings.LastIndex(own.Path, "/")+1:])
	if err != nil || last == "" || len(segments) < 2 || repeats {
		return "", ""
	}
	return last, strings.ToLower(segments[len(segments)-2])
}

// isLink reports whether a text is an http(s) url or a relative one.
func isLink(text string) bool {
	kind := kindOf(strings.TrimSpace(text))
	return kind == "a url" || kind == "a relative url"
}

// linkPlaces returns where an answer may have the redirect url. id is the one of the thing
// that was created: a url that ends with it leads to the thing.
func linkPlaces(a answer, id string) []found {
	var all []found
	add := func(place, value string, rank int) {
		if last, _ := lastSegment(value, a.url); rank > 0 && isLink(value) && (id == "" || last != id) {
			all = append(all, found{place, value, rank})
		}
	}
	for name := range a.header {
		if isTelling(name) && name != http.CanonicalHeaderKey("Content-Location") {
			add("header:"+name, a.header.Get(name), linkRank(name, "", ""))
		}
	}
	if word := a.word(); word != "" {
		add("text", word, 4)
		return all
	}
	if list, ok := a.doc.([]any); ok && len(list) > 1 {
		return all // it may be about several clients
	}
	for _, l := range leaves(a.doc) {
		text, ok := l.value.(string)
		switch {
		case !ok:
		case l.pointer == "":
			add("", text, 4)
		default:
			add(l.pointer, text, linkRank(l.name, l.parent, l.rel))
		}
	}
	return all
}

// linkRank says how well names fit a redirect url; 0 for not at all.
func linkRank(name, parent, rel string) int {
	name, parent, rel = plainly(name), plainly(parent), plainly(rel)
	leads := func(s string) bool { return strings.Contains(s, "redirect") || strings.Contains(s, "magic") }
	switch {
	case name == "redirecturl":
		return 5
	case leads(name):
		return 4
	case slices.Contains([]string{"href", "url", "uri", "link", "location"}, name) && (leads(parent) || leads(rel)):
		return 3
	case rel == "self" || parent == "self" || name == "self":
		return 0
	case strings.Contains(name, "link"):
		return 2
	case slices.Contains([]string{"href", "url", "uri", "location"}, name):
		return 1
	}
	return 0
}
