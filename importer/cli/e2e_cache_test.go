package cli_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"claimsheet/importer/cli"
)

// TestTemplatesFromTheCache: once check has read the templates, check, init and
// templates work while the service does not answer, and say so; a dry run does not.
func TestTemplatesFromTheCache(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	var away atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`[{"id": "5e571eaa-66c1-44e7-8859-90d2e844c762", "name": "Details", "activityAttributeTemplates": [
			{"id": "3af9f30c-5a66-4477-bda9-d8c096d38ff5", "name": "Name", "dataType": "Text"}]}]`))
	}))
	defer server.Close()
	dir := t.TempDir()
	mapping, sheet := filepath.Join(dir, "mapping.yaml"), filepath.Join(dir, "leads.csv")
	for path, text := range map[string]string{
		filepath.Join(dir, "environments.yaml"): "environments: {uat: {base_url: '" + server.URL + "'}}\n",
		sheet:                                   "No,Name\nL1,Ann\n",
		mapping: "name: small\napi: v2\nclient: {key: No, existing: create, fields: {no: No}}\nworkflow: {name: W, template_identifier: WF}\n" +
			"activities: [{template: Details, attributes: {Name: Name}}]\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, problems bytes.Buffer
		args = append(args[:1:1], append([]string{"-e", "uat", "--environments", filepath.Join(dir, "environments.yaml")}, args[1:]...)...)
		if got := cli.MainAt(t.Context(), args, cli.IO{In: strings.NewReader(""), Out: &out, Err: &problems, Env: os.Getenv}, cli.QuickPace()); got != want {
			t.Fatalf("%v: exit code %d, want %d:\n%s", args, got, want, problems.String())
		}
		return out.String(), problems.String()
	}
	said := func(stderr string) {
		t.Helper()
		if !strings.Contains(stderr, "from the cache, a minute old; the service did not give them: ") {
			t.Errorf("it does not say that it uses the cache:\n%s", stderr)
		}
	}

	if _, stderr := command(0, "check", "-m", mapping); strings.Contains(stderr, "cache") {
		t.Errorf("the service answered:\n%s", stderr)
	}
	away.Store(true)
	stdout, stderr := command(0, "check", "-m", mapping, sheet)
	if said(stderr); !strings.Contains(stdout, "compared with the templates of “uat” from the cache") {
		t.Errorf("check says %q", stdout)
	}
	stdout, stderr = command(0, "init", sheet)
	if said(stderr); !strings.Contains(stdout, "Details") {
		t.Errorf("init does not use the templates:\n%s", stdout)
	}
	stdout, stderr = command(0, "templates", "--json")
	if said(stderr); !strings.Contains(stdout, `"cached":"20`) {
		t.Errorf("templates says %s", stdout)
	}
	if _, stderr := command(3, "run", "-m", mapping, "--dry-run", sheet); strings.Contains(stderr, "cache") {
		t.Errorf("a dry run speaks of the cache:\n%s", stderr)
	}
}
