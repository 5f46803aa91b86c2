package apiclient

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What answers show of a service, where its document leaves it open: for claimsheet doctor
// --probe. A place that is proposed was read there by the Client's own reader, and a rule
// describes the answer from which it was learnt.

// LearnID returns the place of the id in the answer to a request, and the id: the one that wire
// has, if it can be read there, else the one with the best name. sure is the id, where it is known
// from another answer; "" else. ok is false when no place, or several with different ids, fit.
func (c *Client) LearnID(r Request, a Answer, sure string) (place, id string, ok bool) {
	kind, usual, own := string(r.Kind), c.cfg.Wire.ActivityID, c.urlOf(r)
	if place, _ := c.needs(r.Kind); place != nil {
		usual = *place
	}
	if r.Kind == FindClient {
		usual = c.lookupPlace()
	}
	if r.Kind == FindClient || r.Kind == CreateClient {
		kind = "(client|contact)"
	}
	noID := usual == "" && r.Kind == CreateActivity // then wire cannot name the whole body
	read := func(place string) (string, error) {
		id, err := idAt(r.Kind, a, place, own)
		if err == nil && (!idText.MatchString(id) || dateText.MatchString(id) && !uuidText.MatchString(id) || place == "" && noID) {
			err = fmt.Errorf("has no id at %s", placeName(place))
		}
		return id, err
	}
	if id, err := read(usual); err == nil && (sure == "" || id == sure) {
		return usual, id, true
	}
	const isID = `(id|uuid|guid|identifier)$`
	return choose(a, read, sure,
		`[/:]`+kind+isID,
		`^(text)?$|(^|/(`+kind+`s?|data|results?|items?|value|payload))/`+isID, // an id inside another field is of another thing
		`/`+kind+`$`,
		`:(content)?location$`)
}

// LearnURL returns the place of the redirect url in the answer to a request. id is that of the
// client: a url that ends with it leads to the client in the service.
func (c *Client) LearnURL(r Request, a Answer, id string) (place string, ok bool) {
	own := c.urlOf(r)
	read := func(place string) (string, error) {
		text, err := linkAt(a, place, own)
		if u, bad := url.Parse(text); err == nil && bad == nil && id != "" && lastSegment(u) == id {
			err = fmt.Errorf("has the url of the client at %s", placeName(place))
		}
		return text, err
	}
	if _, err := read(c.cfg.Wire.RedirectURL); err == nil {
		return c.cfg.Wire.RedirectURL, true
	}
	const link = `(href|url|uri|link|location)$`
	place, _, ok = choose(a, read, "",
		`redirecturl$`,
		`^(text)?$|(redirect|magic)[^/]*$`,
		`(redirect|magic)[^/]*/`+link,
		`link[^/]*$`,
		`[/:]`+link)
	return place, ok
}

// choose returns the place whose words fit the earliest of the expressions, of those that can be read and have what is
// sure, if anything is. ok is false when none does, or when two fit equally well and have different values.
func choose(a Answer, read func(place string) (string, error), sure string, best ...string) (place, value string, ok bool) {
	places := append(leavesOf(a), leaf{pointer: placeText, words: placeText})
	for name := range a.Header {
		places = append(places, leaf{pointer: placeHeader + name, words: ":" + plainly(name)})
	}
	slices.SortFunc(places, func(a, b leaf) int {
		return cmp.Or(len(a.pointer)-len(b.pointer), strings.Compare(a.pointer, b.pointer))
	})
	for _, expression := range best {
		fits := regexp.MustCompile(expression)
		for _, l := range places {
			v, err := read(l.pointer)
			switch {
			case err != nil || sure != "" && v != sure || !fits.MatchString(l.words) || self.MatchString(l.words):
			case value == "":
				place, value, ok = l.pointer, v, true
			case v != value:
				ok = false
			}
		}
		if value != "" {
			return place, value, ok
		}
	}
	return "", "", false
}

var (
	// self matches the words of a link to the answer itself.
	self     = regexp.MustCompile(`/self(/[^/]*)?$`)
	uuidText = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	idText   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~=+-]{0,199}$`)
	dateText = regexp.MustCompile(`^\d{4}-\d\d-\d\d`)
	// plainName matches what a programmer would call a field, and plainCode an error: other texts may be personal data.
	plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,30}$`)
	plainCode = regexp.MustCompile(`^[A-Za-z]+([_.-]?[A-Za-z0-9]+)*$`)
	// codeWords are the words of the place of an error code, and typeWords of that of a data type.
	codeWords = regexp.MustCompile(`(^|/errors?)/(code|errorcode|error)$`)
	typeWords = regexp.MustCompile(`type[^/]*(/[^/]*)?$`)
)

// leaf is a value inside an answer that is no object with fields and no list with elements.
type leaf struct {
	pointer string
	// words are the fields on the way, each plainly and behind a slash; before the last one what a field rel beside it says.
	words string
	value json.RawMessage
}

