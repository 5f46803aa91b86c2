package tracking_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/tracking"
)

// TestWrite: what a format writes, it reads again.
func TestWrite(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 4, 1, 10, 0, 0, 0, time.UTC)
	want := tracking.Event{Key: "e1", Kind: "done", Status: "Submitted", Client: "c1", Claim: "l1", Activity: "a1", Template: "Sign", At: at, Received: at}
	flat := tracking.Format{ID: "/id", Kind: "/kind", Status: "/status", Client: "/client", Claim: "/claim", Activity: "/activity", Template: "/name", At: "/at"}
	nested := tracking.Format{Events: "/body/events", ID: "/id", Kind: "/a~1b", Status: "/x~0y", Client: "/data/0/client", Claim: "/data/0/claim", Activity: "/data/activity/id",
		Template: "/data/activity/name", At: "/at", Time: tracking.TimeUnixMilli}
	for name, format := range map[string]tracking.Format{"flat": flat, "nested": nested} {
		document, err := format.Write(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := format.Read(document, at)
		if diff := cmp.Diff([]tracking.Event{want}, got); err != nil || diff != "" {
			t.Errorf("%s: %v in %s (-want +got):\n%s", name, err, document, diff)
		}
	}
	for name, format := range map[string]tracking.Format{"twice": {Client: "/id", Claim: "/id"}, "inside a text": {Client: "/id", Claim: "/id/claim"}} {
		if document, err := format.Write(want); err == nil {
			t.Errorf("%s: %s", name, document)
		}
	}
}

// TestSender: an event is sent until it is taken, the next one after it, and what was
// not taken at the end is counted.
func TestSender(t *testing.T) {
	t.Parallel()
	var refusals atomic.Int64
	taken := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Header.Get("X-Token") != "sesame":
			w.WriteHeader(http.StatusUnauthorized)
		case refusals.Add(1) <= 2 || strings.Contains(string(body), "never"):
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			taken <- string(body)
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	defer server.Close()
	said := make(chan string, 100)
	s := &tracking.Sender{URL: server.URL, Format: tracking.Format{ID: "/id", Kind: "/kind", Client: "/client"}, Kind: "done", Pause: time.Millisecond,
		Prove: func(r *http.Request, _ []byte) { r.Header.Set("X-Token", "sesame") }, Log: func(text string) {
			select {
			case said <- text:
			default:
			}
		}}
	ctx, stop := context.WithCancel(t.Context())
	left := make(chan int)
	go func() { left <- s.Run(ctx) }()
	for _, id := range []string{"1", "2", "never"} {
		s.Send(tracking.Event{Key: id, Client: "c"})
	}
	for _, want := range []string{`{"client":"c","id":"1","kind":"done"}`, `{"client":"c","id":"2","kind":"done"}`} {
		if got := <-taken; got != want {
			t.Errorf("taken %s, want %s", got, want)
		}
	}
	if got, want := <-said, "the webhook was not taken (HTTP 503); again in 1ms"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	<-said
	<-said // of the third event
	stop()
	if got := <-left; got != 1 {
		t.Errorf("%d events left, want 1", got)
	}
}
