package apiclient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Answer is what the service said: any status, with the whole body (up to 1 MiB, 64 MiB of templates).
type Answer struct {
	Status     int
	Header     http.Header // nil for none
	Body       []byte
	RetryAfter time.Duration // how long the service asks to wait; 0 when it does not ask
	// Cut is set when the connection ended before the whole body had come, or when
	// nothing says how long the body is. Then half an id or nothing at all proves nothing.
	Cut   bool
	Early bool // of a 408: a part of the request had not been sent, and never will be, so the service cannot have processed it
}

// statusText names a status in a reason: "HTTP 400 Bad Request". The phrase is the standard's, not the answer's.
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("HTTP %d %s", status, text)
	}
	return fmt.Sprintf("HTTP %d", status)
}

// mediaType returns the media type of an answer without parameters; "" for none.
func mediaType(a Answer) string {
	t, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	return t
}

// isPage reports whether an answer is markup, made for people: a login form, a portal, the error of a proxy.
func isPage(a Answer) bool {
	kind := mediaType(a)
	return kind == "text/html" || kind == "application/xhtml+xml" || bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
}

// notJSON completes the sentence "the answer …" for one that is not JSON.
func notJSON(a Answer) string {
	if isPage(a) {
		return "is a web page, not JSON"
	}
	return "is not JSON"
}

const maxDetail = 300 // characters

// messageKeys are the fields in which services put their own words, the most informative first.
var messageKeys = []string{"detail", "message", "error_description", "title", "error"}

// detail returns what the service itself said, for people who may see personal
// data: a message and the errors beside it, or else the whole JSON or plain text,
// on one line. Nothing of a web page is worth showing.
func detail(a Answer) string {
	if isPage(a) {
		return ""
	}
	doc, ok := document(a.Body)
	if !ok {
		return printable(string(a.Body))
	}
	var b bytes.Buffer
	for _, key := range messageKeys {
		if text, ok := scalar(follow(doc, "/"+key).value); ok && text != "" {
			b.WriteString(text + " ")
			doc = follow(doc, "/errors").value
			break
		}
	}
	_ = json.Compact(&b, doc) // it is JSON, or nothing
	return printable(b.String())
}

// printable returns s on one line, at most maxDetail characters, with everything
// escaped that does not print (control characters, direction marks, broken
// UTF-8).
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

// storedHead begins an answer that is stored with headers. No JSON begins so.
const storedHead = "HTTP/1.1\r\n"

// notStored are headers without an id or url in them, because all answers of a
// service have them alike, and cookies, which are credentials.
var notStored = map[string]bool{
	"Alt-Svc": true, "Cache-Control": true, "Connection": true, "Content-Length": true, "Content-Security-Policy": true, "Content-Type": true,
	"Date": true, "Expires": true, "Keep-Alive": true, "Permissions-Policy": true, "Pragma": true, "Referrer-Policy": true, "Server": true,
	"Set-Cookie": true, "Strict-Transport-Security": true, "Transfer-Encoding": true, "Vary": true, "Via": true,
	"X-Content-Type-Options": true, "X-Frame-Options": true, "X-Xss-Protection": true,
}

// headCut is a line of a stored head: the body was or may have been cut.
const headCut = "Claimsheet-Cut"

// forStorage returns an answer as a ledger stores it: the body, with a head before
// it if there are headers that may hold an id or url. The head also says what the
// body cannot say of itself when it is read again: that it was cut, and, of another
// body than JSON, what it is.
func forStorage(a Answer) []byte {
	var head bytes.Buffer
	if err := a.Header.WriteSubset(&head, notStored); err != nil {
		return a.Body
	}
	if a.Cut {
		head.WriteString(headCut + ": yes\r\n")
	}
	if kind := a.Header.Get("Content-Type"); len(a.Body) > 0 && kind != "" && !json.Valid(a.Body) {
		head.WriteString("Content-Type: " + printable(kind) + "\r\n")
	}
	if head.Len() == 0 {
		return a.Body
	}
	return slices.Concat([]byte(storedHead), head.Bytes(), []byte("\r\n"), a.Body)
}

// StoredAnswer returns the answer from which Verdict.Answer was made, for Client.Judge. Only a 2xx is complete.
func StoredAnswer(status int, stored []byte) Answer {
	a := Answer{Status: status, Body: stored}
	head, body, ok := bytes.Cut(bytes.TrimPrefix(stored, []byte(storedHead)), []byte("\r\n\r\n"))
	if !ok || !bytes.HasPrefix(stored, []byte(storedHead)) {
		return a
	}
	header, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(head, "\r\n\r\n"...)))).ReadMIMEHeader()
	if err != nil {
		return a
	}
	a.Header, a.Body, a.Cut = http.Header(header), body, header.Get(headCut) != ""
	a.Header.Del(headCut)
	return a
}

// Readable reports whether some place of a stored answer could hold an id or url:
// it is a 2xx with a JSON body, or with headers and no body.
func Readable(status int, stored []byte) bool {
	a := StoredAnswer(status, stored)
	return status/100 == 2 && (json.Valid(a.Body) || len(a.Body) == 0 && len(a.Header) > 0)
}
