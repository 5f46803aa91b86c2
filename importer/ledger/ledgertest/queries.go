package ledgertest

import (
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

// found is a ledger with clients of two environments.
func (s suite) found(t *testing.T) *ledger.Ledger {
	l := s.fresh(t)
	elsewhere := jane("", "client")
	elsewhere.Environment = "https://live.example.com"
	lead := jane("", "client")
	lead.Space = "leads"
	do(t, l.Append(
		ledger.Event{StepID: elsewhere, To: ledger.Done, At: noon, Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: "c-1"},
		ledger.Event{StepID: lead, To: ledger.Done, At: noon, Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: "c-1"},
		ledger.Event{StepID: jane("", "client"), To: ledger.Done, At: noon, Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: "c-2"},
		ledger.Event{StepID: jane("loans", "link"), To: ledger.Sent, At: noon, Kind: ledger.KindLink},
		ledger.Event{StepID: jane("cars", "link"), To: ledger.Sent, At: noon, Kind: ledger.KindLink}))
	return l
}

func (s suite) testEnvironments(t *testing.T) {
	names, err := s.found(t).Environments(t.Context())
	do(t, err)
	same(t, "environments", names, []string{"https://live.example.com", "https://uat.example.com/api"})
}

func (s suite) testClientsNamed(t *testing.T) {
	l := s.found(t)
	environment := jane("", "").Environment
	spaces := func(key string) []string {
		t.Helper()
		owners, err := l.ClientsNamed(t.Context(), environment, key)
		do(t, err)
		var spaces []string
		for _, o := range owners {
			spaces = append(spaces, o.Space)
		}
		return spaces
	}
	same(t, "the same text in two key spaces", spaces("jane@example.com"), []string{"email", "leads"})
	same(t, "only an e-mail address ignores case", spaces("JANE@example.com"), []string{"email"})
	same(t, "nobody", len(spaces("eve@example.com")), 0)
}

// testUnsettledNumbers checks that a number is never that of another step, nor
// of a later attempt.
func (s suite) testUnsettledNumbers(t *testing.T) {
	l := s.fresh(t)
	environment := jane("", "").Environment
	uncertain := func(step string, at time.Time) {
		t.Helper()
		do(t, l.Append(
			ledger.Event{StepID: jane("loans", step), To: ledger.Sent, At: at, Kind: ledger.KindClaim},
			ledger.Event{StepID: jane("loans", step), To: ledger.Uncertain, At: at}))
	}
	numbers := func() map[string]int64 {
		t.Helper()
		all := map[string]int64{}
		for _, u := range collect(t, l.Unsettled(t.Context(), environment)) {
			all[u.StepID.Step] = u.Number
		}
		return all
	}
	uncertain("claim/loan/2", noon.Add(time.Minute))
	uncertain("claim/loan/1", noon)
	list := collect(t, l.Unsettled(t.Context(), environment))
	same(t, "the longest waiting first", list[0].StepID.Step, "claim/loan/1")

	first := numbers()
	do(t, l.Append(ledger.Event{StepID: jane("loans", "claim/loan/1"), To: ledger.Refused, At: noon, Via: ledger.ViaByHand}))
	same(t, "the other keeps its number", numbers(), map[string]int64{"claim/loan/2": first["claim/loan/2"]})
	uncertain("claim/loan/1", noon)
	if again := numbers()["claim/loan/1"]; again == first["claim/loan/1"] || again == first["claim/loan/2"] {
		t.Errorf("the number %d was that of another state before", again)
	}
	for number, want := range map[int64]bool{first["claim/loan/1"]: true, first["claim/loan/2"]: true, 1: false, 9999: false} {
		was, err := l.WasUnsettled(t.Context(), number)
		do(t, err)
		same(t, "was unsettled", was, want)
	}
	same(t, "another environment", len(collect(t, l.Unsettled(t.Context(), "https://live.example.com"))), 0)
}
