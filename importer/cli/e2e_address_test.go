package cli_test

import (
	"bytes"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
	"claimsheet/importer/ledger"
)

// claimsheet runs any command beside the scene's environments file.
func (s *scene) claimsheet(words ...string) (code int, out, diagnostics string) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	stdio := cli.IO{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Env: func(string) string { return "" }}
	code = cli.MainAt(s.t.Context(), words, stdio, s.pace)
	return code, stdout.String(), stderr.String()
}

// spelled are ways to write the scene's base url that mean the same.
func (s *scene) spelled() []string {
	port := s.url[strings.LastIndexByte(s.url, ':')+1:]
	return []string{
		"http://localhost:" + port, "http://LocalHost:0" + port + "/", "HTTP://127.0.0.1:000" + port + "//",
		"http://[::ffff:127.0.0.1]:" + port, "http://[::FFFF:7f00:1]:" + port, s.url,
	}
}

// TestABaseURLSpeltOtherwise: spellings that mean the same are one service,
// under one name or two.
func TestABaseURLSpeltOtherwise(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, mapping := range map[string]string{"v1": "name: m\napi: v1\n" + clientPart, "v2": stepThree} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, mapping, leads(2))
			s.mustRun(0)
			for i, spelt := range s.spelled() {
				s.url = spelt
				s.environment("")
				flags := [][]string{{"--dry-run"}, nil}[i%2]
				if p := s.mustRun(0, flags...); p.summary.Rows.Unchanged != 2 || len(p.posts()) > 0 {
					t.Errorf("%s: rows %+v, created %v", spelt, p.summary.Rows, p.posts())
				}
				if i%2 == 1 {
					continue
				}
				file := "default: other\nenvironments: {other: {base_url: '" + spelt + "', case_id: " + caseID + "}}\n"
				write(t, s.path("environments.yaml"), file)
				if p := s.mustRun(0); p.summary.Rows.Unchanged != 2 || len(p.posts()) > 0 {
					t.Errorf("%s under another name: rows %+v, created %v", spelt, p.summary.Rows, p.posts())
				}
			}
		})
	}
}

// TestDoubtUnderAnotherSpelling: an address with which L1 may have been created is
// L1's, however the base url is spelt tonight.
func TestDoubtUnderAnotherSpelling(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, everyWay, bothOrders, func(t *testing.T, v variant) {
		s := newLeadScene(t, v.address())
		v.doubt(s, "client L1")
		spelt := len(v.way) / 2
		if v.odd {
			spelt++
		}
		s.url = s.spelled()[spelt%5]
		s.environment("")
		s.sheet(v.rows(sharing(v.address())))
		s.foretold(1, v.flags()...)
		s.checkCreated(map[string]int{"client L1": 1, "claim L1/A-1": 1})
		if r := s.row("leads.results.xlsx", "L2"); r["Import status"] != "failed" || !strings.Contains(r["Error"], "“L1”") {
			t.Errorf("%s: the row of L2 says %v", s.url, r)
		}
	})
}

// TestDoubtAtAnotherAddress: what is in doubt at the old address of a service is so
// at the new one.
func TestDoubtAtAnotherAddress(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, everyWay, bothOrders, func(t *testing.T, v variant) {
		s := newLeadScene(t, v.address())
		v.doubt(s, "client L1")
		other := s.moved()
		s.sheet(v.rows(sharing(v.address())))
		for _, flags := range [][]string{{"--dry-run"}, v.flags()} {
			if p := s.mustRun(3, flags...); !strings.Contains(p.err, "--accept same-service") {
				t.Errorf("%q\n%s", flags, p.err)
			}
		}
		s.foretold(4, v.flags("--accept", "same-service")...)
		s.mustRun(4, v.flags()...)
		if n := postsTo(other.Calls()); n > 0 {
			t.Errorf("%d things were created\n%s", n, transcript(other.Calls()))
		}
		if r := s.row("leads.results.xlsx", "L2"); r["Import status"] != "failed" || !strings.Contains(r["Error"], "“L1”") {
			t.Errorf("the row of L2 says %v", r)
		}
	})
}

