package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
)

// inFlight starts the program over the scene, lets some POSTs be answered and
// holds all later ones back until release is called. It returns when as many as
// there are workers wait for their answers.
func (s *scene) inFlight(binary string, answered int64) (cmd *exec.Cmd, output *bytes.Buffer, release func()) {
	s.t.Helper()
	var posts atomic.Int64
	held := make(chan struct{})
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Method != "GET" && posts.Add(1) > answered {
			return apitest.Fault{Until: held, Delay: 20 * time.Millisecond} // when they are released, a signal comes before the end
		}
		return apitest.Fault{}
	})
	output = new(bytes.Buffer)
	cmd = exec.Command(binary, s.args("--concurrency", "4")...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Env = append(os.Environ(), "CLAIMSHEET_ENV=")
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cmd.Process.Kill() })
	s.waitFor("the requests in flight", func() bool { return posts.Load() == answered+workers })
	return cmd, output, func() { close(held) }
}

// waitFor waits until something is so, for no longer than anybody would.
func (s *scene) waitFor(what string, so func() bool) {
	s.t.Helper()
	for began := time.Now(); !so(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestInterruptedTwice interrupts a run whose requests are not answered, and
// then once more: it ends at once. What was answered is recorded, what was in
// flight is uncertain, nothing is sent again.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows sends no SIGINT to a process")
	}
	s := newScene(t, stepThree, leads(12))
	cmd, output, release := s.inFlight(programName, 15)
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()

	_ = cmd.Process.Signal(os.Interrupt)
	select {
	case <-ended:
		t.Fatalf("the first signal ended the run with requests in flight\n%s", output)
	case <-time.After(300 * time.Millisecond):
	}
	for over := false; !over; { // a signal that comes before the first one was dealt with is the same one
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
			over = true
		case <-time.After(100 * time.Millisecond):
		}
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		t.Errorf("the process ended with %s, want by the signal, which shells show as 130", cmd.ProcessState)
	}
	release()
	s.settleDown()

	s.service.Play(nil)
	sent := s.asked()
	s.mustRun(4)
	for step, n := range s.asked() {
		if n > 1 {
			t.Errorf("%s was sent %d times, %d of them before the signals", step, n, sent[step])
		}
	}
	if n := len(s.uncertain()); n == 0 || n > workers {
		t.Errorf("%d steps are uncertain, want some and no more than the %d in flight", n, workers)
	}
	s.checkPromise()
}

// TestHungUp ends the terminal of a run in flight: as for any other signal,
// what is in flight is finished and recorded.
func TestHungUp(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGHUP")
	}
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("these tests run under nohup, and so would the program")
	}
	s := newScene(t, stepThree, leads(12))
	cmd, output, release := s.inFlight(programName, 15)
	_ = cmd.Process.Signal(syscall.SIGHUP)
	release()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d, want 143\n%s", code, output)
	}
	if n := len(s.uncertain()); n > 0 {
		t.Errorf("%d steps are uncertain", n)
	}
	s.service.Play(nil)
	s.mustRun(0)
	s.checkPromise()
}
