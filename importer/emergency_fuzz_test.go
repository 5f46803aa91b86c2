package importer_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// FuzzTakeUp takes up whatever stands in an emergency file: without a panic,
// and with a problem where it is refused. The ledger knows the run and no step,
// so that nothing can be entered.
func FuzzTakeUp(f *testing.F) {
	dir := f.TempDir()
	l, err := ledger.Open(filepath.Join(dir, "ledger.db"))
	if err == nil {
		err = l.StartRun(ledger.Run{ID: stoppedRun, Started: emergencyNoon})
	}
	if err != nil {
		f.Fatal(err)
	}
	defer l.Close()
	kept := importer.OpenEmergency(stoppedRun, l.Path(), []string{dir}, func(importer.Salvaged) {})
	if err := kept.Keep(ledger.Event{StepID: emergencyID("client"), To: ledger.Done, At: emergencyNoon, Run: stoppedRun, ID: "c-1"}); err != nil {
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
		n, err := importer.TakeUp(l, []string{dir})
		if n != 0 {
			t.Errorf("%d outcomes of unknown steps were entered", n)
		}
		if err != nil && !errors.As(err, new(problem.Problem)) {
			t.Errorf("got %v, want a problem", err)
		}
	})
}
