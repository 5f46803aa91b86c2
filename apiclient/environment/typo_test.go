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

// A misspelt key is one problem: what it seems to leave out is not reported
// besides.
func TestOneSlipIsOneProblem(t *testing.T) {
	const whole = `default: uat
environments:
  uat:
    base_url: https://uat.example.com
    auth: {type: bearer, token: env:TOKEN}
`
	for slip, right := range map[string]string{"base-url:": "base_url:", "baseurl:": "base_url:", "ath:": "auth:", "enviroments:": "environments:"} {
		path := filepath.Join(t.TempDir(), "environments.yaml")
		if err := os.WriteFile(path, []byte(strings.Replace(whole, right, slip, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := environment.Load(path)
		if list, _ := errors.AsType[problem.List](err); len(list) != 1 {
			t.Errorf("%s: %d problems:\n%v", slip, len(list), err)
		}
	}
}
