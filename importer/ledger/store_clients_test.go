package ledger_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claimsheet/importer/ledger"
)

// ClaimedElsewhere: claims that were made under another name are found, and whether a
// mapping has steps.
func (s store) ClaimedElsewhere(t *testing.T) {
	l := s.fresh(t)
	for _, made := range []struct {
		id ledger.StepID
		to ledger.State
	}{
		{jane("loans", "claim/loan/1"), ledger.Done},
		{jane("cards", "claim/card/1"), ledger.Done},
		{jane("alpha", "claim/card/1"), ledger.Done},
		{jane("cards", "claim/card/2"), ledger.Refused},
		{jane("late", "claim/loan/1"), ledger.Refused},
		{jane("doubt", "claim/card/3"), ledger.Uncertain},
		{jane("links", "link"), ledger.Done},
		{of("john@example.com", "zebra", "claim/loan/1"), ledger.Done},
		{in(elsewhere, jane("live", "claim/loan/1")), ledger.Done},
	} {
		do(t, l.Append(life(made.id, ledger.Sent, made.to)...))
	}
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
		same(t, test.mapping, known(l.ClaimedElsewhere(t.Context(), jane("", "").ClientKey, test.mapping, test.steps))(t), test.want)
	}
	for _, test := range []struct {
		environment, mapping, prefix string
		want                         bool
	}{
		{service, "cards", "claim/card/1", true},
		{service, "cards", "claim/card/", true},
		{service, "cards", "claim/card/2", false}, // surely not made
		{service, "doubt", "claim/card/3", true},
		{service, "cards", "claim/c%", false},
		{service, "loans", "claim/card/", false},
		{elsewhere, "cards", "claim/", false},
	} {
		same(t, test.mapping+" "+test.prefix, must(l.HasSteps(t.Context(), test.environment, test.mapping, test.prefix))(t), test.want)
	}
}

// Lookups: steps and clients are found by what is known of them.
func (s store) Lookups(t *testing.T) {
	const uuid = "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11"
	l := s.fresh(t, finished(of("ann", "", "client"), uuid, "")...)
	ctx := t.Context()
	known := adopted(of("åsa", "", "client"), "c-2")
	known.Via = ledger.ViaSheet
	lead := of("ann", "", "client")
	lead.Space = "leads"
	do(t, l.Append(known, adopted(lead, "c-3"), adopted(in(elsewhere, lead), "c-3")))
	for i, partner := range []string{`{"partner":"p-7"}`, `{"partner":"p-8"}`} {
		claim := life(of("ann", "loans", fmt.Sprint("claim/loan/", i)), ledger.Sent)[0]
		claim.Data = []byte(partner)
		do(t, l.Append(claim))
	}
	do(t, l.Append(life(of("bob", "", "client"), ledger.Sent)...))
	do(t, l.Append(life(of("eve", "", "client"), ledger.Sent, ledger.Uncertain)...))
	do(t, l.Append(life(of("none", "", "client"), ledger.Refused)...))
	do(t, l.Append(life(of("bob", "loans", "claim/loan/1"), ledger.Sent, ledger.Uncertain)...))
	do(t, l.Append(ledger.Event{StepID: of("bob", "loans", "claim/loan/1"), State: ledger.Refused, At: noon, Via: ledger.ViaByHand}))
	var decided []string
	for _, step := range must(l.Decided(ctx, service))(t) {
		decided = append(decided, step.Client+" "+step.StepID.Step)
	}
	same(t, "decided by hand, or with an id of the sheet", decided, []string{"bob claim/loan/1", "åsa client"})
	for id, want := range map[string]ledger.StepID{uuid: of("ann", "", "client"), "c-9": {}} {
		taken, ok, err := l.StepWithID(ctx, ledger.Event{StepID: in(service, ledger.StepID{}), Kind: ledger.KindClient, ID: id})
		do(t, err)
		same(t, "the client with the id "+id, taken.Holder, want)
		same(t, "that it is known", ok, want != ledger.StepID{})
	}
	for most, want := range map[int]int{1: 1, 9: 5} {
		same(t, "known clients", must(l.KnownClients(ctx, service, most))(t), want)
	}
	same(t, "environments", must(l.Environments(ctx))(t), []string{elsewhere, service})
	do(t, l.Append(life(jane("", "client"), ledger.Sent)...))
	for key, want := range map[string][]string{"ann": {"email", "leads"}, "ANN": {"email"}, "JANE@example.com": {"email"}, "joe": nil} { // only an e-mail address ignores case
		var spaces []string
		for _, owner := range must(l.ClientsNamed(ctx, service, key))(t) {
			spaces = append(spaces, owner.Space)
		}
		same(t, key, spaces, want)
	}
}