// name returns the name of the leaf's field, plainly; that of the list for an element of one.
func (l leaf) name() string { return l.words[strings.LastIndex(l.words, "/")+1:] }

// leavesOf returns the values of an answer. It leaves out fields whose name may be data.
func leavesOf(a Answer) (list []leaf) {
	doc, ok := document(a.Body)
	if !ok {
		return nil
	}
	var walk func(at leaf)
	walk = func(at leaf) {
		fields, items := inside(at.value, "object"), inside(at.value, "array")
		words := at.words
		for _, m := range fields {
			if m.key == "rel" {
				text, _ := stringOf(m.value)
				words = at.words + "/" + plainly(text)
			}
		}
		for _, m := range fields {
			if plainName.MatchString(m.key) {
				walk(leaf{at.pointer + "/" + m.key, words + "/" + plainly(m.key), m.value})
			}
		}
		for i, m := range items {
			walk(leaf{at.pointer + "/" + strconv.Itoa(i), at.words, m.value})
		}
		if len(fields)+len(items) == 0 {
			list = append(list, at)
		}
	}
	walk(leaf{value: doc})
	return list
}

// plainly returns a name in small letters without hyphens, underscores and the X- of headers.
func plainly(name string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.TrimPrefix(strings.ToLower(name), "x-"))
}

// LearnNotFound returns the rule of not_found that describes the answer to a look-up of a client
// who does not exist. known are answers to look-ups of a client who exists, which it must not
// describe. why says why there is no such rule; "" for one.
func LearnNotFound(a Answer, known []Answer) (rule NotFoundRule, why string) {
	var rules []NotFoundRule
	switch pointer, code := errorCode(a); {
	case isPage(a):
		return rule, "a web page answers in the service's place: check base_url and auth"
	case slices.Contains([]int{401, 403, 407, 408, 429}, a.Status) || a.Status/100 != 2 && a.Status/100 != 4:
		return rule, statusText(a.Status) + " says nothing about a client"
	case a.Status == http.StatusNotFound || a.Status == http.StatusGone || a.Status == http.StatusNoContent:
		rules = []NotFoundRule{{Status: []int{a.Status}}}
	case a.Status/100 == 4 && code != "":
		rules = []NotFoundRule{{Status: []int{a.Status}, Place: &pointer, Equals: encode(code)}}
	case a.Status/100 == 4:
		return rule, statusText(a.Status) + " without an error code may as well mean that the invented value was refused: " +
			"ask the service's operator what an unknown client is answered"
	case len(bytes.TrimSpace(a.Body)) == 0:
		rules = []NotFoundRule{{Place: new(placeText), Empty: true}}
	default:
		rules = append([]NotFoundRule{{Empty: true}}, emptyPlaces(a)...)
	}
	for _, rule := range rules {
		if rule.describes(a) && !slices.ContainsFunc(known, rule.describes) {
			return rule, ""
		}
	}
	return rule, "nothing in the answer tells an unknown client from a known one: ask the service's operator what does"
}

// notFoundFlags are names of fields that say with a value that nothing was found.
var notFoundFlags = map[string][]string{
	"false": {"found", "isfound", "exists", "success", "known", "matched"},
	"true":  {"notfound", "unknown", "missing"},
	"0":     {"count", "total", "totalcount", "size", "matches", "found"},
}

// emptyPlaces are the values of a 2xx answer that say that nothing was found, the most telling first: an empty id; then
// what else is empty, a flag, a word.
func emptyPlaces(a Answer) []NotFoundRule {
	var ids, others []NotFoundRule
	for _, l := range leavesOf(a) {
		kind, name, equals := form(l.value), l.name(), NotFoundRule{Place: &l.pointer, Equals: l.value}
		text, _ := scalar(l.value)
		switch isID := strings.HasSuffix(name, "id"); {
		case l.pointer == "":
		case isID && kind == "null":
			ids = append(ids, equals)
		case isID && kind == "string" && text == "":
			ids = append(ids, NotFoundRule{Place: &l.pointer, Empty: true})
		case kind == "object", kind == "array":
			others = append(others, NotFoundRule{Place: &l.pointer, Empty: true})
		case kind == "null", slices.Contains(notFoundFlags[text], name), kind == "string" && isVerdict(text):
			others = append(others, equals)
		}
	}
	return append(ids, others...)
}

// errorCode returns the code in the body of an error, and the pointer to it.
func errorCode(a Answer) (pointer, code string) {
	for _, l := range leavesOf(a) {
		if text, ok := stringOf(l.value); ok && len(text) <= 40 && plainCode.MatchString(text) && codeWords.MatchString(l.words) {
			return l.pointer, text
		}
	}
	return "", ""
}

