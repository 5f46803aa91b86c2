package conformance

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// largest is how much of an answer is read.
const largest = 8 << 20

// answer is what came for a request.
type answer struct {
	status  int // 0 when none came
	header  http.Header
	body    []byte
	doc     any  // the body as JSON
	isJSON  bool // else doc is nil
	url     *url.URL
	failure string // why none came
}

// request is what is asked for. pattern is its path as the document writes it, and args
// are the values of the pattern's placeholders in their order.
type request struct {
	method, pattern string
	args            []string
	body            any // as JSON; nil for none
	anonymous       bool
}

func (r request) String() string {
	text := r.method + " " + r.pattern
	if r.anonymous {
		text += ", without credentials"
	}
	return text
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// path returns the path and query with the values filled in.
func (r request) path() string {
	path, query, hasQuery := strings.Cut(r.pattern, "?")
	args := r.args
	fill := func(pattern string, escape func(string) string) string {
		return placeholder.ReplaceAllStringFunc(pattern, func(string) string {
			arg := args[0]
			args = args[1:]
			return escape(arg)
		})
	}
	path = fill(path, url.PathEscape)
	if hasQuery {
		path += "?" + fill(query, url.QueryEscape)
	}
	return path
}

// send sends a request and reads the answer. It follows no redirect.
func (s *suite) send(r request) answer {
	ctx, cancel := context.WithTimeout(s.ctx, s.options.Timeout)
	defer cancel()
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return answer{failure: "the request has no JSON form"}
		}
	}
	req, err := http.NewRequestWithContext(ctx, r.method, strings.TrimSuffix(s.target.BaseURL, "/")+r.path(), bytes.NewReader(body))
	if err != nil {
		return answer{failure: "the base url is no url"}
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "claimsheet-conformance")
	if body == nil {
		req.Body, req.ContentLength = nil, 0
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	req.GetBody = nil // nothing is sent twice
	if s.target.Authorize != nil && !r.anonymous {
		if err := s.target.Authorize(ctx, req, body); err != nil {
			return answer{failure: "the credentials could not be put on the request; claimsheet doctor says why"}
		}
	}
	client := http.Client{Transport: s.target.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return answer{failure: failureOf(err)}
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header, url: req.URL}
	if a.body, err = io.ReadAll(io.LimitReader(resp.Body, largest)); err != nil {
		return answer{failure: fmt.Sprintf("HTTP %d, but the answer was cut", a.status)}
	}
	a.doc, a.isJSON = parse(a.body)
	return a
}

// failureOf describes why there is no answer. The error's own text is left out, because it repeats the url.
func failureOf(err error) string {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return "no answer in time"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the certificate is not trusted"
	}
	return "the connection failed; claimsheet doctor says why"
}

// parse reads a body that is one JSON value.
func parse(body []byte) (any, bool) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var doc any
	if err := decoder.Decode(&doc); err != nil {
		return nil, false
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, false
	}
	return doc, true
}

func (a answer) ok() bool { return a.status/100 == 2 }

// isPage reports whether the body is a web page.
func (a answer) isPage() bool {
	start := strings.ToLower(strings.TrimSpace(string(a.body[:min(len(a.body), 200)])))
	return strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html") ||
		strings.HasPrefix(a.header.Get("Content-Type"), "text/html")
}

// word returns a body that is one word of plain text; "" for any other.
func (a answer) word() string {
	text := strings.TrimSpace(string(a.body))
	if a.isJSON && !strings.HasPrefix(a.header.Get("Content-Type"), "text/") || a.isPage() || len(strings.Fields(text)) != 1 || strings.ContainsRune(`{["`, rune(text[0])) {
		return ""
	}
	return text
}

