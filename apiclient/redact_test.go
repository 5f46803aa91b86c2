package apiclient_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient"
)

// echoing returns a client with credentials, of a service that answers with a status
// and what say makes of the request's headers.
func echoing(t *testing.T, authorize func(*http.Request), status int, say func(h http.Header) string) *apiclient.Client {
	t.Helper()
	return against(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, say(r.Header))
	}, func(cfg *apiclient.Config) {
		cfg.Headers = http.Header{"X-Tenant": {"acme-limited"}}
		cfg.Authorize = func(_ context.Context, req *http.Request) error { authorize(req); return nil }
	})
}

// echoed is what becomes of the creation of a contact there.
func echoed(t *testing.T, authorize func(*http.Request), status int, say func(h http.Header) string) apiclient.Verdict {
	t.Helper()
	c := echoing(t, authorize, status, say)
	return c.Create(t.Context(), createContact(c))
}

// key authorizes requests with a key.
func key(secret string) func(*http.Request) {
	return func(req *http.Request) { req.Header.Set("X-Api-Key", secret) }
}

// says is an answer that repeats nothing.
func says(text string) func(http.Header) string { return func(http.Header) string { return text } }

// A service may repeat what it was sent. What is stored or shown of its failures holds
// neither our credentials, in any spelling, nor links. The rest stays.
func TestFailuresAreKeptWithoutSecretsAndLinks(t *testing.T) {
	const secret = `s3cr<et/"canary"+ä`
	quoted, _ := json.Marshal(secret)
	bearer := func(req *http.Request) { req.Header.Set("Authorization", "Bearer "+secret) }
	basic := func(req *http.Request) { req.SetBasicAuth("intake", secret) }
	all := func(h http.Header) string { return fmt.Sprint(h) }
	for name, test := range map[string]struct {
		authorize func(*http.Request)
		say       func(http.Header) string
	}{
		"bearer":          {bearer, all},
		"api key":         {key(secret), all},
		"basic":           {basic, all},
		"password alone":  {basic, says("the password " + secret + " is wrong")},
		"in JSON":         {bearer, says(`{"message":"no ` + string(quoted[1:]) + `}`)},
		"in a url":        {key(secret), says("see /help?key=s3cr%3Cet%2F%22canary%22%2B%C3%A4")},
		"at the 4 KiB":    {bearer, says(strings.Repeat("x", 4090) + secret)},
		"link":            {bearer, says(`{"redirectUrl":"https://claims.example.com/go/canary?t=canary"}`)},
		"link in slashes": {bearer, says(`{"u":"https:\/\/u:canary@claims.example.com\/go\/canary"}`)},
		"link, no scheme": {bearer, says(`{"message":"use claims.example/m/canary?t=1 (or claims.example:8443\/canary)"}`)},
		"link, query":     {bearer, says("claims.example.com?t=canary")},
		"link in words":   {bearer, says("Go to HTTP://claims.example.com/canary, please")},
	} {
		for _, status := range []int{400, 409, 500, 302} {
			v := echoed(t, test.authorize, status, test.say)
			shown := fmt.Sprint(string(v.Answer), v.Detail, v.Reason, v.Hint)
			if strings.Contains(shown, "canary") || strings.Contains(shown, "s3cr") {
				t.Errorf("%s, %d: %s", name, status, shown)
			}
			if len(v.Answer) == 0 || len(v.Answer) > 4<<10 {
				t.Errorf("%s, %d: %d bytes kept", name, status, len(v.Answer))
			}
		}
	}
	v := echoed(t, bearer, 422, func(h http.Header) string {
		return `{"message":"no such postcode for ` + h.Get("X-Tenant") + `, see https://help.example.com/postcodes?id=7"}`
	})
	equal(t, "detail", "no such postcode for acme-limited, see https://help.example.com/***", v.Detail)
}

