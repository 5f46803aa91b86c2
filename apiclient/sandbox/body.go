package sandbox

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// maxBody is the most bytes a body may have. The document shows no limit.
const maxBody = 1 << 20

// readBody takes the request's body, which must be one JSON object in UTF-8.
func readBody(r *http.Request) (object, error) {
	if err := checkContentType(r.Header); err != nil {
		return object{}, err
	}
	raw, err := readAll(r)
	if err != nil {
		return object{}, err
	}
	return parseBody(raw)
}

func readAll(r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, refuse(http.StatusRequestEntityTooLarge, "body-too-large", "", "the body is too large: expected at most %d bytes", tooLarge.Limit)
	case err != nil:
		return nil, bad("body-incomplete", "", "the body did not arrive whole")
	}
	return raw, nil
}

// parseBody takes a body apart.
func parseBody(raw []byte) (object, error) {
	switch {
	case len(raw) == 0:
		return object{}, bad("not-json", "", "the body is empty: expected a JSON object")
	case !utf8.Valid(raw):
		return object{}, bad("not-utf-8", "", "the body is not UTF-8: expected JSON in UTF-8")
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(raw, new(json.RawMessage)); errors.As(err, &syntax) {
		return object{}, bad("not-json", "", "the body is not JSON: it is wrong or ends too early at byte %d; expected one JSON object", syntax.Offset)
	}
	if k := kindOf(raw); k != "object" {
		return object{}, bad("not-an-object", "", "the body is %s: expected a JSON object", a(k))
	}
	return parseObject(raw, "")
}

// checkContentType wants application/json, in UTF-8, not compressed.
func checkContentType(h http.Header) error {
	declared := h.Get("Content-Type")
	if declared == "" {
		return refuse(http.StatusUnsupportedMediaType, "content-type", "Content-Type", "the header Content-Type is missing: expected application/json")
	}
	media, params, err := mime.ParseMediaType(declared)
	if err != nil || media != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "content-type", "Content-Type", "the header Content-Type is not application/json, which was expected")
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return refuse(http.StatusUnsupportedMediaType, "content-type", "Content-Type", "the header Content-Type declares another charset than utf-8, which was expected")
	}
	if h.Get("Content-Encoding") != "" {
		return refuse(http.StatusUnsupportedMediaType, "content-encoding", "Content-Encoding", "the body is declared as encoded: expected no Content-Encoding")
	}
	return nil
}
