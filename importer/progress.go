package importer

import (
	"fmt"
	"maps"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/result"
)

// Progress is how far a run has come. It is for display only.
type Progress struct {
	Clients  result.Counts // those that are through
	Requests int           // given to the wire so far, whatever came of them
	// Waiting is why nothing is sent at present, one line without personal data;
	// "" when nothing is waited for.
	Waiting string
	// Until is when the waiting ends, zero when that is not known.
	Until time.Time
}

// Progress returns how far Do or Forecast has come. It may be called from any
// goroutine.
func (j *Job) Progress() Progress {
	p := Progress{Clients: j.tally.clients()}
	for _, n := range j.Service.Sent() {
		p.Requests += n
	}
	p.Requests += j.dispatched.requests()
	if p.Waiting = j.gate.waiting(); p.Waiting == "" {
		p.Waiting, p.Until = j.Service.Waiting()
	}
	if p.Waiting == "" {
		p.Waiting = j.elsewhere.waiting()
	}
	if p.Waiting == "" {
		p.Waiting = j.dispatched.waiting()
	}
	return p
}

func (t *tally) clients() result.Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.summary.Clients
}

// waiting is why the gate is shut, "" when it is not.
func (g *gate) waiting() string {
	if g.open() {
		return ""
	}
	return "waiting for the service to answer again"
}

// Retries are how often requests of the run were sent again, by what had become
// of them before: http429, notSent for one that never left, noAnswer. Call it
// after Do.
func (j *Job) Retries() map[string]int {
	j.tally.mu.Lock()
	defer j.tally.mu.Unlock()
	return j.dispatched.addRetries(maps.Clone(j.tally.retries))
}

// retried counts a request that will be sent again.
func (t *tally) retried(v apiclient.Verdict) {
	why := "notSent"
	switch {
	case v.Status != 0:
		why = fmt.Sprintf("http%d", v.Status)
	case v.Effect != apiclient.NotSent:
		why = "noAnswer"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.retries == nil {
		t.retries = map[string]int{}
	}
	t.retries[why]++
}
