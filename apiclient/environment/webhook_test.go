package environment_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/apiclient/environment"
	"claimsheet/mapping/problem"
)

func TestWebhook(t *testing.T) {
	const hook = "https://hooks.example.com/canary?token=canary"
	file := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(file, []byte(hook+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOOK", hook)
	t.Setenv("PLAIN", "http://hooks.example.com/canary")
	for text, want := range map[string]string{
		hook: hook, "env:HOOK": hook, "file:" + file: hook, "http://127.0.0.1:9/canary": "http://127.0.0.1:9/canary",
	} {
		got, err := environment.Webhook(t.Context(), text)
		if err != nil || got.Reveal() != want {
			t.Errorf("%s: %q, %v; want %q", text, got.Reveal(), err, want)
		}
		if strings.Contains(fmt.Sprintf("%v %+v %#v", got, got, got), "canary") {
			t.Errorf("%s is printed", text)
		}
	}
	for text, want := range map[string]string{
		"http://hooks.example.com/canary": "http sends the secret readable for everyone on the way",
		"env:PLAIN":                       "http sends the secret readable for everyone on the way",
		"canary":                          "it is not a url with a host",
		"env:CANARY_IS_NOT_SET":           "the environment variable CANARY_IS_NOT_SET is not set",
		"env:":                            "env: must be followed by the name of an environment variable",
		"ftp://hooks.example.com/canary":  "its scheme is not https",
	} {
		got, err := environment.Webhook(t.Context(), text)
		p, ok := errors.AsType[problem.Problem](err)
		if !ok || p.Message != "the url for the notice cannot be used: "+want || got.Reveal() != "" {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if strings.Contains(p.Error()+p.Hint, "canary") {
			t.Errorf("the url is quoted: %v", p)
		}
	}
}
