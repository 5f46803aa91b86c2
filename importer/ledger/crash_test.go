package ledger_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/testform"
)

// children are what this binary does as the other process of a test.
var children = map[string]func(path string){
	"append": appendForever,
	"close":  closeForever,
	"lock":   lockForever,
}

// start runs this binary as another process. Its output is read from out.
func start(t testing.TB, what, path string) (child *exec.Cmd, out *bufio.Scanner) {
	t.Helper()
	child = exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "LEDGER_CHILD="+what, "LEDGER_PATH="+path)
	child.Stderr = os.Stderr
	pipe, err := child.StdoutPipe()
	do(t, err)
	do(t, child.Start())
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	return child, bufio.NewScanner(pipe)
}

const workers = 8

// appendForever sends steps from several goroutines until it is killed, and
// prints every event when the ledger has taken it.
func appendForever(path string) {
	l, err := ledger.Open(path)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var print sync.Mutex
	said := func(to ledger.State, key string, err error) {
		print.Lock()
		defer print.Unlock()
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(to, key)
	}
	for w := range workers {
		go func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("claim/c/%d-%d-%d", os.Getpid(), w, i)
				id := jane("m", key)
				said(ledger.Sent, key, l.Append(ledger.Event{StepID: id, To: ledger.Sent, At: noon, Kind: "claim", Data: []byte(key)}))
				said(ledger.Done, key, l.Append(ledger.Event{StepID: id, To: ledger.Done, Via: ledger.ViaAnswer, At: noon, ID: key}))
			}
		}()
	}
	select {}
}

// TestKilledWhileAppending: whatever Append had returned for is there after a
// kill, and at most one step per worker is left in between.
func TestKilledWhileAppending(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	taken := map[string]ledger.State{}
	kills := testform.LongOr(15, 3)
	if racing {
		kills = min(kills, 6)
	}
	left := 0
	for kill := range kills {
		child, out := start(t, "append", path)
		for seen := 0; out.Scan(); seen++ {
			if seen == 10+4*kill {
				do(t, child.Process.Kill())
			}
			state, key, _ := strings.Cut(out.Text(), " ")
			if state == "error" {
				t.Fatal(key)
			}
			if strings.HasPrefix(key, "claim/") { // the last line may be torn, but then it is too short to be a step of ours
				taken[key] = ledger.State(state)
			}
		}
		_ = child.Wait()

		l := open(t, path)
		steps, err := l.Steps(t.Context(), jane("", "").ClientKey, "m")
		do(t, err)
		open := 0
		for key, s := range steps {
			if s.To == ledger.Uncertain {
				open++
			}
			if s.To == ledger.Done && (s.ID != key || string(s.Data) != key) {
				t.Fatalf("step %s is done with id %q and data %q", key, s.ID, s.Data)
			}
		}
		for key, state := range taken {
			s, known := steps[key]
			if !known || state == ledger.Done && s.To != ledger.Done {
				t.Fatalf("kill %d: %s was taken as %s, but is %q", kill, key, state, s.To)
			}
		}
		if open-left > workers {
			t.Fatalf("kill %d: %d steps in between, %d of them before, %d workers", kill, open, left, workers)
		}
		left = open
		do(t, l.Close())
	}
	if len(taken) < kills*5 {
		t.Errorf("only %d steps were tried", len(taken))
	}
}

