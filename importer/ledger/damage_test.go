package ledger_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

var everywhere = flag.Bool("everywhere", false, "cut and flip at every place, which takes long")

// stride is how far apart bits are flipped: a prime, so that all bits of a byte
// come up.
func stride(usual, underRace int) int {
	switch {
	case *everywhere:
		return 1
	case racing:
		return underRace
	}
	return usual
}

// storySteps are the steps that the tests of damage look at.
func storySteps(n int) []ledger.StepID {
	ids := make([]ledger.StepID, n)
	for i := range ids {
		ids[i] = jane("m", fmt.Sprint("claim/c/", i))
	}
	return ids
}

// storied has the story of each step, one commit for each event.
func storied(t testing.TB, l *ledger.Ledger, ids []ledger.StepID) {
	for _, id := range ids {
		for i, e := range story(id) {
			e.Kind, e.Boot = "claim", "a"
			if i == 3 {
				e.ID = id.Step + "'s id"
			}
			do(t, l.Append(e))
		}
	}
}

// told is all that a ledger says of the steps, in a form that can be compared.
func told(t testing.TB, l *ledger.Ledger, ids []ledger.StepID) (string, error) {
	t.Helper()
	steps, err := l.Steps(t.Context(), jane("", "").ClientKey, "m")
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%+v", steps) // maps are printed in the order of their keys
	for _, id := range ids {
		events, err := l.Events(t.Context(), id)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("\n%+v", events)
	}
	return text, nil
}

// TestFlippedBits: a ledger in which a bit is not what was written is refused when it
// is opened or read, or says the same as before. Only Check finds a bit of an index or
// of the tree of pages that hides a row.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	ids := storySteps(6)
	l := open(t, path)
	storied(t, l, ids)
	want, err := told(t, l, ids)
	do(t, err)
	do(t, l.Close())
	sound, err := os.ReadFile(path)
	do(t, err)

	refused, hidden := 0, 0
	for bit := 0; bit < 8*len(sound); bit += stride(1009, 32003) {
		spoilt := append([]byte{}, sound...)
		spoilt[bit/8] ^= 1 << (bit % 8)
		do(t, os.WriteFile(path, spoilt, 0o600))
		l, err := ledger.OpenReadOnly(path)
		var got string
		if err == nil {
			got, err = told(t, l, ids)
			do(t, l.Close())
		}
		switch {
		case err != nil:
			refused++
			var p problem.Problem
			if !errors.As(err, &p) {
				t.Errorf("bit %d: refused with %v, want a problem", bit, err)
			}
		case got != want:
			hidden++
			if err := ledger.Check(path, nil); !errors.Is(err, ledger.ErrDamaged) {
				t.Errorf("bit %d: the ledger says something else, and Check says %v", bit, err)
			}
		}
	}
	t.Logf("%d refused, %d hide a row", refused, hidden)
	if refused == 0 {
		t.Error("no flipped bit was refused")
	}
}

// TestFlippedBitsInOneRecord flips every bit of the id in the middle of a
// ledger, wherever it stands.
func TestFlippedBitsInOneRecord(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	storied(t, l, storySteps(6))
	do(t, l.Close())
	sound, err := os.ReadFile(path)
	do(t, err)
	id, places := "claim/c/3's id", 0 // in the step and in the index of ids
	for at := range len(sound) - len(id) {
		if string(sound[at:at+len(id)]) != id {
			continue
		}
		places++
		for bit := 0; bit < 8*len(id); bit += stride(1, 11) {
			spoilt := append([]byte{}, sound...)
			spoilt[at+bit/8] ^= 1 << (bit % 8)
			do(t, os.WriteFile(path, spoilt, 0o600))
			if err := ledger.Check(path, nil); !errors.Is(err, ledger.ErrDamaged) {
				t.Errorf("bit %d at %d: got %v; want ErrDamaged", bit, at, err)
			}
		}
	}
	if places < 2 {
		t.Errorf("the id stands in %d places, want it in the step and the index", places)
	}
}

