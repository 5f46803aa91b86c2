package emergency_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/emergency"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

const stoppedRun = "6f0c4f5e-0000-4000-8000-000000000001"

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// scene is a ledger whose run has sent some steps, and the places beside it.
type scene struct {
	*testing.T
	l      *ledger.Ledger
	places []string
	said   []emergency.Created
}

// newScene returns a scene with an intent for each step.
func newScene(t *testing.T, steps ...string) *scene {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	e := &scene{T: t}
	var err error
	e.l, err = ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	e.do(err)
	t.Cleanup(func() { _ = e.l.Close() })
	e.places, err = emergency.Places(e.l.Path(), filepath.Join(t.TempDir(), "leads.results.xlsx"))
	e.do(err)
	e.do(e.l.StartRun(ledger.Run{ID: stoppedRun, Started: noon}))
	for _, step := range steps {
		e.do(e.l.Append(e.event(step, ledger.Intent, "")))
	}
	return e
}

func (e *scene) do(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
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
func (e *scene) event(step string, to ledger.State, id string) ledger.Event {
	kind, _, _ := strings.Cut(step, "/")
	event := ledger.Event{StepID: stepID(step), To: to, At: noon, Run: stoppedRun, Kind: kind, ID: id}
	if to == ledger.Done {
		event.Via, event.Status, event.Answer = ledger.ViaAnswer, 201, []byte(`{"id":"`+id+`"}`)
	}
	return event
}

// keep writes outcomes to an emergency file, as a run does whose ledger has stopped.
func (e *scene) keep(outcomes ...ledger.Event) {
	e.Helper()
	kept := emergency.Open(stoppedRun, e.l.Path(), e.places, func(s emergency.Created) { e.said = append(e.said, s) })
	for _, o := range outcomes {
		e.do(kept.Keep(o))
	}
	e.do(kept.Close())
}

// replay expects that so many outcomes are entered.
func (e *scene) replay(want int) {
	e.Helper()
	n, _, err := emergency.Replay(e.l, e.places)
	e.do(err)
	if n != want {
		e.Errorf("%d outcomes entered, want %d", n, want)
	}
}

// states expects the states of steps as “done c-1”.
func (e *scene) states(want map[string]string) {
	e.Helper()
	steps, err := e.l.Steps(e.Context(), stepID("").ClientKey, "loans")
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
func (e *scene) files() (names []string) {
	for _, place := range e.places {
		found, err := filepath.Glob(filepath.Join(place, "emergency-*"))
		e.do(err)
		names = append(names, found...)
	}
	return names
}

// file is the emergency file in the ledger's folder.
func (e *scene) file() string {
	return filepath.Join(e.places[0], "emergency-"+stoppedRun+".jsonl")
}

func TestReplayEntersWhatWasKept(t *testing.T) {
	steps := []string{"client", "claim/loan/1", "activity/details@client", "activity/lender@loan/1", "link"}
	outcomes := func(e *scene) []ledger.Event {
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
		before func(e *scene) error
		taken  int
	}{
		"before anything else": {func(*scene) error { return nil }, 5},
		"after the steps were found interrupted": {func(e *scene) error {
			_, err := e.l.MarkInterrupted("later", noon.Add(time.Hour))
			return err
		}, 4}, // it is uncertain already
	} {
		t.Run(name, func(t *testing.T) {
			e := newScene(t, steps...)
			e.keep(outcomes(e)...)
			e.do(test.before(e))
			e.replay(test.taken)
			e.states(want)
			known, err := e.l.Steps(t.Context(), stepID("").ClientKey, "loans")
			e.do(err)
			if s := known["link"]; s.URL != "https://claims.example.com/go/secret" || s.Run != stoppedRun || !s.At.Equal(noon) {
				t.Errorf("got url %q of run %s at %s, want what was recorded", s.URL, s.Run, s.At)
			}
			if diff := cmp.Diff([]string{e.file() + ".taken"}, e.files()); diff != "" {
				t.Errorf("files afterwards (-want +got):\n%s", diff)
			}
			e.replay(0)
			if diff := cmp.Diff([]emergency.Created{{Kind: "client", ID: "c-1", File: e.file()}, {Kind: "link", File: e.file()}}, e.said); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
		})
	}
}

// A run that was killed before it renamed the file changes nothing the second
// time.
func TestReplayTwice(t *testing.T) {
	e := newScene(t, "client", "link")
	e.keep(e.event("client", ledger.Done, "c-1"), e.event("link", ledger.Uncertain, ""))
	e.replay(2)
	e.do(os.Rename(e.file()+".taken", e.file()))
	e.replay(0)
	e.states(map[string]string{"client": "done c-1", "link": "uncertain"})
}

// A step that was settled or sent again since stays as it is.
func TestReplayOfOutcomesOlderThanTheLedger(t *testing.T) {
	later := func(e *scene, to ledger.State, via string) ledger.Event {
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
			e := newScene(t, "claim/loan/1")
			e.keep(e.event("claim/loan/1", ledger.Done, "claim-1"))
			for _, to := range test.since {
				via := ""
				if to == ledger.Failed || to == ledger.GivenUp {
					via = ledger.ViaByHand
				}
				e.do(e.l.Append(later(e, to, via)))
			}
			e.replay(0)
			e.states(map[string]string{"claim/loan/1": test.want})
		})
	}
}