// closeForever opens the ledger, appends a step and closes it, again and again, and
// prints each step when the ledger has taken it.
func closeForever(path string) {
	for i := 0; ; i++ {
		key := fmt.Sprintf("claim/c/%d-%d", os.Getpid(), i)
		l, err := ledger.Open(path)
		if err == nil {
			err = l.Append(finished(jane("m", key), key, "")...)
		}
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("done", key)
		if err := l.Close(); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
}

// TestKilledWhileClosing: a kill at any moment between opening and closing leaves a
// ledger that opens, and has what Append had returned for.
func TestKilledWhileClosing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	kills := testform.LongOr(200, 1)
	if racing {
		kills = min(kills, 10)
	}
	taken := map[string]bool{}
	for kill := range kills {
		child, out := start(t, "close", path)
		for seen := 0; out.Scan(); seen++ {
			if seen == 1 {
				go func(after time.Duration) {
					time.Sleep(after)
					_ = child.Process.Kill()
				}(time.Duration(rng.Int64N(int64(20 * time.Millisecond))))
			}
			what, key, _ := strings.Cut(out.Text(), " ")
			if what == "error" {
				t.Fatalf("kill %d: %s", kill, key)
			}
			taken[key] = what == "done"
		}
		_ = child.Wait()
		r, err := ledger.OpenReadOnly(path)
		do(t, err)
		do(t, r.Close())
		do(t, open(t, path).Close())
	}
	l := open(t, path)
	steps, err := l.Steps(t.Context(), jane("", "").ClientKey, "m")
	do(t, err)
	for key, whole := range taken {
		if s := steps[key]; whole && s.ID != key {
			t.Errorf("%s was taken, but is %q", key, s.To)
		}
	}
}

// copyLedger copies the files of an idle ledger as a kill would leave them.
func copyLedger(t testing.TB, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(from, name))
		do(t, err)
		do(t, os.WriteFile(filepath.Join(to, name), text, 0o600))
	}
}

// TestLogCutAnywhere cuts the log of a killed process at many places: what a
// power loss may leave of commits that were not acknowledged, and what a broken
// disk may leave of others. The ledger holds the first n calls then, whole and
// in order, never fewer than were in the file already.
func TestLogCutAnywhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, filepath.Join(dir, "ledger.db"))
	id := func(i int) ledger.StepID { return jane("m", fmt.Sprint("claim/c/", i)) }
	call := func(i int) {
		do(t, l.Append(
			ledger.Event{StepID: id(i), To: ledger.Sent, At: noon, Kind: "claim", Data: []byte(strings.Repeat("x", 300))},
			ledger.Event{StepID: id(i), To: ledger.Done, Via: ledger.ViaAnswer, At: noon, ID: fmt.Sprint(i)}))
	}
	const folded, calls = 5, 20
	for i := range folded {
		call(i)
	}
	do(t, l.Close()) // these are in the file itself
	l = open(t, filepath.Join(dir, "ledger.db"))
	for i := folded; i < calls; i++ {
		call(i)
	}
	whole := t.TempDir()
	copyLedger(t, dir, whole, "ledger.db", "ledger.db-wal")
	main, err := os.ReadFile(filepath.Join(whole, "ledger.db"))
	do(t, err)
	log, err := os.ReadFile(filepath.Join(whole, "ledger.db-wal"))
	do(t, err)

	most, cuts := 0, testform.LongOr(45, 12)
	if racing {
		cuts = min(cuts, 15)
	}
	for cut := len(log); cut >= 0; cut -= 1 + len(log)/cuts {
		path := filepath.Join(t.TempDir(), "ledger.db")
		do(t, os.WriteFile(path, main, 0o600))
		do(t, os.WriteFile(path+"-wal", log[:cut], 0o600))
		l := open(t, path)
		steps, err := l.Steps(t.Context(), jane("", "").ClientKey, "m")
		do(t, err)
		n := len(steps)
		if n < folded || n > calls || cut == len(log) && n != calls {
			t.Fatalf("cut at %d of %d: %d steps", cut, len(log), n)
		}
		for i := range n {
			if s := steps[id(i).Step]; s.To != ledger.Done || s.ID != fmt.Sprint(i) {
				t.Fatalf("cut at %d: step %d of %d is %q with id %q", cut, i, n, s.To, s.ID)
			}
		}
		if cut < len(log) {
			most = max(most, n)
		}
		do(t, l.Close())
	}
	if most == folded || most == calls {
		t.Errorf("the cuts left up to %d of %d calls: the log was not what was cut", most, calls)
	}
}

// lockForever holds the lock until it is killed.
func lockForever(path string) {
	if _, err := ledger.Lock(path); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("locked")
	_, _ = io.Copy(io.Discard, os.Stdin)
	select {}
}
