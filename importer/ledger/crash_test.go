package ledger_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/importer/testform"
)

const workers = 8

// appendForever sends steps from several goroutines until it is killed, and
// prints every event when the ledger has taken it.
func appendForever(path string) {
	failed := func(err error) {
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	l, err := ledger.Open(path)
	failed(err)
	for w := range workers {
		go func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("claim/c/%d-%d-%d", os.Getpid(), w, i)
				for _, e := range finished(jane("m", key), key, "") {
					if e.State == ledger.Sent {
						e.Data = []byte(key)
					}
					failed(l.Append(e))
					fmt.Println(e.State, key)
				}
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
	left := 0
	for kill := range kills {
		child := exec.Command(os.Args[0])
		child.Env, child.Stderr = append(os.Environ(), "LEDGER_APPEND="+path), os.Stderr
		pipe := must(child.StdoutPipe())(t)
		do(t, child.Start())
		out := bufio.NewScanner(pipe)
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
		steps := must(l.Steps(t.Context(), jane("", "").ClientKey, "m"))(t)
		open := 0
		for key, s := range steps {
			if s.State == ledger.Uncertain {
				open++
			}
			if s.State == ledger.Done && (s.ID != key || string(s.Data) != key) {
				t.Fatalf("step %s is done with id %q and data %q", key, s.ID, s.Data)
			}
		}
		for key, state := range taken {
			s, known := steps[key]
			if !known || state == ledger.Done && s.State != ledger.Done {
				t.Fatalf("kill %d: %s was taken as %s, but is %q", kill, key, state, s.State)
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

// copyLedger copies the files of an idle ledger as a kill would leave them.
func copyLedger(t testing.TB, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		text := must(os.ReadFile(filepath.Join(from, name)))(t)
		do(t, os.WriteFile(filepath.Join(to, name), text, 0o600))
	}
}
