package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// answer is what goes back when a request is carried out.
type answer struct {
	status int
	body   any // as JSON
}

func (a answer) write(w http.ResponseWriter) {
	var b bytes.Buffer
	encode := json.NewEncoder(&b)
	encode.SetEscapeHTML(false)
	if err := encode.Encode(a.body); err != nil { // bodies are maps of strings and checked JSON
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store") // redirect urls are credentials
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(a.status)
	w.Write(b.Bytes()) // a client that has gone away is no concern of the service
}

// ids is the body of an answer that tells identifiers.
type ids map[string]string

// refusal is what goes back when a request is not carried out: nothing was
// created. It is an error; its text never repeats a value that was sent.
type refusal struct {
	status  int
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

// refuse makes a refusal. The field is a JSON path such as
// attributes[0].stringValue, a parameter or a header; "" when it is about the
// request as a whole.
func refuse(status int, code, field, format string, args ...any) *refusal {
	return &refusal{status: status, Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// bad refuses with 400.
func bad(code, field, format string, args ...any) *refusal {
	return refuse(http.StatusBadRequest, code, field, format, args...)
}

// absent refuses with 404.
func absent(code, field, format string, args ...any) *refusal {
	return refuse(http.StatusNotFound, code, field, format, args...)
}

func (r *refusal) Error() string { return r.Message }

func (r *refusal) write(w http.ResponseWriter) {
	answer{r.status, map[string]*refusal{"error": r}}.write(w)
}

// asRefusal makes any other error, which would be a mistake of the service's
// own, a 500.
func asRefusal(err error) *refusal {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	return refuse(http.StatusInternalServerError, "internal", "", "the sandbox failed: %v", err)
}
