package environment

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient"
)

// noon is the time of every signature, in another zone than UTC.
var noon = time.Date(2026, 3, 1, 13, 0, 0, 123e6, time.FixedZone("CET", 3600))

// signerOf reads an environment with this auth.
func signerOf(t *testing.T, auth string) signer {
	t.Helper()
	path := filepath.Join(t.TempDir(), "environments.yaml")
	if err := os.WriteFile(path, []byte("environments:\n  uat:\n    base_url: https://uat.example.com/api\n    auth:\n"+
		"      "+strings.ReplaceAll(auth, "\n", "\n      ")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &resolver{ctx: context.Background(), file: path}
	s := f.environments["uat"].auth.signature
	key := r.secret(s.secret)
	if err := r.problems.Err(); err != nil {
		t.Fatal(err)
	}
	return signer{s, func() []byte { return []byte(key.Reveal()) }}
}

func post(t *testing.T) (*http.Request, []byte) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, "https://uat.example.com/api/funnel/v2/contacts?isAdministrator=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Request-Id", "17")
	return req, []byte(`{"email":"jane@example.com"}`)
}

// TestSignatureVector compares a signature with that of openssl:
//
//	printf 'POST\n/api/…\n1772366400\n%s' "$(printf '{"email":…}' | openssl dgst -sha256 -hex)" | openssl dgst -sha256 -hmac canary-secret -hex
func TestSignatureVector(t *testing.T) {
	t.Setenv("CANARY", "canary-secret")
	const want = "abe698a286f26a3f9db6da33ad767f267ab33ea8d2025ede84725218a05627c3"
	s := signerOf(t, `type: hmac
secret: env:CANARY
algorithm: sha256
encoding: hex
timestamp: unix
message: "{method}\n{target}\n{timestamp}\n{body:sha256:hex}"
headers: {Authorization: "HMAC intake:{signature}", X-Timestamp: "{timestamp}"}`)
	req, body := post(t)
	hidden, err := s.sign(req, body, noon)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"HMAC intake:" + want, want}, hidden); diff != "" {
		t.Errorf("what must be hidden (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(http.Header{"Authorization": {"HMAC intake:" + want}, "X-Timestamp": {"1772366400"}, "X-Request-Id": {"17"}}, req.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

// TestSecretEncodings compares signatures of one key in three spellings with that of
// openssl dgst -sha512 -mac HMAC -macopt hexkey:00ff10.
func TestSecretEncodings(t *testing.T) {
	const want = "iMGTdCqhXj8mrUZy4qiF/R9wIMGDbtQ6njkaP0i8uKNEKWLeF0XBnRR+EimI9eKRImw8RDAM4nDLNUo2asrIOg=="
	for secret, encoding := range map[string]string{"00ff10": "hex", "AP8Q": "base64", "zz": "hex", "A": "base64"} {
		t.Setenv("CANARY", secret)
		e := newEnvironment("uat")
		e.auth = credentials{kind: authHMAC, signature: signature{secretEncoding: encoding, algorithm: "sha512", encoding: "base64",
			message: textPattern{{name: "body", fill: placeholders["body"]}},
			headers: []signedHeader{{"X-Signature", textPattern{{name: "signature", fill: placeholders["signature"]}}}}}}
		e.auth.signature.secret = reference{key: "secret", source: fromEnv, name: "CANARY"}
		cfg, err := e.Config(t.Context(), apiclient.V2)
		if bad := len(secret) < 4; bad {
			if err == nil || !strings.Contains(err.Error(), "“secret” is not "+encoding) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", secret, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		req, body := post(t)
		if _, err := cfg.Sign(req, body, noon); err != nil || req.Header.Get("X-Signature") != want {
			t.Errorf("%s: %v, %v", encoding, req.Header, err)
		}
	}
}

// TestPlaceholders expands each placeholder.
func TestPlaceholders(t *testing.T) {
	t.Setenv("CANARY", "canary-secret")
	for text, want := range map[string]string{
		"{method} {url}":                           "POST https://uat.example.com/api/funnel/v2/contacts?isAdministrator=true",
		"{host}|{path}":                            "uat.example.com|/api/funnel/v2/contacts",
		"{query}|{target}":                         "isAdministrator=true|/api/funnel/v2/contacts?isAdministrator=true",
		"{body}":                                   `{"email":"jane@example.com"}`,
		"{header:X-Time}":                          "T",
		"{header:x-absent}":                        "",
		"{header:X-Request-Id}{{{method}}}":        "17{POST}",
		"{body:sha256:base64url}{body:sha384:hex}": "nPXu1QbnJkWlI0fC4JRiYdDQ1vMixwKP4RgNvWB7p285278b8ebcbf3b1f15df3bb6d5a8e418ad24ddbe2c01fd485255088d55ef8cf87c7aea1583591eaa7d0489faa10636d5b",
	} {
		p, wrong, _ := parsePattern(text)
		if wrong != "" {
			t.Errorf("%s: %s", text, wrong)
		}
		req, body := post(t)
		req.Header.Set("X-Time", "T")
		got := p.expand(&signing{req: req, body: body})
		if got != want {
			t.Errorf("%s gives %q, want %q", text, got, want)
		}
	}
	p, _, _ := parsePattern("{url}")
	req, _ := post(t)
	req.URL.Host, req.Host = "bücher.example", "xn--bcher-kva.example"
	if got := p.expand(&signing{req: req}); got != "https://xn--bcher-kva.example/api/funnel/v2/contacts?isAdministrator=true" {
		t.Errorf("the url of an international host is %s", got)
	}
	for form, want := range map[string]string{"unix": "1772366400", "unix_ms": "1772366400123", "rfc3339": "2026-03-01T12:00:00Z", "http": "Sun, 01 Mar 2026 12:00:00 GMT"} {
		s := signerOf(t, `{type: hmac, secret: "env:CANARY", algorithm: sha256, encoding: base64, message: "{timestamp}{nonce}", timestamp: `+form+
			`, headers: {X-Time: "{timestamp}", X-Nonce: "{nonce}", X-Signature: "{signature}"}}`)
		nonces := map[string]bool{}
		for range 2 {
			req, body := post(t)
			if _, err := s.sign(req, body, noon); err != nil || req.Header.Get("X-Time") != want {
				t.Errorf("%s: %v, %v", form, req.Header, err)
			}
			nonces[req.Header.Get("X-Nonce")] = true
		}
		if len(nonces) != 2 {
			t.Errorf("the nonces are %v, want two", nonces)
		}
	}
}
