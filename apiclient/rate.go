package apiclient

import (
	"fmt"
	"time"
)

const (
	// longestPause limits a single pause, whatever the service asks for. The
	// caller decides whether a longer one is worth waiting for.
	longestPause = 15 * time.Minute
	// firstPause and maxPause are for a service that does not say how long to
	// wait: each refusal in a row doubles the pause.
	firstPause, maxPause = 500 * time.Millisecond, time.Minute

	// quickly is up to which part of the rate before it was cut good answers double the rate
	// each second, and recoverySeconds in how many seconds they add as much as that rate from
	// there on.
	quickly, recoverySeconds = 0.9, 20.0
	// minRate is the lowest rate that cuts lead to; below that only pauses slow
	// the client down. minStep is the least that a second of good answers adds.
	minRate, minStep = 1.0 / 60, 0.2
	// slowGrowth is by what a good answer multiplies a rate below one a second. At such a
	// rate each answer stands for several seconds, and adding the steps of all of them at
	// once would be refused again.
	slowGrowth = 1.3
	// margin is how late a request may be on its way. The distance between requests
	// is a bit larger than the rate asks for, so that no second at the service sees
	// more requests than the rate.
	margin = 50 * time.Millisecond
)

const (
	// lead is how long before its departure a request enters, so that its intent can be recorded.
	lead = 500 * time.Millisecond
	// lateness is how much later than at its time a departure can still be used.
	lateness = margin / 2
	// sliceTime is how much time the departures that a process takes at once fill, so that
	// it asks a few times a second and not for each request.
	sliceTime = 200 * time.Millisecond
	// farthest is how far in the future the latest departure can be. One that is further
	// shows that the limiter's clock was set back.
	farthest = 10 * time.Second
	// ceilingHolds is how long after a process has asked for departures its ceiling
	// holds for the others too; at a low rate it is twice the distance of departures.
	ceilingHolds = 5 * time.Second
)

// rateState is how fast requests may leave to a service, and whether it asks to wait.
// Processes that send to the same service share one; see Limiter. The zero rateState
// is that of a service to which nothing was sent.
//
// When the service asks to wait, the rate is halved, and good answers raise it
// again: fast to nearly what it was, then step by step (AIMD). Of several such answers in a
// row only the first counts, because the others were sent before the cut.
type rateState struct {
	Last time.Time // the latest departure that was given away

	Rate     float64 // requests per second; 0 while nothing but a ceiling limits them
	Before   float64 // what it was before it was cut
	Cuts     int64   // how often Rate was cut
	Refusals int64   // in a row

	PausedUntil time.Time // no request leaves before
	PauseReason string    // one line without personal data

	Ceiling      float64   // requests per second, the lowest with which a process has asked for departures lately; 0 for none
	CeilingUntil time.Time // how long that of another process holds

	late time.Duration // how late a request may be on its way, or leave
}

// busyAnswer is an answer in which the service asks to wait.
type busyAnswer struct {
	status int           // HTTP
	wait   time.Duration // 0 when the service does not say how long
	cuts   int64         // of the Slot: a request that left before the last cut does not cut again
	sent   float64       // how many requests leave in a second
}

// perSecond is the rate at present; 0 for no limit.
func (s *rateState) perSecond() float64 {
	if s.Rate == 0 || s.Ceiling > 0 && s.Rate > s.Ceiling {
		return s.Ceiling
	}
	return s.Rate
}

// spacing is the time between two departures; 0 for no limit.
func (s *rateState) spacing() time.Duration {
	rate := s.perSecond()
	if rate == 0 {
		return 0
	}
	return time.Duration(float64(time.Second+s.late) / rate)
}

// next is when the rate allows the next departure.
func (s *rateState) next(now time.Time) time.Time {
	if at := s.Last.Add(s.spacing()); at.After(now) {
		return at
	}
	return now
}

// depart gives the next departure to a request that leaves now. What it is late does not add up.
func (s *rateState) depart(now time.Time) {
	if s.Last = s.Last.Add(s.spacing()); isLate(s.Last, now) {
		s.Last = now
	}
}

func isLate(departure, now time.Time) bool { return now.Sub(departure) > lateness }

// resume prepares a state that others have left, for a process with a ceiling of its own that goes on with it.
func (s *rateState) resume(now time.Time, ceiling float64) {
	if latest := now.Add(farthest); s.Last.After(latest) {
		s.Last = latest
	}
	if latest := now.Add(longestPause); s.PausedUntil.After(latest) {
		s.PausedUntil = latest
	}
	if !s.CeilingUntil.After(now) || ceiling > 0 && ceiling < s.Ceiling {
		s.Ceiling = ceiling
	}
	if ceiling > 0 && ceiling == s.Ceiling {
		s.CeilingUntil = now.Add(max(ceilingHolds, 2*s.spacing()))
	}
}

// refused begins a pause and cuts the rate.
func (s *rateState) refused(now time.Time, r busyAnswer) {
	news := r.cuts == s.Cuts
	if news {
		s.Refusals++
	}
	wait := r.wait
	if wait == 0 {
		wait = min(firstPause<<min(max(s.Refusals, 1)-1, 16), maxPause)
	}
	if until := now.Add(min(wait, longestPause)); until.After(s.PausedUntil) {
		s.PausedUntil, s.PauseReason = until, fmt.Sprintf("the service asks to wait (HTTP %d)", r.status)
	}
	if !news || s.Refusals > 1 {
		return
	}
	s.Cuts++
	before := r.sent
	if rate := s.perSecond(); rate > 0 {
		before = min(before, rate)
	}
	s.Rate, s.Before = max(before/2, minRate), before
}

// accepted raises the rate after any other answer. In a second that uses the rate
// up there are as many answers as the rate, so the second adds one step.
func (s *rateState) accepted() {
	s.Refusals = 0
	if s.Rate == 0 {
		return
	}
	quick, end := quickly*s.Before, s.Ceiling
	if s.Ceiling == 0 {
		end = 2 * s.Before
		if s.Cuts == 1 {
			quick = end // what went out before may be far from what the service takes
		}
	}
	switch {
	case s.Rate < 1:
		s.Rate *= slowGrowth
	case s.Rate < quick:
		s.Rate = min(s.Rate+1, quick)
	default:
		s.Rate += max(s.Before, s.Ceiling, recoverySeconds*minStep) / recoverySeconds / s.Rate
	}
	if s.Rate >= end {
		s.Rate = 0
	}
}

// give gives at most n departures away, or as many as fill a sliceTime; none during a pause,
// nor while the next one is too far ahead. They leave every other departure its distance
// from them also when they are used later than at their times by uncertainty.
func (s *rateState) give(now time.Time, n int, uncertainty time.Duration) []time.Time {
	every := s.spacing()
	if every == 0 || n == 0 {
		return nil
	}
	first := s.next(now)
	if s.PausedUntil.After(now) || first.Sub(now) > lead {
		return nil
	}
	departures := make([]time.Time, max(1, min(n, int(sliceTime/every))))
	for i := range departures {
		departures[i] = first.Add(time.Duration(i) * every)
	}
	s.Last = departures[len(departures)-1].Add(uncertainty)
	return departures
}

// departures counts how many requests left in the present second and in the one before.
type departures struct{ second, count, before int64 }

// add counts n departures, and returns how many there are in a second at present, at least one.
func (d *departures) add(now time.Time, n int64) float64 {
	switch s := now.Unix(); {
	case s == d.second+1:
		d.second, d.before, d.count = s, d.count, 0
	case s != d.second:
		d.second, d.before, d.count = s, 0, 0
	}
	d.count += n
	return float64(max(d.count, d.before, 1))
}
