package rate

import "time"

// longestLead is how long before its departure at most a request may begin to open its
// connection.
const longestLead = ahead / 2

// Leave says whether a request that has a Departure may leave now on the connection that it
// has got, so that rate and pause hold for the moments at which requests leave. The zero Hold
// lets it leave, and sets d.At. Else the caller waits for Hold.Wait (after Consult where
// Hold.Lacks) and calls Leave again, or gives up. When the departure has passed because the
// connection took long to open, Leave takes another one for it if that comes within patience.
// Once the request may leave, a further call with the same d is for another connection.
func (m *Meter) Leave(d *Departure, patience time.Duration) Hold {
	patience = max(patience, 0)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !d.connected {
		d.connected = true
		m.lead = min(max(0, m.now().Sub(d.At)), longestLead)
	}
	now := m.time()
	h := Hold{Pause: m.state.PausedUntil.Sub(now), Reason: m.state.PauseReason}
	switch {
	case h.Pause > 0:
		h.Wait = h.Pause
	case m.state.perSecond(now, m.limits) == 0:
	case m.shared != nil:
		h.Wait, h.Lacks = m.sharedWait(d, now, patience)
	default:
		h.Wait = m.ownWait(d, now, patience)
	}
	if h.May() {
		d.At, d.Cuts, d.slot, d.due = m.now(), m.state.Cuts, time.Time{}, time.Time{}
	}
	return h
}

// ownWait is how long a request waits where no other process sends: until it has its
// distance from the one that left before. One whose connection was there at once does not
// wait: half of the margin is for that. The caller holds mu.
func (m *Meter) ownWait(d *Departure, now time.Time, patience time.Duration) time.Duration {
	const early = margin / 2
	if due := d.due; !due.IsZero() && !now.After(due.Add(early)) {
		return due.Add(-early).Sub(now)
	}
	due := m.left.Add(m.state.spacing(now, m.limits))
	if due.Before(now) {
		due = now
	}
	wait := due.Add(-early).Sub(now)
	if wait <= patience {
		m.left, d.due = due, due
	}
	return wait
}

// sharedWait is how long a request waits where others send: until its departure, or
// another one where that is lost. The caller holds mu.
func (m *Meter) sharedWait(d *Departure, now time.Time, patience time.Duration) (wait time.Duration, lacks bool) {
	s := m.shared
	if !d.slot.IsZero() && now.After(d.slot.Add(lateness)) {
		s.lose(d.slot)
		d.slot = time.Time{}
	}
	if !d.slot.IsZero() {
		return d.slot.Sub(now), false
	}
	if m.needsDeparture(now) {
		s.last.takeBack(&m.state)
		return m.next(now).Sub(now), true
	}
	if wait = s.slice[0].Sub(now); wait <= patience {
		d.slot = s.use()
	}
	return wait, false
}
