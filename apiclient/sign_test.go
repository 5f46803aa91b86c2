package apiclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient"
)

// signing returns a client whose requests are signed: each signature is another one
// and begins with canary.
func signing(t *testing.T, h http.HandlerFunc) *apiclient.Client {
	t.Helper()
	var count atomic.Int64
	cfg := config(apiclient.V2)
	cfg.Transport = apiclient.InProcess(h)
	cfg.Sign = func(req *http.Request, body []byte, _ time.Time) ([]string, error) {
		one := fmt.Sprintf("canary/%d+%d==", count.Add(1), len(body))
		req.Header.Set("X-Signature", "v1="+one)
		return []string{"v1=" + one, one}, nil
	}
	return client(t, cfg)
}

// A signature is nowhere but in its request, also when the service repeats it while
// many requests are under way, in a body, in a header or in a url.
func TestSignaturesAreHidden(t *testing.T) {
	t.Parallel()
	for _, status := range []int{201, 400, 409, 500, 302} {
		var together sync.WaitGroup
		const workers = 16
		arrived := make(chan struct{}, workers)
		release := make(chan struct{})
		c := signing(t, func(w http.ResponseWriter, r *http.Request) {
			arrived <- struct{}{}
			<-release
			signature := strings.TrimPrefix(r.Header.Get("X-Signature"), "v1=")
			w.Header().Set("X-Echo", r.Header.Get("X-Signature"))
			w.Header().Set("Location", "/contacts/7?sig="+url.QueryEscape(signature))
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"message":"no %s, %s","contactId":"7"}`, signature, url.PathEscape(signature))
		})
		for range workers {
			together.Go(func() {
				v := c.Create(t.Context(), createContact(c))
				if shown := fmt.Sprint(string(v.Answer), v.Detail, v.Reason, v.Hint, v.ID); strings.Contains(shown, "canary") || !strings.Contains(shown, "***") {
					t.Errorf("%d: %s", status, shown)
				}
			})
		}
		for range workers {
			<-arrived
		}
		close(release)
		together.Wait()
		for _, unknown := range c.Unknown() {
			if strings.Contains(fmt.Sprint(unknown), "canary") {
				t.Errorf("%d: %v", status, unknown)
			}
		}
	}
}

// What is signed is what is sent: the body and the query with the credentials. Every
// attempt is signed by itself.
func TestWhatIsSigned(t *testing.T) {
	t.Parallel()
	var signed, sent []string
	cfg := config(apiclient.V2)
	cfg.Transport = apiclient.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = append(sent, r.Method+" "+r.RequestURI+" "+string(body)+" "+r.Header.Get("X-Request-Id")+" "+r.Header.Get("X-Signature"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	cfg.Authorize = func(_ context.Context, r *http.Request) error { r.URL.RawQuery += "&key=k"; return nil }
	renewed := 0
	cfg.Renew = func(context.Context, *http.Request) (bool, error) { renewed++; return renewed == 1, nil }
	cfg.Sign = func(req *http.Request, body []byte, _ time.Time) ([]string, error) {
		n := fmt.Sprint(len(signed))
		signed = append(signed, req.Method+" "+req.URL.RequestURI()+" "+string(body)+" "+req.Header.Get("X-Request-Id")+" "+n)
		req.Header.Set("X-Signature", n)
		return []string{n}, nil
	}
	c := client(t, cfg)
	c.Create(t.Context(), createContact(c))
	c.Create(t.Context(), c.Routes().CreateLink("7", nil))
	_, _ = c.Find(t.Context(), apiclient.ByEmail, "a@example.com")
	if len(sent) != 4 || fmt.Sprint(sent) != fmt.Sprint(signed) || !strings.Contains(sent[0], "&key=k") || !strings.Contains(sent[0], "jane") {
		t.Errorf("signed\n%q\nsent\n%q", signed, sent)
	}
}

// The host that is signed is the one in the header Host, in ASCII.
func TestTheSignedHostIsTheOneThatIsSent(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://Bücher.Example:8443/api": "xn--bcher-kva.example:8443",
		"https://uat.example.com:443":     "uat.example.com",
		"http://[::1]:8080":               "[::1]:8080",
	} {
		var signed, sent string
		cfg := config(apiclient.V2)
		cfg.BaseURL = base
		cfg.Sign = func(req *http.Request, _ []byte, _ time.Time) ([]string, error) { signed = req.Host; return nil, nil }
		cfg.Transport = written(func(head string) { sent = head })
		c := client(t, cfg)
		c.Create(t.Context(), createContact(c))
		if signed != want || !strings.Contains(sent, "\r\nHost: "+want+"\r\n") {
			t.Errorf("%s: %q was signed, want %q; sent:\n%s", base, signed, want, sent)
		}
	}
}

// written is a transport that only shows what net/http writes.
type written func(head string)

func (w written) RoundTrip(req *http.Request) (*http.Response, error) {
	var b bytes.Buffer
	if err := req.Write(&b); err != nil {
		return nil, err
	}
	w(b.String())
	return nil, errors.New("no answer")
}

// A request that cannot be signed is not sent.
func TestARequestThatCannotBeSigned(t *testing.T) {
	t.Parallel()
	for _, err := range []error{errors.New("canary"), &apiclient.Failure{NotSent: true, Stop: true, Reason: "the header cannot be sent"}} {
		cfg := config(apiclient.V2)
		cfg.Transport = apiclient.InProcess(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }))
		cfg.Sign = func(*http.Request, []byte, time.Time) ([]string, error) { return nil, err }
		c := client(t, cfg)
		v := c.Create(t.Context(), createContact(c))
		_, own := errors.AsType[*apiclient.Failure](err)
		if v.Effect != apiclient.NotSent || v.Stop != own || strings.Contains(v.Reason, "canary") || len(c.Sent()) != 0 {
			t.Errorf("%+v", v)
		}
	}
}

// Where a signature is refused and the clocks differ, the advice is the clock: of a
// request, of a look-up and of an examination.
func TestSignaturesAndClocks(t *testing.T) {
	t.Parallel()
	const behind = "the service's clock is 7m0s behind this machine's, and signatures depend on it: let a time service set this machine's clock"
	for _, c := range []struct {
		status int
		ahead  time.Duration
		signed bool
		want   string
	}{
		{401, -7 * time.Minute, true, behind},
		{403, -7 * time.Minute, true, behind},
		{401, 0, true, "check the environment's auth"},
		{401, -7 * time.Minute, false, "check the environment's auth"},
		{422, -7 * time.Minute, true, ""},
	} {
		handler := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", time.Now().Add(c.ahead).UTC().Format(http.TimeFormat))
			w.WriteHeader(c.status)
		}
		client := signing(t, handler)
		if !c.signed {
			client = against(t, handler)
		}
		hint := client.Create(t.Context(), createContact(client)).Hint
		_, err := client.Find(t.Context(), apiclient.ByEmail, "a@example.com")
		found := ""
		if f, ok := errors.AsType[*apiclient.Failure](err); ok {
			found = f.Hint
		}
		if near := strings.NewReplacer("7m1s", "7m0s", "6m59s", "7m0s"); near.Replace(hint) != c.want || near.Replace(found) != c.want {
			t.Errorf("%d, %s: hints %q and %q, want %q", c.status, c.ahead, hint, found, c.want)
		}
		if c.status == 401 && c.want == behind {
			var said bytes.Buffer
			for f := range client.Examine(t.Context()) {
				said.WriteString(f.Hint)
			}
			if !strings.Contains(said.String(), "signatures depend on it") {
				t.Errorf("the examination says %s", said.String())
			}
		}
	}
}
