package ledgertest

import (
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

// testSettings: what users have said about an environment, and where it last ran.
func (s suite) testSettings(t *testing.T) {
	l := s.fresh(t)
	ctx := t.Context()
	trusted := func(environment string) bool {
		t.Helper()
		is, err := l.Trusted(ctx, environment)
		do(t, err)
		return is
	}
	same(t, "trusted before", trusted("https://uat"), false)
	do(t, l.Trust("https://uat"))
	do(t, l.Trust("https://uat"))
	same(t, "trusted", trusted("https://uat"), true)
	same(t, "elsewhere", trusted("https://live"), false)

	do(t, l.SetMoved("https://new", "https://old"))
	do(t, l.SetMoved("https://new", "https://older"))
	service, ok, err := l.Moved(ctx, "https://new")
	do(t, err)
	same(t, "moved from", service, "https://older")
	same(t, "moved", ok, true)
	_, ok, err = l.Moved(ctx, "https://old")
	do(t, err)
	same(t, "never moved", ok, false)

	do(t, define(l, "https://uat", "loans", "{}"))
	definitions, err := l.Definitions(ctx, "https://uat")
	do(t, err)
	same(t, "definitions", definitions, map[string]string{"loans": "{}"})

	for i, at := range []string{"https://old", "https://new"} {
		r := loans
		r.ID, r.Environment, r.Started = at, at, noon.Add(time.Duration(i)*time.Hour)
		do(t, l.StartRun(r))
	}
	last, ok, err := l.LastEnvironment(ctx, "uat")
	do(t, err)
	same(t, "where it last ran", last, "https://new")
	same(t, "it ran", ok, true)
	_, ok, err = l.LastEnvironment(ctx, "live")
	do(t, err)
	same(t, "it never ran", ok, false)
}

// testLookups: steps and clients are found by what is known of them.
func (s suite) testLookups(t *testing.T) {
	l := s.fresh(t)
	ctx, environment := t.Context(), jane("", "").Environment
	of := func(client, mapping, step string) ledger.StepID {
		id := jane(mapping, step)
		id.Client = client
		return id
	}
	const uuid = "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11"
	do(t, l.Append(finished(of("ann", "", "client"), ledger.KindClient, uuid, "")...))
	do(t, l.Append(
		ledger.Event{StepID: of("åsa", "", "client"), To: ledger.Done, At: noon, Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: "c-2", Reason: ledger.ReasonKnownID},
		ledger.Event{StepID: of("bob", "", "client"), To: ledger.Sent, At: noon, Kind: ledger.KindClient},
		ledger.Event{StepID: of("eve", "", "client"), To: ledger.Sent, At: noon, Kind: ledger.KindClient},
		ledger.Event{StepID: of("eve", "", "client"), To: ledger.Uncertain, At: noon},
		ledger.Event{StepID: of("none", "", "client"), To: ledger.Refused, At: noon, Kind: ledger.KindClient},
		ledger.Event{StepID: of("ann", "loans", "claim/loan/1"), To: ledger.Sent, At: noon, Kind: ledger.KindClaim, Data: []byte(`{"partner":"p-7"}`)},
		ledger.Event{StepID: of("ann", "loans", "claim/loan/2"), To: ledger.Sent, At: noon, Kind: ledger.KindClaim, Data: []byte(`{"partner":"p-8"}`)},
		ledger.Event{StepID: of("bob", "loans", "claim/loan/1"), To: ledger.Sent, At: noon, Kind: ledger.KindClaim},
		ledger.Event{StepID: of("bob", "loans", "claim/loan/1"), To: ledger.Uncertain, At: noon},
		ledger.Event{StepID: of("bob", "loans", "claim/loan/1"), To: ledger.Refused, At: noon, Via: ledger.ViaByHand}))
	names := func(seq iter.Seq2[ledger.Step, error]) (all []string) {
		t.Helper()
		for _, step := range collect(t, seq) {
			all = append(all, step.Client+" "+step.StepID.Step)
		}
		return all
	}
	same(t, "claims with a text", names(l.ClaimsWith(ctx, environment, "p-7")), []string{"ann claim/loan/1"})
	same(t, "with an id of the sheet", names(l.OfSheet(ctx, environment)), []string{"åsa client"})
	var decided []string
	for _, u := range collect(t, l.Decided(ctx, environment)) {
		decided = append(decided, u.Client+" "+string(u.To))
	}
	same(t, "decided by hand", decided, []string{"bob refused"})

	same(t, "clients with an id", collect(t, l.ClientsWithID(ctx, environment, uuid)), []ledger.ClientKey{of("ann", "", "").ClientKey})
	same(t, "clients with nobody's id", len(collect(t, l.ClientsWithID(ctx, environment, "c-9"))), 0)
	ids, err := l.IDs(ctx, environment, ledger.KindClient, 9)
	do(t, err)
	same(t, "ids", len(ids), 2)
	ids, err = l.IDs(ctx, environment, ledger.KindClient, 1)
	do(t, err)
	same(t, "one id", len(ids), 1)
	for most, want := range map[int]int{1: 1, 9: 4} {
		n, err := l.KnownClients(ctx, environment, most)
		do(t, err)
		same(t, "known clients", n, want)
	}
}

// testErasedNamed: an erased client is found by the key, in any case for an address.
func (s suite) testErasedNamed(t *testing.T) {
	l := s.fresh(t)
	owner := jane("", "").ClientKey
	do(t, l.Append(finished(jane("", "client"), ledger.KindClient, "c-1", "")...))
	_, err := l.Forget(owner, noon)
	do(t, err)
	for key, want := range map[string]int{"jane@example.com": 1, "JANE@example.com": 1, "john@example.com": 0} {
		found, err := l.ErasedNamed(t.Context(), owner.Environment, key)
		do(t, err)
		same(t, key, len(found), want)
	}
	_, err = l.Forget(jane("", "").ClientKey, noon)
	if err == nil {
		t.Error("a client was erased twice")
	}
}

// testAnyText: ids come back byte for byte, whatever the service has made of them, and urls as
// text, and are still found to be taken; so do long ones.
func (s suite) testAnyText(t *testing.T) {
	l := s.fresh(t)
	for i, text := range []string{"a\x00b", "\x1a00", "\x1a", "caf\xe9", "é\n\t“”", strings.Repeat("long-", 4000), "?1 $1 %", "'; DROP TABLE steps; --"} {
		id := jane("loans", "claim/loan/"+string(rune('a'+i)))
		url := fmt.Sprintf("https://go/%d/%s", i, strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), ""))
		do(t, l.Append(finished(id, ledger.KindClaim, text, url)...))
		steps, err := l.Steps(t.Context(), id.ClientKey, "loans")
		do(t, err)
		same(t, "the id", steps[id.Step].ID, text)
		same(t, "the url", steps[id.Step].URL, url)
		other := jane("loans", "claim/loan/other")
		other.Client = "john@example.com"
		for _, e := range []ledger.Event{{StepID: other, Kind: ledger.KindClaim, ID: text}, {StepID: other, Kind: ledger.KindClaim, URL: url}} {
			holder, taken, err := l.StepWithID(t.Context(), e)
			do(t, err)
			same(t, "taken", taken, true)
			same(t, "the holder", holder.Holder, id)
		}
	}
	do(t, l.Check(t.Context()))
}
