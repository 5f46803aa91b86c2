package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/importer/testform"
	"claimsheet/mapping/problem"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

const stoppedRun = "6f0c4f5e-0000-4000-8000-000000000001"

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// scene is a ledger whose run has sent some steps, and its journal.
type scene struct {
	*testing.T
	l    *ledger.Ledger
	path string
	said []string // the kinds and ids that were reported
}

// newScene returns a scene with an intent for each step.
func newScene(t *testing.T, steps ...string) *scene {
	t.Helper()
	s := &scene{T: t}
	var err error
	s.l, err = ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	s.do(err)
	t.Cleanup(func() { _ = s.l.Close() })
	s.path = journal.Path(s.l.Path())
	s.do(s.l.StartRun(ledger.Run{ID: stoppedRun, Started: noon}))
	for _, step := range steps {
		s.do(s.l.Append(s.event(step, ledger.Sent, "")))
	}
	return s
}

func (s *scene) do(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func stepID(step string) ledger.StepID {
	id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: "https://uat.example.com/api", Space: "email", Client: "jane@example.com"},
		Mapping: "loans", Step: step}
	if step == "client" {
		id.Mapping = ""
	}
	return id
}

// event returns an event of a step, whose name begins with its kind.
func (s *scene) event(step string, to ledger.State, id string) ledger.Event {
	kind, _, _ := strings.Cut(step, "/")
	event := ledger.Event{StepID: stepID(step), State: to, At: noon, Run: stoppedRun, Kind: kind, ID: id}
	if to == ledger.Done {
		event.Via, event.Status, event.Answer = ledger.ViaAnswer, 201, []byte(`{"id":"`+id+`"}`)
	}
	return event
}

// keep writes outcomes to a journal, as a run does whose ledger has stopped.
func (s *scene) keep(outcomes ...ledger.Event) {
	s.Helper()
	kept, err := journal.Open(s.path, s.say)
	s.do(err)
	for _, o := range outcomes {
		s.do(kept.Keep(o))
	}
	s.do(kept.Close())
}

func (s *scene) say(kind, id string) { s.said = append(s.said, kind+" "+id) }

// replay expects that so many outcomes are recorded, and none is in conflict.
func (s *scene) replay(want int) {
	s.Helper()
	n, conflicts, err := journal.Replay(s.l, s.path)
	s.do(err)
	if n != want || len(conflicts) > 0 {
		s.Errorf("%d outcomes recorded, conflicts %v; want %d and none", n, conflicts, want)
	}
}

// states expects the states of steps as “done c-1”.
func (s *scene) states(want map[string]string) {
	s.Helper()
	steps, err := s.l.Steps(s.Context(), stepID("").ClientKey, "loans")
	s.do(err)
	got := map[string]string{}
	for key, step := range steps {
		got[key] = strings.TrimSpace(fmt.Sprint(step.State, " ", step.ID))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("states (-want +got):\n%s", diff)
	}
}

// isThere reports whether there is a journal.
func (s *scene) isThere() bool {
	_, err := os.Lstat(s.path)
	return err == nil
}

// TestReplay records what was kept, whether or not a look-up has settled a step meanwhile. The
// journal is removed, and a second one with the same changes nothing.
func TestReplay(t *testing.T) {
	for name, found := range map[string]bool{"at once": false, "after a look-up did not find the client": true} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "client", "claim/loan/1", "activity/details@client", "activity/lender@loan/1", "link")
			link := s.event("link", ledger.Done, "")
			link.URL, link.Answer = "https://claims.example.com/go/secret", []byte(`{"redirectUrl":"https://claims.example.com/go/secret"}`)
			refused := s.event("activity/details@client", ledger.Refused, "")
			refused.Status, refused.Reason = 400, "refused"
			outcomes := []ledger.Event{s.event("client", ledger.Done, "c-1"), s.event("claim/loan/1", ledger.Refused, ""), refused,
				s.event("activity/lender@loan/1", ledger.Uncertain, ""), link}
			s.keep(outcomes...)
			if found {
				s.do(s.l.Append(ledger.Event{StepID: stepID("client"), State: ledger.Uncertain, At: noon.Add(time.Hour), Run: "later", NotFound: true}))
			}
			for range 2 {
				if n, err := journal.Pending(s.path); n != len(outcomes) || err != nil {
					t.Errorf("%d outcomes are pending, %v", n, err)
				}
			}
			for _, want := range []int{len(outcomes), 0} {
				s.replay(want)
				s.states(map[string]string{"client": "done c-1", "claim/loan/1": "refused", "activity/details@client": "refused",
					"activity/lender@loan/1": "uncertain", "link": "done"})
				if s.isThere() {
					t.Error("the journal is left")
				}
				s.keep(outcomes...)
			}
			known, err := s.l.Steps(t.Context(), stepID("").ClientKey, "loans")
			s.do(err)
			if link := known["link"]; link.URL != "https://claims.example.com/go/secret" || link.Run != stoppedRun || !link.At.Equal(noon) {
				t.Errorf("got url %q of run %s at %s, want what was kept", link.URL, link.Run, link.At)
			}
			if len(s.said) > 0 {
				t.Errorf("said %q of what was kept", s.said)
			}
		})
	}
}