func TestReplayOfAnUnknownStep(t *testing.T) {
	e := newScene(t)
	e.keep(e.event("client", ledger.Done, "c-1"))
	e.replay(0)
	e.states(map[string]string{})
}

func TestKeepLeavesOutIntents(t *testing.T) {
	e := newScene(t, "client")
	e.keep(e.event("client", ledger.Intent, ""))
	if files := e.files(); len(files) > 0 {
		t.Errorf("files %v are left, want none", files)
	}
}

// A run that was killed leaves a file with nothing but reserved room.
func TestReplayRemovesTheFileOfAKilledRun(t *testing.T) {
	e := newScene(t, "client")
	run := emergency.Open(stoppedRun, e.l.Path(), e.places, nil)
	if len(e.files()) != 1 {
		t.Fatalf("files %v, want one with reserved room", e.files())
	}
	left := filepath.Join(e.places[0], filepath.Base(e.files()[0]))
	text, err := os.ReadFile(left)
	e.do(err)
	e.do(run.Close())
	e.do(os.WriteFile(left, text, 0o600)) // a kill ends the lock of the file, and leaves the file
	e.replay(0)
	if files := e.files(); len(files) > 0 {
		t.Errorf("files %v are left, want none", files)
	}
}

func TestKeepTriesThePlacesInTurn(t *testing.T) {
	block := func(place string) error { // a folder that takes no file
		if err := os.RemoveAll(place); err != nil {
			return err
		}
		return os.WriteFile(place, nil, 0o600)
	}
	for blocked := range 3 {
		t.Run(fmt.Sprint(blocked, " blocked"), func(t *testing.T) {
			e := newScene(t, "client")
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
			e.replay(1)
			e.states(map[string]string{"client": "done c-1"})
		})
	}
	t.Run("no place", func(t *testing.T) {
		e := newScene(t, "client")
		e.places = []string{filepath.Join(e.places[0], "nowhere"), filepath.Join(e.places[1], "nowhere")}
		kept := emergency.Open(stoppedRun, e.l.Path(), e.places, func(s emergency.Created) { e.said = append(e.said, s) })
		err := kept.Keep(e.event("client", ledger.Done, "c-1"))
		if err == nil || strings.Contains(err.Error(), "jane") || strings.Contains(err.Error(), e.places[0]) {
			t.Errorf("got %v, want an error without names", err)
		}
		if diff := cmp.Diff([]emergency.Created{{Kind: "client", ID: "c-1"}}, e.said); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
	})
}