// A service may spell what it repeats in several ways. The secret is replaced as it is, as
// JSON, urls and Basic authentication write it; of a failure that spells it in another way, or
// in several layers, the answer is not kept.
func TestSecretsAreHiddenInEverySpelling(t *testing.T) {
	const secret = `k3y+canary/b&"%41ä==`
	quoted, _ := json.Marshal(secret)
	inJSON := string(quoted[1 : len(quoted)-1])
	twice, _ := json.Marshal(inJSON)
	var percent, letters strings.Builder
	for _, b := range []byte(secret) {
		fmt.Fprintf(&percent, "%%%02x", b)
	}
	for _, r := range secret {
		fmt.Fprintf(&letters, `\u%04X`, r)
	}
	for spelling, replaced := range map[string]bool{
		inJSON:                   true,
		`k3y+canary\/b&\"%41ä==`: true,
		`k3y\u002Bcanary\u002fb\u0026\u0022%41\u00e4==`: true,
		letters.String():                                  true,
		url.QueryEscape(secret):                           true,
		url.PathEscape(secret):                            true,
		`k3y%2bcanary%2fb%26%22%2541%c3%a4%3d%3d`:         true,
		base64.StdEncoding.EncodeToString([]byte(secret)): true,

		string(twice[1 : len(twice)-1]):                     false,
		`k3y%2bcanary\/b%26\"%2541ä==`:                      false,
		`k3y\u002Bcanary%2fb&\u0022%41%C3%a4%3D=`:           false,
		`k3y%252Bcanary%252Fb%2526%2522%252541%25C3%25A4==`: false,
		`k3y&#43;canary&#x2F;b&amp;&quot;%41&auml;==`:       false,
		`k3y&#43canary&#x0000002F;b&#038&#0034;%41&#xE4==`:  false,
		percent.String():                                        false,
		url.QueryEscape(url.QueryEscape(secret)):                false,
		url.PathEscape(inJSON):                                  false,
		strings.ReplaceAll(url.PathEscape(secret), "%2F", `\/`): false,
	} {
		for format, want := range map[string]string{`{"message":"no %s here"}`: `{"message":"no *** here"}`, `<p>%s</p>`: `<p>***</p>`} {
			body := fmt.Sprintf(format, spelling)
			v := echoed(t, func(req *http.Request) { req.Header.Set("Authorization", "Bearer "+secret) }, 422, says(body))
			lost := strings.HasPrefix(string(v.Answer), fmt.Sprintf("(not kept: %d bytes, ", len(body)))
			if string(v.Answer) != want && !lost || lost && replaced && format[0] == '{' || strings.Contains(v.Detail, "k3y") {
				t.Errorf("%s is kept as %s, shown as %s", body, v.Answer, v.Detail)
			}
		}
		v := echoed(t, key(secret), 201, says(`{"contactId":"a","echo":"`+spelling+`"}`))
		if v.ID != "a" || replaced && string(v.Answer) != `{"contactId":"a","echo":"***"}` {
			t.Errorf("a good answer is kept as %s", v.Answer)
		}
	}
}

// A secret of digits is hidden also where an answer with escapes repeats it as a number.
func TestSecretsThatAreNumbers(t *testing.T) {
	for _, status := range []int{201, 422} {
		v := echoed(t, key("84756120934857"), status, says(`{"contactId":"a","key":84756120934857,"message":"\u00e4","n":[12,-1.5e3]}`))
		equal(t, "kept", `{"contactId":"a","key":"***","message":"\u00e4","n":[12,-1.5e3]}`, string(v.Answer))
	}
}

// Of a secret in two layers of escapes nothing is kept, whichever they are.
func TestSecretsInTwoLayers(t *testing.T) {
	const secret = `k3y+canary/b c&"%41ä==`
	each := func(format string) func(string) string {
		return func(s string) string {
			var b strings.Builder
			for _, r := range s {
				fmt.Fprintf(&b, format, r)
			}
			return b.String()
		}
	}
	inJSON := func(s string) string { quoted, _ := json.Marshal(s); return string(quoted[1 : len(quoted)-1]) }
	layers := []func(string) string{
		url.QueryEscape, url.PathEscape, html.EscapeString, inJSON, each(`\u%04x`), each("&#%d;"), each("&#x%X;"),
		func(s string) string { return strings.ToLower(url.QueryEscape(s)) },
		func(s string) string { return strings.ReplaceAll(inJSON(s), "/", `\/`) },
	}
	for i, inner := range layers {
		for j, outer := range layers {
			for _, format := range []string{`{"message":"no %s here"}`, "<p>%s</p>"} {
				body := fmt.Sprintf(format, outer(inner(secret)))
				v := echoed(t, key(secret), 422, says(body))
				if kept := string(v.Answer); !strings.Contains(kept, "***") && !strings.HasPrefix(kept, "(not kept: ") {
					t.Errorf("layers %d and %d: %s is kept as %s", i, j, body, kept)
				}
			}
		}
	}
}

