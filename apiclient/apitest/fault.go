package apitest

import (
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Fault is what happens to one call. The zero Fault is nothing: the call is
// carried out and answered.
type Fault struct {
	Delay    time.Duration   // passes before anything else
	Until    <-chan struct{} // is waited for before anything else
	Gone     bool            // the caller's giving up is waited for before anything else
	Late     time.Duration   // passes then, still before anything else
	NoEffect bool            // nothing is created
	Reply    *Reply          // what is answered instead
	Drop     bool            // the connection is closed without an answer
	Cut      bool            // the answer's body is cut short
	Then     func()          // is called when the effect has taken place and nothing is answered yet
}

// Answer answers without doing anything.
func Answer(r Reply) Fault { return Fault{NoEffect: true, Reply: &r} }

// CreateThen does what is asked for, and answers something else.
func CreateThen(r Reply) Fault { return Fault{Reply: &r} }

// CreateThenDrop does what is asked for, and closes the connection.
func CreateThenDrop() Fault { return Fault{Drop: true} }

// CreateThenCut does what is asked for, and cuts its answer short.
func CreateThenCut() Fault { return Fault{Cut: true} }

// CreateLate does what is asked for some time after the caller has given up
// waiting.
func CreateLate(after time.Duration) Fault { return Fault{Gone: true, Late: after, Drop: true} }

// DropBefore closes the connection without doing anything.
func DropBefore() Fault { return Fault{NoEffect: true, Drop: true} }

// Busy answers a 429 or 503 that asks to come back after some seconds.
func Busy(status, seconds int) Fault {
	r := refusal(status, "busy")
	r.Header = map[string]string{"Retry-After": strconv.Itoa(seconds)}
	return Answer(r)
}

// Once plays a fault for the first call that it is about.
func Once(about func(Call) bool, f Fault) func(Call) Fault {
	played := make(chan struct{}, 1)
	played <- struct{}{}
	return func(c Call) Fault {
		if !about(c) {
			return Fault{}
		}
		select {
		case <-played:
			return f
		default:
			return Fault{}
		}
	}
}

// OnceEach plays a fault for the first call of each step that it names.
func OnceEach(faults map[string]Fault) func(Call) Fault {
	var mu sync.Mutex
	left := maps.Clone(faults)
	return func(c Call) Fault {
		mu.Lock()
		defer mu.Unlock()
		f := left[c.Step]
		delete(left, c.Step)
		return f
	}
}

func (f Fault) wait(r *http.Request) {
	if f.Delay > 0 {
		time.Sleep(f.Delay)
	}
	if f.Until != nil {
		<-f.Until
	}
	if f.Gone {
		<-r.Context().Done()
	}
	time.Sleep(f.Late)
}
