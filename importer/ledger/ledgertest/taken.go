package ledgertest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"claimsheet/importer/ledger"
)

// finished are the events of a step that ends with an id and a url.
func finished(id ledger.StepID, kind, created, url string) []ledger.Event {
	return []ledger.Event{
		{StepID: id, To: ledger.Intent, At: noon, Kind: kind},
		{StepID: id, To: ledger.Done, At: noon, Kind: kind, Via: ledger.ViaAnswer, ID: created, URL: url},
	}
}

// testTaken: an id belongs to one step of its kind in an environment, and a url to
// one client. A call that would give it to another is rejected as a whole.
func (s suite) testTaken(t *testing.T) {
	of := func(client, mapping, step string) ledger.StepID {
		id := jane(mapping, step)
		id.Client = client
		return id
	}
	elsewhere := of("eve", "", "client")
	elsewhere.Environment = "https://live.example.com"
	for name, c := range map[string]struct {
		step        ledger.StepID
		kind        string
		id, url     string
		taken, isOf bool // isOf: by the url
	}{
		"another client":                  {of("eve", "", "client"), ledger.KindClient, "x1", "", true, false},
		"another kind":                    {of("eve", "loans", "claim/loan/1"), ledger.KindClaim, "x1", "", false, false},
		"another environment":             {elsewhere, ledger.KindClient, "x1", "", false, false},
		"another id":                      {of("eve", "", "client"), ledger.KindClient, "x2", "", false, false},
		"another claim of the client":     {of("ann", "loans", "claim/loan/2"), ledger.KindClaim, "y1", "", true, false},
		"the claim under another mapping": {of("ann", "cars", "claim/loan/1"), ledger.KindClaim, "y1", "", true, false},
		"another client's link":           {of("eve", "loans", "link"), ledger.KindLink, "", "https://go/1", true, true},
		"another link of the client":      {of("ann", "cars", "link"), ledger.KindLink, "", "https://go/1", false, false},
		"another client by the url":       {of("eve", "", "client"), ledger.KindClient, "x2", "https://go/1", true, true},
		"no id at all":                    {of("eve", "loans", "activity/a@client"), ledger.KindActivity, "", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := s.fresh(t)
			do(t, l.Append(finished(of("ann", "", "client"), ledger.KindClient, "x1", "")...))
			do(t, l.Append(finished(of("ann", "loans", "claim/loan/1"), ledger.KindClaim, "y1", "")...))
			do(t, l.Append(finished(of("ann", "loans", "link"), ledger.KindLink, "", "https://go/1")...))
			do(t, l.Append(finished(of("ann", "loans", "activity/a@client"), ledger.KindActivity, "", "")...))
			events := finished(c.step, c.kind, c.id, c.url)
			_, asked, err := l.StepWithID(t.Context(), events[1])
			do(t, err)
			same(t, "Holder", asked, c.taken)
			err = l.Append(events...)
			taken, refused := errors.AsType[ledger.Taken](err)
			if refused != c.taken || !refused && err != nil {
				t.Fatalf("Append: %v", err)
			}
			if refused {
				same(t, "by the url", taken.URL, c.isOf)
				same(t, "the holder", taken.Holder.Client, "ann")
				steps, err := l.Steps(t.Context(), c.step.ClientKey, c.step.Mapping)
				do(t, err)
				same(t, "what was recorded of the step", steps[c.step.Step].To, ledger.State(""))
			}
			do(t, l.Append(finished(of("ruth", "", "client"), ledger.KindClient, "x9", "")...)) // it goes on
		})
	}
}

// testTakenByOneOfMany: when many steps are given one id at the same time, one gets
// it.
func (s suite) testTakenByOneOfMany(t *testing.T) {
	l := s.fresh(t)
	var got atomic.Int32
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			id := jane("loans", fmt.Sprintf("claim/loan/%d", i))
			err := l.Append(finished(id, ledger.KindClaim, "one", "")...)
			switch _, taken := errors.AsType[ledger.Taken](err); {
			case err == nil:
				got.Add(1)
			case !taken:
				t.Error(err)
			}
		})
	}
	all.Wait()
	same(t, "steps that are done with the id", int(got.Load()), 1)
}

// testAddressTaken: a client who is looked up by an address of another client is not begun,
// unless that one was certainly not created.
func (s suite) testAddressTaken(t *testing.T) {
	of := func(client string) ledger.StepID {
		id := jane("", "client")
		id.Client = client
		return id
	}
	begin := func(client string, addresses, lookedUp []string) ledger.Event {
		return ledger.Event{StepID: of(client), To: ledger.Intent, At: noon, Kind: ledger.KindClient, Addresses: addresses, LookedUp: lookedUp}
	}
	for state, taken := range map[ledger.State]struct{ email, phone bool }{ // by the e-mail she is looked up, by the phone she is not
		ledger.Intent: {true, true}, ledger.Done: {true, false}, ledger.Uncertain: {true, true}, ledger.GivenUp: {true, false}, ledger.Failed: {false, false},
	} {
		t.Run(string(state), func(t *testing.T) {
			l := s.fresh(t)
			do(t, l.Append(begin("ann", []string{"email a", "phone 1"}, []string{"email a"})))
			switch state {
			case ledger.Done:
				do(t, l.Append(ledger.Event{StepID: of("ann"), To: ledger.Done, At: noon, Via: ledger.ViaAnswer, ID: "x1"}))
			case ledger.Failed, ledger.Uncertain:
				do(t, l.Append(ledger.Event{StepID: of("ann"), To: state, At: noon}))
			case ledger.GivenUp:
				do(t, l.Append(ledger.Event{StepID: of("ann"), To: ledger.Uncertain, At: noon}))
				do(t, l.Append(ledger.Event{StepID: of("ann"), To: ledger.GivenUp, At: noon, Via: ledger.ViaByHand}))
			}
			for address, want := range map[string]bool{"email a": taken.email, "phone 1": taken.phone} {
				who := "eve by " + address
				err := l.Append(begin(who, []string{address}, []string{address}))
				refused, is := errors.AsType[ledger.Taken](err)
				if is != want || is && !refused.Address || !is && err != nil {
					t.Fatalf("%s: %v, want it refused: %t", who, err, want)
				}
				steps, err := l.Steps(t.Context(), of(who).ClientKey, "")
				do(t, err)
				same(t, "that the step was begun", steps["client"].To == ledger.Intent, !want)
				if want {
					same(t, "the holder", refused.Holder.Client, "ann")
				}
			}
			do(t, l.Append(begin("ruth", []string{"email r", "phone 1"}, []string{"email r"}))) // not looked up by the phone
		})
	}
}
