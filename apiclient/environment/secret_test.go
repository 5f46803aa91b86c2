package environment_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"claimsheet/apiclient/environment"
)

// canary must never show anywhere but in a request.
const canary = "canary-5f0d"

// P-2 of docs/security.md.
func TestP2_SecretShowsNowhere(t *testing.T) {
	t.Setenv("CANARY", canary)
	s, err := environment.ReadSecret(t.Context(), "--password", "env:CANARY")
	if err != nil || s.Reveal() != canary {
		t.Fatalf("Reveal() = %q, %v", s.Reveal(), err)
	}
	type wrapper struct {
		Public environment.Secret
		hidden environment.Secret
		list   []environment.Secret
		byName map[string]*environment.Secret
	}
	w := wrapper{s, s, []environment.Secret{s}, map[string]*environment.Secret{"a": &s}}
	var shown bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		fmt.Fprintf(&shown, verb+"\n", s)
		fmt.Fprintf(&shown, verb+"\n", &s)
		fmt.Fprintf(&shown, verb+"\n", w)
		fmt.Fprintf(&shown, verb+"\n", &w)
	}
	fmt.Fprintln(&shown, s, w, fmt.Errorf("with %v", s))
	for _, h := range []slog.Handler{slog.NewTextHandler(&shown, nil), slog.NewJSONHandler(&shown, nil)} {
		slog.New(h).Info("secret", "s", s, "w", w, slog.Group("g", "s", &s))
	}
	for _, v := range []any{s, &s, w, map[string]any{"s": s}} {
		if err := json.NewEncoder(&shown).Encode(v); err != nil {
			t.Error(err)
		}
	}
	for _, v := range []any{s, &s, map[string]any{"s": s}} {
		data, err := yaml.Dump(v)
		if err != nil {
			t.Error(err)
		}
		shown.Write(data)
	}
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary)} {
		if strings.Contains(shown.String(), form) {
			t.Errorf("the secret shows:\n%s", shown.String())
		}
	}
	if got := fmt.Sprintf("%v|%+v|%#v|%s|%q|%d", s, s, s, s, s, s); got != "***|***|***|***|***|***" {
		t.Errorf("printed as %s", got)
	}
	if got := (environment.Secret{}).Reveal(); got != "" {
		t.Errorf("the zero secret is %q", got)
	}
}

// P-1 of docs/security.md: a secret that is written in the file is refused,
// wherever one may stand, and not repeated.
func TestP1_LiteralsAreRefused(t *testing.T) {
	for _, keys := range []string{
		"auth: {type: bearer, token: " + canary + "}",
		"auth: {type: api_key, header: X-Key, key: " + canary + "}",
		"auth: {type: basic, username: jo, password: " + canary + "}",
		"auth: {type: oauth2, token_url: 'https://id.example.com', client_id: me, client_secret: " + canary + "}",
		"headers: {X-Api-Key: " + canary + "}",
		"headers: {Session-Token: " + canary + "}",
		"auth: {type: bearer, token: 'ENV:" + canary + "'}",
	} {
		path := write(t, t.TempDir(), "environments.yaml", "environments:\n  uat:\n    base_url: https://uat.example.com\n    "+keys+"\n")
		_, err := environment.Load(path)
		if err == nil || !strings.Contains(report(t, err), "env:NAME, file:PATH or cmd:PROGRAM") {
			t.Errorf("%s: %v", keys, err)
		}
		if err != nil && strings.Contains(report(t, err), canary) {
			t.Errorf("the secret shows: %s", report(t, err))
		}
	}
}
