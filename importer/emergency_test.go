package importer_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

const stoppedRun = "6f0c4f5e-0000-4000-8000-000000000001"

var emergencyNoon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// emergency is a ledger whose run has sent some steps, and the places beside it.
type emergency struct {
	*testing.T
	l      *ledger.Ledger
	places []string
	said   []importer.Salvaged
}

// newEmergency has an intent for each of the steps.
func newEmergency(t *testing.T, steps ...string) *emergency {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	e := &emergency{T: t}
	var err error
	e.l, err = ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	e.do(err)
	t.Cleanup(func() { _ = e.l.Close() })
	e.places, err = importer.EmergencyPlaces(e.l.Path(), filepath.Join(t.TempDir(), "leads.results.xlsx"))
	e.do(err)
	e.do(e.l.StartRun(ledger.Run{ID: stoppedRun, Started: emergencyNoon}))
	for _, step := range steps {
		e.do(e.l.Append(e.event(step, ledger.Intent, "")))
	}
	return e
}

func (e *emergency) do(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func emergencyID(step string) ledger.StepID {
	id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: "https://uat.example.com/api", Space: "email", Client: "jane@example.com"},
		Mapping: "loans", Step: step}
	if step == "client" {
		id.Mapping = ""
	}
	return id
}

// event is one of a step; the step's name begins with its kind.
func (e *emergency) event(step string, to ledger.State, id string) ledger.Event {
	kind, _, _ := strings.Cut(step, "/")
	event := ledger.Event{StepID: emergencyID(step), To: to, At: emergencyNoon, Run: stoppedRun, Kind: kind, ID: id}
	if to == ledger.Done {
		event.Via, event.Status, event.Answer = ledger.ViaAnswer, 201, []byte(`{"id":"`+id+`"}`)
	}
	return event
}

// keep writes outcomes to an emergency file, as a run that has stopped does.
func (e *emergency) keep(outcomes ...ledger.Event) {
	e.Helper()
	kept := importer.OpenEmergency(stoppedRun, e.l.Path(), e.places, func(s importer.Salvaged) { e.said = append(e.said, s) })
	for _, o := range outcomes {
		e.do(kept.Keep(o))
	}
	e.do(kept.Close())
}

// takeUp expects that so many outcomes are taken up.
func (e *emergency) takeUp(want int) {
	e.Helper()
	n, err := importer.TakeUp(e.l, e.places)
	e.do(err)
	if n != want {
		e.Errorf("%d outcomes taken up, want %d", n, want)
	}
}

// states expects the states of steps as “done c-1”.
func (e *emergency) states(want map[string]string) {
	e.Helper()
	steps, err := e.l.Steps(e.Context(), emergencyID("").ClientKey, "loans")
	e.do(err)
	got := map[string]string{}
	for key, s := range steps {
		got[key] = strings.TrimSpace(fmt.Sprint(s.To, " ", s.ID))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("states (-want +got):\n%s", diff)
	}
}

// files are the names of the emergency files in all places.
func (e *emergency) files() (names []string) {
	for _, place := range e.places {
		found, err := filepath.Glob(filepath.Join(place, "emergency-*"))
		e.do(err)
		names = append(names, found...)
	}
	return names
}

// file is the emergency file in the ledger's folder.
func (e *emergency) file() string {
	return filepath.Join(e.places[0], "emergency-"+stoppedRun+".jsonl")
}

