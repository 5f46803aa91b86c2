package ledger_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// FuzzOpen writes over a stretch of a sound ledger. It opens and reads without
// a panic, or is refused with a problem.
func FuzzOpen(f *testing.F) {
	sound, err := os.ReadFile(closedLedger(f))
	do(f, err)
	f.Add(uint16(0), []byte("garbage"))
	f.Add(uint16(16), []byte{0xff, 0xff})
	f.Add(uint16(100), []byte{0, 0, 0, 0})
	f.Add(uint16(4096), make([]byte, 4096))
	f.Add(uint16(len(sound)-60), []byte("\x7f\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, at uint16, over []byte) {
		spoilt := append([]byte{}, sound...)
		if int(at) < len(spoilt) {
			copy(spoilt[at:], over)
		}
		path := filepath.Join(t.TempDir(), "ledger.db")
		do(t, os.WriteFile(path, spoilt, 0o600))
		l, err := ledger.OpenReadOnly(path)
		if err != nil {
			var p problem.Problem
			if !errors.As(err, &p) {
				t.Errorf("refused with %v, want a problem", err)
			}
			return
		}
		defer l.Close()
		_, _ = l.Steps(t.Context(), jane("", "").ClientKey, "m")
		_, _ = l.Events(t.Context(), jane("", "client"))
		for range l.Unsettled(t.Context(), jane("", "").Environment) {
		}
	})
}
