package apiclient

import (
	"bytes"
	"encoding/json"
	"mime"
	"strconv"
	"strings"
)

const maxDetail = 300 // characters

// mediaType is an answer's, without parameters; "" when it names none.
func mediaType(a Answer) string {
	t, _, err := mime.ParseMediaType(a.ContentType)
	if err != nil {
		return ""
	}
	return t
}

// isHTML tells whether an answer is a web page: a login form, a portal, a
// proxy's error.
func isHTML(a Answer) bool {
	start := strings.ToLower(string(bytes.TrimSpace(a.Body[:min(len(a.Body), 512)])))
	return mediaType(a) == "text/html" || strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html")
}

// notJSON completes the sentence "the answer …" for one that is not JSON.
func notJSON(a Answer) string {
	if isHTML(a) {
		return "is a web page, not JSON"
	}
	return "is not JSON"
}

// messageKeys are where services put their own words, the most telling first.
var messageKeys = []string{"detail", "message", "error_description", "title", "error"}

// detail is what the service itself said, for people who may see personal
// data: a message and the errors beside it, or else the whole JSON or plain
// text, on one line. A web page says nothing worth keeping.
func detail(a Answer) string {
	if isHTML(a) {
		return ""
	}
	doc, ok := document(a.Body)
	if !ok {
		return printable(string(a.Body))
	}
	var parts []string
	for _, key := range messageKeys {
		if text, ok := scalar(firstValue(doc, key)); ok && text != "" {
			parts = append(parts, text)
			break
		}
	}
	if errs := firstValue(doc, "errors"); len(parts) > 0 && errs != nil {
		parts = append(parts, compact(errs))
	}
	if len(parts) == 0 {
		parts = append(parts, compact(doc))
	}
	return printable(strings.Join(parts, " "))
}

// firstValue is an object's value under key; nil where there is none.
func firstValue(doc []byte, key string) json.RawMessage {
	if form(doc) != "object" {
		return nil
	}
	for _, m := range members(doc) {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

func compact(value []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		return ""
	}
	return b.String()
}

// printable is s on one line, at most maxDetail characters, with all that does
// not print (control characters, direction marks, broken UTF-8) escaped.
func printable(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.TrimSpace(s) {
		piece := string(r)
		if !strconv.IsPrint(r) {
			quoted := strconv.QuoteRune(r)
			piece = quoted[1 : len(quoted)-1]
		}
		if n += len([]rune(piece)); n > maxDetail-1 {
			return b.String() + "…"
		}
		b.WriteString(piece)
	}
	return b.String()
}
