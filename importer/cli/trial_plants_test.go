package cli_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
)

// plant is a bug that a trial build has where TRIAL_BUG names it.
type plant struct {
	name  string
	edits []edit
	where where
}

// where is where a bug shows.
type where int

const (
	anywhere      where = iota
	badService          // only where the service answers badly, and the run lives to send again
	slowService         // only where the service is slow
	sharedAddress       // only where two clients have one e-mail address; no kill is needed
)

const (
	decideAt   = "\t\tswitch d.known.To {\n"
	resendAt   = "\tcase v.Effect == apiclient.NotSent, v.Effect == apiclient.Uncertain && repeatable:\n"
	believedAt = "d.known.Age(j.clock()) >= cmp.Or(j.Believable, believable)"
	judgedAt   = "\treturn meaning{effect: Uncertain}\n"
	ownedAt    = "j.lookups.OwnerOf(plan.Client, lookup.Asked(plan.Lookup), adopts); owned {"
	takeAt     = "\tif t, ok = j.holders.take(e); !ok {\n"
	takenAt    = "\tif now.state != Done {\n"
)

// resent has an uncertain answer of some kind taken for one that may be sent
// again.
func resent(bug, which string) []edit {
	return []edit{{"importer/retry/retry.go", resendAt, `
	case trial.Bug("` + bug + `") && v.Effect == apiclient.Uncertain && ` + which + `:
		p.attempts++
		return Decision{Again: p.attempts < Attempts, Wait: wait}
` + resendAt}}
}

// plants are the bugs that the tests which kill must find.
var plants = []plant{
	{"intent written after the request", []edit{
		{"importer/client.go", "\tr.sent++\n\treturn r.commit()\n", `
	r.sent++
	if trial.Bug("intent written after the request") || trial.Bug("nothing written before the end") {
		return nil
	}
	if trial.Bug("outcomes written at the end") {
		return r.commitIntents()
	}
	return r.commit()
`},
		{"importer/client.go", "\t\tevent, taken, err := r.judge(d, &verdict)\n", `
		if trial.Bug("intent written after the request") {
			if err := r.commit(); err != nil {
				return stepOutcome{}, err
			}
		}
		event, taken, err := r.judge(d, &verdict)
`},
	}, anywhere},
	{"nothing written before the end", nil, anywhere}, // its edit is the one above
	{"outcomes written at the end", []edit{{"importer/client.go", "// commit makes the pending events durable.\n", `
func (r *clientRun) commitIntents() error {
	var now, later []ledger.Event
	for _, event := range r.pending {
		if event.To == ledger.Done {
			later = append(later, event)
		} else {
			now = append(now, event)
		}
	}
	r.pending = now
	err := r.commit()
	r.pending = later
	return err
}

// commit makes the pending events durable.
`}}, anywhere},
	{"open intent sent again", []edit{{"importer/decide.go", decideAt, `
		if trial.Bug("open intent sent again") && strings.HasPrefix(d.known.Reason, "the run that was sending it ended") {
			decisions[i] = d
			continue
		}
` + decideAt}}, anywhere},
	{"sent again after a reset", resent("sent again after a reset", `v.Status == 0 && v.Reason != "no answer within the time allowed"`), badService},
	{"sent again after a 500", resent("sent again after a 500", "v.Status == 500"), badService},
	{"sent again after a time-out", resent("sent again after a time-out", `v.Reason == "no answer within the time allowed"`), slowService},
	{"no settle window", []edit{{"importer/existing.go", believedAt, "d.known.Age(j.clock()) >= trial.Window(cmp.Or(j.Believable, believable))"}}, slowService},
	{"settle window shorter than the slowest creation", nil, slowService}, // trial.Window
	{"a 5xx taken for a refusal", []edit{{"apiclient/verdict.go", judgedAt, `
	if trial.Bug("a 5xx taken for a refusal") {
		return meaning{effect: Refused}
	}
` + judgedAt}}, anywhere},
	{"one client taken for two", []edit{
		{"importer/existing.go", ownedAt, "j.lookups.OwnerOf(plan.Client, lookup.Asked(plan.Lookup), adopts); owned && !trial.Bug(\"one client taken for two\") {"},
		{"importer/conflict.go", takeAt, "\tif trial.Bug(\"one client taken for two\") {\n\t\treturn t, true, nil\n\t}\n" + takeAt},
		{"importer/ledger/append.go", takenAt, "\tif now.state != Done || trial.Bug(\"one client taken for two\") {\n"},
	}, sharedAddress},
}

// mostKills is within how many kills a planted bug must be found.
const mostKills = 200

// TestPlantedBugs holds the tests that kill to finding each of the planted
// bugs: a harness that misses one is blind.
func TestPlantedBugs(t *testing.T) {
	t.Parallel()
	killsOwnBuilds(t)
	binary, rng := trialProgram(t), seeded(t, 2)
	var hunts errgroup.Group // most of their time is waiting: more of them than there are cores
	hunts.SetLimit(sideBySide)
	for _, p := range plants {
		seed := rng.Uint64()
		hunt := func(t *testing.T) {
			killed, found := p.hunt(t, binary, rand.New(rand.NewPCG(seed, 0)))
			if found == "" {
				t.Fatalf("not found by %d kills", killed)
			}
			t.Logf("found by %d kills: %s", killed, found)
		}
		hunts.Go(func() error {
			t.Run(p.name, hunt)
			return nil
		})
	}
	_ = hunts.Wait() // the functions return nil
}

// hunt kills a trial build with the bug until the promise is broken, and says
// how.
func (p plant) hunt(t *testing.T, binary string, rng *rand.Rand) (killed int, found string) {
	t.Helper()
	bug := "TRIAL_BUG=" + p.name
	if p.where == sharedAddress {
		return 0, family(t, binary, bug)
	}
	for killed < mostKills {
		h := newHarness(t, binary, rng, 10)
		h.env = []string{bug}
		switch p.where {
		case badService:
			h.faults = 30
		case slowService:
			h.way, h.bad = killThenLate, badAnswers[len(badAnswers)-1:]
		}
		stray := h.killAndResume()
		killed += h.killed
		if broken := h.broken(); len(broken) > 0 {
			return killed, strings.Join(broken, "; ")
		}
		if stray != nil {
			t.Log(stray)
		}
	}
	return killed, ""
}

// family is two clients of one e-mail address, told apart by their first names.
// It says how the promise is broken, "" when it is kept.
func family(t *testing.T, binary string, env ...string) (broken string) {
	t.Helper()
	ann, bob := lead(1, "A-1"), lead(2, "A-2")
	bob[0] = ann[0]
	s := newScene(t, strings.Replace(stepThree, "key: E-mail\n", "key: First name\n", 1), [][]any{ann, bob})
	s.oracle.KeyField = "firstName"
	s.oracle.Play(nil) // which the server's goroutines see no earlier than the line before
	s.runTrial(binary, env...)
	v := s.oracle.Check(s.said())
	v.LostID = nil // the urls of links are found by e-mail address, which says nothing here
	if !v.OK() {
		return v.String()
	}
	return ""
}

// TestNoPlantedBug is the trial build without a bug: what finds the planted
// ones finds nothing in it.
func TestNoPlantedBug(t *testing.T) {
	t.Parallel()
	binary, rng := trialProgram(t), seeded(t, 3)
	h := newHarness(t, binary, rng, 10)
	if err := h.killAndResume(); err != nil {
		t.Error(err)
	}
	for _, broken := range append(h.broken(), family(t, binary)) {
		if broken != "" {
			t.Error(broken)
		}
	}
}
