package tracking

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// atOnce is how many requests are read at the same time: anybody can send them.
const atOnce = 16

// Webhook is the http.Handler to which the service posts events. It answers 204 only
// after Keep has returned: then the events are durable, and the service need not send
// them again. It answers 401 to a request that does not prove where it comes from,
// 413 and 422 to one that Format cannot read, and 503 when Keep fails or while 16 others are
// read. It may be used by several goroutines.
type Webhook struct {
	Path string // the path of its url
	// Authentic reports whether a request proves that the service sent it. It takes as
	// long for a wrong proof as for a right one.
	Authentic func(r *http.Request, body []byte) bool
	Format    Format
	Keep      func([]Event) error
	// Log is told what became of each request: the status of the answer, how many events
	// were kept, and why the request was refused, "" when it was not. It never sees what a
	// request says.
	Log func(status, events int, refused string)

	reading atomic.Int32 // requests whose bodies are in memory
}

// ServeHTTP answers one request.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, events, reason := h.receive(w, r)
	h.Log(status, events, reason)
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return
	}
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	http.Error(w, reason, status)
}

func (h *Webhook) receive(w http.ResponseWriter, r *http.Request) (status, events int, reason string) {
	switch {
	case r.URL.Path != h.Path:
		return http.StatusNotFound, 0, "there is nothing at this path"
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, 0, "only POST is possible here"
	}
	defer h.reading.Add(-1)
	if h.reading.Add(1) > atOnce {
		return http.StatusServiceUnavailable, 0, "too many requests at once"
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxDocument))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return http.StatusRequestEntityTooLarge, 0, fmt.Sprintf("it has more than %d bytes", MaxDocument)
	case err != nil:
		return http.StatusBadRequest, 0, "it could not be read to its end"
	case !h.Authentic(r, body):
		return http.StatusUnauthorized, 0, "the request does not prove where it comes from"
	}
	list, err := h.Format.Read(body, time.Now())
	switch {
	case errors.Is(err, errNoIDs): // about nobody, such as a test of the connection
		return http.StatusNoContent, 0, ""
	case err != nil:
		return http.StatusUnprocessableEntity, 0, err.Error()
	}
	if err := h.Keep(list); err != nil {
		return http.StatusServiceUnavailable, 0, "the events could not be kept"
	}
	return http.StatusNoContent, len(list), ""
}
