package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

// Interrupted: an intent without an outcome is uncertain with the number and the time that it
// has, and another run records of it what it may record of what is uncertain.
func (s store) Interrupted(t *testing.T) {
	dir := t.TempDir()
	l := s.open(t, dir, "interrupted")
	events := life(jane("loans", "claim/a"), ledger.Sent)
	open := &events[0]
	open.Digest, open.Run = "0d", "r1"
	events = append(append(events, life(jane("loans", "claim/b"), ledger.Sent, ledger.Done)...), life(jane("loans", "claim/c"), ledger.Sent, ledger.Uncertain)...)
	events[4].At, events[4].Reason = noon.Add(time.Hour), "no answer"
	do(t, l.Append(events...))
	var number int64
	for range 2 {
		do(t, l.Close())
		l = s.open(t, dir, "interrupted")
		var got []string
		for _, u := range must(l.UncertainSteps(t.Context(), service))(t) {
			got = append(got, fmt.Sprint(u.StepID.Step, " ", u.State, " ", u.Run, " ", u.Digest, " ", u.Reason != ""))
			if u.StepID == open.StepID {
				number = u.Version
			}
		}
		same(t, "undecided with a reason, oldest first", got, []string{"claim/a uncertain r1 0d true", "claim/c uncertain   true"})
		same(t, "was unsettled", must(l.WasUncertain(t.Context(), number))(t), true)
	}
	do(t, l.Append(ledger.Event{StepID: open.StepID, State: ledger.Refused, At: noon, Run: "r2", Via: ledger.ViaByHand}))
	same(t, "undecided", len(must(l.UncertainSteps(t.Context(), service))(t)), 1)
	same(t, "its number is an old one", must(l.WasUncertain(t.Context(), number))(t), true)
	var got []string
	for _, e := range must(l.Events(t.Context(), open.StepID))(t) {
		got = append(got, fmt.Sprint(e.State, " ", e.Run))
	}
	same(t, "its events", got, []string{"sent r1", "refused r2"})
}

// Uncertain: a number is never that of another step, nor of a later attempt. Steps of the
// client count for every mapping.
func (s store) Uncertain(t *testing.T) {
	l := s.fresh(t)
	uncertain := func(id ledger.StepID, at time.Time) {
		t.Helper()
		events := life(id, ledger.Sent, ledger.Uncertain)
		events[0].At, events[1].At = at, at
		do(t, l.Append(events...))
	}
	numbers := func() map[string]int64 {
		t.Helper()
		list := map[string]int64{}
		for _, u := range must(l.UncertainSteps(t.Context(), service))(t) {
			list[u.StepID.Step] = u.Version
		}
		return list
	}
	one, two := jane("loans", "claim/loan/1"), jane("loans", "claim/loan/2")
	uncertain(two, noon.Add(time.Minute))
	uncertain(one, noon)
	same(t, "the longest waiting first", must(l.UncertainSteps(t.Context(), service))(t)[0].StepID, one)
	first := numbers()
	do(t, l.Append(ledger.Event{StepID: one, State: ledger.Refused, At: noon, Via: ledger.ViaByHand}))
	same(t, "the other keeps its number", numbers(), map[string]int64{two.Step: first[two.Step]})
	uncertain(one, noon)
	if again := numbers()[one.Step]; again == first[one.Step] || again == first[two.Step] {
		t.Errorf("the number %d was that of another state before", again)
	}
	for number, want := range map[int64]bool{first[one.Step]: true, first[two.Step]: true, 1: false, 9999: false} {
		same(t, "was unsettled", must(l.WasUncertain(t.Context(), number))(t), want)
	}
	do(t, l.Append(life(jane("loans", "claim/loan/3"), ledger.Sent, ledger.Refused)...))
	do(t, l.Append(life(jane("loans", "claim/loan/4"), ledger.Sent)...))
	uncertain(jane("", "client"), noon)
	for mapping, want := range map[string]int{"loans": 4, "cards": 1} {
		same(t, mapping, must(l.CountUncertain(t.Context(), service, mapping))(t), want)
	}
	same(t, "elsewhere", must(l.CountUncertain(t.Context(), elsewhere, "loans"))(t)+len(must(l.UncertainSteps(t.Context(), elsewhere))(t)), 0)
}