func TestEmergencyIsTakenUp(t *testing.T) {
	steps := []string{"client", "claim/loan/1", "activity/details@client", "activity/lender@loan/1", "link"}
	outcomes := func(e *emergency) []ledger.Event {
		link := e.event("link", ledger.Done, "")
		link.URL, link.Answer = "https://claims.example.com/go/secret", []byte(`{"redirectUrl":"https://claims.example.com/go/secret"}`)
		refused := e.event("activity/details@client", ledger.Failed, "")
		refused.Status, refused.Reason = 400, "refused"
		return []ledger.Event{e.event("client", ledger.Done, "c-1"), e.event("claim/loan/1", ledger.NotSent, ""), refused,
			e.event("activity/lender@loan/1", ledger.Uncertain, ""), link}
	}
	want := map[string]string{"client": "done c-1", "claim/loan/1": "not sent", "activity/details@client": "failed",
		"activity/lender@loan/1": "uncertain", "link": "done"}
	for name, test := range map[string]struct {
		before func(e *emergency) error
		taken  int
	}{
		"before anything else": {func(*emergency) error { return nil }, 5},
		"after the steps were found interrupted": {func(e *emergency) error {
			_, err := e.l.MarkInterrupted("later", emergencyNoon.Add(time.Hour))
			return err
		}, 4}, // it is uncertain already
	} {
		t.Run(name, func(t *testing.T) {
			e := newEmergency(t, steps...)
			e.keep(outcomes(e)...)
			e.do(test.before(e))
			e.takeUp(test.taken)
			e.states(want)
			known, err := e.l.Steps(t.Context(), emergencyID("").ClientKey, "loans")
			e.do(err)
			if s := known["link"]; s.URL != "https://claims.example.com/go/secret" || s.Run != stoppedRun || !s.At.Equal(emergencyNoon) {
				t.Errorf("got url %q of run %s at %s, want what was recorded", s.URL, s.Run, s.At)
			}
			if diff := cmp.Diff([]string{e.file() + ".taken"}, e.files()); diff != "" {
				t.Errorf("files afterwards (-want +got):\n%s", diff)
			}
			e.takeUp(0)
			if diff := cmp.Diff([]importer.Salvaged{{Kind: "client", ID: "c-1", File: e.file()}, {Kind: "link", File: e.file()}}, e.said); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEmergencyTakenUpTwice: a run that was killed before it renamed the file
// changes nothing the second time.
func TestEmergencyTakenUpTwice(t *testing.T) {
	e := newEmergency(t, "client", "link")
	e.keep(e.event("client", ledger.Done, "c-1"), e.event("link", ledger.Uncertain, ""))
	e.takeUp(2)
	e.do(os.Rename(e.file()+".taken", e.file()))
	e.takeUp(0)
	e.states(map[string]string{"client": "done c-1", "link": "uncertain"})
}

// TestEmergencyOlderThanTheLedger: what has been settled or sent again since is
// left as it is.
func TestEmergencyOlderThanTheLedger(t *testing.T) {
	later := func(e *emergency, to ledger.State, via string) ledger.Event {
		event := e.event("claim/loan/1", to, "")
		event.Run, event.Via = "a-later-run", via
		return event
	}
	for name, test := range map[string]struct {
		since []ledger.State
		want  string
	}{
		"settled as not created":     {[]ledger.State{ledger.Uncertain, ledger.Failed}, "failed"},
		"given up":                   {[]ledger.State{ledger.Uncertain, ledger.GivenUp}, "given up"},
		"sent again, and uncertain":  {[]ledger.State{ledger.Uncertain, ledger.Failed, ledger.Intent, ledger.Uncertain}, "uncertain"},
		"sent again, and in between": {[]ledger.State{ledger.Uncertain, ledger.Failed, ledger.Intent}, "intent"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEmergency(t, "claim/loan/1")
			e.keep(e.event("claim/loan/1", ledger.Done, "claim-1"))
			for _, to := range test.since {
				via := ""
				if to == ledger.Failed || to == ledger.GivenUp {
					via = ledger.ViaOperator
				}
				e.do(e.l.Append(later(e, to, via)))
			}
			e.takeUp(0)
			e.states(map[string]string{"claim/loan/1": test.want})
		})
	}
}

func TestEmergencyOfAStepThatTheLedgerDoesNotKnow(t *testing.T) {
	e := newEmergency(t)
	e.keep(e.event("client", ledger.Done, "c-1"))
	e.takeUp(0)
	e.states(map[string]string{})
}

func TestEmergencyKeepsNoIntents(t *testing.T) {
	e := newEmergency(t, "client")
	e.keep(e.event("client", ledger.Intent, ""))
	if files := e.files(); len(files) > 0 {
		t.Errorf("files %v are left, want none", files)
	}
}

// TestEmergencyOfAKilledRun: the room that it had put aside is given back.
func TestEmergencyOfAKilledRun(t *testing.T) {
	e := newEmergency(t, "client")
	_ = importer.OpenEmergency(stoppedRun, e.l.Path(), e.places, nil)
	if len(e.files()) != 1 {
		t.Fatalf("files %v, want one with room put aside", e.files())
	}
	e.takeUp(0)
	if files := e.files(); len(files) > 0 {
		t.Errorf("files %v are left, want none", files)
	}
}

func TestEmergencyPlacesInTurn(t *testing.T) {
	block := func(place string) error { // a folder that takes no file
		if err := os.RemoveAll(place); err != nil {
			return err
		}
		return os.WriteFile(place, nil, 0o600)
	}
	for blocked := range 3 {
		t.Run(fmt.Sprint(blocked, " blocked"), func(t *testing.T) {
			e := newEmergency(t, "client")
			state := e.places[0]
			e.places[0] = filepath.Join(state, "sub")
			e.do(os.Mkdir(e.places[0], 0o700))
			for _, place := range e.places[:blocked] {
				e.do(block(place))
			}
			e.keep(e.event("client", ledger.Done, "c-1"))
			files := e.files()
			if len(files) != 1 || filepath.Dir(files[0]) != e.places[blocked] || e.said[0].File != files[0] {
				t.Fatalf("files %v, said %v; want one in place %d", files, e.said, blocked)
			}
			info, err := os.Stat(files[0])
			e.do(err)
			if info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
				t.Errorf("mode %v, want 0600", info.Mode().Perm())
			}
			places := e.places
			e.places = places[blocked:]
			e.takeUp(1)
			e.states(map[string]string{"client": "done c-1"})
		})
	}
	t.Run("no place", func(t *testing.T) {
		e := newEmergency(t, "client")
		e.places = []string{filepath.Join(e.places[0], "nowhere"), filepath.Join(e.places[1], "nowhere")}
		kept := importer.OpenEmergency(stoppedRun, e.l.Path(), e.places, func(s importer.Salvaged) { e.said = append(e.said, s) })
		err := kept.Keep(e.event("client", ledger.Done, "c-1"))
		if err == nil || strings.Contains(err.Error(), "jane") || strings.Contains(err.Error(), e.places[0]) {
			t.Errorf("got %v, want an error without names", err)
		}
		if diff := cmp.Diff([]importer.Salvaged{{Kind: "client", ID: "c-1"}}, e.said); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
	})
}

// TestEmergencyInAFolderOfOthers: among the temporary files everybody can lay
// something where ours would go.
func TestEmergencyInAFolderOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes on Windows")
	}
	for name, plant := range map[string]func(place, elsewhere string) error{
		"a link":              func(place, elsewhere string) error { return os.Symlink(elsewhere, place) },
		"open to the group":   func(place, _ string) error { return errors.Join(os.Mkdir(place, 0o700), os.Chmod(place, 0o770)) },
		"readable by anybody": func(place, _ string) error { return os.Mkdir(place, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEmergency(t, "client")
			elsewhere := t.TempDir()
			e.places = e.places[2:]
			e.do(plant(e.places[0], elsewhere))
			kept := importer.OpenEmergency(stoppedRun, e.l.Path(), e.places, func(importer.Salvaged) {})
			if err := kept.Keep(e.event("client", ledger.Done, "c-1")); err == nil {
				t.Error("the folder was written to")
			}
			planted, err := os.ReadDir(elsewhere)
			e.do(err)
			if len(planted) > 0 || len(e.files()) > 0 {
				t.Errorf("files %v %v were made", planted, e.files())
			}
			e.takeUp(0)
		})
	}
}

