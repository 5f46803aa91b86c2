package cli_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
)

// sharedText is a writer that can be read while it is written to.
type sharedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *sharedText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *sharedText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestProblemsBeforeSending: what is wrong with the sheet is printed before anything is
// sent, and once; of more than 40, the others are counted first and named at the end.
func TestProblemsBeforeSending(t *testing.T) {
	t.Parallel()
	rows := leads(2)
	for i := range 45 {
		bad := lead(10+i, "B-1")
		bad[3] = "yesterday"
		rows = append(rows, bad)
	}
	s := newScene(t, stepThree, rows)
	var printed sharedText
	var once sync.Once
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Method != "GET" {
			once.Do(func() {
				if said := printed.String(); !strings.Contains(said, "the same in 39 more places") || !strings.Contains(said, "invalid rows besides these: 5;") {
					t.Errorf("printed before the first request:\n%s", said)
				}
			})
		}
		return apitest.Fault{}
	})
	stdio := cli.IO{Out: io.Discard, Err: &printed, Env: func(string) string { return "" }}
	if code := cli.MainAt(context.Background(), s.args("--max-failures", "100%"), stdio, s.pace); code != 1 {
		t.Errorf("exit code %d\n%s", code, printed.String())
	}
	if said := printed.String(); strings.Count(said, "(source row ") != 2 || !strings.Contains(said, "the same in D45, D46, D47, D48 ") {
		t.Errorf("printed in all, once each:\n%s", said)
	}
}
