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
	for _, v := range []any{s, &s, w, &w, map[string]any{"s": s}, fmt.Errorf("with %v", s)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
			fmt.Fprintf(&shown, verb+"\n", v)
		}
		for _, h := range []slog.Handler{slog.NewTextHandler(&shown, nil), slog.NewJSONHandler(&shown, nil)} {
			slog.New(h).Info("secret", "v", v, slog.Group("g", "v", v))
		}
		noError(t, json.NewEncoder(&shown).Encode(v))
	}
	for _, v := range []any{s, &s, map[string]any{"s": s}} {
		shown.Write(must(yaml.Dump(v))(t))
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

// ReadSecret reads what a command line refers to; its errors do not repeat it.
func TestReadSecret(t *testing.T) {
	for text, want := range map[string]string{
		canary: "literal-secret", "": "literal-secret", "env:" + canary: "secret", "cmd:false": "secret",
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
