package reports_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/testform"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

// must is the value of a call that must succeed: must(os.ReadFile(path))(t).
func must[V any](value V, err error) func(fatal) V {
	return func(t fatal) V {
		t.Helper()
		noError(t, err)
		return value
	}
}

// noError ends a test that an error makes pointless.
func noError(t fatal, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fatal is a test, rapid's or Go's.
type fatal interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// same expects that two values are equal.
func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
