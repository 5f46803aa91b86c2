package apiclient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"net/textproto"
	"slices"
)

// packedHead begins an answer that is kept with headers. No JSON does.
const packedHead = "HTTP/1.1\r\n"

// notKept are headers that every answer of a service has alike, so that no id is
// in them, and cookies, which are credentials.
var notKept = map[string]bool{
	"Alt-Svc": true, "Cache-Control": true, "Connection": true, "Content-Length": true, "Content-Security-Policy": true, "Content-Type": true,
	"Date": true, "Expires": true, "Keep-Alive": true, "Permissions-Policy": true, "Pragma": true, "Referrer-Policy": true, "Server": true,
	"Set-Cookie": true, "Strict-Transport-Security": true, "Transfer-Encoding": true, "Vary": true, "Via": true,
	"X-Content-Type-Options": true, "X-Frame-Options": true, "X-Xss-Protection": true,
}

// pack is an answer as a ledger keeps it: its body, after a head where it has
// headers that an id or a url may be in.
func pack(a Answer) []byte {
	var head bytes.Buffer
	if err := a.Header.WriteSubset(&head, notKept); err != nil || head.Len() == 0 {
		return a.Body
	}
	return slices.Concat([]byte(packedHead), head.Bytes(), []byte("\r\n"), a.Body)
}

// KeptAnswer is the answer that Verdict.Answer was made of, for Client.Judge: a
// 2xx as a whole.
func KeptAnswer(status int, kept []byte) Answer {
	a := Answer{Status: status, Body: kept}
	if json.Valid(kept) {
		a.ContentType = "application/json"
	}
	head, body, ok := bytes.Cut(bytes.TrimPrefix(kept, []byte(packedHead)), []byte("\r\n\r\n"))
	if !ok || !bytes.HasPrefix(kept, []byte(packedHead)) {
		return a
	}
	header, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(head, "\r\n\r\n"...)))).ReadMIMEHeader()
	if err != nil {
		return a
	}
	a.Header, a.Body = http.Header(header), body
	return a
}

// Readable reports whether an id or a url could be read from a kept answer at
// some place: it is a 2xx of JSON, or of headers alone.
func Readable(status int, kept []byte) bool {
	a := KeptAnswer(status, kept)
	return status/100 == 2 && (json.Valid(a.Body) || len(a.Body) == 0 && len(a.Header) > 0)
}