// TestRecordsDroppedRepeatedAndSwapped: what another program does to the
// ledger's tables, its structure being sound, is found.
func TestRecordsDroppedRepeatedAndSwapped(t *testing.T) {
	tests := map[string]string{
		"the last event dropped":        "UPDATE steps SET event = sent_event, at = sent_at, sent_event = 0, sent_at = 0, sent_boot = 0, sent_uptime = 0, sent_run = 0, state = 1",
		"an earlier event dropped":      "DELETE FROM history WHERE event = 2",
		"an event's state changed":      "UPDATE history SET state = 5 WHERE event = 2",
		"an event's answer swapped":     "UPDATE history SET response = request, request = NULL WHERE event = 1",
		"an event repeated":             "INSERT INTO history SELECT event + 4, step, state, at, boot, uptime, run, via, status, reason, request, digest, response, remote_id, url, sum FROM history WHERE event = 2",
		"two events swapped":            "UPDATE history SET event = 100 WHERE event = 1; UPDATE history SET event = 1 WHERE event = 2; UPDATE history SET event = 2 WHERE event = 100",
		"a history of nobody":           "UPDATE history SET step = 9",
		"a step's state changed":        "UPDATE steps SET state = 3",
		"a step's id changed":           "UPDATE steps SET remote_id = 'c-2'",
		"a step's run changed":          "UPDATE names SET name = 'r9' WHERE name = 'r2'",
		"a step given to someone else":  "UPDATE clients SET client = 'john@example.com'",
		"a step given to nobody":        "DELETE FROM clients",
		"a step called something else":  "UPDATE steps SET step = 'link'",
		"a step that forgot its answer": "UPDATE steps SET response = NULL",
		"a step never counted":          "UPDATE counter SET event = event - 1",
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			path := closedLedger(t)
			database(t, path, change)
			if err := ledger.Check(path, nil); !errors.Is(err, ledger.ErrDamaged) {
				t.Errorf("Check: got %v; want ErrDamaged", err)
			}
			database(t, path, "PRAGMA journal_mode = WAL") // as it is after a kill
			if l, err := ledger.Open(path); !errors.Is(err, ledger.ErrDamaged) {
				t.Errorf("Open: got %v, %v; want ErrDamaged", l, err)
			}
		})
	}
}

// killed is a folder as a kill leaves it: a ledger with a log beside it, whose
// text and whose last commit's place are returned.
func killed(t *testing.T, ids []ledger.StepID) (main, log []byte, lastCommit int, want []string) {
	t.Helper()
	dir := t.TempDir()
	l := open(t, filepath.Join(dir, "ledger.db"))
	for i := range ids {
		storied(t, l, ids[i:i+1])
		text, err := told(t, l, ids[:i+1])
		do(t, err)
		want = append(want, text)
	}
	main, err := os.ReadFile(filepath.Join(dir, "ledger.db"))
	do(t, err)
	log, err = os.ReadFile(filepath.Join(dir, "ledger.db-wal"))
	do(t, err)
	size := 24 + int(binary.BigEndian.Uint32(log[8:]))
	lastCommit = len(log) - size
	for at := len(log) - 2*size; at > 0 && binary.BigEndian.Uint32(log[at+4:]) == 0; at -= size {
		lastCommit = at
	}
	return main, log, lastCommit, want
}

// TestLogTornInItsLastCommit cuts a log in the frames of its last commit: the
// ledger opens with every commit before it. It cuts at some sixteen places of each
// frame, at its borders, and in all words of its header.
func TestLogTornInItsLastCommit(t *testing.T) {
	t.Parallel()
	ids := storySteps(3)
	main, log, lastCommit, want := killed(t, ids)
	path := filepath.Join(t.TempDir(), "ledger.db")
	frame := 24 + int(binary.BigEndian.Uint32(log[8:]))
	for cut := len(log); cut > lastCommit; cut-- {
		in := (cut - 32) % frame // of the frame
		header := in <= 1 || in <= 24 && in%4 == 0
		if cut%stride(257, 3203) != 0 && !header {
			continue
		}
		do(t, os.WriteFile(path, main, 0o600))
		do(t, os.WriteFile(path+"-wal", log[:cut], 0o600))
		l, err := ledger.Open(path)
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", cut, len(log), err)
		}
		got, err := told(t, l, ids)
		do(t, err)
		events, err := l.Events(t.Context(), ids[2])
		do(t, err)
		switch {
		case cut == len(log):
			same(t, "all", got, want[2])
		case len(events) != 3:
			t.Fatalf("cut at %d of %d, in the last commit: %d events of the last step, want 3", cut, len(log), len(events))
		}
		do(t, l.Close())
	}
}

// TestFlippedBitsInTheLog: commits that were on the disk are not lost without
// a word: the file beside the ledger has their number.
func TestFlippedBitsInTheLog(t *testing.T) {
	t.Parallel()
	ids := storySteps(3)
	main, log, _, want := killed(t, ids)
	path := filepath.Join(t.TempDir(), "ledger.db")
	refused := 0
	for bit := 0; bit < 8*len(log); bit += stride(4001, 40009) {
		spoilt := append([]byte{}, log...)
		spoilt[bit/8] ^= 1 << (bit % 8)
		do(t, os.WriteFile(path, main, 0o600))
		do(t, os.WriteFile(path+"-wal", spoilt, 0o600))
		do(t, os.WriteFile(path+".count", fmt.Appendf(nil, "%19d\n", 4*len(ids)), 0o600))
		l, err := ledger.Open(path)
		switch {
		case err == nil:
			got, err := told(t, l, ids)
			do(t, err)
			have, committed, err := l.Behind(t.Context())
			do(t, err)
			if have < committed {
				refused++
			} else if got != want[2] {
				t.Errorf("bit %d of %d: commits are lost", bit, 8*len(log))
			}
			do(t, l.Close())
		case errors.Is(err, ledger.ErrDamaged):
			refused++
		default:
			t.Errorf("bit %d: got %v, want ErrDamaged", bit, err)
		}
	}
	if refused == 0 {
		t.Error("no flipped bit was refused")
	}
}
