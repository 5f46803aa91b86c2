package environment_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"claimsheet/apiclient/environment"
	"claimsheet/mapping/problem"
)

// canary must be in requests only.
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

// P-1 of docs/security.md: a secret that is written in the file is refused at every
// key, and the message does not repeat it.
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

// ReadSecret reads what a command line refers to; its errors do not repeat it.
func TestReadSecret(t *testing.T) {
	file := write(t, t.TempDir(), "secret", canary+"\n")
	t.Setenv("CLAIMSHEET_TEST_SECRET", canary)
	for _, text := range []string{"env:CLAIMSHEET_TEST_SECRET", "file:" + file, "cmd:cat '" + file + "'"} {
		secret, err := environment.ReadSecret(t.Context(), "--password", text)
		if err != nil || secret.Reveal() != canary {
			t.Errorf("%s: %q, %v", text, secret.Reveal(), err)
		}
	}
	for text, want := range map[string]string{
		canary:                      "literal-secret",
		"":                          "literal-secret",
		"env:" + canary:             "secret",
		"env:CLAIMSHEET_TEST_UNSET": "secret",
		"file:" + file + ".absent":  "secret",
		"cmd:false":                 "secret",
	} {
		_, err := environment.ReadSecret(t.Context(), "--password", text)
		p, ok := errors.AsType[problem.Problem](err)
		if !ok || p.Code != want || p.Hint == "" || !strings.Contains(p.Message, "--password") || strings.Contains(p.Error()+p.Hint, canary) {
			t.Errorf("%q gives %v (hint %q), want a problem %s", text, err, p.Hint, want)
		}
	}
}

// playProgram makes the test binary play the program of a cmd: secret.
func playProgram(t *testing.T) {
	t.Helper()
	t.Setenv("PLAY_PROGRAM", "1")
	t.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector's wait at every exit
}

// TestMain lets the test binary play the program of a cmd: secret.
func TestMain(m *testing.M) {
	if os.Getenv("PLAY_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, "chatter with "+canary)
	switch os.Args[1] {
	case "print":
		fmt.Println(strings.Join(os.Args[2:], "|"))
	case "fail":
		fmt.Println(canary)
		os.Exit(3)
	case "folder":
		dir, err := os.Getwd()
		if err != nil {
			os.Exit(1)
		}
		fmt.Println(dir)
	}
}