// TestOutcomeAfterADecision: where the step was decided or sent again since, what the service
// has created besides makes it uncertain, with both ids in the reason.
func TestOutcomeAfterADecision(t *testing.T) {
	const uncertain, failed, done, intent, closed = ledger.Uncertain, ledger.Refused, ledger.Done, ledger.Sent, ledger.Closed
	type since struct {
		to      ledger.State
		via, id string
	}
	answer := func(s *scene, step string) ledger.Event {
		e := s.event(step, uncertain, "")
		e.Answer, e.Status = []byte(`{"other":"c-1"}`), 201
		return e
	}
	doneWith := func(id string) func(s *scene, step string) ledger.Event {
		return func(s *scene, step string) ledger.Event { return s.event(step, done, id) }
	}
	for name, test := range map[string]struct {
		step  string
		kept  func(s *scene, step string) ledger.Event
		since []since
		want  string // the step's state
		says  string // the end of its reason; "" where there is no conflict, "recorded" where it counts
	}{
		"another id was found":       {"client", doneWith("c-1"), []since{{done, ledger.ViaAdopted, "c-2"}}, "uncertain c-2", "the journal has the id c-1, the ledger has the id c-2"},
		"the same id was found":      {"client", doneWith("c-1"), []since{{done, ledger.ViaAdopted, "c-1"}}, "done c-1", ""},
		"the id was corrected since": {"claim/loan/1", doneWith("c-1"), []since{{done, ledger.ViaByHand, "c-1"}, {done, ledger.ViaByHand, "c-3"}}, "done c-3", ""},
		"settled, and undone":        {"claim/loan/1", doneWith("c-1"), []since{{failed, ledger.ViaByHand, ""}, {uncertain, ledger.ViaByHand, ""}}, "done c-1", "recorded"},
		"an answer":                  {"claim/loan/1", answer, nil, "uncertain", "recorded"},
		"settled as not created":     {"claim/loan/1", doneWith("c-1"), []since{{failed, ledger.ViaByHand, ""}}, "uncertain", "the journal has the id c-1, the ledger has no id"},
		"given up":                   {"claim/loan/1", doneWith("c-1"), []since{{closed, ledger.ViaByHand, ""}}, "uncertain", "the journal has the id c-1, the ledger has no id"},
		"sent again, and uncertain":  {"claim/loan/1", doneWith("c-1"), []since{{intent, ledger.ViaRepeatable, ""}, {uncertain, "", ""}}, "uncertain", "the journal has the id c-1, the ledger has no id"},
		"sent again, and in between": {"claim/loan/1", doneWith("c-1"), []since{{failed, ledger.ViaByHand, ""}, {intent, "", ""}}, "uncertain", "the journal has the id c-1, the ledger has no id"},
		"an activity without an id, done twice": {"activity/a@client", doneWith(""), []since{{intent, ledger.ViaRepeatable, ""}, {done, ledger.ViaAnswer, ""}},
			"uncertain", "the journal has no id, the ledger has no id"},
		"an activity without an id, settled as created": {"activity/a@client", doneWith(""), []since{{done, ledger.ViaByHand, ""}}, "done", ""},
		"another link":                     {"link", doneWith(""), []since{{intent, ledger.ViaRepeatable, ""}, {done, ledger.ViaAnswer, ""}}, "done", ""},
		"an answer, and it was sent again": {"claim/loan/1", answer, []since{{intent, ledger.ViaRepeatable, ""}, {done, ledger.ViaAnswer, "c-2"}}, "uncertain c-2", "the journal has no id, the ledger has the id c-2"},
		"an answer, and it was decided":    {"claim/loan/1", answer, []since{{done, ledger.ViaByHand, "c-2"}}, "done c-2", ""},
		"no answer, and it was sent again": {"claim/loan/1", func(s *scene, step string) ledger.Event { return s.event(step, uncertain, "") },
			[]since{{intent, ledger.ViaRepeatable, ""}, {done, ledger.ViaAnswer, "c-2"}}, "done c-2", ""},
		"refused, and it was sent again": {"claim/loan/1", func(s *scene, step string) ledger.Event {
			e := s.event(step, failed, "")
			e.Answer, e.Status = []byte(`{"message":"no"}`), 422
			return e
		}, []since{{intent, ledger.ViaRepeatable, ""}, {done, ledger.ViaAnswer, "c-2"}}, "done c-2", ""},
		"not created, and it was sent again": {"claim/loan/1", func(s *scene, step string) ledger.Event { return s.event(step, failed, "") },
			[]since{{intent, ledger.ViaRepeatable, ""}, {done, ledger.ViaAnswer, "c-2"}}, "done c-2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, test.step)
			s.keep(test.kept(s, test.step))
			for _, since := range test.since {
				event := s.event(test.step, since.to, since.id)
				event.Run, event.Via = "a-later-run", since.via
				s.do(s.l.Append(event))
			}
			recorded := test.says == "recorded"
			if recorded {
				test.says = ""
			}
			for again := range 2 {
				n, conflicts, err := journal.Replay(s.l, s.path)
				s.do(err)
				s.states(map[string]string{test.step: test.want})
				steps, err := s.l.Steps(t.Context(), stepID("").ClientKey, "loans")
				s.do(err)
				reason := steps[test.step].Reason
				if recorded && !bytes.Equal(steps[test.step].Answer, test.kept(s, test.step).Answer) {
					t.Errorf("the answer is %q", steps[test.step].Answer)
				}
				if (n > 0) != (recorded && again == 0) || s.isThere() || (len(conflicts) > 0) != (test.says != "" && again == 0) || !strings.HasSuffix(reason, test.says) {
					t.Errorf("recorded %d, conflicts %v, a file %v, reason %q", n, conflicts, s.isThere(), reason)
				}
				for _, p := range conflicts {
					if p.Code != "journal-conflict" || p.Hint == "" || strings.Contains(p.Error()+p.Hint, "jane") {
						t.Errorf("it says %v (%s)", p, p.Hint)
					}
				}
			}
		})
	}
}

