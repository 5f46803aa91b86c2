package ledger_test

import (
	"strings"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

// named is the name of an activity in these tests: the data of its request.
func named(s ledger.Step) string { return string(s.Data) }

var joe = of("joe@example.com", "m", "activity/sign")

// tracking is a ledger with two clients: Jane has two claims with an activity of the
// same name on each, and Joe has one activity of his own.
func (s store) tracking(t *testing.T) *ledger.Ledger {
	t.Helper()
	l := s.fresh(t)
	for _, made := range []struct {
		id          ledger.StepID
		created, of string
	}{
		{jane("", "client"), "c1", "{}"},
		{jane("m", "claim/loan/1"), "k1", "{}"}, {jane("m", "activity/agreement@loan/1"), "", "Agreement"},
		{jane("m", "claim/loan/2"), "k2", "{}"}, {jane("m", "activity/agreement@loan/2"), "", "Agreement"},
		{jane("m", "activity/sign"), "a1", "Sign"},
		{of(joe.Client, "", "client"), "c2", "{}"}, {joe, "", "Sign"},
	} {
		events := finished(made.id, made.created, "")
		events[0].Data, events[0].Digest = []byte(made.of), strings.Repeat("0", 64)
		do(t, l.Append(events...))
	}
	return l
}

func addTracked(t *testing.T, l *ledger.Ledger, events ...ledger.Tracked) ledger.TrackedCounts {
	t.Helper()
	for i := range events {
		events[i].At, events[i].Received = noon.Add(time.Duration(i)*time.Minute), noon.Add(time.Hour)
	}
	repeated := must(l.AddTracked(service, events))(t)
	n := must(l.MatchTracked(service, []string{service}, named))(t)
	n.Repeated = repeated
	return n
}

// TrackedStep: an event belongs to the narrowest thing that its ids and the name of
// the activity leave no doubt about.
func (s store) TrackedStep(t *testing.T) {
	l, unknown, got, want := s.tracking(t), 0, map[string]string{}, map[string]string{}
	var events []ledger.Tracked
	for name, test := range map[string]struct {
		event ledger.Tracked
		want  string // the client and the step; "" for none
	}{
		"an activity's id":                 {ledger.Tracked{ActivityID: "a1", ClientID: "c1"}, "jane@example.com activity/sign"},
		"an unknown activity of a client":  {ledger.Tracked{ActivityID: "x", ClientID: "c1"}, "jane@example.com client"},
		"a client's activity by its name":  {ledger.Tracked{ClientID: "c1", Activity: "Sign"}, "jane@example.com activity/sign"},
		"a name that two activities have":  {ledger.Tracked{ClientID: "c1", Activity: "Agreement"}, "jane@example.com client"},
		"a claim's activity by its name":   {ledger.Tracked{ClaimID: "k2", Activity: "Agreement"}, "jane@example.com activity/agreement@loan/2"},
		"a client's activity with a claim": {ledger.Tracked{ClaimID: "k2", Activity: "Sign"}, "jane@example.com claim/loan/2"},
		"a claim":                          {ledger.Tracked{ClaimID: "k1"}, "jane@example.com claim/loan/1"},
		"a client":                         {ledger.Tracked{ClientID: "c2"}, "joe@example.com client"},
		"unknown ids":                      {ledger.Tracked{ClientID: "c3", ClaimID: "k3", ActivityID: "a3"}, ""},
		"a claim's id as a client's":       {ledger.Tracked{ClientID: "k1"}, ""},
	} {
		test.event.Key = name
		if events = append(events, test.event); test.want != "" {
			want[name] = test.want
		} else {
			unknown++
		}
	}
	same(t, "counted", addTracked(t, l, events...), ledger.TrackedCounts{Found: len(want), Unknown: unknown})
	for _, owner := range []ledger.StepID{jane("", ""), joe} {
		for _, e := range must(l.TrackedOfClient(t.Context(), owner.ClientKey))(t) {
			got[e.Key] = owner.Client + " " + e.Of.Step
		}
	}
	same(t, "the clients and steps of the events", got, want)
	// Nothing that the service says changes a step.
	if step := must(l.Steps(t.Context(), joe.ClientKey, "m"))(t)[joe.Step]; step.State != ledger.Done || step.Attempts != 1 {
		t.Errorf("the step has become %+v", step)
	}
}

// TrackedCase: a UUID is the same in upper and in lower case, also where its step is
// created after the event has arrived.
func (s store) TrackedCase(t *testing.T) {
	const low, high = "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11", "8D0C0F3E-2F0E-4C53-9D25-0D4B9A0F7A11"
	l := s.fresh(t)
	events := []ledger.Tracked{{Key: "1", ClientID: strings.ToUpper(low)}, {Key: "2", ClientID: low}, {Key: "3", ClientID: strings.ToLower(high)}, {Key: "4", ClientID: high},
		{Key: "5", ClientID: "C1"}}
	same(t, "before", addTracked(t, l, events...), ledger.TrackedCounts{Unknown: 5})
	for _, id := range []string{low, high, "c1"} {
		do(t, l.Append(adopted(of("client "+id, "", "client"), id)))
	}
	same(t, "found", addTracked(t, l), ledger.TrackedCounts{Found: 4, Unknown: 1})
	for i := range events {
		events[i].Key += "b"
	}
	same(t, "after", addTracked(t, l, events...), ledger.TrackedCounts{Found: 4, Unknown: 2})
}

// TrackedAgain: what arrives again or in another order changes nothing, and an
// event of a client that is created later finds that client.
func (s store) TrackedAgain(t *testing.T) {
	l := s.tracking(t)
	first, second := ledger.Tracked{Key: "1", ClientID: "c2", Status: "Open"}, ledger.Tracked{Key: "2", ClientID: "c2", Status: "Done"}
	later := ledger.Tracked{Key: "3", ClientID: "c3"}
	same(t, "the first time", addTracked(t, l, first, second, later), ledger.TrackedCounts{Found: 2, Unknown: 1})
	first.Status = "something else"
	same(t, "again", addTracked(t, l, second, first, later), ledger.TrackedCounts{Repeated: 3, Unknown: 1})
	events := must(l.TrackedOfClient(t.Context(), joe.ClientKey))(t)
	if len(events) != 2 || events[0].Status != "Open" || events[1].Status != "Done" {
		t.Errorf("joe has %+v", events)
	}
	ann := of("ann@example.com", "", "client")
	do(t, l.Append(adopted(ann, "c3")))
	same(t, "after the client is known", addTracked(t, l), ledger.TrackedCounts{Found: 1})
	if events := must(l.TrackedOfClient(t.Context(), ann.ClientKey))(t); len(events) != 1 || events[0].Key != "3" {
		t.Errorf("ann has %+v", events)
	}
}

// TrackedAndErasures: an erased client leaves no events, those from before the client was
// known among them, and gets no new ones.
func (s store) TrackedAndErasures(t *testing.T) {
	l := s.tracking(t)
	event, early := ledger.Tracked{Key: "1", ClientID: "c2"}, ledger.Tracked{Key: "0", ClientID: "c3", Activity: "Sign"}
	addTracked(t, l, event, early)
	must(l.Forget(joe.ClientKey, noon))(t)
	ann := of("ann@example.com", "", "client")
	do(t, l.Append(adopted(ann, "c3")))
	must(l.Forget(ann.ClientKey, noon))(t)
	same(t, "matched", addTracked(t, l), ledger.TrackedCounts{})
	same(t, "again", addTracked(t, l, event, early), ledger.TrackedCounts{Erased: 2})
	same(t, "not kept", addTracked(t, l), ledger.TrackedCounts{})
	nobody := ledger.Tracked{Key: "2", ClientID: "nobody"}
	addTracked(t, l, nobody)
	for i, of := range []string{elsewhere, service} {
		_, _, err := l.Purge([]string{service}, of, noon.Add(48*time.Hour))
		do(t, err)
		same(t, "after a purge", addTracked(t, l, nobody), ledger.TrackedCounts{Repeated: 1 - i, Unknown: 1})
	}
}
