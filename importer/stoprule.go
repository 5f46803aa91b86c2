package importer

import (
	"fmt"
	"slices"

	"claimsheet/apiclient"
	"claimsheet/mapping"
)

// MaxFailures is how many clients may fail before the run stops: a number, or
// a share of the finished ones. The zero value stops at the first.
type MaxFailures struct {
	Count   int     // used when Percent is 0
	Percent float64 // 0 to 100; 100 lifts every stop rule but authentication, TLS and disk
}

// DefaultMaxFailures is the rule without --max-failures.
var DefaultMaxFailures = MaxFailures{Percent: 20}

// Lifted reports whether the run goes on whatever fails, but for authentication, TLS and disk.
func (m MaxFailures) Lifted() bool { return m.Percent >= 100 }

const (
	// enoughClients is how many must be finished before a share of failures counts.
	enoughClients = 20
	// forbiddenInARow is how many 403 in a row end the run, and ambiguousInARow how
	// many uncertain outcomes in a row pause it.
	forbiddenInARow = 3
	ambiguousInARow = 3
	// doubtsInARow is how many steps of a kind may become uncertain while not one is
	// created between them: a person has to decide about each.
	doubtsInARow = 10
	// firstClients is how many clients, the first of the run, must be refused alike
	// before the mapping counts as wrong, and not the clients.
	firstClients = 3
	// takenInARow is how many answers for one kind of step in a row may hold what
	// another step has. One may be an accident of the service's; more mean that it
	// is wrong, or that a wire pointer leads to a constant.
	takenInARow = 2
)

// StopRules are what was observed in a run so far, as far as that decides when it stops or
// pauses, and what its workers have sent. The zero value is that of a run that begins. Rows that
// are invalid and steps that were uncertain before the run are not in them. They are not safe for
// concurrent use.
type StopRules struct {
	Through   int                      // clients that are finished: something was sent for them, or they were looked up
	Failed    int                      // clients of Through that failed
	First     []int                    // the 4xx of each of the first clients, 0 for none
	Forbidden int                      // 403 in a row
	Ambiguous int                      // uncertain outcomes in a row
	Taken     map[mapping.StepKind]int // answers in a row that hold what another step has
	Doubts    map[mapping.StepKind]int // uncertain outcomes of a kind of step since one was created
	Pauses    int                      // how often to wait until the service answers a GET again
	Stop      string                   // why the run stops; "" while it goes on

	Sent map[string]map[apiclient.Kind]int // how many requests each worker has sent
}

// observation is something that a process has seen in a run.
type observation struct {
	of     subject
	kind   mapping.StepKind // of the step
	effect apiclient.Effect
	status int    // of a verdict; of a client the 4xx of its first refused request, 0 for none
	stop   string // of a verdict and of an end: why the run has to stop; "" for no reason
	bad    bool   // of a client: it failed; of an answer: it holds what another step has
}

// subject is what an observation is about.
type subject int

// The subjects.
const (
	ofVerdict subject = iota // the answer to a request, or that there was none
	ofAllowed                // the answer to a look-up, which was not a 403
	ofStep                   // a step that is not sent again in this run
	ofAnswer                 // an answer by which a step was created
	ofFound                  // a step that was created after all: a look-up found it
	ofClient                 // a client for which something was sent, or that was only looked up
	ofEnd                    // a process ends the run for a reason of its own
	ofNothing                // the process wants the rules as they are now
)

// mayStop reports whether an observation may stop or pause a run that goes on. The others can
// wait for a moment before other processes hear of them. through is the Through of the rules,
// which may have been read some time ago.
func (o observation) mayStop(through int) bool {
	counts := o.of == ofClient && through < enoughClients // a share may count from this one on
	return counts || o.bad || o.of >= ofEnd || o.stop != "" || o.status == 403 || o.effect == apiclient.Uncertain
}

// observe takes an observation into account, and returns why it stops the run; "" when it does not.
// Stop keeps the first reason.
func (r *StopRules) observe(o observation, most MaxFailures) (why string) {
	if r.Taken == nil {
		r.Taken, r.Doubts = map[mapping.StepKind]int{}, map[mapping.StepKind]int{}
	}
	switch o.of {
	case ofVerdict:
		r.Ambiguous = inARow(r.Ambiguous, o.effect == apiclient.Uncertain)
		if r.Forbidden = inARow(r.Forbidden, o.status == 403); r.Forbidden >= forbiddenInARow {
			why = fmt.Sprintf("%d answers in a row were HTTP 403 Forbidden", r.Forbidden)
		}
	case ofAllowed:
		r.Forbidden = 0
	case ofStep, ofFound:
		switch o.effect {
		case apiclient.Created:
			r.Doubts[o.kind] = 0
		case apiclient.Uncertain:
			r.Doubts[o.kind]++
		}
		if d := r.Doubts[o.kind]; d >= doubtsInARow && o.of == ofStep {
			why = fmt.Sprintf("%d steps of the kind %s are uncertain, and none was created between them: the environment is wrong, or the service is faulty", d, o.kind)
		}
	case ofAnswer:
		if r.Taken[o.kind] = inARow(r.Taken[o.kind], o.bad); r.Taken[o.kind] >= takenInARow {
			why = fmt.Sprintf("the service gave %d steps of the kind %s in a row what other steps have already: it is at fault, or a wire pointer of the environment leads to the wrong place",
				r.Taken[o.kind], o.kind)
		}
	case ofClient:
		why = r.observeClient(o, most)
	}
	switch {
	case o.stop != "":
		why = o.stop
	case most.Lifted():
		why = ""
	}
	if why == "" && o.of == ofVerdict && r.Ambiguous >= ambiguousInARow {
		r.Ambiguous = 0
		r.Pauses++
	}
	if r.Stop == "" {
		r.Stop = why
	}
	return why
}

// inARow returns n+1 if something happened again, else 0.
func inARow(n int, again bool) int {
	if again {
		return n + 1
	}
	return 0
}

func (r *StopRules) observeClient(o observation, most MaxFailures) (why string) {
	r.Through++
	if o.bad {
		r.Failed++
	}
	if len(r.First) < firstClients {
		r.First = append(r.First, o.status)
	}
	first := r.First[0]
	alike := first != 0 && !slices.ContainsFunc(r.First, func(status int) bool { return status != first })
	switch {
	case r.Through == firstClients && alike:
		return fmt.Sprintf("each of the first %d clients was refused with HTTP %d: the mapping or the environment is wrong", firstClients, first)
	case most.Percent > 0 && r.Through >= enoughClients && float64(r.Failed)*100 > most.Percent*float64(r.Through):
		return fmt.Sprintf("%d of %d clients failed, more than --max-failures %g%%", r.Failed, r.Through, most.Percent)
	case most.Percent == 0 && r.Failed > most.Count:
		return fmt.Sprintf("%d clients failed, more than --max-failures %d", r.Failed, most.Count)
	}
	return ""
}
