package cli_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// TestAnswerOfAParkedClient has the service create a client, answer where no
// pointer of the environment leads, and not show the client to look-ups yet.
// Corrected, the pointer finds the id in the answer that was kept: the client is
// not asked for again, however long ago that was.
func TestAnswerOfAParkedClient(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(1))
	s.service.Wire.ContactID = "/data/contactId"
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind != "lookup" {
			return apitest.Fault{}
		}
		return apitest.Answer(s.service.Nobody)
	})
	s.environment("wire: {lookup_contact_id: /contactId}")
	s.mustRun(4)
	s.environment("wire: {contact_id: /data/contactId, lookup_contact_id: /contactId}")
	if plan := s.mustRun(0, "--dry-run"); plan.summary.Requests.Client != 0 || plan.summary.Rows.Planned != 1 {
		t.Errorf("the dry run plans %+v for rows %+v", plan.summary.Requests, plan.summary.Rows)
	}
	if n := s.mustRun(0).posts()["client"]; n != 0 {
		t.Errorf("%d clients were asked for again", n)
	}
	s.checkIDs("c1@example.com")
	s.checkPromise()
}

// TestURLOfAClientWhoWasLookedUp has a client created by an answer whose id is
// not where the environment says. A look-up finds the client, and the redirect
// url of the answer is the client's all the same: at once, or when its pointer
// is corrected.
func TestURLOfAClientWhoWasLookedUp(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const missing = "The service's answer held no redirect url where wire.redirect_url points; correct that and run again."
	cases := []struct {
		name, pointer string
		code          int
		urls          bool
		advice        string
	}{
		{"right pointer", "/redirectUrl", 0, true, ""},
		{"wrong pointer", "/url", 3, false, missing},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "name: a\napi: v1\n"+clientPart, leads(2))
			s.service.Wire.ClientID, s.service.Wire.LookupID = "/data/clientId", "/clientId"
			s.environment("wire: {client_id: /clientId, redirect_url: " + c.pointer + "}")
			s.mustRun(c.code)
			row := s.results()[0]
			if row["Import status"] != "done" || (row["redirectUrl"] != "") != c.urls {
				t.Errorf("the row is %v", row)
			}
			if diff := cmp.Diff(c.advice, row["What to do"]); diff != "" {
				t.Errorf("what to do (-want +got):\n%s", diff)
			}
			s.environment("wire: {client_id: /clientId}")
			s.mustRun(0)
			for i, row := range s.results() {
				if row["redirectUrl"] == "" || row["What to do"] != "" {
					t.Errorf("row %d with the right pointer is %v", i, row)
				}
			}
			s.checkPromise()
		})
	}
}

// TestURLThatWasLost has the answer to a client's creation lost. A look-up finds
// the client: the redirect url is gone with the answer, which is nobody's
// mistake and does not stop the run, and the row does not say that the client
// was known before.
func TestURLThatWasLost(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, "name: a\napi: v1\n"+clientPart, leads(2))
	s.service.Play(apitest.Once(onStep("client c1@example.com"), apitest.CreateThenDrop()))
	for range 2 {
		s.mustRun(0)
		if got := s.results()[0]["What to do"]; !strings.HasPrefix(got, "A look-up found the client after an attempt to create it") {
			t.Errorf("what to do: %q", got)
		}
	}
	s.checkPromise()
}

// TestAddressOfAParkedClient has the creation of a client end without an answer,
// to happen later, and another key with the same address in the next run's
// sheet: nothing is created for it while nobody knows about the first, and what
// the dry run says is what the run does.
func TestAddressOfAParkedClient(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, strings.Replace(stepThree, "key: E-mail", "key: First name", 1), leads(1))
	s.service.KeyField = "firstName"
	s.service.Play(apitest.Once(onStep("client Ann1"), apitest.DropBefore()))
	s.mustRun(4)
	s.service.Play(nil)
	other := lead(1, "A-2")
	other[0], other[1] = "C1@example.com", "Bob"
	s.sheet([][]any{other})
	plan := s.mustRun(1, "--dry-run")
	if p := s.mustRun(1); len(p.posts()) > 0 || plan.summary.Rows != p.summary.Rows {
		t.Errorf("created %v; rows %+v, foreseen %+v", p.posts(), p.summary.Rows, plan.summary.Rows)
	}
	row := s.results()[0]
	if !strings.Contains(row["Error"], "“Ann1” has the same e-mail address") || !strings.Contains(row["What to do"], "claimsheet settle") {
		t.Errorf("the row says %q: %q", row["Error"], row["What to do"])
	}
	s.settle("--not-created", "client")
	s.mustRun(0)
	if made := s.service.Created(); len(made["client Bob"]) != 1 || len(made["client Ann1"]) != 0 {
		t.Errorf("created %v", made)
	}
}

// TestRefusedQuestionsSayWhatToDo: where a GET is refused, or has no answer that
// can be read, the message says which it was and what to do.
func TestRefusedQuestionsSayWhatToDo(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	large := apitest.JSON(200, `"`+strings.Repeat("x", 64<<20)+`"`)
	for _, c := range []struct {
		name, kind string
		fault      apitest.Fault
		flags      []string
		code       int
		want       string
	}{
		{"templates moved", "templates", apitest.Answer(apitest.Reply{Status: 301}), nil, 3,
			"reading the activity templates got HTTP 301 Moved Permanently [no-service]\n  hint: the service redirects: check base_url\n"},
		{"templates, large", "templates", apitest.Answer(large), nil, 3,
			"reading the activity templates: HTTP 200 OK, but the answer is larger than 64 MiB [no-service]\n"},
		{"look-up", "lookup", apitest.Answer(apitest.JSON(401, "{}")), nil, 3,
			"the look-up by e-mail got HTTP 401 Unauthorized; check the environment's auth [no-service]\n"},
		{"look-up of a dry run", "lookup", apitest.Answer(apitest.JSON(401, "{}")), []string{"--dry-run"}, 3,
			"the look-up by e-mail got HTTP 401 Unauthorized; check the environment's auth [no-service]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(1))
			s.service.Play(func(call apitest.Call) apitest.Fault {
				if call.Kind == c.kind {
					return c.fault
				}
				return apitest.Fault{}
			})
			if p := s.mustRun(c.code, c.flags...); !strings.Contains(p.err, c.want) {
				t.Errorf("it says\n%swant\n%s", p.err, c.want)
			}
		})
	}
}

