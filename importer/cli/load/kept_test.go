package load_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/cli/load"
)

// templateService answers every request with one template.
func templateService(t *testing.T) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`[{"id": "5e571eaa-66c1-44e7-8859-90d2e844c762", "name": "Details", "activityAttributeTemplates": []}]`))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

const activityText = "activities: [{template: Details}]\nworkflow: {name: W, template_identifier: WF}\n"

// A run is never stopped by what was kept of the run before.
func TestDamagedTemplatesOfTheLastRun(t *testing.T) {
	t.Parallel()
	url := templateService(t)
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
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept are %v (%v), expected the run's own", kept, err)
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
