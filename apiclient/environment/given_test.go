package environment_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/apiclient/environment"
	"claimsheet/mapping/problem"
)

// A secret that a command line refers to; what is wrong is said without it.
func TestReadSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(canary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
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
		"env:" + canary:             "secret-reference",
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