// What may exist twice stays uncertain, also when the outcome of the later request comes from a journal, too.
func TestOutcomesOfTwoRequests(t *testing.T) {
	s := newScene(t, "claim/loan/1")
	s.do(s.l.StartRun(ledger.Run{ID: "a-later-run", Started: noon}))
	later := func(to ledger.State, via, id string) ledger.Event {
		e := s.event("claim/loan/1", to, id)
		e.Run, e.Via = "a-later-run", via
		return e
	}
	s.do(s.l.Append(later(ledger.Refused, ledger.ViaByHand, ""), later(ledger.Sent, "", "")))
	for _, outcome := range []ledger.Event{s.event("claim/loan/1", ledger.Done, "c-1"), later(ledger.Done, ledger.ViaAnswer, "c-2")} {
		s.keep(outcome)
		_, conflicts, err := journal.Replay(s.l, s.path)
		if s.do(err); len(conflicts) != 1 {
			t.Errorf("%d conflicts, not 1", len(conflicts))
		}
		s.states(map[string]string{"claim/loan/1": "uncertain"})
	}
}

// TestNothingToRecord: a step that the ledger does not have, an intent, and the journal of a run
// that was killed with nothing in it leave no file.
func TestNothingToRecord(t *testing.T) {
	s := newScene(t, "client")
	s.keep(s.event("claim/loan/1", ledger.Done, "l-1"))
	s.replay(0)
	s.keep(s.event("client", ledger.Sent, ""))
	if s.isThere() {
		t.Error("the journal is left")
	}
	s.do(os.WriteFile(s.path, bytes.Repeat([]byte(" "), 1000), 0o600))
	s.replay(0)
	s.states(map[string]string{"client": "uncertain"})
	if s.isThere() {
		t.Error("the journal is left")
	}
	var none *journal.File
	s.do(errors.Join(none.Keep(ledger.Event{State: ledger.Done}), none.Close()))
}