// CallersAtOnce: calls that wait at the same time share commits, one that is refused does not affect the others,
// and readers, also those of another process, see whole calls.
func (s store) CallersAtOnce(t *testing.T) {
	dir := t.TempDir()
	l := s.open(t, dir, "at once")
	r := must(s.OpenReadOnly(dir, "at once"))(t)
	defer r.Close()
	const callers, calls = 16, 20
	var refused atomic.Int32
	var ended atomic.Bool
	var writers, readers sync.WaitGroup
	before := l.Commits()
	for c := range callers {
		writers.Go(func() {
			for i := range calls {
				name, to := fmt.Sprintf("claim/c/%d-%d", c, i), ledger.Sent
				if i%4 == 3 {
					to = ledger.Closed // nothing was ever sent
				}
				err := l.Append(append(life(jane("m", name), ledger.Sent), life(jane("m", name+"b"), to)...)...)
				switch {
				case errors.Is(err, ledger.ErrTransition) && to == ledger.Closed:
					refused.Add(1)
				case err != nil:
					t.Error(err)
				}
			}
		})
	}
	for _, from := range []*ledger.Ledger{l, r} {
		readers.Go(func() {
			for last, open := 0, true; open; {
				open = !ended.Load()
				steps, err := from.Steps(t.Context(), jane("", "").ClientKey, "m")
				if err != nil || len(steps)%2 != 0 || len(steps) < last || !open && len(steps) != 2*callers*calls*3/4 {
					t.Errorf("%d steps after %d, %v", len(steps), last, err)
					return
				}
				last = len(steps)
			}
		})
	}
	writers.Wait()
	ended.Store(true)
	readers.Wait()
	same(t, "refused", refused.Load(), int32(callers*calls/4))
	if commits := l.Commits() - before; commits >= callers*calls*3/4 {
		t.Errorf("%d commits for %d calls", commits, callers*calls)
	}
}

// Taken: an id belongs to one step of its kind in an environment, a UUID to one step, and a url to
// one client. A call that would give it to another is rejected as a whole.
func (s store) Taken(t *testing.T) {
	const uuid = "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11"
	l := s.fresh(t, finished(of("ann", "", "client"), "x1", "")...)
	do(t, l.Append(finished(of("ann", "loans", "claim/loan/1"), "y1", "")...))
	do(t, l.Append(finished(in(elsewhere, of("ann", "", "client")), uuid, "")...))
	do(t, l.Append(finished(of("ann", "loans", "link"), "", "https://go/1")...))
	do(t, l.Append(finished(of("ann", "loans", "activity/a@client"), "", "")...))
	for name, c := range map[string]struct {
		step         ledger.StepID
		id, url      string
		taken, byURL bool
	}{
		"another client":                  {of("eve", "", "client"), "x1", "", true, false},
		"another kind":                    {of("eve", "loans", "claim/loan/1"), "x1", "", false, false},
		"another kind, a UUID":            {in(elsewhere, of("ann", "loans", "claim/loan/1")), uuid, "", true, false},
		"another environment":             {in(elsewhere, of("eve", "", "client")), "x1", "", false, false},
		"another id":                      {of("amy", "", "client"), "x2", "", false, false},
		"another claim of the client":     {of("ann", "loans", "claim/loan/2"), "y1", "", true, false},
		"the claim under another mapping": {of("ann", "cars", "claim/loan/1"), "y1", "", true, false},
		"another client's link":           {of("eve", "loans", "link"), "", "https://go/1", true, true},
		"another link of the client":      {of("ann", "cars", "link"), "", "https://go/1", false, false},
		"another client by the url":       {of("joe", "", "client"), "x3", "https://go/1", true, true},
		"no id at all":                    {of("eve", "loans", "activity/a@client"), "", "", false, false},
	} {
		events := finished(c.step, c.id, c.url)
		_, asked, err := l.StepWithID(t.Context(), events[1])
		do(t, err)
		same(t, name+": asked before", asked, c.taken)
		err = l.Append(events...)
		taken, refused := errors.AsType[ledger.Taken](err)
		if refused != c.taken || !refused && err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if refused {
			same(t, name+": by the url", taken.URL, c.byURL)
			same(t, name+": the holder", taken.Holder.Client, "ann")
			same(t, name+": what was recorded", must(l.Steps(t.Context(), c.step.ClientKey, c.step.Mapping))(t)[c.step.Step].State, ledger.State(""))
		}
	}
}

// TakenURLIsDropped: a step whose earlier answer had a url that another client's step has by now
// becomes done without it.
func (s store) TakenURLIsDropped(t *testing.T) {
	ann := of("ann", "", "client")
	events := life(ann, ledger.Sent, ledger.Uncertain)
	events[1].Status, events[1].Answer, events[1].URL = 201, []byte("{}"), "https://go/1"
	l := s.fresh(t, append(events, finished(of("bob", "", "client"), "x1", "https://go/1")...)...)
	do(t, l.Append(ledger.Event{StepID: ann, State: ledger.Done, At: noon, Via: ledger.ViaByHand, ID: "x2"}))
	step := must(l.Steps(t.Context(), ann.ClientKey, ""))(t)["client"]
	same(t, "the id and the url", []string{step.ID, step.URL}, []string{"x2", ""})
}

