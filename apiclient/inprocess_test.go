package apiclient_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claimsheet/apiclient"
)

// The transport in the same process says what a socket would.
func TestInProcessIsLikeASocket(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("Retry-After", "8") // too late
		fmt.Fprintf(w, "%s %s %s %q %v %d %s", r.Method, r.URL.Path, r.URL.RawQuery, body, err, r.ContentLength, r.Header.Get("Content-Type"))
	})
	server := httptest.NewServer(h)
	defer server.Close()
	socket := at(t, server.URL+"/api")
	direct := against(t, h)
	for _, req := range everyRequest(socket.Routes()) {
		want, err := socket.Do(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := direct.Do(t.Context(), req)
		clocks := cmpopts.IgnoreFields(apiclient.Answer{}, "Date", "Took")
		for _, ofTheSocket := range []string{"Date", "Content-Length"} {
			want.Header.Del(ofTheSocket)
		}
		if diff := cmp.Diff(want, got, clocks); err != nil || diff != "" {
			t.Errorf("%s: %v; -socket +direct:\n%s", req.Route, err, diff)
		}
		if want.RetryAfter != 7*time.Second {
			t.Errorf("retry after %v, want 7s", want.RetryAfter)
		}
	}
}

func TestAHandlerThatPanicsIsABrokenConnection(t *testing.T) {
	for _, value := range []any{http.ErrAbortHandler, "jane.canary@example.com"} {
		c := against(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"contactId":"a"}`)
			panic(value)
		})
		v := c.Create(t.Context(), createContact(c))
		if v.Effect != apiclient.Uncertain || v.Reason != "the connection was closed before the answer was complete" {
			t.Errorf("%s, %q", v.Effect, v.Reason)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, "-1": 0, "soon": 0, "1.5": 0,
		"Wed, 21 Oct 2015 07:28:00 GMT": 0, "99999999999": 8760 * time.Hour, "99999999999999999999999": 8760 * time.Hour,
		"Fri, 31 Dec 9999 23:59:59 GMT": 8760 * time.Hour,
	} {
		c := against(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", value)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		if v := c.Create(t.Context(), createContact(c)); v.RetryAfter != want || v.Retry != apiclient.AfterPause {
			t.Errorf("%q: retry %v after %v, want after %v", value, v.Retry, v.RetryAfter, want)
		}
	}
}

// TestRetryAfterByTheirClock: a date is compared with the service's own clock,
// however far that is from this machine's.
func TestRetryAfterByTheirClock(t *testing.T) {
	for _, year := range []int{1970, 2015, 2100} {
		now := time.Date(year, 10, 21, 7, 28, 0, 0, time.UTC)
		c := against(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", now.Format(http.TimeFormat))
			w.Header().Set("Retry-After", now.Add(90*time.Second).Format(http.TimeFormat))
			w.WriteHeader(http.StatusTooManyRequests)
		})
		if v := c.Create(t.Context(), createContact(c)); v.RetryAfter != 90*time.Second {
			t.Errorf("%d: retry after %v, want 90s", year, v.RetryAfter)
		}
	}
}
