package load_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/importer/cli/load"
)

// templateService answers every request with a status, and 200 with one template.
func templateService(t *testing.T) (status *atomic.Int64, url string) {
	status = new(atomic.Int64)
	status.Store(200)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(status.Load()))
		if status.Load() == 200 {
			_, _ = w.Write([]byte(`[{"id": "5e571eaa-66c1-44e7-8859-90d2e844c762", "name": "Details", "activityAttributeTemplates": []}]`))
		}
	}))
	t.Cleanup(server.Close)
	return status, server.URL
}

const activityText = "activities: [{template: Details}]\nworkflow: {name: W, template_identifier: WF}\n"

// A check works from the cache while the service does not answer, and says so; what
// has the service's own answer, or must have it, does not.
func TestTemplatesFromTheCache(t *testing.T) {
	t.Parallel()
	status, url := templateService(t)
	dir := t.TempDir()
	environments := write(t, filepath.Join(dir, "environments.yaml"), "environments: {uat: {base_url: '"+url+"', claim_types: {cars: {}}}}\n")
	mapping := write(t, filepath.Join(dir, "mapping.yaml"), mappingText+activityText)
	other := write(t, filepath.Join(dir, "other.yaml"), mappingText+activityText+"claim_type: cars\n")
	later := func() time.Time { return time.Now().Add(3*24*time.Hour + time.Hour) }
	open := func(mapping string, cache bool) (*load.Session, error) {
		s, err := load.Open(t.Context(), load.Options{Where: load.Where{Mapping: mapping, Environments: environments, Env: "uat"}, NeedEnvironment: true,
			Connection: load.Connection{ReadOnly: true, AskAgain: time.Millisecond, Cache: cache, Now: later}})
		t.Cleanup(s.Close)
		return s, err
	}
	folder := filepath.Join(dir, ".claimsheet", "templates")

	status.Store(503)
	if _, err := open(mapping, true); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("without a cache the service's failure is %v", err)
	}
	status.Store(200)
	s, err := open(mapping, true)
	if err != nil || !s.Cached.IsZero() || len(s.Warnings) > 0 {
		t.Fatalf("cached %v, warnings %v, error %v", s.Cached, s.Warnings, err)
	}
	if _, err := os.Stat(filepath.Dir(folder)); err == nil {
		t.Error("loading alone made a state folder")
	}
	s.KeepTemplates()
	kept, err := os.ReadDir(folder)
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept are %v (%v), expected one file", kept, err)
	}
	file := filepath.Join(folder, kept[0].Name())
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v (%v)", info.Mode(), err)
	}

	status.Store(503)
	s, err = open(mapping, true)
	if err != nil || s.Cached.IsZero() || s.Binding == nil || len(s.Warnings) != 1 {
		t.Fatalf("cached %v, warnings %v, error %v", s.Cached, s.Warnings, err)
	}
	want := "templates of " + later().Format("2006-01-02 ")
	if got := s.Warnings[0].Error(); !strings.HasPrefix(got, want) || !strings.Contains(got, "from the cache, a minute old; the service did not give them: reading the activity templates") {
		t.Errorf("the warning is %q, expected %q…", got, want)
	}
	if _, err := open(mapping, false); err == nil {
		t.Error("a run used the cache")
	}
	if _, err := open(other, true); err == nil {
		t.Error("the cache of another claim type was used")
	}
	status.Store(401)
	if _, err := open(mapping, true); err == nil {
		t.Error("refused credentials are no reason to use the cache")
	}
	status.Store(503)
	write(t, file, "[")
	if _, err := open(mapping, true); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("with a damaged cache the error is %v", err)
	}
}

// A run is never stopped by what was kept of the run before.
func TestDamagedTemplatesOfTheLastRun(t *testing.T) {
	t.Parallel()
	_, url := templateService(t)
	dir := t.TempDir()
	environments := write(t, filepath.Join(dir, "environments.yaml"), "environments: {uat: {base_url: '"+url+"'}}\n")
	mapping := write(t, filepath.Join(dir, "mapping.yaml"), mappingText+activityText)
	run := func() *load.Session {
		s, err := load.Open(t.Context(), load.Options{Where: load.Where{Mapping: mapping, Environments: environments, Env: "uat"}, NeedEnvironment: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	if warnings := run().RecordTemplates(); len(warnings) > 0 {
		t.Fatal(warnings)
	}
	kept, err := filepath.Glob(filepath.Join(dir, ".claimsheet", "templates", "uat-*.json"))
	if err != nil || len(kept) != 2 {
		t.Fatalf("kept are %v (%v), expected the cache and the run's own", kept, err)
	}
	for _, file := range kept {
		write(t, file, "")
	}
	s := run()
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Error(), "the templates of the last run cannot be read, so changes since then are not seen") {
		t.Errorf("the warnings are %v", s.Warnings)
	}
	if warnings := s.RecordTemplates(); len(warnings) > 0 || len(run().Warnings) > 0 {
		t.Errorf("the next run does not write the file again: %v, %v", warnings, run().Warnings)
	}
}