// AddressTaken: a client who is looked up by an address of another client is not begun,
// unless that one was certainly not created.
func (s store) AddressTaken(t *testing.T) {
	begin := func(client string, addresses []string, lookedUp string) ledger.Event {
		e := life(of(client, "", "client"), ledger.Sent)[0]
		e.Addresses, e.LookedUp = addresses, []string{lookedUp}
		return e
	}
	for state, taken := range map[ledger.State]struct{ email, phone bool }{ // by the e-mail she is looked up, by the phone she is not
		ledger.Sent: {true, true}, ledger.Done: {true, false}, ledger.Uncertain: {true, true}, ledger.Closed: {true, false}, ledger.Refused: {false, false},
	} {
		t.Run(string(state), func(t *testing.T) {
			l := s.fresh(t, begin("ann", []string{"email a", "phone 1"}, "email a"))
			if state == ledger.Closed {
				do(t, l.Append(life(of("ann", "", "client"), ledger.Uncertain)...))
			}
			if state != ledger.Sent {
				do(t, l.Append(life(of("ann", "", "client"), state)...))
			}
			for address, want := range map[string]bool{"email a": taken.email, "phone 1": taken.phone} {
				who := "eve by " + address
				err := l.Append(begin(who, []string{address}, address))
				refused, is := errors.AsType[ledger.Taken](err)
				if is != want || is && (!refused.Address || refused.Holder.Client != "ann") || !is && err != nil {
					t.Fatalf("%s: %v, want it refused: %t", who, err, want)
				}
				begun := must(l.Steps(t.Context(), of(who, "", "").ClientKey, ""))(t)["client"].Attempts == 1
				same(t, "that the step was begun", begun, !want)
			}
			do(t, l.Append(begin("ruth", []string{"email r", "phone 1"}, "email r"))) // not looked up by the phone
		})
	}
	t.Run("the key of another", func(t *testing.T) { // who is looked up by it
		l := s.fresh(t, begin("ann", []string{"email ann"}, "email ann"))
		if _, taken := errors.AsType[ledger.Taken](l.Append(begin("eve", []string{"email ann", "phone 1"}, "phone 1"))); !taken {
			t.Error("a client with the key of another for an address is begun")
		}
	})
	again := func(id ledger.StepID) ledger.Event { // asked for with other data
		e := life(id, ledger.Sent)[0]
		e.Data = []byte(`{"corrected": true}`)
		return e
	}
	ann, activity := of("ann", "", "client"), of("ann", "loans", "activity/details@client")
	corrected, absent, done := again(ann), life(ann, ledger.Uncertain)[0], life(ann, ledger.Done)[0]
	corrected.Addresses, corrected.LookedUp, absent.NotFound = []string{"email b"}, []string{"email b"}, true
	for name, test := range map[string]struct {
		then         []ledger.Event // after ann was sent with email a
		taken, other bool           // email a, and email b
	}{
		"asked for with another after she was certainly not created":    {[]ledger.Event{life(ann, ledger.Refused)[0], corrected, done}, false, true},
		"asked for with another after look-ups have not found her":      {[]ledger.Event{absent, corrected, done}, false, true},
		"an activity of one who is done is asked for with another text": {append(life(activity, ledger.Sent, ledger.Refused), done, again(activity)), true, false},
	} {
		l := s.fresh(t, begin("ann", []string{"email a"}, "email a"))
		do(t, l.Append(test.then...))
		for address, want := range map[string]bool{"email a": test.taken, "email b": test.other} {
			if _, taken := errors.AsType[ledger.Taken](l.Append(begin("eve by "+address, []string{address}, address))); taken != want {
				t.Errorf("%s: %s is taken: %t", name, address, taken)
			}
		}
	}
}

// AnyText: ids come back byte for byte, whatever the service has made of them, and urls as
// text, and are still found to be taken; so do long ones.
func (s store) AnyText(t *testing.T) {
	l := s.fresh(t)
	for i, text := range []string{"a\x00b", "\x1a00", "\x1a", "caf\xe9", "é\n\t“”", strings.Repeat("long-", 4000), "?1 $1 %", "'; DROP TABLE steps; --"} {
		id := jane("loans", fmt.Sprint("claim/loan/", i))
		url := fmt.Sprintf("https://go/%d/%s", i, strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), ""))
		do(t, l.Append(finished(id, text, url)...))
		step := must(l.Steps(t.Context(), id.ClientKey, "loans"))(t)[id.Step]
		same(t, "the id and the url", []string{step.ID, step.URL}, []string{text, url})
		other := of("john@example.com", "loans", "claim/loan/other")
		for _, e := range []ledger.Event{{StepID: other, Kind: ledger.KindClaim, ID: text}, {StepID: other, Kind: ledger.KindClaim, URL: url}} {
			same(t, "the holder", known(l.StepWithID(t.Context(), e))(t).Holder, id)
		}
	}
	do(t, l.Check(t.Context()))
}

// TestAge: a clock that was set back never makes a step look old.
func TestAge(t *testing.T) {
	t.Parallel()
	s := ledger.Step{Event: ledger.Event{At: noon}}
	for now, want := range map[time.Time]time.Duration{
		noon: 0, noon.Add(11 * time.Minute): 11 * time.Minute, noon.Add(-time.Hour): 0, noon.Add(-24 * time.Hour): 0, time.Unix(0, 0): 0,
	} {
		same(t, "age at "+now.String(), s.Age(now), want)
	}
}
