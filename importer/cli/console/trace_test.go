package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
)

// TestTraceOfNothing: no file is left behind where no request was made.
func TestTraceOfNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	trace, err := OpenTrace(filepath.Join(folder, "trace.jsonl"), func(p problem.Problem) { t.Error(p) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenTrace(trace.path, nil); err == nil {
		t.Error("a file is overwritten")
	}
	trace.Close()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
}

// TestTraceThatCannotBeWritten: the first error is a warning, and the command goes on.
func TestTraceThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	var warnings []string
	trace, err := OpenTrace(filepath.Join(t.TempDir(), "trace.jsonl"), func(p problem.Problem) { warnings = append(warnings, p.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	_ = trace.file.Close() // as when its disk is gone
	for range 3 {
		trace.Of("")(apiclient.Exchange{})
	}
	trace.Close()
	if len(warnings) != 1 || !strings.Contains(warnings[0], "the trace is not complete") {
		t.Errorf("warnings: %q, want one", warnings)
	}
}
