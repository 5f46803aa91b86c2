package rate

import (
	"testing"
	"testing/synctest"
	"time"
)

const patience = 2 * time.Second

// depart waits until a request may depart.
func depart(t *testing.T, m *Meter) Departure {
	t.Helper()
	for {
		consult(t, m, 1)
		if d, ok := m.Depart(); ok {
			return d
		}
		time.Sleep(m.Hold().Wait)
	}
}

// leave waits until a request that has its connection leaves, and returns when.
func leave(t *testing.T, m *Meter, d *Departure) time.Time {
	t.Helper()
	end := time.Now().Add(patience)
	for {
		h := m.Leave(d, time.Until(end))
		if h.May() {
			return time.Now()
		}
		if h.Wait > time.Until(end) {
			t.Fatalf("it waits for %v", h.Wait)
		}
		time.Sleep(h.Wait)
		if h.Lacks {
			consult(t, m, 1)
		}
	}
}

// TestLeave: requests whose connections are late keep their distance when they leave, and
// those whose connections are there at once do not wait.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMeter(10, nil, time.Now)
		first, second, third := depart(t, m), depart(t, m), depart(t, m)
		before := leave(t, m, &third)
		if !before.Equal(third.At) || m.Hold().Wait > 105*time.Millisecond {
			t.Errorf("a request on a kept connection leaves %v late", before.Sub(third.At))
		}
		for _, d := range []*Departure{&first, &second} {
			at := leave(t, m, d)
			if gap := at.Sub(before); gap < 80*time.Millisecond || gap > 110*time.Millisecond || !d.At.Equal(at) {
				t.Errorf("a late request leaves %v after the one before, and at %v it says %v", gap, at, d.At)
			}
			before = at
		}
		again := leave(t, m, &second)
		if gap := again.Sub(before); gap < 80*time.Millisecond {
			t.Errorf("on another connection it leaves %v after the first", gap)
		}
	})
}

// TestLeaveWithOthers: a request that is late for its departure does not leave in the time
// of another process. Where nobody has that time, it leaves at once, also at a low rate.
func TestLeaveWithOthers(t *testing.T) {
	for name, test := range map[string]struct {
		ceiling float64
		another bool // process that has departures
		late    time.Duration
		wait    time.Duration // at least
		longest time.Duration
	}{
		"on time":            {5, true, 20 * time.Millisecond, 0, 0},
		"late":               {5, true, 300 * time.Millisecond, 140 * time.Millisecond, 600 * time.Millisecond},
		"late and alone":     {5, false, 300 * time.Millisecond, 0, 0},
		"at a low rate":      {0.1, false, 300 * time.Millisecond, 0, 0},
		"at the last moment": {5, true, lateness, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &inMemory{}
				m, other := NewMeter(test.ceiling, l, time.Now), NewMeter(test.ceiling, l, time.Now)
				d := depart(t, m)
				if test.another {
					consult(t, other, 9)
				}
				time.Sleep(test.late)
				due := time.Now()
				at := leave(t, m, &d)
				if waited := at.Sub(due); waited < test.wait || waited > test.longest {
					t.Errorf("it waits %v, want %v to %v", waited, test.wait, test.longest)
				}
				next := depart(t, m)
				if gap := next.At.Sub(at); gap < time.Duration(float64(time.Second)/test.ceiling)-longestLead {
					t.Errorf("the next request departs %v later", gap)
				}
			})
		})
	}
}

// TestLeaveInAPause: a request that has departed does not leave in a pause that has begun
// since, and not by its departure of before.
func TestLeaveInAPause(t *testing.T) {
	for _, ceiling := range []float64{0, 50} {
		for _, l := range []Limiter{nil, &inMemory{}} {
			synctest.Test(t, func(t *testing.T) {
				m := NewMeter(ceiling, l, time.Now)
				refused, d := depart(t, m), depart(t, m)
				m.Refused(t.Context(), Refusal{Status: 429, Wait: time.Second, Cuts: refused.Cuts})
				if h := m.Leave(&d, patience); h.Pause != time.Second || h.Wait != h.Pause || h.Reason == "" {
					t.Errorf("%+v", h)
				}
				began := time.Now()
				if at := leave(t, m, &d); at.Sub(began) < time.Second || d.Cuts != 1 {
					t.Errorf("it leaves %v after the pause began, as one of before cut %d", at.Sub(began), d.Cuts)
				}
			})
		}
	}
}
