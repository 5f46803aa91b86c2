package apiclient

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// inMemory is a Limiter for the pacers of a test.
type inMemory struct {
	mu      sync.Mutex
	state   []byte
	changes int
}

func (l *inMemory) Change(_ context.Context, change func([]byte, time.Time) []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if state := change(l.state, time.Now()); state != nil {
		l.state = state
		l.changes++
	}
	return nil
}

// at is a pacer under a ceiling.
func at(ceiling float64, l Limiter) *pacer {
	return newPacer(Config{RequestsPerSecond: ceiling, Limiter: l, Now: time.Now})
}

// send lets a request enter and leave.
func send(t *testing.T, p *pacer) *Slot {
	t.Helper()
	s := &Slot{pacer: p}
	if err := errors.Join(p.enter(t.Context(), s), p.leave(t.Context(), s)); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestACutTakesDeparturesBack: departures that were granted before a cut are not used after it, whichever process was
// refused; the refusal of a request that left before the cut does not cut again.
func TestACutTakesDeparturesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &inMemory{}
		refused, behind := at(50, l), at(50, l)
		slot := send(t, refused)
		if err := behind.enter(t.Context(), &Slot{pacer: behind}); err != nil || len(behind.granted) != 1 {
			t.Fatalf("granted: %v, %v", behind.granted, err)
		}
		for range 2 {
			refused.refused(t.Context(), busyAnswer{status: 429, wait: time.Millisecond, cuts: slot.cuts})
		}
		time.Sleep(maxAge)
		ended, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		_ = behind.ask(ended)
		if len(behind.granted) > 0 || !strings.Contains(string(l.state), `"Cuts":1,`) || refused.state.Cuts != 1 {
			t.Errorf("departures from before the cut: %v; the state: %s", behind.granted, l.state)
		}
	})
}

// TestALateRefusalIsNoNews: the refusal of a request that left before the cut does not cut again, also after a good answer.
func TestALateRefusalIsNoNews(t *testing.T) {
	p := at(20, nil)
	for range 2 {
		p.refused(t.Context(), busyAnswer{status: 429})
		p.accepted()
	}
	if p.state.Cuts != 1 {
		t.Errorf("%d cuts, want 1", p.state.Cuts)
	}
}

// TestDeparturesAreTakenInSlices: a process that uses what it takes soon asks for several
// departures at once, although its requests come one by one.
func TestDeparturesAreTakenInSlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &inMemory{}
		p := at(100, l)
		for range 200 {
			send(t, p)
		}
		if l.changes > 30 {
			t.Errorf("%d slices for 200 departures", l.changes)
		}
	})
}

// TestUnreadableState: while the state of all processes cannot be read, nothing is sent.
func TestUnreadableState(t *testing.T) {
	c, err := New(Config{BaseURL: "http://localhost", Version: V2, Wire: DefaultWire(), NotFound: DefaultNotFound(),
		Transport: http.DefaultTransport, Limiter: &inMemory{state: []byte("{")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), c.Routes().Templates()); err == nil || !strings.Contains(err.Error(), "the rate of all processes is not known") {
		t.Errorf("got %v", err)
	}
}
