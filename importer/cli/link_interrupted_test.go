package cli_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
)

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
	before := len(s.service.Calls())
	ctx, cancel := context.WithCancel(t.Context())
	out, diagnostics := &stopper{stop: cancel}, &bytes.Buffer{}
	quickMain(ctx, []string{"link", "-m", s.path("mapping.yaml"), "c1@example.com", "c2@example.com", "c3@example.com"},
		cli.IO{In: strings.NewReader(""), Out: out, Err: diagnostics, Env: func(string) string { return "" }})
	calls := s.service.Calls()[before:]
	said := diagnostics.String()
	if len(calls) != 1 || !strings.HasPrefix(out.printed.String(), "c1@example.com\t") {
		t.Fatalf("%d calls\n%s", len(calls), out.printed.String())
	}
	if strings.Contains(said, "nothing was sent") || !strings.Contains(said, "after 1 of 3 links") || !strings.Contains(said, "key 2") {
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
	var once sync.Once
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind == "link" {
			once.Do(func() { must(t, os.RemoveAll(s.path("out"))) })
		}
		return apitest.Fault{}
	})
	_, said, code := printed(t, "run", "-m", s.path("mapping.yaml"), "-o", s.path("out"), s.path("leads.xlsx"), s.path("more.xlsx"))
	if code != 3 || !strings.Contains(said, "leads.results.xlsx") || !strings.Contains(said, "more.results.xlsx") || !strings.Contains(said, "claimsheet report") {
		t.Errorf("exit code %d\n%s", code, said)
	}
}
