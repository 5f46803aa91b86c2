package studio_test

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// When the disk is full, the file is what it was.
func TestSaveWhenFull(t *testing.T) {
	t.Parallel()
	if os.Getenv("STUDIO_FULL") == "" { // the limit is of a whole process
		cmd := exec.Command(os.Args[0], "-test.run=^TestSaveWhenFull$", "-test.v")
		cmd.Env = append(os.Environ(), "STUDIO_FULL=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	b := begin(t, mappingText, sheetText, nil)
	b.judged()
	b.autumn()
	b.judged()
	signal.Ignore(syscall.SIGXFSZ) // so that a write fails instead
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100, Max: limit.Max}))
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit) })
	b.post("/api/save", 422, "version", 2).has(t, "error.code", "output-no-access")
	b.get("/api/state").has(t, "mapping.dirty", true)
	b.holds(b.file, mappingText)
	b.left()
}
