package apiclient_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"claimsheet/apiclient"
)

func TestNormaliseBaseURL(t *testing.T) {
	tests := []struct{ in, want, err string }{
		{in: "https://uat.example.com/api", want: "https://uat.example.com/api"},
		{in: "HTTPS://UAT.Example.COM:443/Api/", want: "https://uat.example.com/Api"},
		{in: " https://uat.example.com/// ", want: "https://uat.example.com"},
		{in: "https://uat.example.com:8443/a%20b/", want: "https://uat.example.com:8443/a%20b"},
		{in: "http://localhost:80/", want: "http://localhost"},
		{in: "http://127.0.0.1:8080", want: "http://127.0.0.1:8080"},
		{in: "http://[::1]:8080/x", want: "http://[::1]:8080/x"},
		{in: "", err: "https://"},
		{in: "uat.example.com", err: "https://"},
		{in: "https:///api", err: "no host"},
		{in: "http://uat.example.com", err: "must be https"},
		{in: "http://10.0.0.1", err: "must be https"},
		{in: "http://localhost.example.com", err: "must be https"},
		{in: "http://127.0.0.1.evil.example", err: "must be https"},
		{in: "ftp://127.0.0.1", err: "https://"},
		{in: "https://user:hunter2@uat.example.com", err: "user name"},
		{in: "https://uat.example.com?x=1", err: "query"},
		{in: "https://uat.example.com/?", err: "query"},
		{in: "https://uat.example.com#x", err: "fragment"},
		{in: "https://uat.example.com:0", err: "port"},
		{in: "https://uat.example.com/a/../b", err: "dot segment"},
		{in: "https://uat.example.com/a//b", err: "empty"},
		{in: "https://uat example.com/hunter2", err: "cannot be read"},
	}
	for _, tt := range tests {
		got, err := apiclient.NormaliseBaseURL(tt.in)
		switch {
		case tt.err == "" && (err != nil || got != tt.want):
			t.Errorf("%q: %q, %v; want %q", tt.in, got, err, tt.want)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%q: %q, %v; want an error with %q", tt.in, got, err, tt.err)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%q: the error repeats a part of it: %v", tt.in, err)
		case err == nil:
			if again, _ := apiclient.NormaliseBaseURL(got); again != got {
				t.Errorf("%q: normalised twice it is %q, once %q", tt.in, again, got)
			}
		}
	}
}

// requestURI returns the request line's path for a look-up of value; "" when
// nothing is sent.
func requestURI(t testing.TB, value string) (uri string) {
	c := against(t, func(w http.ResponseWriter, r *http.Request) { uri = r.RequestURI })
	_, err := c.Do(t.Context(), c.Routes().Find(apiclient.ByEmail, value))
	if (err == nil) != (uri != "") {
		t.Fatalf("%q: error %v, but sent %q", value, err, uri)
	}
	return uri
}

const before = "/api/funnel/v2/contacts/by-email/"

func TestAnySegmentComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.String().Draw(rt, "value")
		got := requestURI(t, value)
		if got == "" {
			if value != "" && value != "." && value != ".." && !strings.ContainsFunc(value, unicode.IsControl) {
				rt.Fatalf("%q was refused", value)
			}
			return
		}
		segment, ok := strings.CutPrefix(got, before)
		back, err := url.PathUnescape(segment)
		if !ok || strings.ContainsAny(segment, "/?#\\") || err != nil || back != value {
			rt.Fatalf("%q was sent as %s", value, got)
		}
	})
}

func TestServiceKey(t *testing.T) {
	for spelt, want := range map[string]string{
		"https://uat.example.com/API": "https://uat.example.com/API",
		"http://localhost:8080/api":   "http://127.0.0.1:8080/api",
		"http://[::1]:8080":           "http://127.0.0.1:8080",
		"http://localhost":            "http://127.0.0.1",
		"http://127.0.0.2:8080":       "http://127.0.0.2:8080",
	} {
		if got := apiclient.ServiceKey(spelt); got != want {
			t.Errorf("%s: %s, want %s", spelt, got, want)
		}
	}
}