// TestKeep: the file is for its owner alone. Where it cannot be written, the error
// names neither a person nor a folder, and what was created is reported.
func TestKeep(t *testing.T) {
	for name, test := range map[string]struct {
		before, after   func(s *scene) error
		refused, failed bool
	}{
		"usual":                 {},
		"no folder":             {before: func(s *scene) error { return os.Remove(filepath.Dir(s.path)) }, refused: true},
		"removed meanwhile":     {after: func(s *scene) error { return os.RemoveAll(filepath.Dir(s.path)) }, failed: true},
		"another file is there": {before: func(s *scene) error { return os.WriteFile(s.path, nil, 0o600) }, refused: true},
		"a link is there":       {before: func(s *scene) error { return os.Symlink(s.l.Path(), s.path) }, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "client")
			s.path = filepath.Join(t.TempDir(), "state", "jane.journal")
			s.do(os.Mkdir(filepath.Dir(s.path), 0o700))
			if test.before != nil {
				s.do(test.before(s))
			}
			kept, err := journal.Open(s.path, s.say)
			if (err != nil) != test.refused {
				t.Errorf("opened: %v", err)
			}
			if test.refused {
				return
			}
			if test.after != nil {
				s.do(test.after(s))
			}
			err = kept.Keep(s.event("client", ledger.Done, "c-1"))
			var want []string
			if test.failed {
				want = []string{"client c-1"}
			}
			if diff := cmp.Diff(want, s.said); diff != "" || (err != nil) != test.failed {
				t.Errorf("%v; said (-want +got):\n%s", err, diff)
			}
			if test.failed {
				if strings.Contains(err.Error(), "jane") || strings.Contains(err.Error(), filepath.Dir(s.path)) {
					t.Errorf("%v names a file", err)
				}
				_, there := os.Lstat(s.path)
				if err := kept.Keep(s.event("client", ledger.Done, "c-2")); err == nil {
					t.Error("another line was kept")
				}
				if _, err := os.Lstat(s.path); kept.Close() != nil || (err == nil) != (there == nil) {
					t.Errorf("after closing: %v, before: %v", err, there)
				}
				return
			}
			s.do(kept.Close())
			info, err := os.Stat(s.path)
			s.do(err)
			if info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
				t.Errorf("mode %v, want 0600", info.Mode().Perm())
			}
			s.replay(1)
			s.states(map[string]string{"client": "done c-1"})
		})
	}
}

// TestTornLine: a last line that is cut anywhere, with or without room behind it, is ignored;
// the lines before it count.
func TestTornLine(t *testing.T) {
	s := newScene(t, "client", "link")
	s.keep(s.event("client", ledger.Done, "c-1"), s.event("link", ledger.Done, ""))
	text, err := os.ReadFile(s.path)
	s.do(err)
	text = bytes.TrimRight(text, " ")
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	for cut := last; cut < len(text); cut++ {
		for _, room := range []string{"", "          "} {
			s.do(os.WriteFile(s.path, append(bytes.Clone(text[:cut]), room...), 0o600))
			if n, err := journal.Pending(s.path); n != 1 || err != nil {
				t.Fatalf("cut at %d: %d outcomes are pending, %v; want 1", cut, n, err)
			}
		}
	}
	s.replay(1)
	s.states(map[string]string{"client": "done c-1", "link": "uncertain"})
}

func TestReplayRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(s *scene) error
		code  string
	}{
		"a line in the middle is gone in part": {func(s *scene) error {
			text, err := os.ReadFile(s.path)
			return errors.Join(err, os.WriteFile(s.path, bytes.Replace(text, []byte("}\n{"), []byte("\n{"), 1), 0o600))
		}, "journal-damaged"},
		"a field that is not known": {func(s *scene) error {
			text, err := os.ReadFile(s.path)
			return errors.Join(err, os.WriteFile(s.path, bytes.Replace(text, []byte(`"Kind"`), []byte(`"Kinds"`), 1), 0o600))
		}, "journal-damaged"},
		"anybody may write to it": {func(s *scene) error { return os.Chmod(s.path, 0o666) }, "others-can-write"},
		"the ledger is an older one": {func(s *scene) error {
			path := s.l.Path()
			if err := errors.Join(s.l.Close(), os.Remove(path)); err != nil {
				return err
			}
			var err error
			s.l, err = ledger.Open(path)
			return err
		}, "journal-run"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "client", "link")
			s.keep(s.event("client", ledger.Done, "c-1"), s.event("link", ledger.Done, ""))
			s.do(test.spoil(s))
			n, _, err := journal.Replay(s.l, s.path)
			p, ok := errors.AsType[problem.Problem](err)
			if !ok || p.Code != test.code || p.Hint == "" || n > 0 {
				t.Errorf("got %d, %v; want a problem %q with a hint", n, err, test.code)
			}
			if err != nil && strings.Contains(err.Error()+p.Hint, "jane") {
				t.Errorf("%v names a person", err)
			}
			if _, err := os.Lstat(s.path); err != nil {
				t.Errorf("the file is gone: %v", err)
			}
		})
	}
}
