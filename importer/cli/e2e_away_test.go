package cli_test

import (
	"fmt"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
)

// passing are answers that a GET may get once and not again.
var passing = map[string]apitest.Fault{
	"500": apitest.Answer(apitest.JSON(500, `{}`)), "502": apitest.Answer(apitest.HTML(502)), "503": apitest.Answer(apitest.JSON(503, `{}`)),
	"408": apitest.Answer(apitest.JSON(408, `{}`)), "421": apitest.Answer(apitest.JSON(421, `{}`)), "425": apitest.Answer(apitest.JSON(425, `{}`)),
	"a web page": apitest.Answer(apitest.HTML(200)), "half an answer": apitest.CreateThenCut(), "no answer": apitest.DropBefore(),
}

// TestPassingTrouble: a GET that fails once for a reason that passes is sent again,
// templates and look-ups alike, and no row fails because of it.
func TestPassingTrouble(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, fault := range passing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(2))
			var mu sync.Mutex
			played := map[string]bool{}
			s.service.Play(func(c apitest.Call) apitest.Fault {
				mu.Lock()
				defer mu.Unlock()
				if c.Method != "GET" || played[c.Kind] {
					return apitest.Fault{}
				}
				played[c.Kind] = true
				return fault
			})
			if p := s.mustRun(0); p.summary.Rows.Done != 2 {
				t.Errorf("rows %+v\n%s", p.summary.Rows, transcript(p.calls))
			}
			s.checkPromise()
		})
	}
}

// TestNobodyAnswers: a service that has answered no look-up is not there. The
// run and the dry run stop after a few; no row fails, and nothing is sent.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, flag := range []string{"--limit=25", "--dry-run"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "name: a\napi: v2\n"+clientPart, leads(25))
			s.service.Play(func(c apitest.Call) apitest.Fault { return apitest.Answer(apitest.JSON(503, `{}`)) })
			p := s.mustRun(3, flag)
			if len(p.posts()) > 0 || p.summary.Rows.Failed > 2 || len(p.calls) > 40 {
				t.Errorf("posts %v, rows %+v, %d calls", p.posts(), p.summary.Rows, len(p.calls))
			}
			if !strings.Contains(p.err, "the service answers no look-up") {
				t.Errorf("it does not say why:\n%s", p.err)
			}
			s.service.Play(nil)
			s.mustRun(0)
		})
	}
}

// TestRefusedLookUpsCount: clients whose look-up is refused are failures as
// others are, and end the run when there are too many.
func TestRefusedLookUpsCount(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for status, most := range map[int]int{400: 8, 403: 3} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(40))
			s.service.Play(func(c apitest.Call) apitest.Fault {
				var n int
				if _, err := fmt.Sscanf(path.Base(c.Path), "c%d%%40", &n); c.Kind == "lookup" && err == nil && n > 20 {
					return apitest.Answer(apitest.JSON(status, `{}`))
				}
				return apitest.Fault{}
			})
			p := s.mustRun(3, "--concurrency", "1")
			if rows := p.summary.Rows; rows.Done != 20 || rows.Failed > most || rows.NotStarted != 20-rows.Failed {
				t.Errorf("rows %+v, at most %d failed wanted", rows, most)
			}
			s.service.Play(nil)
			s.mustRun(0)
			s.checkPromise()
		})
	}
}

// TestFirstToSendGoesFirst: nothing is sent for another client until the first client
// that needs something is finished, also when clients before it need nothing: a wrong
// pointer costs one client.
func TestFirstToSendGoesFirst(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	rows := leads(30)
	rows[0][0] = "" // no client
	s := newScene(t, stepThree, rows)
	s.environment("wire: {redirect_url: /nowhere}")
	p := s.mustRun(3, "--concurrency", "8")
	if got := p.posts()["link"]; got != 1 || p.posts()["client"] != 1 {
		t.Errorf("posts %v, want those of one client", p.posts())
	}
}

// TestDoubtsHaveAnEnd: where every step of a kind becomes uncertain, the run
// stops before that makes a day's work for the operator.
func TestDoubtsHaveAnEnd(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(60))
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind == "claim" {
			return apitest.Answer(apitest.JSON(200, `{}`))
		}
		return apitest.Fault{}
	})
	p := s.mustRun(3, "--concurrency", "4")
	if rows := p.summary.Rows; rows.Uncertain < 10 || rows.Uncertain > 14 || rows.NotStarted != 60-rows.Uncertain {
		t.Errorf("rows %+v", rows)
	}
	if !strings.Contains(p.err, "10 steps of the kind claim are uncertain and none was created") {
		t.Errorf("it does not say why:\n%s", p.err)
	}
}

// TestLostLedgerWhileTheServiceIsIll: a night in which no look-up is answered
// teaches a new ledger nothing; the loss is found in the next.
func TestLostLedgerWhileTheServiceIsIll(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(30))
	s.mustRun(0)
	must(t, os.RemoveAll(s.path(".claimsheet")))
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind == "lookup" && strings.Contains(c.Path, "/c") {
			return apitest.Answer(apitest.JSON(400, `{}`))
		}
		return apitest.Fault{}
	})
	s.run()
	s.service.Play(nil)
	if p := s.mustRun(3); len(p.posts()) > 0 || !strings.Contains(p.err, "--accept new-ledger") {
		t.Errorf("posts %v\n%s", p.posts(), p.err)
	}
}

// TestOneLookUpHoldsUpNoOther: while it takes long to find out how the service
// says that it knows no such phone number, clients who are looked up by e-mail
// go on.
func TestOneLookUpHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	rows := leads(3)
	rows[1][0] = nil
	s := newScene(t, `
name: a
api: v2
client:
  key: First name
  lookup: {email: E-mail, phone: {column: Mobile, type: Phone, region: GB, format: e164}}
  fields: {email: E-mail, firstName: First name, phone: {column: Mobile, type: Phone, region: GB}}
`, rows)
	s.service.KeyField = "firstName"
	through, phone := make(chan struct{}), make(chan struct{})
	var asked, closed sync.Once
	s.service.Play(func(c apitest.Call) apitest.Fault {
		switch {
		case strings.Contains(c.Path, "/by-phone/"):
			asked.Do(func() {
				close(phone)
				time.AfterFunc(5*time.Second, func() { closed.Do(func() { close(through) }) })
			})
			return apitest.Fault{Until: through}
		case strings.Contains(c.Path, "/by-email/c3"):
			return apitest.Fault{Until: phone}
		case c.Step == "link Ann3":
			closed.Do(func() { close(through) })
		}
		return apitest.Fault{}
	})
	start := time.Now()
	s.mustRun(0, "--concurrency", "4", "--accept", "new-ledger")
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("the clients with an e-mail address waited for the look-up by phone: %v", took)
	}
}
