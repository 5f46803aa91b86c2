package console

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
)

// TestTrace: each request is one line, with the run; the file is its owner's.
func TestTrace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	trace, err := OpenTrace(path, func(p problem.Problem) { t.Error(p) })
	if err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() { trace.Of("run-1")(apiclient.Exchange{Row: 7, Path: "/funnel/v2/claims"}) })
	}
	workers.Wait()
	trace.Close()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	data, err := os.ReadFile(path)
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if err != nil || len(lines) != 8 {
		t.Fatalf("%d lines (%v):\n%s", len(lines), err, data)
	}
	for _, line := range lines {
		var got struct {
			Run, Path string
			Row       int
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Run != "run-1" || got.Path != "/funnel/v2/claims" || got.Row != 7 {
			t.Errorf("%s (%v)", line, err)
		}
	}
	if _, err := OpenTrace(path, nil); err == nil {
		t.Error("a file is overwritten")
	}
}

// TestTraceOfNothing: no file is left behind where no request was made, and no flag
// makes no file.
func TestTraceOfNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	trace, err := OpenTrace(filepath.Join(folder, "trace.jsonl"), func(p problem.Problem) { t.Error(p) })
	if err != nil {
		t.Fatal(err)
	}
	trace.Close()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
	none, err := OpenTrace("", nil)
	if none.Close(); none != nil || err != nil || none.Of("run-1") != nil {
		t.Errorf("%v, %v", none, err)
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
