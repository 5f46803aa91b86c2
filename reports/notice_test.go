package reports_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/reports"
)

// A notice is the summary of --json, and how the command ended.
func TestNotice(t *testing.T) {
	t.Parallel()
	var got map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &got); err != nil || r.Method != "POST" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v", r.Method, r.Header.Get("Content-Type"), err)
		}
	}))
	defer server.Close()
	summary, uncertain := loans().Summary, 2
	n := reports.Notice{Run: summary.Run, Environment: summary.Environment, Mapping: "loans", ExitCode: 4, Warnings: []string{"w"},
		UncertainSteps: &uncertain, Summary: &summary}
	if err := n.Post(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := reports.WriteObject(&text, summary); err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(text.String()), &want); err != nil {
		t.Fatal(err)
	}
	want["mapping"], want["exitCode"], want["warnings"], want["uncertainSteps"] = "loans", 4.0, []any{"w"}, 2.0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	clear(got)
	if err := (reports.Notice{Run: "r", Environment: "uat", Mapping: "m", ExitCode: 2, Error: "no such file"}).Post(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	want = map[string]any{"run": "r", "environment": "uat", "mapping": "m", "exitCode": 2.0, "error": "no such file"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("of a run that could not start (-want +got):\n%s", diff)
	}
}

// The right answers are tried again, and no error names the url.
func TestNoticeIsTriedAgain(t *testing.T) {
	t.Parallel()
	notice := reports.Notice{}.WithPause(time.Millisecond)
	cases := []struct {
		name     string
		statuses []int // of the attempts; the last one stays
		attempts int32
		err      string
	}{
		{"at once", []int{204}, 1, ""},
		{"at the third attempt", []int{500, 429, 200}, 3, ""},
		{"never", []int{503}, 3, "the receiver answered HTTP 503"},
		{"refused", []int{404}, 1, "the receiver answered HTTP 404"},
		{"moved", []int{302}, 1, "the receiver answered HTTP 302"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var calls atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := int(calls.Add(1))
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.statuses[min(n, len(c.statuses))-1])
			}))
			defer server.Close()
			err := notice.Post(t.Context(), server.URL+"/secret")
			if got := said(err); got != c.err || calls.Load() != c.attempts {
				t.Errorf("%q after %d attempts, want %q after %d", got, calls.Load(), c.err, c.attempts)
			}
		})
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	trusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer trusted.Close()
	for url, want := range map[string]string{
		closed.URL + "/secret":         "the receiver cannot be reached",
		trusted.URL + "/secret":        "the receiver's certificate is not trusted",
		"http://secret.invalid/secret": "the receiver's host name is not known here",
		"http://secret:port/here":      "the url cannot be used",
	} {
		if got := said(notice.Post(t.Context(), url)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A receiver that hangs does not delay a run.
func TestNoticeGivesUp(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer server.Close()
	defer close(over)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got := said(reports.Notice{}.Post(ctx, server.URL)); got != "the receiver did not answer in time" {
		t.Errorf("got %q", got)
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