// Everybody can put something in the place of our folder among the temporary
// files.
func TestKeepRefusesAFolderOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes on Windows")
	}
	for name, plant := range map[string]func(place, elsewhere string) error{
		"a link":              func(place, elsewhere string) error { return os.Symlink(elsewhere, place) },
		"open to the group":   func(place, _ string) error { return errors.Join(os.Mkdir(place, 0o700), os.Chmod(place, 0o770)) },
		"readable by anybody": func(place, _ string) error { return os.Mkdir(place, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newScene(t, "client")
			elsewhere := t.TempDir()
			e.places = e.places[2:]
			e.do(plant(e.places[0], elsewhere))
			kept := emergency.Open(stoppedRun, e.l.Path(), e.places, func(emergency.Created) {})
			if err := kept.Keep(e.event("client", ledger.Done, "c-1")); err == nil {
				t.Error("the folder was written to")
			}
			planted, err := os.ReadDir(elsewhere)
			e.do(err)
			if len(planted) > 0 || len(e.files()) > 0 {
				t.Errorf("files %v %v were made", planted, e.files())
			}
			e.replay(0)
		})
	}
}

// A last line that is cut anywhere, with or without room behind it, is ignored;
// the lines before it count.
func TestReplayOfATornLine(t *testing.T) {
	e := newScene(t, "client", "link")
	e.keep(e.event("client", ledger.Done, "c-1"), e.event("link", ledger.Done, ""))
	text, err := os.ReadFile(e.file())
	e.do(err)
	text = bytes.TrimRight(text, " ")
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	for cut := last; cut < len(text); cut++ {
		for _, room := range []string{"", "          "} {
			e.do(os.WriteFile(e.file(), append(bytes.Clone(text[:cut]), room...), 0o600))
			if n, _, err := emergency.Pending(e.l, e.places); n != 1 || err != nil {
				t.Fatalf("cut at %d: %d outcomes are pending, %v; want 1", cut, n, err)
			}
		}
	}
	e.replay(1)
	e.states(map[string]string{"client": "done c-1", "link": "intent"})
}

