package ledgertest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"claimsheet/importer/ledger"
)

// claims is a ledger in which Jane has claims under several names.
func (s suite) claims(t *testing.T) *ledger.Ledger {
	l := s.fresh(t)
	john, live := jane("zebra", "claim/loan/1"), jane("live", "claim/loan/1")
	john.Client, live.Environment = "john@example.com", "https://live.example.com/api"
	for _, made := range []struct {
		id   ledger.StepID
		to   ledger.State
		kind string
	}{
		{jane("loans", "claim/loan/1"), ledger.Done, "claim"},
		{jane("cards", "claim/card/1"), ledger.Done, "claim"},
		{jane("alpha", "claim/card/1"), ledger.Done, "claim"},
		{jane("cards", "claim/card/2"), ledger.Refused, "claim"},
		{jane("late", "claim/loan/1"), ledger.Refused, "claim"},
		{jane("doubt", "claim/card/3"), ledger.Uncertain, "claim"},
		{jane("links", "link"), ledger.Done, "link"},
		{john, ledger.Done, "claim"},
		{live, ledger.Done, "claim"},
	} {
		via := ""
		if made.to == ledger.Done {
			via = ledger.ViaAnswer
		}
		do(t, l.Append(
			ledger.Event{StepID: made.id, To: ledger.Sent, At: noon, Kind: made.kind},
			ledger.Event{StepID: made.id, To: made.to, Via: via, At: noon}))
	}
	return l
}

func (s suite) testClaimedElsewhere(t *testing.T) {
	l := s.claims(t)
	for _, test := range []struct {
		mapping string
		steps   []string
		want    string // "" for nowhere
	}{
		{"loans", []string{"claim/loan/1"}, ""}, // its own
		{"loans-2", []string{"claim/loan/1"}, "loans"},
		{"loans-2", []string{"claim/loan/9", "claim/loan/1"}, "loans"},
		{"loans-2", []string{"claim/card/1"}, "alpha"}, // of two names the first
		{"loans-2", []string{"claim/card/2"}, ""},      // surely not made
		{"loans-2", []string{"claim/card/3"}, "doubt"}, // perhaps made
		{"doubt", []string{"claim/card/3"}, ""},        // it stands in its own way
		{"loans-2", []string{"link"}, ""},              // not a claim
		{"cards", []string{"claim/card/1"}, ""},        // its own too
		{"cards", []string{"claim/card/1", "claim/loan/1"}, "loans"},
		{"late", []string{"claim/loan/1"}, "loans"}, // its own is not done
		{"loans-2", []string{`claim/loan/"1"`, "claim/%", "claim/loan/10"}, ""},
		{"loans-2", nil, ""},
	} {
		got, ok, err := l.ClaimedElsewhere(t.Context(), jane("", "").ClientKey, test.mapping, test.steps)
		do(t, err)
		same(t, test.mapping, got, test.want)
		same(t, test.mapping+" claimed", ok, test.want != "")
	}
}

func (s suite) testKnownClients(t *testing.T) {
	l := s.fresh(t)
	do(t, l.StartRun(ledger.Run{ID: "r1", Environment: jane("", "").Environment, Started: noon}))
	do(t, l.Flush())
	knows := func(environment string) bool {
		clients, err := l.KnownClients(t.Context(), environment, 1)
		do(t, err)
		return clients == 1
	}
	same(t, "before the first step", knows(jane("", "").Environment), false)
	do(t, l.Append(ledger.Event{StepID: jane("", "client"), To: ledger.Refused, At: noon, Kind: "client"}))
	same(t, "after one for which nothing was sent", knows(jane("", "").Environment), false)
	do(t, l.Append(ledger.Event{StepID: jane("", "client"), To: ledger.Sent, At: noon, Kind: "client"}))
	same(t, "after it", knows(jane("", "").Environment), true)
	same(t, "elsewhere", knows("https://live.example.com/api"), false)
}

func (s suite) testHasSteps(t *testing.T) {
	l := s.claims(t)
	for _, test := range []struct {
		mapping, prefix string
		want            bool
	}{
		{"cards", "claim/card/1", true},
		{"cards", "claim/card/", true},
		{"cards", "claim/card/2", false}, // surely not made
		{"doubt", "claim/card/3", true},
		{"cards", "claim/c%", false},
		{"loans", "claim/card/", false},
	} {
		has, err := l.HasSteps(t.Context(), jane("", "").Environment, test.mapping, test.prefix)
		do(t, err)
		same(t, test.mapping+" "+test.prefix, has, test.want)
	}
	has, err := l.HasSteps(t.Context(), "https://test.example.com", "cards", "claim/")
	do(t, err)
	same(t, "elsewhere", has, false)
}

// define stores a definition in place of the one before.
func define(l *ledger.Ledger, environment, mapping, definition string) error {
	return l.ChangeDefinition(environment, mapping, func(string) string { return definition })
}

