package ledger_test

import (
	"path/filepath"
	"testing"

	"claimsheet/importer/ledger"
)

// TestSave: a saved ledger is one file, and what is there is not replaced.
func TestSave(t *testing.T) {
	t.Parallel()
	from, to := fresh(t), filepath.Join(t.TempDir(), "saved.db")
	do(t, from.Append(story(jane("", "client"))...))
	done, err := ledger.Save(t.Context(), from, to, nil)
	do(t, err)
	same(t, "events", done.Events, int64(4))
	do(t, checked(t, to))
	var names []string
	for name := range listing(t, filepath.Dir(to)) {
		names = append(names, name)
	}
	if len(names) != 1 {
		t.Errorf("the files are %v, want the ledger alone", names)
	}
	if _, err := ledger.Save(t.Context(), from, to, nil); err == nil {
		t.Error("a saved ledger was replaced")
	}
}
