package ledger_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

// TestRemovedFromTheFiles: what is purged or erased leaves no byte in the files while the ledger is
// open, the rest stays, and the ledger still opens.
func TestRemovedFromTheFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	l := open(t, path)
	write := func(id ledger.StepID, run string, at time.Time, created, url string) {
		events := finished(id, created, url)
		events[0].Data, events[0].Digest, events[1].Answer = []byte(`{"name":"CANARY-`+run+`"}`), "CANARY-digest", []byte(`{"echo":"CANARY-`+run+`"}`)
		for i := range events {
			events[i].At = at
		}
		do(t, l.Append(events...))
	}
	later := noon.AddDate(0, 0, 30)
	write(jane("", "client"), "r1", noon, "c-1", "")
	write(jane("loans", "claim/loan/CANARY-no"), "r1", noon, "k-1", "")
	write(jane("loans", "link"), "r2", later, "", "https://x/CANARY-url")
	write(of("john@example.com", "", "client"), "r2", later, "c-2", "")
	startRuns(t, l, func(r *ledger.Run) { r.KeptInput = "inputs/" + r.ID }, "r1")
	startRuns(t, l, func(r *ledger.Run) { r.KeptInput, r.Started = "inputs/"+r.ID, later }, "r2")
	startRuns(t, l, func(r *ledger.Run) { r.KeptInput, r.Environment = "inputs/"+r.ID, elsewhere }, "r3")

	texts := []string{"CANARY-digest", "CANARY-no", "CANARY-r1", "CANARY-r2", "CANARY-url", "inputs/r1", "inputs/r2", "inputs/r3",
		"jane@example.com", "john@example.com"}
	left := slices.Clone(texts)
	purge := func(before time.Time, want ledger.Purged) func(*testing.T) {
		return func(t *testing.T) {
			same(t, "purged", must(l.Purge(ledger.Purge{Environments: []string{service}, Before: before}))(t), want)
		}
	}
	for _, step := range []struct {
		name   string
		remove func(*testing.T)
		gone   []string
	}{
		{"nothing is removed", func(*testing.T) {}, nil},
		{"what is older is purged", purge(noon.AddDate(0, 0, 10), ledger.Purged{Steps: 2}), []string{"CANARY-r1", "inputs/r1"}},
		{"once more", purge(noon.AddDate(0, 0, 10), ledger.Purged{}), nil},
		{"all is purged", purge(noon.AddDate(1, 0, 0), ledger.Purged{Steps: 2}), []string{"CANARY-r2", "CANARY-url", "inputs/r2"}},
		{"a client is erased", func(t *testing.T) { must(l.Forget(jane("", "").ClientKey, noon))(t) }, []string{"CANARY-no", "jane@example.com"}},
	} {
		step.remove(t)
		left = slices.DeleteFunc(left, func(text string) bool { return slices.Contains(step.gone, text) })
		var found []string
		for _, text := range texts {
			for _, file := range listing(t, filepath.Dir(path)) {
				if bytes.Contains([]byte(file), []byte(text)) && !slices.Contains(found, text) {
					found = append(found, text)
				}
			}
		}
		same(t, step.name+": left in the files", found, left)
	}
	do(t, l.Close())
	l = open(t, path)
	named := must(l.ClientsNamed(t.Context(), service, "Jane@Example.com"))(t)
	same(t, "recognised", len(named), 1)
	var kept []string
	for _, s := range must(l.StepsOfClient(t.Context(), named[0]))(t) {
		kept = append(kept, s.Kind+" "+string(s.To)+" "+s.ID+s.URL+s.Digest)
	}
	slices.Sort(kept)
	same(t, "kept", kept, []string{"claim done k-1", "client done c-1", "link done "})
}
