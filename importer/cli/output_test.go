package cli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
)

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
			once.Do(func() { expect(t, printed.String(), "the same in 39 more places", "invalid rows besides these: 5;") })
		}
		return apitest.Fault{}
	})
	stdio := cli.IO{Out: io.Discard, Err: &printed, Env: func(string) string { return "" }}
	if code := cli.MainAt(t.Context(), s.args("--max-failures", "100%"), stdio, s.pace); code != 1 {
		t.Errorf("exit code %d\n%s", code, printed.String())
	}
	if said := printed.String(); strings.Count(said, "(source row ") != 2 || !strings.Contains(said, "the same in D45, D46, D47, D48 ") {
		t.Errorf("printed in all, once each:\n%s", said)
	}
}

// stopper ends a command's context when the command prints its first line.
type stopper struct {
	printed bytes.Buffer
	stop    func()
}

func (s *stopper) Write(line []byte) (int, error) {
	s.stop()
	return s.printed.Write(line)
}

// TestLinkInterrupted: a signal between two links does not deny the first one.
func TestLinkInterrupted(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	s.mustRun(0)
	ctx, cancel := context.WithCancel(t.Context())
	out, diagnostics := &stopper{stop: cancel}, &bytes.Buffer{}
	cli.MainAt(ctx, []string{"link", "-m", s.path("mapping.yaml"), "c1@example.com", "c2@example.com", "c3@example.com"},
		cli.IO{In: strings.NewReader(""), Out: out, Err: diagnostics, Env: func(string) string { return "" }}, s.pace)
	if calls := s.since().calls; len(calls) != 1 || !strings.HasPrefix(out.printed.String(), "c1@example.com\t") {
		t.Fatalf("%d calls\n%s", len(calls), out.printed.String())
	}
	if said := diagnostics.String(); strings.Contains(said, "nothing was sent") || !strings.Contains(said, "after 1 of 3 links") || !strings.Contains(said, "key 2") {
		t.Errorf("it says %q", said)
	}
}

// TestEveryFailedOutputIsShown: of two workbooks that cannot be written, both are
// named.
func TestEveryFailedOutputIsShown(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	writeSheet(t, s.path("more.xlsx"), header, [][]any{lead(2, "A-2")})
	must(t, os.Mkdir(s.path("out"), 0o700))
	s.service.Play(apitest.Once(func(c apitest.Call) bool { return c.Kind == "link" }, apitest.Fault{Then: func() { must(t, os.RemoveAll(s.path("out"))) }}))
	expect(t, s.must(3, "run", "-o", s.path("out"), s.path("leads.xlsx"), s.path("more.xlsx")), "leads.results.xlsx", "more.results.xlsx", "claimsheet report")
}
