package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
)

func TestNewRefusesWhatMustNotBe(t *testing.T) {
	for want, change := range map[string]func(*apiclient.Config){
		"the base url must be https":        func(cfg *apiclient.Config) { cfg.BaseURL = "http://example.com" },
		"the case id is empty":              func(cfg *apiclient.Config) { cfg.CaseID = "" },
		"a rule of errors: error parsing":   func(cfg *apiclient.Config) { cfg.Rules = []apiclient.Rule{{Matches: "("}} },
		"with a proxy the base url must be": func(cfg *apiclient.Config) { cfg.Proxy = &apiclient.Proxy{URL: "http://proxy.example.com:3128"} },
	} {
		cfg := config(apiclient.V1)
		change(&cfg)
		if _, err := apiclient.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error with %q", err, want)
		}
	}
}

func TestHeadersOfARequest(t *testing.T) {
	var mu sync.Mutex
	var seen []http.Header
	c := against(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Header.Clone())
	}, func(cfg *apiclient.Config) {
		cfg.Headers, cfg.UserAgent = http.Header{"x-tenant": {"acme"}}, "claimsheet/1"
		cfg.Authorize = bearing("t")
	})
	c.Create(t.Context(), createContact(c))
	c.Create(t.Context(), createContact(c))
	ids := map[string]bool{}
	for _, h := range seen {
		ids[h.Get("X-Request-Id")] = true
		h.Del("X-Request-Id")
		want := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"},
			"User-Agent": {"claimsheet/1"}, "X-Tenant": {"acme"}, "Authorization": {"Bearer t"}}
		equal(t, "headers", want, h)
	}
	if len(ids) != 2 || ids[""] {
		t.Errorf("2 requests have the ids %v", ids)
	}
}

func TestADryRunSendsNothingButGETs(t *testing.T) {
	hits, authorised := 0, 0
	c := against(t, func(http.ResponseWriter, *http.Request) { hits++ }, func(cfg *apiclient.Config) {
		cfg.ReadOnly = true
		cfg.Authorize = func(context.Context, *http.Request) error { authorised++; return nil }
	})
	for _, req := range everyRequest(c.Routes()) {
		_, err := c.Do(t.Context(), req)
		if isGET := req.Method == http.MethodGet; (err == nil) != isGET {
			t.Errorf("%s %s: %v", req.Method, req.Route, err)
		}
	}
	equal(t, "sent", map[apiclient.Kind]int{apiclient.ReadTemplates: 1, apiclient.FindClient: 2}, c.Sent())
	if hits != 3 || authorised != 3 {
		t.Errorf("%d hits, %d authorised; want 3", hits, authorised)
	}
}

func TestCredentialsThatCannotBeHad(t *testing.T) {
	for reason, err := range map[string]error{
		"the credentials could not be obtained": errors.New("token SECRET at https://id.example"),
		"the client secret is refused":          &apiclient.Failure{Stop: true, Reason: "the client secret is refused"},
	} {
		c := with(t, func(cfg *apiclient.Config) {
			cfg.Authorize = func(context.Context, *http.Request) error { return err }
		})
		_, stop := err.(*apiclient.Failure)
		if v := c.Create(t.Context(), createContact(c)); v.Effect != apiclient.NotSent || v.Reason != reason || v.Stop != stop {
			t.Errorf("%+v", v)
		}
	}
}

// A POST on its way is not cancelled with the run; a GET is.
func TestStoppingWhileARequestIsOnItsWay(t *testing.T) {
	post, cancelPost := context.WithCancel(t.Context())
	get, cancelGet := context.WithCancel(t.Context())
	defer cancelGet()
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		cancelPost()
		if r.Method == http.MethodGet {
			cancelGet()
			<-r.Context().Done()
			return
		}
		if r.Context().Err() != nil {
			return
		}
		_, _ = io.WriteString(w, `{"contactId":"a"}`)
	})
	if v := c.Create(post, createContact(c)); v.Effect != apiclient.Created {
		t.Errorf("the POST: %s, %s", v.Effect, v.Reason)
	}
	if _, err := c.Find(get, apiclient.ByEmail, "jane@example.com"); !errors.Is(err, context.Canceled) {
		t.Errorf("the GET: %v", err)
	}
}

