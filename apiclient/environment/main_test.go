package environment_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// playProgram makes the test binary play the program of a cmd: secret.
func playProgram(t *testing.T) {
	t.Helper()
	t.Setenv("PLAY_PROGRAM", "1")
	t.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector's wait at every exit
}

// TestMain lets the test binary play the program of a cmd: secret.
func TestMain(m *testing.M) {
	if os.Getenv("PLAY_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, "chatter with "+canary)
	switch os.Args[1] {
	case "print":
		fmt.Println(strings.Join(os.Args[2:], "|"))
	case "fail":
		fmt.Println(canary)
		os.Exit(3)
	case "flood":
		fmt.Println(strings.Repeat(canary, 100_000))
	case "folder":
		dir, err := os.Getwd()
		if err != nil {
			os.Exit(1)
		}
		fmt.Println(dir)
	}
}