// StepsOfClientsAreSteps asks for the steps of many clients, and theirs in one mapping, at once: known and unknown ones,
// one twice and one of another environment, more than one query takes, and from more
// callers than there are readers.
func (s store) StepsOfClientsAreSteps(t *testing.T) {
	l := s.fresh(t)
	owners := []ledger.ClientKey{in(elsewhere, of("client-0", "", "")).ClientKey, {Environment: service}}
	for i := range 150 {
		client := fmt.Sprint("client-", i)
		if owners = append(owners, of(client, "", "").ClientKey); i%7 == 3 {
			continue
		}
		for kind, id := range map[string]ledger.StepID{"client": of(client, "", "client"), "claim": of(client, "m", "claim/c/1"), "link": of(client, "other", "link")} {
			do(t, l.Append(ledger.Event{StepID: id, State: ledger.Sent, At: noon, Kind: kind, Data: []byte(client), Digest: "0d"}))
		}
		id := of(client, "", "client")
		for range i % 3 {
			do(t, l.Append(ledger.Event{StepID: id, State: ledger.Refused, At: noon, Status: 503, Reason: "busy"}, ledger.Event{StepID: id, State: ledger.Sent, At: noon}))
		}
		do(t, l.Append(ledger.Event{StepID: id, State: ledger.Uncertain, At: noon, Status: 500, Answer: []byte("{}"), NotFound: i%2 == 0}))
	}
	owners = append(owners, owners[2])
	var want []map[string]ledger.Step
	known := 0
	for _, owner := range owners {
		steps := must(l.Steps(t.Context(), owner, "m"))(t)
		if len(steps) == 2 && steps["claim/c/1"].Mapping == "m" {
			known++
		}
		want = append(want, steps)
	}
	same(t, "known clients", known, 130)
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			got, err := l.StepsOfClients(t.Context(), service, "m", owners)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			brief, err := l.BriefStepsOfClients(t.Context(), service, "m", owners)
			if diff := cmp.Diff(want, brief, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(ledger.Event{}, "Data", "Answer")); err != nil || diff != "" {
				t.Errorf("brief: %v (-want +got):\n%s", err, diff)
			}
		})
	}
	group.Wait()
	do(t, l.Close())
	if _, err := l.StepsOfClients(t.Context(), service, "m", owners); err == nil {
		t.Error("a closed ledger answers")
	}
}

func (s store) AnswersReadBy(t *testing.T) {
	l := s.fresh(t)
	id := jane("", "client")
	readBy := func(environment, rules string) int64 {
		return must(l.AnswersReadBy(t.Context(), environment, rules))(t)
	}
	version := func() int64 {
		return must(l.BriefStepsOfClients(t.Context(), service, "loans", []ledger.ClientKey{id.ClientKey}))(t)[0]["client"].Version
	}
	same(t, "of an empty ledger", readBy(service, "these"), int64(0))
	do(t, l.Append(life(id, ledger.Sent)...))
	same(t, "by the same rules", readBy(service, "these"), int64(0))
	first := version()
	same(t, "by others", readBy(service, "those"), first)
	do(t, l.Append(life(id, ledger.Done)...))
	same(t, "by the others again", readBy(service, "those"), first)
	same(t, "by the first again", readBy(service, "these"), version())
	same(t, "elsewhere", readBy(elsewhere, "these"), version())
}

// Definitions: of several changes of a definition at the same time, each knows of those before
// it, so that none is lost. Environments and mappings have their own.
func (s store) Definitions(t *testing.T) {
	dir := t.TempDir()
	l := s.open(t, dir, "x")
	more := func(stored string) string { return stored + "x" }
	do(t, l.ChangeDefinition(elsewhere, "loans", more))
	do(t, l.ChangeDefinition(service, "cards", more))
	const callers, calls = 8, 10
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for range calls {
				if err := l.ChangeDefinition(service, "loans", more); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	do(t, l.Close())
	r := must(s.OpenReadOnly(dir, "x"))(t)
	defer r.Close()
	want := map[string]string{"loans": strings.Repeat("x", callers*calls), "cards": "x"}
	same(t, "definitions", must(r.Definitions(t.Context(), service))(t), want)
}

// Settings: what users have said about an environment, and where it last ran.
func (s store) Settings(t *testing.T) {
	l := s.fresh(t)
	ctx := t.Context()
	for want := range 2 {
		same(t, "trusted", must(l.Trusted(ctx, service))(t), want == 1)
		do(t, l.Trust(service))
	}
	same(t, "trusted elsewhere", must(l.Trusted(ctx, elsewhere))(t), false)
	do(t, l.SetMoved("https://new", "https://old"))
	do(t, l.SetMoved("https://new", "https://older"))
	same(t, "moved from", known(l.Moved(ctx, "https://new"))(t), "https://older")
	same(t, "never moved", known(l.Moved(ctx, "https://old"))(t), "")
	for i, at := range []string{"https://old", "https://new"} {
		r := run
		r.ID, r.Environment, r.Started = at, at, noon.Add(time.Duration(i)*time.Hour)
		do(t, l.StartRun(r))
	}
	same(t, "where it last ran", known(l.LastEnvironment(ctx, "uat"))(t), "https://new")
	same(t, "it never ran", known(l.LastEnvironment(ctx, "live"))(t), "")
}
