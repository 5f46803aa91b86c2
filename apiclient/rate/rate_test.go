package rate

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// inMemory is a Limiter for the Meters of a test.
type inMemory struct {
	mu      sync.Mutex
	state   State
	changes int
}

func (l *inMemory) Read(context.Context) (State, time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state, time.Now(), nil
}

func (l *inMemory) Change(_ context.Context, change func(*State, time.Time)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes++
	change(&l.state, time.Now())
	return nil
}

func (l *inMemory) meter(ceiling float64) *Meter { return NewMeter(ceiling, l, time.Now) }

// send lets a request enter and leave.
func send(t *testing.T, m *Meter) Ticket {
	t.Helper()
	var ticket Ticket
	if err := errors.Join(m.Enter(t.Context(), &ticket), m.Leave(t.Context(), &ticket, forever)); err != nil {
		t.Fatal(err)
	}
	return ticket
}

// TestACutTakesDeparturesBack: departures that were granted before a cut are not used after it, whichever process was
// refused; the refusal of a request that left before the cut does not cut again.
func TestACutTakesDeparturesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &inMemory{}
		refused, behind := l.meter(50), l.meter(50)
		ticket := send(t, refused)
		if err := behind.Enter(t.Context(), &Ticket{}); err != nil || len(behind.granted) != 1 {
			t.Fatalf("granted: %v, %v", behind.granted, err)
		}
		for range 2 {
			refused.Refused(t.Context(), Refusal{Status: 429, Wait: time.Millisecond, Cuts: ticket.Cuts})
		}
		time.Sleep(maxAge)
		ended, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		_ = behind.ask(ended, answersWithin)
		if len(behind.granted) > 0 || l.state.Cuts != 1 || refused.state.Cuts != 1 {
			t.Errorf("departures from before the cut: %v; cuts: %d", behind.granted, l.state.Cuts)
		}
	})
}

// TestALateRefusalIsNoNews: the refusal of a request that left before the cut does not cut again, also after a good answer.
func TestALateRefusalIsNoNews(t *testing.T) {
	m := NewMeter(20, nil, time.Now)
	for range 2 {
		m.Refused(t.Context(), Refusal{Status: 429})
		m.Accepted()
	}
	if m.state.Cuts != 1 {
		t.Errorf("%d cuts, want 1", m.state.Cuts)
	}
}

// TestALookUpAndWhatRestsOnIt: below one request in two seconds, a request that was admitted before its look-up left does
// not wait long on its connection, in a process alone and with a limiter.
func TestALookUpAndWhatRestsOnIt(t *testing.T) {
	const onConnection = 1500 * time.Millisecond
	for _, limiter := range []Limiter{nil, &inMemory{}} {
		synctest.Test(t, func(t *testing.T) {
			m := NewMeter(0.4, limiter, time.Now)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for range 5 {
						own, lookUp := &Ticket{Impatient: true}, &Ticket{Ahead: true}
						if err := m.Enter(t.Context(), own); err != nil {
							t.Error(err)
						}
						if err := errors.Join(m.Enter(t.Context(), lookUp), m.Enter(t.Context(), lookUp), m.Leave(t.Context(), lookUp, onConnection)); err != nil {
							t.Errorf("look-up: %v", err)
						}
						if err := errors.Join(m.Enter(t.Context(), own), m.Leave(t.Context(), own, onConnection)); err != nil {
							t.Error(err)
						}
						m.Release(own)
					}
				})
			}
			all.Wait()
		})
	}
}

// TestDeparturesAreTakenInSlices: a process that uses what it takes soon asks for several
// departures at once, although its requests come one by one.
func TestDeparturesAreTakenInSlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &inMemory{}
		m := l.meter(100)
		for range 200 {
			send(t, m)
		}
		if l.changes > 30 {
			t.Errorf("%d slices for 200 departures", l.changes)
		}
	})
}
