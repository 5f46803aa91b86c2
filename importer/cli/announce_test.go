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
// sent, and once; with more than 40 of them, the rest is counted.
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
				if n := strings.Count(printed.String(), "(source row "); n != 40 || !strings.Contains(printed.String(), "invalid rows besides these: 5;") {
					t.Errorf("%d problems are printed before the first request:\n%s", n, printed.String())
				}
			})
		}
		return apitest.Fault{}
	})
	stdio := cli.IO{Out: io.Discard, Err: &printed, Env: func(string) string { return "" }}
	if code := cli.MainAt(context.Background(), s.args("--max-failures", "100%"), stdio, s.pace); code != 1 {
		t.Errorf("exit code %d\n%s", code, printed.String())
	}
	if n := strings.Count(printed.String(), "(source row "); n != 45 {
		t.Errorf("%d problems are printed in all:\n%s", n, printed.String())
	}
}