func TestReplayIgnoresAnotherLedger(t *testing.T) {
	e, other := newScene(t, "client"), newScene(t, "client")
	other.keep(other.event("client", ledger.Done, "c-1"))
	file := filepath.Join(e.places[1], "emergency-6f0c4f5e-0000-4000-8000-000000000002.jsonl")
	e.do(os.Rename(other.file(), file))
	e.replay(0)
	if diff := cmp.Diff([]string{file}, e.files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	e.states(map[string]string{"client": "intent"})
}

func TestReplayRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(e *scene) error
		code  string
	}{
		"a line in the middle is not as written": {func(e *scene) error {
			text, err := os.ReadFile(e.file())
			return errors.Join(err, os.WriteFile(e.file(), bytes.Replace(text, []byte("c-1"), []byte("c-2"), 1), 0o600))
		}, "emergency-damaged"},
		"a line in the middle is gone in part": {func(e *scene) error {
			text, err := os.ReadFile(e.file())
			return errors.Join(err, os.WriteFile(e.file(), bytes.Replace(text, []byte("}\n{"), []byte("\n{"), 1), 0o600))
		}, "emergency-damaged"},
		"a version that is not known": {func(e *scene) error {
			body := `{"version":9}`
			sum := crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli))
			return os.WriteFile(e.file(), fmt.Appendf(nil, `{"sum":"%08x","body":%s}`+"\n", sum, body), 0o600)
		}, "emergency-damaged"},
		"a link": {func(e *scene) error {
			return errors.Join(os.Rename(e.file(), e.file()+".away"), os.Symlink(e.file()+".away", e.file()))
		}, "emergency-file"},
		"a folder":                {func(e *scene) error { return errors.Join(os.Remove(e.file()), os.Mkdir(e.file(), 0o700)) }, "emergency-file"},
		"anybody may write to it": {func(e *scene) error { return os.Chmod(e.file(), 0o666) }, "emergency-file"},
		"the ledger is an older one": {func(e *scene) error {
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
			e := newScene(t, "client", "link")
			e.keep(e.event("client", ledger.Done, "c-1"), e.event("link", ledger.Done, ""))
			e.do(test.spoil(e))
			n, _, err := emergency.Replay(e.l, e.places)
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

func TestPendingChangesNothing(t *testing.T) {
	e := newScene(t, "client", "link")
	e.keep(e.event("client", ledger.Done, "c-1"), e.event("link", ledger.Uncertain, ""))
	for range 2 {
		if n, _, err := emergency.Pending(e.l, e.places); n != 2 || err != nil {
			t.Errorf("%d outcomes are pending, %v; want 2", n, err)
		}
	}
	e.states(map[string]string{"client": "intent", "link": "intent"})
	e.replay(2)
	if n, _, err := emergency.Pending(e.l, e.places); n != 0 || err != nil {
		t.Errorf("%d outcomes are pending, %v; want 0", n, err)
	}
}

// Two places may be one folder: its file counts once.
func TestReplayOfOneFolderNamedTwice(t *testing.T) {
	e := newScene(t, "client")
	link := filepath.Join(t.TempDir(), "link")
	e.do(os.Symlink(e.places[0], link))
	e.places = append(e.places, e.places[0], link)
	e.keep(e.event("client", ledger.Done, "c-1"))
	if n, _, err := emergency.Pending(e.l, e.places); n != 1 || err != nil {
		t.Errorf("%d outcomes are pending, %v; want 1", n, err)
	}
	e.replay(1)
}

func TestNilFileKeepsNothing(t *testing.T) {
	var f *emergency.File
	if err := errors.Join(f.Keep(ledger.Event{To: ledger.Done}), f.Close()); err != nil {
		t.Error(err)
	}
}

// RemoveReplayed removes the selected files of all places, and no other.
func TestRemoveReplayed(t *testing.T) {
	e := newScene(t)
	workbook := filepath.Join(e.places[1], "leads.results.xlsx")
	e.do(os.Mkdir(e.places[2], 0o700))
	kept := []string{filepath.Join(e.places[0], "emergency-other.jsonl.taken"), filepath.Join(e.places[0], "emergency-mine.jsonl")}
	for i, path := range append(kept, filepath.Join(e.places[0], "emergency-mine.jsonl.taken"),
		filepath.Join(e.places[1], "emergency-mine.jsonl.taken"), filepath.Join(e.places[2], "emergency-mine.jsonl.taken")) {
		e.do(os.WriteFile(path, bytes.Repeat([]byte("x"), i), 0o600))
	}
	files, size, err := emergency.RemoveReplayed(e.l.Path(), []string{workbook, "", filepath.Join(t.TempDir(), "gone", "b.xlsx")},
		func(run string, _ time.Time) bool { return run == "mine" })
	e.do(err)
	if files != 3 || size != 2+3+4 {
		t.Errorf("%d files of %d bytes were removed, want 3 of 9", files, size)
	}
	left := e.files()
	slices.Sort(left)
	slices.Sort(kept)
	if diff := cmp.Diff(kept, left); diff != "" {
		t.Errorf("files left (-want +got):\n%s", diff)
	}
}

// TestFilesInUseStay: the file of a run that goes on, beside others that share its ledger,
// is neither entered nor removed.
func TestFilesInUseStay(t *testing.T) {
	e := newScene(t, "claim/loan/A-1")
	running := emergency.Open(stoppedRun, e.l.Path(), e.places, func(emergency.Created) {})
	files := func() int {
		found, err := filepath.Glob(filepath.Join(e.places[0], "emergency-*.jsonl"))
		e.do(err)
		return len(found)
	}
	for range 2 { // with reserved room only, and with an outcome
		if n, _, err := emergency.Replay(e.l, e.places); n != 0 || err != nil || files() != 1 {
			t.Errorf("entered %d, %v; %d files are left", n, err, files())
		}
		e.do(running.Keep(e.event("claim/loan/A-1", ledger.Done, "l-1")))
	}
	e.do(running.Close())
	if n, _, err := emergency.Replay(e.l, e.places); n != 1 || err != nil || files() != 0 {
		t.Errorf("when the run has ended: entered %d, %v; %d files are left", n, err, files())
	}
}
