package emergency_test

import (
	"strings"
	"testing"

	"claimsheet/importer/emergency"
	"claimsheet/importer/ledger"
)

// TestConflictsStay: an outcome that contradicts the ledger stays in its file, and every
// Replay returns it, until the ledger has the id.
func TestConflictsStay(t *testing.T) {
	const uncertain, failed, done, intent = ledger.Uncertain, ledger.Failed, ledger.Done, ledger.Intent
	type since struct {
		to      ledger.State
		via, id string
	}
	answered := func(e ledger.Event) ledger.Event {
		e.Answer, e.Status = []byte(`{"other":"c-1"}`), 201
		return e
	}
	for name, test := range map[string]struct {
		step  string
		kept  func(e *scene, step string) ledger.Event
		since []since
		says  string // "" for no conflict
		then  []since
	}{
		"another id was found": {"client", doneWith("c-1"), []since{{uncertain, "", ""}, {done, ledger.ViaAdopted, "c-2"}},
			"the service has created a client twice: the ledger has the id “c-2”, and this emergency file of an earlier run has the id “c-1”", nil},
		"the same id was found":      {"client", doneWith("c-1"), []since{{uncertain, "", ""}, {done, ledger.ViaAdopted, "c-1"}}, "", nil},
		"the id was corrected since": {"claim/loan/1", doneWith("c-1"), []since{{uncertain, "", ""}, {done, ledger.ViaByHand, "c-1"}, {done, ledger.ViaByHand, "c-3"}}, "", nil},
		"it was sent again": {"claim/loan/1", doneWith("c-1"), []since{{uncertain, "", ""}, {intent, ledger.ViaRepeatable, ""}, {uncertain, "", ""}},
			"the service has created a claim with the id “c-1”, as this emergency file of an earlier run says, and the step was sent again since: there may be two",
			[]since{{done, ledger.ViaByHand, "c-1"}}},
		"somebody settled it as not created": {"claim/loan/1", doneWith("c-1"), []since{{uncertain, "", ""}, {failed, ledger.ViaByHand, ""}},
			"the service has created a claim with the id “c-1”, as this emergency file of an earlier run says, and the step is \"failed\" in the ledger",
			[]since{{uncertain, ledger.ViaByHand, ""}, {done, ledger.ViaByHand, "c-1"}}},
		"an activity without an id, done twice": {"activity/a@client", doneWith(""), []since{{uncertain, "", ""}, {intent, ledger.ViaRepeatable, ""}, {done, ledger.ViaAnswer, ""}},
			"the service has created an activity twice: the ledger has no id, and this emergency file of an earlier run has no id", nil},
		"an activity without an id, settled as created": {"activity/a@client", doneWith(""), []since{{uncertain, "", ""}, {done, ledger.ViaByHand, ""}}, "", nil},
		"another link": {"link", doneWith(""), []since{{uncertain, "", ""}, {intent, ledger.ViaRepeatable, ""}, {done, ledger.ViaAnswer, ""}}, "", nil},
		"an answer, and it was sent again": {"claim/loan/1", func(e *scene, step string) ledger.Event { return answered(e.event(step, uncertain, "")) },
			[]since{{uncertain, "", ""}, {intent, ledger.ViaRepeatable, ""}, {done, ledger.ViaAnswer, "c-2"}},
			"an answer to a request for a claim is in this emergency file only, and the step was sent again since: both may have created one", nil},
		"an answer, and somebody decided about it": {"claim/loan/1", func(e *scene, step string) ledger.Event { return answered(e.event(step, uncertain, "")) },
			[]since{{uncertain, "", ""}, {done, ledger.ViaByHand, "c-2"}}, "", nil},
		"no answer, and it was sent again": {"claim/loan/1", func(e *scene, step string) ledger.Event { return e.event(step, uncertain, "") },
			[]since{{uncertain, "", ""}, {intent, ledger.ViaRepeatable, ""}, {done, ledger.ViaAnswer, "c-2"}}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := newScene(t, test.step)
			record := func(all []since) {
				for _, s := range all {
					event := e.event(test.step, s.to, s.id)
					event.Run, event.Via = "a-later-run", s.via
					e.do(e.l.Append(event))
				}
			}
			e.keep(test.kept(e, test.step))
			record(test.since)
			for range 2 {
				_, pending, err := emergency.Pending(e.l, e.places)
				e.do(err)
				n, found, err := emergency.Replay(e.l, e.places)
				e.do(err)
				if test.says == "" {
					if n > 0 || len(pending)+len(found) > 0 || !strings.HasSuffix(e.files()[0], ".taken") {
						t.Fatalf("entered %d, found %v; files %v", n, found, e.files())
					}
					return
				}
				if n > 0 || len(found) != 1 || len(pending) != 1 || e.files()[0] != e.file() {
					t.Fatalf("entered %d, found %v; files %v", n, found, e.files())
				}
				p := found[0].Problem()
				if p.Message != test.says || p.Where.File != e.file() || p.Hint == "" || strings.Contains(p.Error()+p.Hint, "jane") {
					t.Errorf("it says %v (%s)", p, p.Hint)
				}
			}
			if test.then == nil {
				return
			}
			record(test.then)
			e.replay(0)
			if !strings.HasSuffix(e.files()[0], ".taken") {
				t.Error("the file stays when the ledger has the id")
			}
		})
	}
}

func doneWith(id string) func(e *scene, step string) ledger.Event {
	return func(e *scene, step string) ledger.Event { return e.event(step, ledger.Done, id) }
}

// TestLateAnswerIsEntered: an answer that nobody could read completes a step that the next
// run found interrupted, so that it can be read with a corrected pointer.
func TestLateAnswerIsEntered(t *testing.T) {
	e := newScene(t, "claim/loan/1")
	late := e.event("claim/loan/1", ledger.Uncertain, "")
	late.Answer, late.Status = []byte(`{"other":"c-1"}`), 201
	e.keep(late)
	_, err := e.l.MarkInterrupted("later", noon)
	e.do(err)
	e.replay(1)
	known, err := e.l.Steps(t.Context(), stepID("").ClientKey, "loans")
	e.do(err)
	if s := known["claim/loan/1"]; s.To != ledger.Uncertain || string(s.Answer) != string(late.Answer) {
		t.Errorf("got %s with the answer %q", s.To, s.Answer)
	}
	e.replay(0)
}
