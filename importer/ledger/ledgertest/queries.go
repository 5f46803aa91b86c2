package ledgertest

import (
	"testing"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
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
		ledger.Event{StepID: jane("loans", "link"), To: ledger.Intent, At: noon, Kind: ledger.KindLink},
		ledger.Event{StepID: jane("cars", "link"), To: ledger.Intent, At: noon, Kind: ledger.KindLink}))
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

func (s suite) testMappingsOf(t *testing.T) {
	l := s.found(t)
	names, err := l.MappingsOf(t.Context(), jane("", "").ClientKey)
	do(t, err)
	same(t, "mappings", names, []string{"cars", "loans"})
}

// testUnsettledNumbers checks that a number is never that of another step, nor
// of a later attempt.
func (s suite) testUnsettledNumbers(t *testing.T) {
	l := s.fresh(t)
	environment := jane("", "").Environment
	uncertain := func(step string, at time.Time) {
		t.Helper()
		do(t, l.Append(
			ledger.Event{StepID: jane("loans", step), To: ledger.Intent, At: at, Kind: ledger.KindClaim},
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
	do(t, l.Append(ledger.Event{StepID: jane("loans", "claim/loan/1"), To: ledger.Failed, At: noon, Via: ledger.ViaByHand}))
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

// testPlanOfClient: the newest run that planned for the client counts, not one
// that found his rows invalid.
func (s suite) testPlanOfClient(t *testing.T) {
	l := s.found(t)
	owner := jane("", "").ClientKey
	for i, run := range []string{"old", "new", "invalid", "cars"} {
		do(t, l.StartRun(ledger.Run{ID: run, Environment: owner.Environment, Mapping: "loans", Started: noon.Add(time.Duration(i) * time.Hour)}))
	}
	plan := func(run string, client int, steps ...ledger.RunStep) {
		for i := range steps {
			steps[i].Title = run
		}
		do(t, l.AddRunSteps(run, client, steps...))
		do(t, l.AddRows(run, steps[0].ClientKey, result.Row{Row: client + 1, Client: client}, result.Row{Row: client + 101, Client: client}))
	}
	other := jane("loans", "link")
	other.Client = "eve@example.com"
	client := ledger.RunStep{StepID: jane("", "client"), Kind: ledger.KindClient}
	claim := func(step string) ledger.RunStep {
		return ledger.RunStep{StepID: jane("loans", step), Kind: ledger.KindClaim}
	}
	link := ledger.RunStep{StepID: jane("loans", "link"), Kind: ledger.KindLink}
	plan("old", 1, claim("claim/loan/1"), link)
	plan("new", 2, client, claim("claim/loan/2"), link)
	plan("new", 1, ledger.RunStep{StepID: other, Kind: ledger.KindLink})
	plan("invalid", 1, client)
	plan("cars", 1, ledger.RunStep{StepID: jane("cars", "link"), Kind: ledger.KindLink})
	do(t, l.Flush())
	planned := func(id ledger.StepID) []string {
		t.Helper()
		steps, err := l.PlanOfClient(t.Context(), id.ClientKey, id.Mapping)
		do(t, err)
		var all []string
		for _, s := range steps {
			all = append(all, s.Title+" "+s.Step+" "+s.State)
		}
		return all
	}
	same(t, "the newest plan", planned(jane("loans", "")), []string{"new client done", "new claim/loan/2 planned", "new link intent"})
	same(t, "another mapping's", planned(jane("cars", "")), []string{"cars link intent"})
	same(t, "none", len(planned(jane("boats", ""))), 0)
}
