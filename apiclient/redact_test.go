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
	type test struct {
		authorize func(*http.Request)
		say       func(http.Header) string
		kept      string // a part of what is kept
	}
	tests := map[string]test{
		"bearer":         {bearer, all, "***"},
		"api key":        {key(secret), all, "***"},
		"basic":          {basic, all, "***"},
		"password alone": {basic, says("the password " + secret + " is wrong"), "the password *** is wrong"},
		"in JSON":        {bearer, says(`{"message":"no ` + string(quoted[1:]) + `}`), "***"},
		"in a url":       {key(secret), says("see /help?key=s3cr%3Cet%2F%22canary%22%2B%C3%A4"), "***"},
		"at the 4 KiB":   {bearer, says(strings.Repeat("x", 4090) + secret), "x***"},
	}
	// A link is hidden as it is and as JSON writes it, and without a host where it has a query. An answer that holds one
	// behind other escapes is not kept.
	for kept, links := range map[string][]string{"***": {
		`{"redirectUrl":"https://claims.example.com/go/canary?t=canary"}`,
		`{"u":"https:\/\/u:canary@claims.example.com\/go\/canary"}`,
		`{"message":"use claims.example/m/canary?t=1 (or claims.example:8443\/canary)"}`,
		"claims.example.com?t=canary",
		"Go to HTTP://claims.example.com/canary, please",
		`{"message":"go to https:\u002F\u002Fclaims.example.com\u002fgo\u002fcanary"}`,
		`{"message":"go to https://claims.example.com/go?a=1\u0026t=canary"}`,
		`{"message":"exists: \/\/localhost:8080\/l\/canary"}`,
		`{"redirectUrl":"//claims.example.com/s/canary"}`,
		`{"message":"exists: \/s\/abc?a=1\u0026token=canary."}`,
		`{"message":"https:\/\/claims.example.com\/go+a%20canary+canary"}`,
		`{"message":"exists: /start?canary"}`,
		`{"message":"exists: ?token=canary"}`,
	}, "(not kept: ": {
		`{"message":"go to https%3A%2F%2Fclaims.example.com%2Fgo%2Fcanary"}`,
		`{"message":"exists%3A a%3Fa+b%3Dcanary"}`,
		`{"message":"exists: %2Fs%2Fabc%3Ftoken%3Da%20canary"}`,
		`{"message":"https%3A//claims.example.com/l/AB+CDcanary/x"}`,
		`https%3a%2f%2fclaims.example.com%2fgo%3ft%3da%2520canary%2bcanary`,
		`exists: /s/abc?a=1\u0026token=canary`,
		`{"message":"go to claims.example.com%2fgo%2fcanary"}`,
	}} {
		for _, link := range links {
			tests[link] = test{bearer, says(link), kept}
		}
	}
	for name, test := range tests {
		for _, status := range []int{400, 409, 500, 302} {
			v := echoed(t, test.authorize, status, test.say)
			shown := fmt.Sprint(string(v.Answer), v.Detail, v.Reason, v.Hint)
			if strings.Contains(shown, "canary") || strings.Contains(shown, "s3cr") || !strings.Contains(shown, test.kept) {
				t.Errorf("%s, %d: %s", name, status, shown)
			}
			if len(v.Answer) == 0 || len(v.Answer) > 4<<10 {
				t.Errorf("%s, %d: %d bytes kept", name, status, len(v.Answer))
			}
		}
	}
}

