package ledger_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// long asks for what takes long: .ci/run gives it.
var long = flag.Bool("long", false, "run the long form of the tests that damage, kill and lose power")

// longOr returns how much of something a test does, with -long and without.
func longOr(inLong, inShort int) int {
	if *long {
		return inLong
	}
	return inShort
}

// places yields places below n that are a stride apart, from one on that is new each
// time and is logged. The stride is odd, so that all bits of a byte come up. With -long
// there are many times as many places as without.
func places(t *testing.T, n, usual, underRace int) iter.Seq[int] {
	stride := usual
	if racing {
		stride = underRace
	}
	stride = longOr(max(1, stride/8), 4*stride) | 1
	first := rand.IntN(min(stride, n))
	t.Logf("places %d, %d and so on, below %d", first, first+stride, n)
	return func(yield func(int) bool) {
		for at := first; at < n && yield(at); at += stride {
		}
	}
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

// told is all that a ledger says of the steps, which are one client's, in a form that can be compared.
func told(t testing.TB, l *ledger.Ledger, ids []ledger.StepID) (string, error) {
	t.Helper()
	steps, err := l.Steps(t.Context(), ids[0].ClientKey, "m")
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

// decayed writes data to the ledger's file as a disk that decays does: the file keeps its
// time, so that only its bytes show it.
func decayed(t testing.TB, path string, data []byte) {
	t.Helper()
	info, err := os.Stat(path)
	do(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	do(t, err)
	_, err = f.WriteAt(data, 0)
	do(t, errors.Join(err, f.Close(), os.Chtimes(path, time.Time{}, info.ModTime())))
}

// rewritten writes data to the ledger's file as another program does.
func rewritten(t testing.TB, path string, data []byte) { do(t, os.WriteFile(path, data, 0o600)) }

// TestFlippedBits: a ledger in which a bit is not what was written is refused when it
// is opened or read, or says the same as before.
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

	for how, write := range map[string]func(testing.TB, string, []byte){"decayed": decayed, "rewritten": rewritten} {
		refused := 0
		for bit := range places(t, 8*len(sound), 8009, 32003) {
			spoilt := append([]byte{}, sound...)
			spoilt[bit/8] ^= 1 << (bit % 8)
			write(t, path, spoilt)
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
					t.Errorf("bit %d, %s: refused with %v, want a problem", bit, how, err)
				}
			case got != want:
				t.Errorf("bit %d, %s: opened, but it says something else", bit, how)
			}
		}
		if refused == 0 {
			t.Errorf("%s: no flipped bit was refused", how)
		}
		write(t, path, sound)
	}
}

// TestDamageIsFoundWhenItIsRead: opening a closed ledger does not read it as a whole.
// What has changed on the disk is found when it is read, and by Check, and it is still
// found after the ledger was written and closed again.
func TestDamageIsFoundWhenItIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	manyClients(t, l, 0, 500)
	do(t, l.Close())
	decayed(t, path, changedStep(t, path, "id-400", "id-4-0"))
	steps := func(l *ledger.Ledger, client int) error {
		id := jane("", "")
		id.Client = fmt.Sprintf("client-%04d@example.com", client)
		_, err := l.Steps(t.Context(), id.ClientKey, "m")
		return err
	}
	for range 2 {
		l, err := ledger.OpenWith(path, func(string, int64, int64) { t.Error("the ledger was read as a whole") })
		do(t, err)
		do(t, steps(l, 3))
		if err := steps(l, 400); !errors.Is(err, ledger.ErrDamaged) {
			t.Errorf("got %v for what has changed; want ErrDamaged", err)
		}
		do(t, l.StartRun(ledger.Run{ID: uuid.NewString(), Environment: "e", Started: noon}))
		do(t, l.Close())
		if err := ledger.Check(path, nil); !errors.Is(err, ledger.ErrDamaged) {
			t.Errorf("Check: got %v; want ErrDamaged", err)
		}
	}
}