// TestABaseURLOfAnOlderLedger: a ledger whose records have another spelling of
// the base url is the same service's.
func TestABaseURLOfAnOlderLedger(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, "name: links\napi: v2\n"+clientPart, leads(1))
	s.mustRun(0, "--dry-run")
	known, err := ledger.Open(s.path(".claimsheet/ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	owner := ledger.ClientKey{Environment: s.spelled()[0], Space: "email", Client: "c1@example.com"}
	for step, event := range map[string]ledger.Event{"client": {Kind: ledger.KindClient, ID: "c-1"}, "link": {Kind: ledger.KindLink, URL: "https://example.com/l"}} {
		event.StepID, event.At, event.To = ledger.StepID{ClientKey: owner, Mapping: "links", Step: step}, time.Now(), ledger.Intent
		if step == "client" {
			event.Mapping = ""
		}
		done := event
		event.ID, event.URL, done.To, done.Via = "", "", ledger.Done, ledger.ViaAnswer
		if err := known.Append(event, done); err != nil {
			t.Fatal(err)
		}
	}
	if err := known.Close(); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"--dry-run"}, nil, nil} {
		if p := s.mustRun(0, flags...); p.summary.Rows.Unchanged != 1 || len(p.calls) > 0 {
			t.Errorf("rows %+v\n%s", p.summary.Rows, transcript(p.calls))
		}
	}
}

// moved starts a second service and writes its address into the scene's
// environments file.
func (s *scene) moved() *apitest.Server {
	other := apitest.New(reference...)
	server := httptest.NewServer(other)
	s.t.Cleanup(server.Close)
	s.url = server.URL
	s.environment("")
	return other
}

func postsTo(calls []apitest.Call) (n int) {
	for _, c := range calls {
		if c.Method != "GET" {
			n++
		}
	}
	return n
}

// doctor runs claimsheet doctor, which must end with an exit code, and returns what
// it prints.
func (s *scene) doctor(code int) string {
	s.t.Helper()
	var out, diagnostics bytes.Buffer
	stdio := cli.IO{In: strings.NewReader(""), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }}
	if got := cli.Main(s.t.Context(), []string{"doctor", "-m", s.path("mapping.yaml")}, stdio); got != code {
		s.t.Errorf("doctor ends with %d, want %d\n%s%s", got, code, out.String(), diagnostics.String())
	}
	return out.String()
}

// TestABaseURLThatChanges: under the same name of an environment it may be the
// same service at another address, or another service. Only a person knows.
func TestABaseURLThatChanges(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, c := range map[string]struct{ mapping, workers string }{
		"v1": {"name: m\napi: v1\n" + clientPart, "2"}, "v2": {stepThree, "8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, c.mapping, leads(3))
			s.mustRun(0, "--concurrency", c.workers)
			first := s.url
			other := s.moved()
			for _, flags := range [][]string{{"--dry-run"}, nil, {"--accept", "new-ledger"}, {"--accept", "new-identity"}} {
				p := s.mustRun(3, flags...)
				if postsTo(other.Calls()) > 0 || !strings.Contains(p.err, "--accept same-service") || !strings.Contains(p.err, "--accept new-service") {
					t.Errorf("%q\n%s", flags, p.err)
				}
			}
			if out := s.doctor(3); !strings.Contains(out, "fail  ledger: the base url was "+first) {
				t.Errorf("doctor does not see the change:\n%s", out)
			}
			for _, flags := range [][]string{{"--dry-run", "--accept", "same-service"}, {"--accept", "same-service"}, nil} {
				if p := s.mustRun(0, flags...); p.summary.Rows.Unchanged != 3 || postsTo(other.Calls()) > 0 {
					t.Errorf("%q: rows %+v", flags, p.summary.Rows)
				}
			}
			if out := s.doctor(0); strings.Contains(out, "ledger") {
				t.Errorf("doctor reports an accepted change:\n%s", out)
			}
			moved := s.url
			s.url = first // the old address is still the same service's
			s.environment("")
			s.mustRun(0)
			s.url = moved
			s.environment("")
			s.mustRun(0)

			third := s.moved()
			s.mustRun(3)
			p := s.mustRun(0, "--dry-run", "--accept", "new-service")
			made := p.summary.Requests.Client + p.summary.Requests.Claim + p.summary.Requests.Activity + p.summary.Requests.Link
			s.mustRun(0, "--accept", "new-service", "--concurrency", c.workers)
			if n := postsTo(third.Calls()); n != made || n == 0 {
				t.Errorf("%d things were foretold, and %d made", made, n)
			}
			s.mustRun(0)
			if n := postsTo(third.Calls()); n != made {
				t.Errorf("%d things were made again", n-made)
			}
			s.url = moved
			s.environment("")
			s.mustRun(3)
			if p := s.mustRun(2, "--accept", "same-service"); !strings.Contains(p.err, "service-known") {
				t.Errorf("two services that are known become one\n%s", p.err)
			}
			s.mustRun(2, "--accept", "same-service", "--accept", "new-service")
		})
	}
}