// String describes an answer without its values, but with its error code. Answers that
// are described in the same way cannot be told from each other.
func (a answer) String() string {
	if a.status == 0 {
		return a.failure
	}
	text := "HTTP " + strings.TrimSpace(strconv.Itoa(a.status)+" "+http.StatusText(a.status))
	switch {
	case len(bytes.TrimSpace(a.body)) == 0:
		text += " without a body"
	case a.isPage():
		text += " with a web page"
	case a.word() != "":
		text += " with plain text: " + kindOf(a.word())
	case a.isJSON:
		text += " with " + formOf(a.doc, 0)
	default:
		text += " with a body that is not JSON"
	}
	if _, code := errorCode(a.doc); code != "" {
		text += ", code " + code
	}
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		if isTelling(name) {
			text += "; header " + name + ": " + kindOf(a.header.Get(name))
		}
	}
	return text
}

// isTelling reports whether a header may carry what Claimsheet needs. Ids of requests
// and sessions do not.
func isTelling(name string) bool {
	plain := plainly(name)
	for _, other := range []string{"request", "correlation", "trace", "session", "server", "tenant"} {
		if strings.Contains(plain, other) {
			return false
		}
	}
	return strings.Contains(plain, "location") || strings.Contains(plain, "redirect") || strings.Contains(plain, "magic") || strings.HasSuffix(plain, "id")
}

var (
	uuidText = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	// plainName matches what a programmer would call a field. Other names may be data.
	plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,30}$`)
	// plainCode matches what a programmer would call an error: joined words, but not a
	// number or an address.
	plainCode = regexp.MustCompile(`^[A-Za-z]+([_.-]?[A-Za-z0-9]+)*$`)
)

// kindOf describes a text.
func kindOf(text string) string {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "an empty text"
	case uuidText.MatchString(text):
		return "a UUID"
	case err == nil && (u.Scheme == "http" || u.Scheme == "https"):
		return "a url"
	case err == nil && isRelative(text):
		return "a relative url"
	}
	return "a text"
}

// isRelative reports whether a text can only be a relative url.
func isRelative(text string) bool {
	return !strings.HasPrefix(text, "//") && (strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "?"))
}

// formOf describes a JSON value by its kinds and names of fields.
func formOf(value any, depth int) string {
	const deepest, most = 4, 8
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return "a number"
	case string:
		return kindOf(v)
	case []any:
		if len(v) == 0 || depth == deepest {
			return fmt.Sprintf("a list of %d", len(v))
		}
		return fmt.Sprintf("a list of %d, the first %s", len(v), formOf(v[0], depth+1))
	}
	var fields []string
	object := value.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch {
		case len(fields) == most || !plainName.MatchString(name):
			if !slices.Contains(fields, "…") {
				fields = append(fields, "…")
			}
		case depth == deepest:
			fields = append(fields, name)
		default:
			fields = append(fields, name+": "+formOf(object[name], depth+1))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// leaf is a value inside a JSON document that is no object with fields and no list with
// elements.
type leaf struct {
	pointer string
	name    string // of the field; "" for an element of a list and for the whole document
	parent  string // the nearest field around it; "" for none
	rel     string // what the fields rel, type or name beside it say, for links
	value   any
	crowded bool // in a list of several
}

// leaves returns the values of a document in the order of their pointers. It leaves out
// fields whose name may be data.
func leaves(doc any) []leaf {
	var list []leaf
	var walk func(at leaf)
	walk = func(at leaf) {
		switch v := at.value.(type) {
		case map[string]any:
			inside := cmp.Or(at.name, at.parent)
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if plainName.MatchString(name) {
					walk(leaf{at.pointer + "/" + name, name, inside, relOf(v), v[name], at.crowded})
				}
			}
			if len(v) > 0 {
				return
			}
		case []any:
			for i, item := range v {
				walk(leaf{at.pointer + "/" + strconv.Itoa(i), "", cmp.Or(at.name, at.parent), "", item, at.crowded || len(v) > 1})
			}
			if len(v) > 0 {
				return
			}
		}
		list = append(list, at)
	}
	walk(leaf{value: doc})
	return list
}

func relOf(object map[string]any) string {
	for _, name := range []string{"rel", "type", "name"} {
		if text, ok := object[name].(string); ok {
			return text
		}
	}
	return ""
}

// plainly returns a name in small letters without hyphens, underscores and the X- of
// headers.
func plainly(name string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.TrimPrefix(strings.ToLower(name), "x-"))
}
