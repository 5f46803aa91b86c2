package rate

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestGive: departures keep their distance, also from those that are used later by the
// uncertainty, and are not given too far ahead, in a pause or for more than a slice.
func TestGive(t *testing.T) {
	now := time.Unix(1000, 0)
	l := limits{50, margin + lateness} // every 22 ms
	every := 22 * time.Millisecond
	var s State
	first := s.give(now, l, 3, 5*time.Millisecond)
	if len(first) != 3 || !first[0].Equal(now) || first[2].Sub(now) != 2*every {
		t.Fatalf("got %v", first)
	}
	second := s.give(now, l, 100, 0)
	if len(second) != 9 || second[0].Sub(first[2]) != every+5*time.Millisecond {
		t.Errorf("got %v after %v", second, first)
	}
	n := 0
	for len(s.give(now, l, 100, 0)) > 0 {
		n++
	}
	if n > 5 || s.next(now, l).Sub(now) <= ahead {
		t.Errorf("%d more slices, up to %v", n, s.Last.Sub(now))
	}
	later := now.Add(time.Minute)
	s.PausedUntil = later.Add(1)
	if got := s.give(later, l, 1, 0); got != nil {
		t.Errorf("in a pause: %v", got)
	}
	if got := s.give(later.Add(1), l, 0, 0); got != nil || s.Last.After(later) {
		t.Errorf("none are asked for: %v", got)
	}
	slow := limits{0.1, margin}
	if got := s.give(later.Add(1), slow, 5, 0); len(got) != 1 {
		t.Errorf("at a low rate: %v", got)
	}
}

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

func consult(t *testing.T, m *Meter, want int) {
	t.Helper()
	if err := m.Consult(t.Context(), want); err != nil {
		t.Fatal(err)
	}
}

// TestACutTakesDeparturesBack: departures at the rate before a cut are not used after it,
// whoever was refused.
func TestACutTakesDeparturesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &inMemory{}
		refused, before, behind := NewMeter(50, l, time.Now), NewMeter(50, l, time.Now), NewMeter(50, l, time.Now)
		for _, m := range []*Meter{refused, before, behind} {
			consult(t, m, 9)
		}
		left, ok := refused.Depart()
		if h := behind.Hold(); !ok || h.Lacks || h.Wait < 300*time.Millisecond {
			t.Fatalf("%v, %+v", ok, h)
		}
		refused.Refused(t.Context(), Refusal{Status: 429, Wait: time.Millisecond, Cuts: left.Cuts})
		time.Sleep(freshFor)
		consult(t, behind, 0)
		if h := behind.Hold(); !h.Lacks {
			t.Errorf("departures of before the cut are used: %+v", h)
		}
		late, again := l.state.Cuts, refused.state.Cuts
		refused.Refused(t.Context(), Refusal{Status: 429, Wait: time.Millisecond, Cuts: left.Cuts})
		if late != 1 || again != 1 || l.state.Cuts != 1 {
			t.Errorf("%d, %d and %d cuts, want one", late, again, l.state.Cuts)
		}
	})
}

// TestDeparturesAreTakenInSlices: a process that uses what it takes soon asks for several
// departures at once, although its requests come one by one.
func TestDeparturesAreTakenInSlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &inMemory{}
		m := NewMeter(100, l, time.Now)
		for range 200 {
			for consult(t, m, 1); !m.Hold().May(); consult(t, m, 1) {
				time.Sleep(m.Hold().Wait)
			}
			if _, ok := m.Depart(); !ok {
				t.Fatal("a request may leave, and may not")
			}
		}
		if l.changes > 30 {
			t.Errorf("%d slices for 200 departures", l.changes)
		}
	})
}