// TestAnotherProgramWroteMeanwhile: another program has written the ledger while it was
// open. What it wrote was compared with nothing, so the close writes no sums, and the
// ledger is checked when it is opened again.
func TestAnotherProgramWroteMeanwhile(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"in the log":  {"INSERT INTO settings VALUES ('e', 'n', 'v')"},
		"in both":     {"INSERT INTO settings VALUES ('e', 'n', 'v')", "PRAGMA wal_checkpoint(PASSIVE)"},
		"in the file": {"INSERT INTO settings VALUES ('e', 'n', 'v')", "PRAGMA wal_checkpoint(TRUNCATE)"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			l := open(t, path)
			manyClients(t, l, 0, 50)
			do(t, l.Close())
			l = open(t, path)
			database(t, path, statements...)
			do(t, l.Close())
			checked := false
			l, err := ledger.OpenWith(path, func(string, int64, int64) { checked = true })
			do(t, err)
			do(t, l.Close())
			same(t, "checked", checked, true)
			do(t, ledger.Check(path, nil))
		})
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
	id, found := "claim/c/3's id", 0 // in the step and in the index of ids
	for at := range len(sound) - len(id) {
		if string(sound[at:at+len(id)]) != id {
			continue
		}
		found++
		for bit := range places(t, 8*len(id), 1, 11) {
			spoilt := append([]byte{}, sound...)
			spoilt[at+bit/8] ^= 1 << (bit % 8)
			do(t, os.WriteFile(path, spoilt, 0o600))
			if err := ledger.Check(path, nil); !errors.Is(err, ledger.ErrDamaged) {
				t.Errorf("bit %d at %d: got %v; want ErrDamaged", bit, at, err)
			}
		}
	}
	if found < 2 {
		t.Errorf("the id stands in %d places, want it in the step and the index", found)
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
// ledger opens with every commit before it. It cuts at some places of each frame, at
// its borders, and in all words of its header.
func TestLogTornInItsLastCommit(t *testing.T) {
	t.Parallel()
	ids := storySteps(3)
	main, log, lastCommit, want := killed(t, ids)
	path := filepath.Join(t.TempDir(), "ledger.db")
	frame := 24 + int(binary.BigEndian.Uint32(log[8:]))
	cuts := slices.Collect(places(t, len(log)-lastCommit, 1021, 3203))
	for i := range len(log) - lastCommit {
		if in := (lastCommit + 1 + i - 32) % frame; in <= 1 || in <= 24 && in%4 == 0 {
			cuts = append(cuts, i)
		}
	}
	slices.Sort(cuts)
	for _, i := range slices.Compact(cuts) {
		cut := lastCommit + 1 + i
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

// TestFlippedBitsInTheLog: commits that were on the disk are not lost without a word.
// Only damage to the last one looks like a power loss; the file beside the ledger with
// the number of the newest event finds that too, when it is not older.
func TestFlippedBitsInTheLog(t *testing.T) {
	t.Parallel()
	ids := storySteps(3)
	main, log, lastCommit, want := killed(t, ids)
	path := filepath.Join(t.TempDir(), "ledger.db")
	for _, counted := range []bool{true, false} {
		refused := 0
		for bit := range places(t, 8*len(log), 16001, 40009) {
			spoilt := append([]byte{}, log...)
			spoilt[bit/8] ^= 1 << (bit % 8)
			do(t, os.WriteFile(path, main, 0o600))
			do(t, os.WriteFile(path+"-wal", spoilt, 0o600))
			do(t, os.RemoveAll(path+"-shm"))
			do(t, os.RemoveAll(path+".count"))
			if counted {
				do(t, os.WriteFile(path+".count", fmt.Appendf(nil, "%19d\n", 4*len(ids)), 0o600))
			}
			l, err := ledger.Open(path)
			switch {
			case err == nil:
				got, err := told(t, l, ids)
				do(t, err)
				have, committed, err := l.Behind(t.Context())
				do(t, err)
				if got != want[2] && have >= committed && (counted || bit/8 < lastCommit) {
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
}

// changedStep returns the file of a closed ledger in which one id of the service is
// another: the pages of the step's row and of the index differ, and no others. (Searching
// the file for the text would also find what SQLite left behind in pages of other clients.)
func changedStep(t testing.TB, path, from, to string) []byte {
	t.Helper()
	changed := t.TempDir()
	copyLedger(t, filepath.Dir(path), changed, filepath.Base(path))
	changed = filepath.Join(changed, filepath.Base(path))
	database(t, changed, fmt.Sprintf("UPDATE steps SET remote_id = '%s' WHERE remote_id = '%s'", to, from))
	sound, err := os.ReadFile(path)
	do(t, err)
	data, err := os.ReadFile(changed)
	do(t, err)
	if len(data) != len(sound) || bytes.Equal(data, sound) {
		t.Fatalf("the change made %d bytes of %d", len(data), len(sound))
	}
	copy(data, sound[:4096]) // the header counts changes
	return data
}

// manyClients appends a done step for each client from one number to another.
func manyClients(t *testing.T, l *ledger.Ledger, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		id := jane("", "client")
		id.Client = fmt.Sprintf("client-%04d@example.com", i)
		do(t, l.Append(finished(id, "client", fmt.Sprint("id-", i), "")...))
	}
}

// TestBackupBesideAnotherLog: a closed backup beside the log of a killed run is
// refused, with the steps that help, and opens when the log was moved away.
func TestBackupBesideAnotherLog(t *testing.T) {
	t.Parallel()
	dir, killed := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "ledger.db")
	l := open(t, path)
	manyClients(t, l, 0, 100)
	do(t, l.Close())
	copyLedger(t, dir, killed, "ledger.db", "ledger.db.sum")
	l = open(t, path)
	manyClients(t, l, 100, 1300) // SQLite folds the log into the file meanwhile
	copyLedger(t, dir, killed, "ledger.db-wal", "ledger.db.count")
	do(t, l.Close())

	path = filepath.Join(killed, "ledger.db")
	before := listing(t, killed)
	for how, open := range map[string]func(string) (*ledger.Ledger, error){"Open": ledger.Open, "OpenReadOnly": ledger.OpenReadOnly} {
		l, err := open(path)
		var p problem.Problem
		if !errors.Is(err, ledger.ErrDamaged) || !errors.As(err, &p) || !strings.Contains(p.Hint, "move ledger.db-wal and ledger.db-shm") {
			t.Errorf("%s: got %v, %v; want ErrDamaged with a hint to move the log", how, l, err)
		}
	}
	same(t, "the folder afterwards", listing(t, killed), before)

	do(t, os.Rename(path+"-wal", path+"-wal-away"))
	l = open(t, path)
	have, committed, err := l.Behind(t.Context())
	do(t, err)
	if have != 200 || committed <= have {
		t.Errorf("the backup has %d events of %d", have, committed)
	}
}

// TestDamagedIndex: a bit that changes in an index of a closed ledger hides a step, or
// gives it to another client. The ledger is refused, so that what is done is not sent
// again. It opens only when the bit is in a part of a page that is not in use.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	manyClients(t, l, 0, 50)
	ids := []ledger.StepID{jane("", "client")}
	ids[0].Client = "client-0020@example.com"
	want, err := told(t, l, ids)
	do(t, err)
	do(t, l.Close())
	sound, err := os.ReadFile(path)
	do(t, err)
	refused := 0
	sums, err := os.ReadFile(path + ".sum")
	do(t, err)
	closed, err := os.Stat(path)
	do(t, err)
	later := closed.ModTime().Add(time.Hour)
	for _, text := range []string{"client-0020@example.com", "https://uat.example.com/api", "id-20"} {
		for at := range len(sound) - len(text) {
			if string(sound[at:at+len(text)]) != text {
				continue
			}
			spoilt := append([]byte{}, sound...)
			spoilt[at+len(text)-1] ^= 1
			for how, open := range map[string]func(string) (*ledger.Ledger, error){"Open": ledger.Open, "OpenReadOnly": ledger.OpenReadOnly} {
				for kind, time := range map[string]time.Time{"decayed": closed.ModTime(), "rewritten": later} {
					do(t, os.WriteFile(path, spoilt, 0o600))
					do(t, os.WriteFile(path+".sum", sums, 0o600))
					do(t, os.Chtimes(path, time, time))
					l, err := open(path)
					if errors.Is(err, ledger.ErrDamaged) {
						refused++
						continue
					}
					do(t, err)
					got, err := told(t, l, ids)
					switch {
					case errors.Is(err, ledger.ErrDamaged):
						refused++
					case err != nil || got != want:
						t.Errorf("%s with %q spoilt at %d and %s: opened, and something else is done (%v)", how, text, at, kind, err)
					}
					do(t, l.Close())
				}
			}
		}
	}
	if refused < 20 {
		t.Errorf("refused %d times; want the texts to stand in tables and indexes", refused)
	}

	do(t, os.WriteFile(path, sound, 0o600))
	do(t, os.Remove(path+".sum"))
	l = open(t, path) // a sound ledger without its sum is only checked
	do(t, l.Close())
	if _, err := os.Stat(path + ".sum"); err != nil {
		t.Error("the close has written no sum:", err)
	}
}

// TestCheckedWhenNotAsClosed: a closed ledger is read as a whole by SQLite only when
// its bytes are not those of its sum.
func TestCheckedWhenNotAsClosed(t *testing.T) {
	path := closedLedger(t)
	checked := func() (checked bool) {
		t.Helper()
		l, err := ledger.OpenWith(path, func(string, int64, int64) { checked = true })
		do(t, err)
		do(t, l.Close())
		return checked
	}
	same(t, "as it was closed", checked(), false)
	do(t, os.WriteFile(path+".sum", []byte("12288 00000000\n"), 0o600))
	same(t, "with another sum", checked(), true)
	same(t, "closed again", checked(), false)
	do(t, os.Remove(path+".sum"))
	same(t, "without its sum", checked(), true)
	database(t, path, "VACUUM")
	same(t, "rewritten by another program", checked(), true)
}

// TestRefusedOpenChangesNothing: a ledger that is refused after a check keeps its file
// and its log.
func TestRefusedOpenChangesNothing(t *testing.T) {
	t.Parallel()
	dir, killed := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "ledger.db")
	l := open(t, path)
	manyClients(t, l, 0, 200)
	do(t, l.Close())
	copyLedger(t, dir, killed, "ledger.db")
	l = open(t, path)
	manyClients(t, l, 200, 900)
	copyLedger(t, dir, killed, "ledger.db-wal")
	do(t, l.Close())
	path = filepath.Join(killed, "ledger.db")
	main, err := os.ReadFile(path)
	do(t, err)
	main[18], main[19] = 2, 2 // as in a ledger that is open
	do(t, os.WriteFile(path, main, 0o600))
	before := listing(t, killed)
	if l, err := ledger.Open(path); !errors.Is(err, ledger.ErrDamaged) {
		t.Fatalf("got %v, %v; want ErrDamaged", l, err)
	}
	after := listing(t, killed)
	for _, name := range []string{path, path + "-wal"} {
		same(t, name, after[name] == before[name], true)
	}
}
