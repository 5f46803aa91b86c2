package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
)

// The places at which a process of the tests with one worker can be killed or stopped:
//
//	TRIAL_KILL=PLACE STEP   kill the process at a place of a step, such as "after-intent c1@example.com:client"
//	TRIAL_PAUSE=PLACE STEP  stop there until SIGCONT comes
type places struct {
	wire wire

	mu     sync.Mutex
	intent string // the step whose intent was written last
}

// reach kills the process if TRIAL_KILL names this place of this step, and stops it if TRIAL_PAUSE does.
func reach(place, step string) {
	here := place + " " + step
	self, err := os.FindProcess(os.Getpid())
	if step == "" || err != nil {
		return
	}
	if os.Getenv("TRIAL_PAUSE") == here {
		goesOn := make(chan os.Signal, 1)
		signal.Notify(goesOn, syscall.Signal(18)) // SIGCONT on Linux, where its test runs
		_ = self.Signal(syscall.Signal(19))       // SIGSTOP, which may reach another thread first
		<-goesOn
	}
	if os.Getenv("TRIAL_KILL") == here {
		_ = self.Kill()
		select {}
	}
}

// placedLedger has places before and after events are written.
type placedLedger struct {
	importer.Ledger
	places *places
}

func (l *placedLedger) Append(events ...ledger.Event) error {
	if len(events) == 0 {
		return nil
	}
	pass("before", events)
	err := l.Ledger.Append(events...)
	pass("after", events)
	if last := events[len(events)-1]; last.To == ledger.Sent {
		l.places.mu.Lock()
		defer l.places.mu.Unlock()
		l.places.intent = stepOf(last)
	}
	return err
}

// pass passes the places of events. An outcome is written together with the next step's intent, so one Append may be a
// place of several steps.
func pass(when string, events []ledger.Event) {
	for _, e := range events {
		what := "outcome"
		if e.To == ledger.Sent {
			what = "intent"
		}
		reach(when+"-"+what, stepOf(e))
	}
}

// stepOf names the step of an event as TRIAL_KILL does.
func stepOf(e ledger.Event) string { return e.Client + ":" + e.StepID.Step }

// placedService has a place after each answer, and says to the wire what is sent.
type placedService struct {
	importer.Service
	places *places
}

func (s *placedService) CreateReserved(ctx context.Context, slot *apiclient.Slot, r apiclient.Request) apiclient.Verdict {
	s.places.mu.Lock()
	step := s.places.intent
	s.places.mu.Unlock()
	s.places.wire.begin(step)
	defer s.places.wire.begin("")
	v := s.Service.CreateReserved(ctx, slot, r)
	if v.Status != 0 {
		reach("after-answer", step)
	}
	return v
}

func (s *placedService) Find(ctx context.Context, by apiclient.By, value string) (apiclient.Found, error) {
	step := "lookup " + value
	s.places.wire.begin(step)
	defer s.places.wire.begin("")
	found, err := s.Service.Find(ctx, by, value)
	if err == nil {
		reach("after-answer", step)
	}
	return found, err
}

// wire is the network of a run with one worker: one request at a time.
type wire struct {
	mu      sync.Mutex
	step    string // what is being sent; "" for what has no places
	written []byte // of its request
}

func (w *wire) begin(step string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step, w.written = step, nil
}

// placedConn has places before a request is written, when part of it is written, and when all of it is.
type placedConn struct {
	net.Conn
	wire *wire
}

func (c placedConn) Write(p []byte) (int, error) {
	w := c.wire
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.written) == 0 {
		reach("before-write", w.step)
	}
	half := 0
	if w.step != "" && len(w.written) == 0 { // a request as a rule is written at once
		half = len(p) / 2
		if n, err := c.Conn.Write(p[:half]); err != nil {
			return n, err
		}
		reach("half-written", w.step)
	}
	n, err := c.Conn.Write(p[half:])
	n += half
	if w.step == "" || err != nil {
		return n, err
	}
	if w.written = append(w.written, p[:n]...); isWhole(w.written) {
		reach("after-write", w.step)
	}
	return n, err
}

// isWhole reports whether data is a whole HTTP request.
func isWhole(data []byte) bool {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}