// TestAServiceMoves: what is in doubt, erased, or written in a workbook follows
// the service to its new address.
func TestAServiceMoves(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(3))
	s.service.Play(apitest.Once(onStep("link c3@example.com"), apitest.CreateThen(apitest.JSON(500, `{}`))))
	s.mustRun(4)
	if code, _, said := s.claimsheet("history", "--environments", s.path("environments.yaml"), "--yes", "--forget", "c2@example.com"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	other := s.moved()
	s.mustRun(4, "--accept", "same-service")
	if n := postsTo(other.Calls()); n > 0 {
		t.Errorf("%d things were made again\n%s", n, transcript(other.Calls()))
	}
	s.settle("--created", "https://example.com/found", "link")
	if p := s.mustRun(0); p.summary.Rows.Unchanged != 2 || p.summary.Rows.Skipped+p.summary.Rows.NotStarted != 1 {
		t.Errorf("rows %+v\n%s", p.summary.Rows, p.err)
	}
	code, _, said := s.claimsheet("rerun", "--environments", s.path("environments.yaml"), "-m", s.path("mapping.yaml"), s.path("leads.results.xlsx"))
	if code != 0 || postsTo(other.Calls()) > 0 {
		t.Errorf("rerun: exit code %d\n%s", code, said)
	}
}

// TestADeskAtAnAddressThatNoRunKnows: as long as nobody has said what the new
// address means, a list of nothing would hide what is uncertain at the old one.
func TestADeskAtAnAddressThatNoRunKnows(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	s.service.Play(apitest.Once(onStep("link c3@example.com"), apitest.CreateThen(apitest.JSON(500, `{}`))))
	s.mustRun(4)
	first := s.url
	other := s.moved()
	at := []string{"--environments", s.path("environments.yaml")}
	desk := func(code int, part string, words ...string) {
		t.Helper()
		got, out, said := s.claimsheet(append(append([]string{words[0]}, at...), words[1:]...)...)
		if got != code || !strings.Contains(out+said, part) {
			t.Errorf("%q: exit code %d, want %d with %q\n%s%s", words, got, code, part, out, said)
		}
	}
	for _, words := range [][]string{{"settle"}, {"settle", "--give-up", "link"}, {"history"}, {"history", "c1@example.com"},
		{"history", "--yes", "--forget", "c1@example.com"}, {"link", "c1@example.com"}, {"report"}} {
		desk(3, "[service-changed]", words...)
	}
	s.mustRun(0, "--accept", "new-service")
	desk(0, "nothing is uncertain", "settle")
	s.url = first
	s.environment("")
	desk(4, "c3@example.com", "settle")
	if n := postsTo(other.Calls()); n == 0 {
		t.Error("nothing was made at the other service")
	}
}

// TestAWorkbookFromBeforeTheMove: both environments have one name, so naming
// the environment with -e is no way out.
func TestAWorkbookFromBeforeTheMove(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	s.mustRun(0)
	if err := os.RemoveAll(s.path(".claimsheet")); err != nil {
		t.Fatal(err)
	}
	first := s.url
	other := s.moved()
	rerun := []string{"rerun", "--yes", "--environments", s.path("environments.yaml"), "-m", s.path("mapping.yaml"), s.path("leads.results.xlsx")}
	code, _, said := s.claimsheet(rerun...)
	if code != 2 || !strings.Contains(said, "put the base url back") || strings.Contains(said, "run the sheet itself") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	s.url = first
	s.environment("")
	if code, _, said := s.claimsheet(rerun...); code != 0 {
		t.Errorf("exit code %d\n%s", code, said)
	}
	if n := postsTo(other.Calls()); n > 0 {
		t.Errorf("%d things were made again", n)
	}
}
