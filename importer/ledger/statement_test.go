package ledger_test

import (
	"testing"
)

// TestAReaderIsUsedAgain asks one question after the other, which needs one connection.
func TestAReaderIsUsedAgain(t *testing.T) {
	t.Parallel()
	l := fresh(t)
	for range 10 {
		_, err := l.Steps(t.Context(), jane("", "").ClientKey, "m")
		do(t, err)
	}
	if open := l.OpenReaders(); open != 1 {
		t.Errorf("%d readers are open, expected 1", open)
	}
}