// TestEmergencyTorn cuts the last line anywhere, with and without room behind
// it: the lines before it count.
func TestEmergencyTorn(t *testing.T) {
	e := newEmergency(t, "client", "link")
	e.keep(e.event("client", ledger.Done, "c-1"), e.event("link", ledger.Done, ""))
	text, err := os.ReadFile(e.file())
	e.do(err)
	text = bytes.TrimRight(text, " ")
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	taken := 1 // the first time; afterwards it is settled
	for cut := last; cut < len(text); cut++ {
		for _, room := range []string{"", "          "} {
			e.do(os.WriteFile(e.file(), append(bytes.Clone(text[:cut]), room...), 0o600))
			e.takeUp(taken)
			taken = 0
		}
	}
	e.states(map[string]string{"client": "done c-1", "link": "intent"})
}

func TestEmergencyOfAnotherLedger(t *testing.T) {
	e, other := newEmergency(t, "client"), newEmergency(t, "client")
	other.keep(other.event("client", ledger.Done, "c-1"))
	file := filepath.Join(e.places[1], "emergency-6f0c4f5e-0000-4000-8000-000000000002.jsonl")
	e.do(os.Rename(other.file(), file))
	e.takeUp(0)
	if diff := cmp.Diff([]string{file}, e.files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	e.states(map[string]string{"client": "intent"})
}

func TestTakeUpRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(e *emergency) error
		code  string
	}{
		"a line in the middle is not as written": {func(e *emergency) error {
			text, err := os.ReadFile(e.file())
			return errors.Join(err, os.WriteFile(e.file(), bytes.Replace(text, []byte("c-1"), []byte("c-2"), 1), 0o600))
		}, "emergency-damaged"},
		"a line in the middle is gone in part": {func(e *emergency) error {
			text, err := os.ReadFile(e.file())
			return errors.Join(err, os.WriteFile(e.file(), bytes.Replace(text, []byte("}\n{"), []byte("\n{"), 1), 0o600))
		}, "emergency-damaged"},
		"a version that is not known": {func(e *emergency) error {
			body := `{"version":9}`
			sum := crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli))
			return os.WriteFile(e.file(), fmt.Appendf(nil, `{"sum":"%08x","body":%s}`+"\n", sum, body), 0o600)
		}, "emergency-damaged"},
		"a link": {func(e *emergency) error {
			return errors.Join(os.Rename(e.file(), e.file()+".away"), os.Symlink(e.file()+".away", e.file()))
		}, "emergency-file"},
		"a folder":                {func(e *emergency) error { return errors.Join(os.Remove(e.file()), os.Mkdir(e.file(), 0o700)) }, "emergency-file"},
		"anybody may write to it": {func(e *emergency) error { return os.Chmod(e.file(), 0o666) }, "emergency-file"},
		"the ledger is an older one": {func(e *emergency) error {
			path := e.l.Path()
			if err := errors.Join(e.l.Close(), os.Remove(path)); err != nil {
				return err
			}
			var err error
			e.l, err = ledger.Open(path)
			return err
		}, "emergency-run"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEmergency(t, "client", "link")
			e.keep(e.event("client", ledger.Done, "c-1"), e.event("link", ledger.Done, ""))
			e.do(test.spoil(e))
			n, err := importer.TakeUp(e.l, e.places)
			p, ok := errors.AsType[problem.Problem](err)
			if !ok || p.Code != test.code || p.Hint == "" || n > 0 {
				t.Errorf("got %d, %v; want a problem %q with a hint", n, err, test.code)
			}
			if err != nil && strings.Contains(err.Error()+p.Hint, "jane") {
				t.Errorf("%v names a person", err)
			}
			if _, err := os.Lstat(e.file()); err != nil {
				t.Errorf("the file is gone: %v", err)
			}
		})
	}
}