// What is not text is not kept, whatever its status: a secret in it could not be found.
func TestWhatIsNoTextIsNotKept(t *testing.T) {
	for _, status := range []int{201, 422} {
		for body, header := range map[string]http.Header{
			"k\x003\x00y\x00":        {"Content-Type": {"text/plain; charset=utf-16le"}},
			"\x1f\x8b looks like it": {"Content-Type": {"text/plain"}, "Content-Encoding": {"gzip"}},
		} {
			c := against(t, func(w http.ResponseWriter, _ *http.Request) {
				maps.Copy(w.Header(), header)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			})
			v := c.Create(t.Context(), createContact(c))
			if want := fmt.Sprintf("(not kept: %d bytes, text/plain)", len(body)); !strings.HasSuffix(string(v.Answer), want) || v.Detail != want {
				t.Errorf("%d: kept %q, shown %q", status, v.Answer, v.Detail)
			}
		}
	}
}

// The rest of a text keeps its spelling, and half of a secret is none.
func TestWhatIsNoSecretKeepsItsSpelling(t *testing.T) {
	const said = `{"message":"50% of a+b \u00e4 \/ %zz %2 \\ & a&b \ud83d\ude00 k3y+canar"}`
	if v := echoed(t, key("k3y+canary"), 422, says(said)); string(v.Answer) != said {
		t.Errorf("kept as %s", v.Answer)
	}
}

// A link is hidden as it is and as JSON writes it, and without a host where it has a query. An answer that holds one behind other escapes is not kept.
func TestLinksAreHidden(t *testing.T) {
	for _, body := range []string{
		`{"message":"go to https:\u002F\u002Fclaims.example.com\u002fgo\u002fcanary"}`,
		`{"message":"go to https://claims.example.com/go?a=1\u0026t=canary"}`,
		`{"message":"go to https%3A%2F%2Fclaims.example.com%2Fgo%2Fcanary"}`,
		`{"message":"exists%3A a%3Fa+b%3Dcanary"}`,
		`{"message":"exists: %2Fs%2Fabc%3Ftoken%3Da%20canary"}`,
		`{"message":"exists: \/\/localhost:8080\/l\/canary"}`,
		`{"message":"https%3A//claims.example.com/l/AB+CDcanary/x"}`,
		`{"redirectUrl":"//claims.example.com/s/canary"}`,
		`{"message":"exists: \/s\/abc?a=1\u0026token=canary."}`,
		`{"message":"https:\/\/claims.example.com\/go+a%20canary+canary"}`,
		`https%3a%2f%2fclaims.example.com%2fgo%3ft%3da%2520canary%2bcanary`,
		`exists: /s/abc?a=1\u0026token=canary`,
		`{"message":"exists: /start?canary"}`,
		`{"message":"exists: ?token=canary"}`,
		`{"message":"go to claims.example.com%2fgo%2fcanary"}`,
	} {
		for _, status := range []int{400, 409, 500, 302} {
			c := against(t, answers(status, "", body))
			v := c.Create(t.Context(), c.Routes().CreateLink("a", nil))
			want := "***"
			switch {
			case strings.Contains(strings.ToLower(body), "%2f"), strings.Contains(body, "%3A"), strings.HasPrefix(body, "exists: /s/abc?a=1\\u0026"):
				want = "(not kept: "
			}
			if shown := fmt.Sprint(string(v.Answer), v.Detail, v.Reason, v.Hint); strings.Contains(shown, "canary") || !strings.Contains(shown, want) {
				t.Errorf("%s, %d: %s", body, status, shown)
			}
		}
	}
}