// No text that may be logged repeats anything of the request, its target or the
// answer.
func TestReasonsHoldNoPersonalData(t *testing.T) {
	echo := `{"message":"jane.canary@example.com SECRET","contactId":["canary"],"redirectUrl":"SECRET"}`
	var urls []string
	for _, reply := range []string{"", "HTTP/1.1 canary\r\n\r\n", "HTTP/1.1 400 canary\r\n\r\n" + echo, "HTTP/1.1 500 canary\r\n\r\n" + echo,
		"HTTP/1.1 200 canary\r\nContent-Type: text/html\r\n\r\ncanary", "HTTP/1.1 201 canary\r\n\r\n" + echo,
		"HTTP/1.1 307 x\r\nLocation: https://canary.example\r\n\r\n", "HTTP/1.1 404 canary\r\nContent-Type: canary/SECRET;;\r\n\r\n" + echo} {
		s := apitest.StartRaw(t, nil, apitest.Bytes(reply))
		urls = append(urls, s.URL)
	}
	urls = append(urls, "https://nowhere.invalid/SECRET", "http://127.0.0.1:1/SECRET")
	for _, url := range urls {
		var trace traced
		c := at(t, url, trace.to, func(cfg *apiclient.Config) { cfg.Headers = http.Header{"X-Api-Key": {"SECRET"}} })
		r := c.Routes()
		var said []string
		for _, req := range []apiclient.Request{createContact(c), r.CreateLink("canary", nil), r.CreateClaim("canary", []string{"canary"}, "canary")} {
			v := c.Create(t.Context(), req)
			said = append(said, v.Reason, v.Hint)
		}
		_, notFound := c.Find(t.Context(), apiclient.ByEmail, "jane.canary@example.com")
		_, _, notRead := c.Templates(t.Context())
		said = append(said, fmt.Sprint(notFound, c.LearnAbsent(t.Context(), apiclient.ByPhone), notRead), fmt.Sprintf("%+v", trace.take()))
		for _, canary := range []string{"canary", "SECRET", "127.0.0.1", "localhost", "nowhere", "http://", "https://"} {
			if text := strings.Join(said, "\n"); strings.Contains(text, canary) {
				t.Errorf("%q holds %q", text, canary)
			}
		}
	}
}

// A request has its time, whether the service is silent from the beginning, stalls in its answer or drips for ever.
func TestTimeLimits(t *testing.T) {
	for name, silent := range map[string]struct {
		drips string
		post  time.Duration
	}{
		"from the beginning": {"", 2 * time.Minute}, "amid the answer": {" ", 3 * time.Minute}, "in this process": {"", 3 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := overPipes(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				time.Sleep(20 * time.Millisecond)
				for range 200 {
					if _, _ = io.WriteString(w, silent.drips); silent.drips != "" {
						_ = http.NewResponseController(w).Flush()
					}
					time.Sleep(time.Second)
				}
			})
			if name == "in this process" {
				c = against(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			}
			start := time.Now()
			v := c.Create(t.Context(), createContact(c))
			if v.Effect != apiclient.Uncertain || silent.drips != "" && !strings.Contains(v.Reason, "within the time allowed") || time.Since(start) != silent.post {
				t.Errorf("silent %s, a POST: %s (%s) after %v; want uncertain after %v", name, v.Effect, v.Reason, time.Since(start), silent.post)
			}
			start = time.Now()
			if _, err := c.Find(t.Context(), apiclient.ByEmail, "jane@example.com"); err == nil || time.Since(start) != 30*time.Second {
				t.Errorf("silent %s, a GET: %v after %v; want an error after 30s", name, err, time.Since(start))
			}
			time.Sleep(4 * time.Minute) // until the service has ended
		})
	}
}
