package cli_test

import (
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
)

// TestTerminated sends SIGTERM, or SIGHUP as a terminal that is closed does, in the middle of runs: what is in flight is finished and recorded, the workbook is
// written, nothing is uncertain, and the next run goes on from there.
func TestTerminated(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM")
	}
	rng := seeded(t, 1)
	for i := range longOr(20, 1) {
		by := syscall.SIGTERM
		if i%2 == 1 && !signal.Ignored(syscall.SIGHUP) { // under nohup the program ignores it as these tests do
			by = syscall.SIGHUP
		}
		s := newScene(t, stepThree, leads(12))
		p := child(programName, s.args("--concurrency", "4"))
		posts, later := 1+rng.Int64N(70), time.Duration(rng.IntN(3000))*time.Microsecond
		var seen atomic.Int64
		s.service.Play(func(c apitest.Call) apitest.Fault {
			if c.Method != "GET" && seen.Add(1) == posts {
				time.AfterFunc(later, func() { p.signal(by) })
			}
			return apitest.Fault{Delay: 2 * time.Millisecond}
		})
		if code, said := p.end(t); code != 143 && code != 0 {
			t.Errorf("exit code %d, want 143 or, at the very end, 0\n%s", code, said)
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
}

// TestInterruptedTwice interrupts a run whose requests are not answered, and then once more: it ends at once. What was
// answered is recorded, what was in flight is uncertain, nothing is sent again.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows sends no SIGINT to a process")
	}
	s := newScene(t, stepThree, leads(12))
	const answered = 15 // POSTs; all later ones are held back until they are released
	var posts atomic.Int64
	held := make(chan struct{})
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Method != "GET" && posts.Add(1) > answered {
			return apitest.Fault{Until: held, Delay: 20 * time.Millisecond} // when they are released, a signal comes before the end
		}
		return apitest.Fault{}
	})
	p := child(programName, s.args("--concurrency", "4"))
	p.start(t)
	t.Cleanup(p.kill)
	s.waitFor("the requests in flight", func() bool { return posts.Load() == answered+workers })
	ended := make(chan struct{})
	go func() { p.end(t); close(ended) }()
	p.signal(os.Interrupt)
	select {
	case <-ended:
		t.Fatalf("the first signal ended the run with requests in flight\n%s", p.said.String())
	case <-time.After(300 * time.Millisecond):
	}
	for over := false; !over; { // a signal that comes before the first one was dealt with is the same one
		p.signal(os.Interrupt)
		select {
		case <-ended:
			over = true
		case <-time.After(100 * time.Millisecond):
		}
	}
	if status, ok := p.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		t.Errorf("the process ended with %s, want by the signal, which shells show as 130", p.ProcessState)
	}
	close(held)
	s.settleDown()
	s.service.Play(nil)
	s.mustRun(4)
	for step, n := range s.asked() {
		if n > 1 {
			t.Errorf("%s was sent %d times", step, n)
		}
	}
	if n := len(s.uncertain()); n == 0 || n > workers {
		t.Errorf("%d steps are uncertain, want some and no more than the %d in flight", n, workers)
	}
	s.checkPromise()
}
