package ledger_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

// personal is a ledger with two nights of a client and a run for each. What is
// personal has CANARY in it.
func personal(t *testing.T) (*ledger.Ledger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	l := open(t, path)
	for i, id := range []string{"r1", "r2"} {
		at := noon.AddDate(0, 0, 30*i)
		r := run
		r.ID, r.Started, r.KeptInput = id, at, "inputs/"+id+".xlsx"
		do(t, l.StartRun(r))
		r.Finished, r.Summary, r.Output, r.OutputDigest = at.Add(time.Hour), []byte(`{}`), "out.xlsx", "o"
		do(t, l.FinishRun(r))
	}
	do(t, l.Append(done(jane("", "client"), "client", "r1", noon, "c-1", "")...))
	do(t, l.Append(done(jane("loans", "claim/loan/CANARY-no"), "claim", "r1", noon, "k-1", "")...))
	do(t, l.Append(done(jane("loans", "link"), "link", "r2", noon.AddDate(0, 0, 30), "", "https://x/CANARY-new")...))
	return l, path
}

// done is a step's way to Done.
func done(id ledger.StepID, kind, run string, at time.Time, created, url string) []ledger.Event {
	return []ledger.Event{
		{StepID: id, To: ledger.Sent, At: at, Run: run, Kind: kind, Data: []byte(`{"name":"CANARY-` + run + `"}`), Digest: "CANARY-digest"},
		{StepID: id, To: ledger.Done, At: at.Add(time.Second), Run: run, Via: ledger.ViaAnswer, Status: 201,
			Answer: []byte(`{"echo":"CANARY-` + run + `"}`), ID: created, URL: url},
	}
}

// holds are those of the texts that stand in any file beside the ledger.
func holds(t *testing.T, path string, texts ...string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	do(t, err)
	var found []string
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
		do(t, err)
		for _, text := range texts {
			if bytes.Contains(data, []byte(text)) && !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
	}
	slices.Sort(found)
	return found
}

// TestPurgeTakesOutWhatIsOlder: what is older leaves no byte in the files while
// the ledger is open, the rest stays, and the ledger still opens.
func TestPurgeTakesOutWhatIsOlder(t *testing.T) {
	l, path := personal(t)
	what := ledger.Purge{Environments: []string{run.Environment}, Before: noon.AddDate(0, 0, 10)}
	got, err := l.Purge(what)
	do(t, err)
	same(t, "purged", got, ledger.Purged{Runs: 1, Bodies: 4})
	all := []string{"CANARY-r1", "CANARY-r2", "CANARY-new", "CANARY-digest"}
	same(t, "left in the files", holds(t, path, all...), []string{"CANARY-digest", "CANARY-new", "CANARY-r2"})

	do(t, l.Close())
	l = open(t, path)
	steps, err := l.Steps(t.Context(), jane("", "").ClientKey, "loans")
	do(t, err)
	claim := steps["claim/loan/CANARY-no"]
	same(t, "state, id and digest", []string{string(claim.To), claim.ID, claim.Digest, string(claim.Data), string(claim.Answer)},
		[]string{"done", "k-1", "CANARY-digest", "", ""})
	r, _, err := l.Run(t.Context(), "r1")
	do(t, err)
	same(t, "the old run's input and summary", r.KeptInput+string(r.Summary), "{}")
	again, err := l.Purge(what)
	do(t, err)
	same(t, "purged a second time", again, ledger.Purged{})

	what.Before = noon.AddDate(1, 0, 0)
	got, err = l.Purge(what)
	do(t, err)
	same(t, "purged later", got, ledger.Purged{Runs: 1, Bodies: 2, URLs: 1})
	same(t, "left in the files", holds(t, path, all...), []string{"CANARY-digest"})
	do(t, l.Append(ledger.Event{StepID: jane("loans", "link"), To: ledger.Done, At: noon, Via: ledger.ViaByHand}))
	do(t, l.Close())
	open(t, path)
}

// TestForget: nothing of the client is left but kinds, states and ids, and the
// key is recognised.
func TestForget(t *testing.T) {
	l, path := personal(t)
	other := jane("", "").ClientKey
	other.Client = "john@example.com"
	do(t, l.Append(done(ledger.StepID{ClientKey: other, Step: "client"}, "client", "r2", noon, "c-2", "")...))
	elsewhere := run
	elsewhere.ID, elsewhere.Environment, elsewhere.KeptInput = "r3", "https://elsewhere", "inputs/r3.xlsx"
	do(t, l.StartRun(elsewhere))
	_, err := l.Forget(jane("", "").ClientKey, noon)
	do(t, err)
	kept, err := l.KeptInputs(t.Context())
	do(t, err)
	same(t, "inputs that stay", kept, []string{"inputs/r3.xlsx"})
	same(t, "left in the files", holds(t, path, "jane@example.com", "CANARY-no", "CANARY-r1", "CANARY-new", "john@example.com"),
		[]string{"john@example.com"})

	do(t, l.Close())
	l = open(t, path)
	named, err := l.ClientsNamed(t.Context(), run.Environment, "Jane@Example.com")
	do(t, err)
	same(t, "recognised", len(named), 1)
	stone := named[0]
	steps, err := l.StepsOfClient(t.Context(), stone)
	do(t, err)
	var left []string
	for _, s := range steps {
		left = append(left, s.Kind+" "+string(s.To)+" "+s.ID+s.URL+s.Digest)
	}
	slices.Sort(left)
	same(t, "kept", left, []string{"claim done k-1", "client done c-1", "link done "})
}
