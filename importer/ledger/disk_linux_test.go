package ledger_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"claimsheet/importer/ledger"
)

func init() { children["full"] = appendUntilFull }

// full is what appendUntilFull has got acknowledged.
type full struct{ Intents, Done []ledger.StepID }

// appendUntilFull appends until the system refuses to let the log grow, which
// happens in the middle of a write. How much it may grow stands in LEDGER_SIZE.
func appendUntilFull(path string) {
	signal.Ignore(syscall.SIGXFSZ) // so that the write fails instead
	var size uint64
	_, err := fmt.Sscan(os.Getenv("LEDGER_SIZE"), &size)
	l, openErr := ledger.Open(path)
	if err != nil || openErr != nil {
		fmt.Println(err, openErr)
		os.Exit(1)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	var said full
	said.Intents, said.Done = fill(&testing.T{}, l, 0)
	_ = json.NewEncoder(os.Stdout).Encode(said)
	os.Exit(0)
}

// TestFullInTheMiddleOfAWrite: half a record on the disk is no record, and what
// was acknowledged before is there.
func TestFullInTheMiddleOfAWrite(t *testing.T) {
	for n := range 8 {
		path := filepath.Join(t.TempDir(), "ledger.db")
		do(t, open(t, path).Close())
		info, err := os.Stat(path)
		do(t, err)
		t.Setenv("LEDGER_SIZE", fmt.Sprint(info.Size()+int64(n*9001+13)))
		_, out := start(t, "full", path)
		out.Buffer(nil, bufio.MaxScanTokenSize*16)
		if !out.Scan() {
			t.Fatal("the other process says nothing")
		}
		var said full
		if err := json.Unmarshal(out.Bytes(), &said); err != nil {
			t.Fatalf("the other process says %q", out.Text())
		}
		kept(t, path, said.Intents, said.Done)
	}
}