// testDefinitionsChangedAtOnce: of several changes of a definition at the same time, each
// knows of those before it, so that none is lost.
func (s suite) testDefinitionsChangedAtOnce(t *testing.T) {
	l := s.fresh(t)
	const callers, calls = 8, 10
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range calls {
				if err := l.ChangeDefinition("https://uat", "loans", func(stored string) string { return stored + "x" }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	got, err := l.Definitions(t.Context(), "https://uat")
	do(t, err)
	same(t, "the changes", len(got["loans"]), callers*calls)
}

func (s suite) testDefinitionIsTheLastOneSet(t *testing.T) {
	dir := t.TempDir()
	l := s.open(t, dir, "x")
	do(t, define(l, "https://uat", "loans", `{"key":["A"]}`))
	do(t, define(l, "https://uat", "loans", `{"key":["B"]}`))
	do(t, define(l, "https://live", "loans", `{"key":["C"]}`))
	do(t, l.Close())
	r, err := s.OpenReadOnly(dir, "x")
	do(t, err)
	defer r.Close()
	for _, test := range []struct{ environment, mapping, want string }{
		{"https://uat", "loans", `{"key":["B"]}`},
		{"https://live", "loans", `{"key":["C"]}`},
		{"https://uat", "cards", ""},
		{"https://test", "loans", ""},
	} {
		all, err := r.Definitions(t.Context(), test.environment)
		do(t, err)
		got, ok := all[test.mapping]
		same(t, test.environment+" "+test.mapping, got, test.want)
		same(t, test.environment+" "+test.mapping+" known", ok, test.want != "")
	}
	if err := define(r, "https://uat", "loans", "{}"); !errors.Is(err, ledger.ErrReadOnly) {
		t.Errorf("got %v, want ErrReadOnly", err)
	}
}

// testStepsOfClientsAreSteps asks for many clients at once: known and unknown ones,
// one twice and one of another environment, more than one query takes, and from more
// callers than there are readers.
func (s suite) testStepsOfClientsAreSteps(t *testing.T) {
	l := s.fresh(t)
	environment := jane("", "").Environment
	owners := []ledger.ClientKey{{Environment: "https://other.example.com", Space: "email", Client: "client-0"}}
	for i := range 150 {
		owner := jane("", "").ClientKey
		owner.Client = fmt.Sprint("client-", i)
		owners = append(owners, owner)
		if i%7 == 3 {
			continue
		}
		for _, id := range []ledger.StepID{{Step: "client"}, {Mapping: "m", Step: "claim/c/1"}, {Mapping: "other", Step: "claim/c/1"}} {
			id.ClientKey = owner
			do(t, l.Append(ledger.Event{StepID: id, To: ledger.Sent, At: noon, Kind: "claim", Data: []byte(owner.Client), Digest: "d"}))
		}
	}
	owners = append(owners, owners[1], ledger.ClientKey{Environment: environment})
	var callers sync.WaitGroup
	for range 10 {
		callers.Go(func() {
			all, err := l.StepsOfClients(t.Context(), environment, "m", owners)
			if err != nil || len(all) != len(owners) {
				t.Error(len(all), err)
				return
			}
			for i, owner := range owners {
				want, err := l.Steps(t.Context(), owner, "m")
				if err != nil {
					t.Error(err)
				}
				if known := owner.Environment == environment && owner.Client != "" && (i-1)%7 != 3 || i == 151; known != (len(want) == 2) {
					t.Errorf("%v: Steps returns %v", owner, want)
				}
				if len(want)+len(all[i]) > 0 && !reflect.DeepEqual(all[i], want) {
					t.Errorf("%v: %v, expected %v", owner, all[i], want)
				}
			}
		})
	}
	callers.Wait()
	do(t, l.Close())
	if _, err := l.StepsOfClients(t.Context(), environment, "m", owners); err == nil {
		t.Error("a closed ledger answers")
	}
}

func (s suite) testAnswersReadBy(t *testing.T) {
	l := s.fresh(t)
	jane := jane("", "client")
	readBy := func(rules string) int64 {
		before, err := l.AnswersReadBy(t.Context(), jane.Environment, rules)
		do(t, err)
		return before
	}
	version := func() int64 {
		steps, err := l.BriefStepsOfClients(t.Context(), jane.Environment, "loans", []ledger.ClientKey{jane.ClientKey})
		do(t, err)
		return steps[0]["client"].Ref.Last
	}
	same(t, "of an empty ledger", readBy("these"), int64(0))
	do(t, l.Append(ledger.Event{StepID: jane, To: ledger.Sent, At: noon, Kind: "client"}))
	same(t, "by the same rules", readBy("these"), int64(0))
	first := version()
	same(t, "by others", readBy("those"), first)
	do(t, l.Append(ledger.Event{StepID: jane, To: ledger.Done, At: noon, Via: ledger.ViaAnswer, ID: "c1", Answer: []byte("{}")}))
	same(t, "by the others again", readBy("those"), first)
	same(t, "by the first again", readBy("these"), version())
	before, err := l.AnswersReadBy(t.Context(), "https://live.example.com/api", "these")
	do(t, err)
	same(t, "elsewhere", before, version())
}
