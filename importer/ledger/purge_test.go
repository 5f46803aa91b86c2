package ledger_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRemovedFromTheFiles: what is purged or erased leaves no byte in the files while the ledger is open.
func TestRemovedFromTheFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	l := open(t, path)
	for _, step := range []string{"client", "claim/loan/CANARY-no"} {
		events := finished(jane("loans", step), "", "")
		events[0].Data, events[1].Answer = []byte("CANARY-sent"), []byte("CANARY-said")
		do(t, l.Append(events...))
	}
	left := func(what string, want ...string) {
		t.Helper()
		text := strings.Join(slices.Collect(maps.Values(listing(t, filepath.Dir(path)))), "")
		var found []string
		for _, canary := range []string{"CANARY-no", "CANARY-said", "CANARY-sent", "jane@example.com"} {
			if strings.Contains(text, canary) {
				found = append(found, canary)
			}
		}
		same(t, what, found, want)
	}
	left("before", "CANARY-no", "CANARY-said", "CANARY-sent", "jane@example.com")
	_, _, err := l.Purge([]string{service}, "", noon.AddDate(1, 0, 0))
	do(t, err)
	left("after a purge", "CANARY-no", "jane@example.com")
	must(l.Forget(jane("", "").ClientKey, noon))(t)
	left("after an erasure")
}
