package apiclient_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"claimsheet/apiclient"
)

// healthy is a service without any problem.
var healthy = either(answers(200, asJSON, `[{"id":"1","name":"Your details","activityAttributeTemplates":[{"id":"2","name":"DOB","dataType":"Date"},{"id":"3","name":"Note"}]}]`),
	answers(404, asJSON, `{"error":"nobody"}`))

// onTemplates is healthy, except for the templates.
func onTemplates(h http.HandlerFunc) http.HandlerFunc { return either(h, healthy) }

// onLookUps is healthy, except for the look-ups.
func onLookUps(h http.HandlerFunc) http.HandlerFunc { return either(healthy, h) }

func either(templates, lookUps http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/activity-templates") {
			templates(w, r)
			return
		}
		lookUps(w, r)
	}
}

// examine returns the findings as lines.
func examine(t *testing.T, c *apiclient.Client) (troubles []string, all string) {
	t.Helper()
	for _, f := range c.Examine(t.Context()) {
		line := fmt.Sprintf("%s %s: %s", f.Grade, f.Check, f.Text)
		all += line + "\n"
		if f.Grade != apiclient.OK {
			troubles = append(troubles, line)
			if f.Hint == "" && f.Grade == apiclient.Fail {
				t.Errorf("%s: nothing says what to do", line)
			}
		}
	}
	return troubles, all
}

func TestExamineFindsEachFault(t *testing.T) {
	trusted, trust := overTLS(t, healthy, nil)
	to := func(url string) func(*apiclient.Config) {
		return func(cfg *apiclient.Config) { cfg.BaseURL = url }
	}
	for name, test := range map[string]struct {
		h      http.HandlerFunc
		change func(*apiclient.Config)
		want   []string // the beginnings of the troubles
	}{
		"well over TLS":     {nil, func(cfg *apiclient.Config) { cfg.BaseURL = trusted; trust(cfg) }, nil},
		"unknown authority": {nil, to(trusted), []string{"fail connection: the service's certificate is not trusted"}},
		"refused":           {nil, to("http://" + refusing(t)), []string{"fail connection: the service refuses the connection"}},
		"DNS":               {nil, to("https://nowhere.invalid"), []string{"fail connection: the service's host name cannot be resolved"}},
		"no TLS there": {healthy, func(cfg *apiclient.Config) { cfg.BaseURL = strings.Replace(cfg.BaseURL, "http:", "https:", 1) },
			[]string{"fail connection: the service does not speak TLS at this address"}},
		"all well":        {healthy, nil, nil},
		"401":             {answers(401, "application/json", `{}`), nil, []string{"fail authentication: reading the activity templates got HTTP 401"}},
		"403":             {answers(403, "application/json", `{}`), nil, []string{"fail authentication: reading the activity templates got HTTP 403"}},
		"404 plain text":  {answers(404, "text/plain", "404 page not found"), nil, []string{"fail templates: reading the activity templates got HTTP 404"}},
		"portal":          {answers(200, "text/html", "<html>Welcome to the hotel"), nil, []string{"fail templates: the answer with the activity templates is a web page"}},
		"portal 404":      {answers(404, "text/html", "<html>"), nil, []string{"fail templates: reading the activity templates got HTTP 404"}},
		"redirect":        {answers(302, "text/plain", ""), nil, []string{"fail templates: reading the activity templates got HTTP 302"}},
		"not an array":    {onTemplates(answers(200, "application/json", `{"items":[]}`)), nil, []string{"fail templates: the answer with the activity templates is an object"}},
		"no templates":    {onTemplates(answers(200, "application/json", `[]`)), nil, []string{"warn templates: the service has no activity templates"}},
		"unknown type":    {onTemplates(answers(200, "application/json", `[{"id":"1","name":"a","activityAttributeTemplates":[{"id":"2","name":"b","dataType":"Fax"}]}]`)), nil, []string{`warn templates: the data type "Fax"`}},
		"everybody known": {onLookUps(answers(200, "application/json", `{"contactId":"a"}`)), nil, []string{"fail look-up by e-mail: the look-up of an invented e-mail", "fail look-up by phone: "}},
		"refused form":    {onLookUps(answers(400, "application/json", `{}`)), nil, []string{"fail look-up by e-mail: the look-up by e-mail got HTTP 400", "fail look-up by phone: "}},
		"refused, stated": {onLookUps(answers(400, "application/json", `{}`)), func(cfg *apiclient.Config) { cfg.NotFound.Stated = true },
			[]string{"warn look-up by e-mail: the look-up by e-mail got HTTP 400", "warn look-up by phone: "}},
		"look-up page": {onLookUps(answers(404, "text/html", "<html>")), nil, []string{"fail look-up by e-mail: the look-up of an invented e-mail", "fail look-up by phone: "}},
		"no token": {healthy, func(cfg *apiclient.Config) {
			cfg.Authorize = func(context.Context, *http.Request) error {
				return &apiclient.Failure{Stop: true, Reason: "the token endpoint answered with status 401 (invalid_client)"}
			}
		}, []string{"fail templates: the token endpoint answered with status 401 (invalid_client)"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(test.h)
			defer s.Close()
			if test.change == nil {
				test.change = func(*apiclient.Config) {}
			}
			c := at(t, s.URL, test.change)
			got, all := examine(t, c)
			if len(got) != len(test.want) {
				t.Fatalf("%q, want %q; all:\n%s", got, test.want, all)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("%q, want it to begin with %q", got[i], want)
				}
			}
			if lines := strings.Count(all, "\n"); test.want == nil && lines != 5 {
				t.Errorf("%d lines, want 5:\n%s", lines, all)
			}
			for kind := range c.Sent() {
				if kind != apiclient.ReadTemplates && kind != apiclient.FindClient {
					t.Errorf("a %s was sent", kind)
				}
			}
		})
	}
}

// overTLS starts a server with a certificate for 127.0.0.1, and returns what a client needs to trust it. change, unless it is nil, changes how
// the server speaks TLS.
func overTLS(t *testing.T, h http.Handler, change func(*tls.Config)) (url string, trust func(*apiclient.Config)) {
	t.Helper()
	config, trust := secured(t, true)
	if change != nil {
		change(config)
	}
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog, s.TLS = log.New(io.Discard, "", 0), config
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, trust
}