// LearnRefusal returns a rule of errors for an answer that refuses something, where its status does
// not say so: by its error code, or by a flag. others are answers that mean something else; ok is
// false when no rule describes the answer alone.
func LearnRefusal(a Answer, others []Answer) (found Rule, ok bool) {
	pointer, says := errorCode(a)
	for _, l := range leavesOf(a) {
		if text, _ := scalar(l.value); says == "" && text == "false" && slices.Contains([]string{"success", "ok", "succeeded"}, l.name()) {
			pointer, says = l.pointer, text
		}
	}
	if says == "" {
		return Rule{}, false
	}
	found = Rule{Status: a.Status, Pointer: pointer, Matches: "^" + regexp.QuoteMeta(says) + "$", Means: "failed"}
	r := rule{found, regexp.MustCompile(found.Matches)}
	return found, r.applies(a) && !slices.ContainsFunc(others, r.applies)
}

// LearnTemplates returns the pointer to the array of templates in the answer with them.
func LearnTemplates(a Answer) (pointer string, ok bool) {
	doc, isJSON := document(a.Body)
	if !isJSON {
		return "", false
	}
	return templatesAt(doc)
}

// LearnDataTypes returns the pointer, on an attribute template, to the data type, for the templates
// at list: the one with the most names of the document's, named of them, or else the first whose name
// speaks of a type; "" for none. others are the other names there.
func LearnDataTypes(a Answer, list string) (pointer string, named int, others []string) {
	doc, _ := document(a.Body)
	known, strange := map[string]int{}, map[string][]string{} // by pointer
	for _, template := range inside(follow(doc, list).value, "array") {
		for _, attribute := range inside(follow(template.value, "/activityAttributeTemplates").value, "array") {
			for _, l := range leavesOf(Answer{Body: attribute.value}) {
				text, ok := stringOf(l.value)
				switch isName := func(t string) bool { return strings.EqualFold(t, text) }; {
				case !ok || !plainCode.MatchString(text) || !typeWords.MatchString(l.words):
				case slices.ContainsFunc(DataTypes, isName):
					known[l.pointer]++
				default:
					known[l.pointer] += 0
					strange[l.pointer] = append(strange[l.pointer], text)
				}
			}
		}
	}
	for _, place := range slices.Sorted(maps.Keys(known)) {
		if pointer == "" || known[place] > named {
			pointer, named = place, known[place]
		}
	}
	return pointer, named, slices.Compact(slices.Sorted(slices.Values(strange[pointer])))
}

// Outline shows an answer without what may be personal data or a credential: its status, the places
// of its values, and of these null, true, false, 0, data types and error codes.
func (c *Client) Outline(a Answer) string {
	const most = 8
	text := statusText(a.Status)
	var shown []string
	_, code := errorCode(a)
	for _, l := range leavesOf(a) {
		shown = append(shown, strings.TrimSpace(l.pointer+" "+outline(l.value, code)))
	}
	switch {
	case len(bytes.TrimSpace(a.Body)) == 0:
		text += ", no body"
	case isPage(a):
		text += ", a web page"
	case len(shown) > 0:
		text += ", " + strings.Join(shown[:min(most, len(shown))], ", ")
		if len(shown) > most {
			text += ", …"
		}
	default:
		text += ", plain text: " + kindOf(strings.TrimSpace(string(a.Body)))
	}
	var telling []string
	for name := range a.Header {
		if tellingHeader.MatchString(name) {
			telling = append(telling, "; "+name+": "+kindOf(a.Header.Get(name)))
		}
	}
	slices.Sort(telling)
	return c.secrets.hide(text + strings.Join(telling, ""))
}

// tellingHeader matches the names of headers that may hold an id or a url.
var tellingHeader = regexp.MustCompile(`(?i)location|redirect|magic|(client|contact|claim|activity)-?(uu|gu)?id$`)

func outline(value []byte, code string) string {
	text, ok := scalar(value)
	isWord := form(value) == "string" && (isVerdict(text) || slices.Contains(DataTypes, text))
	if !ok || form(value) == "boolean" || text == "0" || isWord || text != "" && text == code {
		return string(bytes.TrimSpace(value))
	}
	return kindOf(text)
}

// isVerdict reports whether a text is a word that says that nothing was found, as not_found may name.
func isVerdict(text string) bool {
	said := plainly(text)
	return plainCode.MatchString(text) && len(text) <= 40 && (strings.Contains(said, "notfound") || strings.Contains(said, "unknown") ||
		strings.Contains(said, "notexist"))
}

// kindOf describes a text.
func kindOf(text string) string {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return `""`
	case uuidText.MatchString(text):
		return "‹uuid›"
	case err == nil && (u.Scheme == "http" || u.Scheme == "https"), err == nil && relativeURL.MatchString(text):
		return "‹url›"
	case strings.Trim(text, "0123456789.-") == "":
		return "‹number›"
	}
	return "‹text›"
}
