package environment_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/environment"
)

func TestSchema(t *testing.T) {
	const golden = "testdata/schema.json"
	got := environment.Schema()
	if !json.Valid(got) {
		t.Fatal("the schema is not JSON")
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}