// TestHintsOfUncertainAnswers: what a rule of the environment says about an
// answer, or what we know of it, stands before the usual advice, and settle shows
// it on any later day.
func TestHintsOfUncertainAnswers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const claim, client = "claim c1@example.com/Loan A-1", "client c1@example.com"
	for _, c := range []struct {
		name, step string
		reply      apitest.Reply
		hint       string
		usual      string
		code       int // of the run that gets the answer
	}{
		{"rule", claim, apitest.JSON(500, "{}"), "Call the desk.", " Look in the service whether the claim exists.", 4},
		{"redirect", claim, apitest.Reply{Status: 302}, "the service redirects, perhaps to a login page: check base_url and auth", ". Look in the service", 3},
		{"parked", client, apitest.JSON(500, "{}"), "Call the desk.", " It is not sent again yet", 4},
		{"promise", "activity c1@example.com Your details", apitest.JSON(202, "{}"), "if the service's operator confirms that it is always done", "Look in the service", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(1))
			s.environment("errors: [{status: 500, means: uncertain, hint: Call the desk.}]")
			s.service.Play(apitest.Once(onStep(c.step), apitest.Answer(c.reply)))
			s.mustRun(c.code)
			if got := s.results()[0]["What to do"]; !strings.HasPrefix(got, c.hint) || !strings.Contains(got, c.usual) {
				t.Errorf("what to do: %q", got)
			}
			s.mustRun(4)
			if got := s.results()[0]["Error"]; !strings.Contains(got, c.hint) {
				t.Errorf("the next night's error: %q", got)
			}
			if code, out := s.exec("settle", "--environments", s.path("environments.yaml")); code != 4 || !strings.Contains(out, c.hint) {
				t.Errorf("settle (exit code %d) says\n%s", code, out)
			}
		})
	}
}

// TestStateFolderThatCannotBeWritten: a run that cannot note that it holds the
// ledger sends nothing, and says what it could not write and what to do.
func TestStateFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(1))
	s.mustRun(0)
	inTheWay := s.path(".claimsheet/ledger.db.holder/in the way")
	if err := os.MkdirAll(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	p := s.mustRun(3)
	if !strings.Contains(p.err, "ledger.db.holder: the holder of the ledger cannot be noted: ") || !strings.Contains(p.err, "hint: Let this user write to the folder") {
		t.Errorf("it says\n%s", p.err)
	}
}

// TestOneURLWithoutIDs has the service answer with one redirect url for all
// clients and without their ids. The url is the first one's; the others are
// found by the next night's look-ups, and have none.
func TestOneURLWithoutIDs(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, "name: a\napi: v1\n"+clientPart, leads(3))
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if !strings.HasPrefix(c.Step, "client ") {
			return apitest.Fault{}
		}
		return apitest.CreateThen(apitest.JSON(201, `{"redirectUrl":"https://portal.example.com/login"}`))
	})
	s.mustRun(3, "--concurrency", "1")
	if got, want := column(s.results(), "Import status"), []string{"done", "uncertain", "uncertain"}; !slices.Equal(got, want) {
		t.Errorf("status %q, want %q\n%s", got, want, s.errors())
	}
	if p := s.mustRun(0); p.posts()["client"] != 0 {
		t.Errorf("posts %v", p.posts())
	}
	if got := column(s.results(), "redirectUrl"); got[0] == "" || got[1] != "" || got[2] != "" {
		t.Errorf("urls %q", got)
	}
	s.checkPromise()
}

// TestURLOfAParkedClient: the answer that brought the redirect url lacked the
// id, and while the client was not found another one got the same url. The client
// is taken over without it.
func TestURLOfAParkedClient(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, "name: a\napi: v1\n"+clientPart, leads(1))
	answer := `{"redirectUrl":"https://portal.example.com/login"}`
	s.service.Play(func(c apitest.Call) apitest.Fault {
		switch {
		case c.Step == "client c1@example.com":
			return apitest.CreateThen(apitest.JSON(201, answer))
		case strings.HasSuffix(c.Path, "/c1%40example.com"):
			return apitest.Answer(s.service.Nobody)
		case strings.HasPrefix(c.Step, "client "):
			return apitest.CreateThen(apitest.JSON(201, `{"clientId":"c0000000-0000-4000-8000-000000000077",`+answer[1:]))
		}
		return apitest.Fault{}
	})
	s.mustRun(4)
	s.sheet(leads(2))
	s.mustRun(4)
	s.service.Play(nil)
	for _, flags := range [][]string{{"--dry-run"}, nil, nil} {
		s.mustRun(0, flags...)
	}
	if got := column(s.results(), "redirectUrl"); got[0] != "" || got[1] == "" {
		t.Errorf("urls %q", got)
	}
	if row := s.results()[0]; row["clientId"] == "" {
		t.Errorf("the row is %v", row)
	}
}
