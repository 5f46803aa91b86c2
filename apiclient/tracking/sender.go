package tracking

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Write returns an event as the JSON document that Read reads. It fails when two
// pointers of the format exclude each other.
func (f Format) Write(e Event) ([]byte, error) {
	one := map[string]any{}
	for _, field := range []struct{ pointer, text string }{
		{f.ID, e.Key}, {f.Kind, e.Kind}, {f.Status, e.Status}, {f.Client, e.Client}, {f.Claim, e.Claim},
		{f.Activity, e.Activity}, {f.Template, e.Template}, {f.At, f.timeText(e.At)},
	} {
		if field.pointer != "" && field.text != "" && !put(one, field.pointer, field.text) {
			return nil, fmt.Errorf("no event can have something at “%s” and at the other pointers too", field.pointer)
		}
	}
	var document any = one
	if f.Events != "" {
		whole := map[string]any{}
		put(whole, f.Events, []any{one})
		document = whole
	}
	return json.Marshal(document)
}

// timeText writes a time as instant reads it.
func (f Format) timeText(at time.Time) string {
	switch f.Time {
	case TimeUnix:
		return strconv.FormatInt(at.Unix(), 10)
	case TimeUnixMilli:
		return strconv.FormatInt(at.UnixMilli(), 10)
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// put sets the value at a JSON Pointer, with the objects on the way to it. It reports
// false when there is something else already.
func put(object map[string]any, pointer string, value any) bool {
	keys := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, key := range keys[:len(keys)-1] {
		key = unescape.Replace(key)
		if object[key] == nil {
			object[key] = map[string]any{}
		}
		inner, isObject := object[key].(map[string]any)
		if !isObject {
			return false
		}
		object = inner
	}
	last := unescape.Replace(keys[len(keys)-1])
	if object[last] != nil {
		return false
	}
	object[last] = value
	return true
}

// Sender posts events as a service does, for rehearsals: one after another, and each
// again until it is answered with 2xx. It is safe for concurrent use.
type Sender struct {
	URL          string
	Format       Format
	Kind, Status string // of every event
	// Prove adds what proves that the service has sent the request.
	Prove func(r *http.Request, body []byte)
	// Log is told why an event was not taken and when it is sent again. It never sees what
	// an event says.
	Log func(text string)
	// Pause is the time before an event is sent again, doubled each time up to half a
	// minute; 0 means a second.
	Pause time.Duration

	mu     sync.Mutex
	queue  []Event
	queued chan struct{} // has a value when the queue may have grown
}

// Send takes an event, which Run sends.
func (s *Sender) Send(e Event) {
	e.Kind, e.Status = s.Kind, s.Status
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, e)
	select {
	case s.grown() <- struct{}{}:
	default:
	}
}

// grown returns the channel of growth. The caller holds mu.
func (s *Sender) grown() chan struct{} {
	if s.queued == nil {
		s.queued = make(chan struct{}, 1)
	}
	return s.queued
}

// Run sends events until ctx ends, and returns how many were not taken.
func (s *Sender) Run(ctx context.Context) (left int) {
	client := &http.Client{ // follows no redirect, and uses no proxy
		Timeout:       10 * time.Second,
		Transport:     &http.Transport{DisableKeepAlives: true}, // events are rare
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for {
		s.mu.Lock()
		grown, n := s.grown(), len(s.queue)
		var first Event
		if n > 0 {
			first = s.queue[0]
		}
		s.mu.Unlock()
		switch {
		case n > 0 && s.deliver(ctx, client, first):
			s.mu.Lock()
			s.queue = s.queue[1:]
			s.mu.Unlock()
		case ctx.Err() != nil:
			return n
		default:
			select {
			case <-grown:
			case <-ctx.Done():
			}
		}
	}
}

// maxPause is the longest time before an event is sent again.
const maxPause = 30 * time.Second

// deliver sends an event until it is taken. It reports false when ctx ends before.
func (s *Sender) deliver(ctx context.Context, client *http.Client, e Event) bool {
	pause := s.Pause
	if pause == 0 {
		pause = time.Second
	}
	for {
		why := s.post(ctx, client, e)
		if why == "" || ctx.Err() != nil {
			return why == ""
		}
		s.Log(fmt.Sprintf("the webhook was not taken (%s); again in %v", why, pause))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
		pause = min(2*pause, maxPause)
	}
}

// post sends an event once. It returns why it was not taken; "" when it was.
func (s *Sender) post(ctx context.Context, client *http.Client, e Event) (why string) {
	body, err := s.Format.Write(e)
	if err != nil {
		return err.Error()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return "its url is not valid"
	}
	r.Header.Set("Content-Type", "application/json")
	s.Prove(r, body)
	answer, err := client.Do(r)
	if err != nil {
		return "no answer"
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, MaxDocument)
	if answer.StatusCode/100 != 2 {
		return "HTTP " + strconv.Itoa(answer.StatusCode)
	}
	return ""
}
