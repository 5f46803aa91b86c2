package ledgertest

import (
	"strings"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

const service = "https://uat.example.com/api"

// named is the name of an activity in these tests: the data of its request.
func named(s ledger.Step) string { return string(s.Data) }

// tracking is a ledger with two clients: jane has two claims with an activity of the
// same name on each, and joe has one activity of his own.
func (s suite) tracking(t *testing.T) (l *ledger.Ledger, joe ledger.ClientKey) {
	t.Helper()
	l = s.fresh(t)
	add := func(id ledger.StepID, kind, created, data string) {
		do(t, l.Append(
			ledger.Event{StepID: id, To: ledger.Sent, At: noon, Run: "r", Kind: kind, Data: []byte(data), Digest: strings.Repeat("0", 64)},
			ledger.Event{StepID: id, To: ledger.Done, At: noon, Run: "r", Via: ledger.ViaAnswer, ID: created}))
	}
	add(jane("", "client"), "client", "c1", "{}")
	for _, claim := range []string{"1", "2"} {
		add(jane("m", "claim/loan/"+claim), "claim", "k"+claim, "{}")
		add(jane("m", "activity/agreement@loan/"+claim), "activity", "", "Agreement")
	}
	add(jane("m", "activity/sign"), "activity", "a1", "Sign")
	other := jane("", "client")
	other.Client = "joe@example.com"
	add(other, "client", "c2", "{}")
	sign := jane("m", "activity/sign")
	sign.ClientKey = other.ClientKey
	add(sign, "activity", "", "Sign")
	return l, other.ClientKey
}

// testTrackedStep: an event belongs to the narrowest thing that its ids and the name of
// the activity leave no doubt about.
func (s suite) testTrackedStep(t *testing.T) {
	tests := []struct {
		name  string
		event ledger.Tracked
		want  string // the step; "" for none
	}{
		{"an activity's id", ledger.Tracked{ActivityID: "a1", ClientID: "c1"}, "activity/sign"},
		{"an unknown activity of a client", ledger.Tracked{ActivityID: "x", ClientID: "c1"}, "client"},
		{"a client's activity by its name", ledger.Tracked{ClientID: "c1", Activity: "Sign"}, "activity/sign"},
		{"a name that two activities have", ledger.Tracked{ClientID: "c1", Activity: "Agreement"}, "client"},
		{"a claim's activity by its name", ledger.Tracked{ClaimID: "k2", Activity: "Agreement"}, "activity/agreement@loan/2"},
		{"a client's activity with a claim", ledger.Tracked{ClaimID: "k2", Activity: "Sign"}, "claim/loan/2"},
		{"a claim", ledger.Tracked{ClaimID: "k1"}, "claim/loan/1"},
		{"a client", ledger.Tracked{ClientID: "c2"}, "client"},
		{"nobody", ledger.Tracked{ClientID: "c3", ClaimID: "k3", ActivityID: "a3"}, ""},
		{"a claim's id as a client's", ledger.Tracked{ClientID: "k1"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l, joe := s.tracking(t)
			test.event.Key = "e"
			n := addTracked(t, l, test.event)
			want := ledger.TrackedCounts{Added: 1}
			if test.want == "" {
				want = ledger.TrackedCounts{Unknown: 1}
			}
			same(t, "counts", n, want)
			got := ""
			for _, owner := range []ledger.ClientKey{jane("", "").ClientKey, joe} {
				events, err := l.TrackedOfClient(t.Context(), owner)
				do(t, err)
				for _, e := range events {
					got += e.Step
					if (owner == joe) != (e.ClientID == "c2") {
						t.Errorf("%+v belongs to %s", e.Tracked, owner.Client)
					}
				}
			}
			if got != test.want {
				t.Errorf("the event belongs to %q, want %q", got, test.want)
			}
			// Nothing that the service says changes a step.
			steps, err := l.Steps(t.Context(), joe, "m")
			do(t, err)
			if steps["activity/sign"].To != ledger.Done || steps["activity/sign"].Attempts != 1 {
				t.Errorf("the step has become %+v", steps["activity/sign"])
			}
		})
	}
}

// testTrackedCase: a UUID is the same in upper and in lower case, also where its step is
// created after the event has arrived.
func (s suite) testTrackedCase(t *testing.T) {
	const low, high = "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11", "8D0C0F3E-2F0E-4C53-9D25-0D4B9A0F7A11"
	l := s.fresh(t)
	events := []ledger.Tracked{{Key: "1", ClientID: strings.ToUpper(low)}, {Key: "2", ClientID: low}, {Key: "3", ClientID: strings.ToLower(high)}, {Key: "4", ClientID: high},
		{Key: "5", ClientID: "C1"}}
	same(t, "before", addTracked(t, l, events...), ledger.TrackedCounts{Unknown: 5})
	for i, id := range []string{low, high, "c1"} {
		who := jane("", "client")
		who.Client += string(rune('1' + i))
		do(t, l.Append(ledger.Event{StepID: who, To: ledger.Done, At: noon, Kind: "client", Via: ledger.ViaAdopted, ID: id}))
	}
	n, err := l.MatchTracked(service, []string{service}, named)
	do(t, err)
	same(t, "found", n, ledger.TrackedCounts{Found: 4})
	for i := range events {
		events[i].Key += "b"
	}
	same(t, "after", addTracked(t, l, events...), ledger.TrackedCounts{Added: 4, Unknown: 1})
}

// testTrackedAgain: what arrives again or in another order changes nothing, and an
// event of a client that is created later finds that client.
func (s suite) testTrackedAgain(t *testing.T) {
	l, joe := s.tracking(t)
	first, second := ledger.Tracked{Key: "1", ClientID: "c2", Status: "Open"}, ledger.Tracked{Key: "2", ClientID: "c2", Status: "Done"}
	later := ledger.Tracked{Key: "3", ClientID: "c3"}
	same(t, "the first time", addTracked(t, l, first, second, later), ledger.TrackedCounts{Added: 2, Unknown: 1})
	first.Status = "something else"
	same(t, "again", addTracked(t, l, second, first, later), ledger.TrackedCounts{Repeated: 3})
	do(t, l.CompleteTracked(service, func(_, status string) bool { return status == "Open" })) // wrong, and corrected
	do(t, l.CompleteTracked(service, func(_, status string) bool { return status == "Done" }))
	completed, unknown, err := l.CountTracked(t.Context(), service)
	do(t, err)
	if completed != 1 || unknown != 1 {
		t.Errorf("%d completed, %d unknown; want 1, 1", completed, unknown)
	}
	events, err := l.TrackedOfClient(t.Context(), joe)
	do(t, err)
	if len(events) != 2 || events[0].Status != "Open" || !events[1].Completed {
		t.Errorf("joe has %+v", events)
	}
	ann := jane("", "client")
	ann.Client = "ann@example.com"
	do(t, l.Append(ledger.Event{StepID: ann, To: ledger.Done, At: noon, Run: "r", Kind: "client", Via: ledger.ViaAdopted, ID: "c3"}))
	found, err := l.MatchTracked(service, []string{service}, named)
	do(t, err)
	same(t, "after the client is known", found, ledger.TrackedCounts{Found: 1})
	events, err = l.TrackedOfClient(t.Context(), ann.ClientKey)
	do(t, err)
	if len(events) != 1 || events[0].Key != "3" {
		t.Errorf("ann has %+v", events)
	}
}

// testTrackedAndErasures: an erased client leaves no events, and gets no new ones.
func (s suite) testTrackedAndErasures(t *testing.T) {
	l, joe := s.tracking(t)
	event := ledger.Tracked{Key: "1", ClientID: "c2"}
	addTracked(t, l, event)
	_, err := l.Forget(joe, noon)
	do(t, err)
	if n, _, err := l.CountTracked(t.Context(), service); n != 0 || err != nil {
		t.Errorf("%d events are left, %v", n, err)
	}
	same(t, "again", addTracked(t, l, event), ledger.TrackedCounts{Erased: 1})
	addTracked(t, l, ledger.Tracked{Key: "2", ClientID: "nobody"})
	for _, purge := range []struct {
		service string
		left    int
	}{{"https://elsewhere", 1}, {service, 0}} {
		_, err = l.Purge(ledger.Purge{Environments: []string{service}, Service: purge.service, Before: noon.Add(48 * time.Hour)})
		do(t, err)
		if _, unknown, err := l.CountTracked(t.Context(), service); unknown != purge.left || err != nil {
			t.Errorf("after a purge of %s: %d events of nobody are left, %v; want %d", purge.service, unknown, err, purge.left)
		}
	}
}

// testUnknownEventOfErasedClient: an event that came before its client was known goes
// with the client, and later ones are not found to be the client's.
func (s suite) testUnknownEventOfErasedClient(t *testing.T) {
	l, _ := s.tracking(t)
	addTracked(t, l, ledger.Tracked{Key: "1", ClientID: "c3", Activity: "Sign"})
	ann := jane("", "client")
	ann.Client = "ann@example.com"
	do(t, l.Append(ledger.Event{StepID: ann, To: ledger.Done, At: noon, Run: "r", Kind: "client", Via: ledger.ViaAdopted, ID: "c3"}))
	_, err := l.Forget(ann.ClientKey, noon)
	do(t, err)
	n, err := l.MatchTracked(service, []string{service}, named)
	do(t, err)
	completed, unknown, err := l.CountTracked(t.Context(), service)
	do(t, err)
	if n != (ledger.TrackedCounts{}) || completed+unknown != 0 {
		t.Errorf("%+v, %d completed, %d unknown; want nothing left", n, completed, unknown)
	}
}

func addTracked(t *testing.T, l *ledger.Ledger, events ...ledger.Tracked) ledger.TrackedCounts {
	t.Helper()
	for i := range events {
		events[i].At, events[i].Received = noon.Add(time.Duration(i)*time.Minute), noon.Add(time.Hour)
	}
	n, err := l.AddTracked(service, []string{service}, events, named)
	do(t, err)
	return n
}