// A service may spell what it repeats in several ways. The secret is replaced as it is, as
// JSON, urls and Basic authentication write it; of an answer that spells it in another way, or
// in two layers, nothing is kept.
func TestSecretsAreHiddenInEverySpelling(t *testing.T) {
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
		func(s string) string { return s }, inJSON, each(`\u%04X`), url.QueryEscape, url.PathEscape,
		func(s string) string { return strings.ReplaceAll(inJSON(s), "/", `\/`) },
		func(s string) string { return strings.ToLower(url.QueryEscape(s)) },
		html.EscapeString, each("&#%d;"), each("&#x%X;"), each("%%%x"),
	}
	const replaced = 7 // of these layers, where the answer is JSON
	check := func(name, spelling string, mustReplace bool) {
		for format, want := range map[string]string{`{"message":"no %s here"}`: `{"message":"no *** here"}`, `<p>%s</p>`: `<p>***</p>`} {
			body := fmt.Sprintf(format, spelling)
			v := echoed(t, key(secret), 422, says(body))
			lost := strings.HasPrefix(string(v.Answer), fmt.Sprintf("(not kept: %d bytes, ", len(body)))
			if string(v.Answer) != want && !lost || lost && mustReplace && format[0] == '{' || strings.Contains(v.Detail, "k3y") {
				t.Errorf("%s: %s is kept as %s, shown as %s", name, body, v.Answer, v.Detail)
			}
		}
		v := echoed(t, key(secret), 201, says(`{"contactId":"a","echo":"`+spelling+`"}`))
		if json.Valid([]byte(`"`+spelling+`"`)) && (v.ID != "a" || mustReplace && string(v.Answer) != `{"contactId":"a","echo":"***"}`) {
			t.Errorf("%s: a good answer is kept as %s", name, v.Answer)
		}
	}
	for i, inner := range layers {
		for j, outer := range layers {
			if i+j > 0 { // a secret with quotes as it is would be no JSON
				check(fmt.Sprintf("layers %d and %d", i, j), outer(inner(secret)), i == 0 && j < replaced)
			}
		}
	}
	check("base64", base64.StdEncoding.EncodeToString([]byte(secret)), true)
	check("a mixture", `k3y\u002Bcanary%2fb c&\u0022%41%C3%a4%3D=`, false)
	check("names", `k3y&#43canary&#x0000002F;b c&amp;&quot;%41&auml;==`, false)
}

// The rest of a text keeps its spelling, and so does a part of a secret. Words that only look like a link are not
// changed, and a hidden link is not hidden again. A secret of digits is hidden also where an answer with escapes
// repeats it as a number.
func TestWhatIsNoSecretStays(t *testing.T) {
	for _, tt := range []struct{ said, want string }{ // a want of "" is what was said
		{`50% of a+b \u00e4 \/ %zz %2 \\ & a&b \ud83d\ude00 84756120`, ""},
		{`\u00e4","n":[12,-1.5e3],"key":84756120934857,"x":"`, `\u00e4","n":[12,-1.5e3],"key":"***","x":"`},
		{"and/or 1/2 05/11/2026 24/7 n/a w/o km/h.", ""},
		{"E.g. this/that, i.e. him/her; no.3/4, 1.5/2", ""},
		{"see /fields/email, body.email and v1.2/x?", ""},
		{"write to jane@example.com/office", ""},
		{"// and/or, a//b/c, 1//2", ""},
		{"no such postcode for acme-limited, see https://help.example.com/postcodes?id=7",
			"no such postcode for acme-limited, see https://help.example.com/***"},
		{"https://help.example.com/a/b and x", "https://help.example.com/*** and x"},
		{"next=//claims.example/m/1", "next=//claims.example/***"},
		{"(claims.example/m/1), [c.example/2]", "(claims.example/*** [c.example/***"},
		{"link:claims.example:8443/m/1 url=c.example?t=1", "link:claims.example:8443/*** url=c.example/***"},
		{"HTTPS://claims.example/m/1?next=x.example/2/3", "HTTPS://claims.example/***"},
	} {
		if tt.want == "" {
			tt.want = tt.said
		}
		v := echoed(t, key("84756120934857"), 422, says(`{"message":"`+tt.said+`"}`))
		equal(t, tt.said, `{"message":"`+tt.want+`"}`, string(v.Answer))
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

// All tokens of a run are hidden, and so is a secret that no request carries.
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
