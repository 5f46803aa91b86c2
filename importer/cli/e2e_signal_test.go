package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
)

// TestTerminated sends SIGTERM in the middle of runs: what is in flight is
// finished and recorded, the workbook is written, nothing is uncertain, and
// the next run goes on from there.
func TestTerminated(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM")
	}
	binary, rng := programName, seeded(t, 1)
	stopped, terms := 0, longOr(20, 1)
	for done := 0; done < terms && !t.Failed(); done++ {
		s := newScene(t, stepThree, leads(12))
		code, out := s.runAndTerminate(binary, 1+rng.Int64N(70), time.Duration(rng.IntN(3000))*time.Microsecond)
		if code == 143 {
			stopped++
		} else if code != 0 {
			t.Errorf("exit code %d, want 143 or, at the very end, 0\n%s", code, out)
		}
		for _, step := range s.steps() {
			if state := step["State"]; state == "uncertain" || state == "sent" {
				t.Errorf("after SIGTERM the step %s of %s is %q", step["Step"], step["Client key"], state)
			}
		}
		s.service.Play(nil)
		s.mustRun(0)
		s.checkPromise()
	}
	t.Logf("%d of %d runs were stopped before their end", stopped, terms)
}

// runAndTerminate runs the command and sends it SIGTERM a while after some
// number of POSTs have come in.
func (s *scene) runAndTerminate(binary string, posts int64, later time.Duration) (code int, out string) {
	s.t.Helper()
	cmd := exec.Command(binary, s.args("--concurrency", "4")...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Env = append(os.Environ(), "CLAIMSHEET_ENV=")
	started := make(chan *os.Process, 1)
	var seen atomic.Int64
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Method != "GET" && seen.Add(1) == posts {
			process := <-started
			time.AfterFunc(later, func() { _ = process.Signal(syscall.SIGTERM) })
		}
		return apitest.Fault{Delay: 2 * time.Millisecond}
	})
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	started <- cmd.Process
	_ = cmd.Wait() // the exit code tells
	return cmd.ProcessState.ExitCode(), output.String()
}