// The last two tokens are hidden, and so is a secret that no request carries.
func TestRenewedTokensAreHidden(t *testing.T) {
	token := func(n int) string { return fmt.Sprintf(`t0ken<"%d"&+/%s>`, n, strings.Repeat(`\"%`, 40)) }
	n, say := 0, ""
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(422)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": say})
	}, func(cfg *apiclient.Config) {
		cfg.Secrets = func() []string { return []string{"canary<secret>"} }
		cfg.Authorize = func(ctx context.Context, req *http.Request) error { return bearing(token(n))(ctx, req) }
	})
	for n = 1; n <= 3; n++ {
		say = "ok"
		c.Create(t.Context(), createContact(c))
	}
	for _, secret := range []string{token(n - 1), token(n - 2), "canary<secret>"} {
		n = 3
		say = "no " + secret + " here"
		v := c.Create(t.Context(), createContact(c))
		if diff := cmp.Diff("no *** here", v.Detail); diff != "" || !strings.Contains(string(v.Answer), `"no *** here"`) {
			t.Errorf("%s, kept %s", diff, v.Answer)
		}
	}
}

// Words that only look like a link are not changed, and a hidden link is not hidden
// again.
func TestWordsAreNoLinks(t *testing.T) {
	for _, tt := range []struct{ said, want string }{ // a want of "" is what was said
		{"and/or 1/2 05/11/2026 24/7 n/a w/o km/h.", ""},
		{"E.g. this/that, i.e. him/her; no.3/4, 1.5/2", ""},
		{"see /fields/email, body.email and v1.2/x?", ""},
		{"write to jane@example.com/office", ""},
		{"// and/or, a//b/c, 1//2", ""},
		{"https://help.example.com/a/b and x", "https://help.example.com/*** and x"},
		{"next=//claims.example/m/1", "next=//claims.example/***"},
		{"(claims.example/m/1), [c.example/2]", "(claims.example/*** [c.example/***"},
		{"link:claims.example:8443/m/1 url=c.example?t=1", "link:claims.example:8443/*** url=c.example/***"},
		{"HTTPS://claims.example/m/1?next=x.example/2/3", "HTTPS://claims.example/***"},
	} {
		if tt.want == "" {
			tt.want = tt.said
		}
		c := against(t, answers(422, "", tt.said))
		equal(t, tt.said, tt.want, c.Create(t.Context(), createContact(c)).Detail)
	}
}

// A good answer is stored whole except for the credentials: its ids and links are
// read from there again.
func TestGoodAnswersAreKeptWithTheirLinks(t *testing.T) {
	say := func(h http.Header) string {
		return `{"contactId":"a","redirectUrl":"https://claims.example.com/go/x","echo":"` + h.Get("X-Api-Key") + `"}`
	}
	v := echoed(t, key("canary-key"), 201, say)
	if want := `{"contactId":"a","redirectUrl":"https://claims.example.com/go/x","echo":"***"}`; string(v.Answer) != want {
		t.Errorf("kept %s", v.Answer)
	}
	// So are its headers.
	c := echoing(t, key("canary/key"), 201, says(`{"contactId":"a"}`))
	c.Create(t.Context(), createContact(c))
	v = c.Judge(createContact(c), apiclient.Answer{Status: 201, Body: []byte(`{"contactId":"a"}`), Header: http.Header{
		"Location": {"/contacts/a"}, "X-Echo": {"canary/key"}, "X-Escaped": {"canary%2fkey"}}}, nil)
	if strings.Contains(string(v.Answer), "canary") || !strings.Contains(string(v.Answer), "Location: /contacts/a\r\n") {
		t.Errorf("kept %s", v.Answer)
	}
	// A key that is part of what we need mutilates nothing.
	c = echoing(t, key("claims"), 201, say)
	v = c.Create(t.Context(), c.Routes().CreateLink("a", nil))
	if v.URL != "https://claims.example.com/go/x" || !strings.Contains(string(v.Answer), v.URL) {
		t.Errorf("%s, kept %s", v.URL, v.Answer)
	}
}
