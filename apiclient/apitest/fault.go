package apitest

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// Fault is what goes wrong with one call. With the zero Fault nothing does: the call
// takes effect and is answered.
type Fault struct {
	Until    <-chan struct{} // first, wait for this
	Gone     bool            // then wait until the client gives up
	Delay    time.Duration   // then wait for this long
	NoEffect bool            // create nothing
	Then     func()          // is called after the effect and before the answer
	Reply    *Reply          // answer this instead
	Drop     bool            // close the connection without an answer
	Cut      bool            // cut the body of the answer short
	Hidden   time.Duration   // look-ups find a client that is created only after this time
}

// Answer answers r and creates nothing.
func Answer(r Reply) Fault { return Fault{NoEffect: true, Reply: &r} }

// CreateThen creates and answers r instead.
func CreateThen(r Reply) Fault { return Fault{Reply: &r} }

// CreateThenDrop creates and closes the connection.
func CreateThenDrop() Fault { return Fault{Drop: true} }

// CreateThenCut creates and cuts the answer short.
func CreateThenCut() Fault { return Fault{Cut: true} }

// CreateLate creates some time after the client has given up waiting.
func CreateLate(after time.Duration) Fault { return Fault{Gone: true, Delay: after, Drop: true} }

// DropBefore creates nothing and closes the connection.
func DropBefore() Fault { return Fault{NoEffect: true, Drop: true} }

// Busy creates nothing and answers a 429 or 503 with Retry-After.
func Busy(status, seconds int) Fault {
	r := refusal(status, "busy")
	r.Header = map[string]string{"Retry-After": strconv.Itoa(seconds)}
	return Answer(r)
}

// Once returns a script with a fault for the first call that matches.
func Once(matches func(Call) bool, f Fault) func(Call) Fault {
	var played atomic.Bool
	return func(c Call) Fault {
		if !matches(c) || played.Swap(true) {
			return Fault{}
		}
		return f
	}
}

func (f Fault) wait(r *http.Request) {
	if f.Until != nil {
		<-f.Until
	}
	if f.Gone {
		<-r.Context().Done()
	}
	time.Sleep(f.Delay)
}
