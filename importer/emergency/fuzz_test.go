package emergency_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"claimsheet/importer/emergency"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// Replay reads any text of an emergency file without a panic and refuses it with
// a problem. The ledger knows the run and no step, so nothing can be entered.
func FuzzReplay(f *testing.F) {
	dir := f.TempDir()
	l, err := ledger.Open(filepath.Join(dir, "ledger.db"))
	if err == nil {
		err = l.StartRun(ledger.Run{ID: stoppedRun, Started: noon})
	}
	if err != nil {
		f.Fatal(err)
	}
	defer l.Close()
	kept := emergency.Open(stoppedRun, l.Path(), []string{dir}, func(emergency.Created) {})
	if err := kept.Keep(ledger.Event{StepID: stepID("client"), To: ledger.Done, At: noon, Run: stoppedRun, ID: "c-1"}); err != nil {
		f.Fatal(err)
	}
	file := filepath.Join(dir, "emergency-"+stoppedRun+".jsonl")
	text, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text[:700])
	f.Add([]byte("{}\n{}\n"))
	f.Add([]byte(`{"sum":"00000000","body":null}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		n, _, err := emergency.Replay(l, []string{dir})
		if n != 0 {
			t.Errorf("%d outcomes of unknown steps were entered", n)
		}
		if err != nil && !errors.As(err, new(problem.Problem)) {
			t.Errorf("got %v, want a problem", err)
		}
	})
}
