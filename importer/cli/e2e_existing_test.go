package cli_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// byAgreement keys clients by their agreement, so that the cells of e-mail and
// phone may be empty or shared.
func byAgreement(existing, more string) string {
	return fmt.Sprintf(`
name: known
api: v2
client:
  key: Agreement no
  existing: %s
  lookup: {email: E-mail, phone: {column: Mobile, type: Phone, region: GB, format: e164}%s}
  fields:
    ref: Agreement no
    email: {column: E-mail, type: Email}
    phone: {column: Mobile, type: Phone, region: GB, format: e164}
`, existing, more)
}

// newKnownScene has clients; the service knows the second.
func newKnownScene(t *testing.T, existing, more string) (s *scene, known string) {
	s = newScene(t, byAgreement(existing, more), leads(3))
	s.service.KeyField = "ref"
	return s, s.service.AddClient("A-2", "C2@example.com", "+447911123002")
}

// TestExisting: what becomes of a client that the service knows already, for each
// value of existing.
func TestExisting(t *testing.T) {
	t.Parallel()
	cases := []struct {
		existing string
		code     int
		steps    []string // of the known client
		status   string
	}{
		{"reuse", 0, []string{"link A-2"}, "done"},
		{"skip", 0, nil, "skipped"},
		{"fail", 1, nil, "failed"},
		{"create", 0, []string{"client A-2", "link A-2"}, "done"},
	}
	for _, c := range cases {
		t.Run(c.existing, func(t *testing.T) {
			t.Parallel()
			s, known := newKnownScene(t, c.existing, "")
			p := s.mustRun(c.code)
			var steps []string
			lookups := 0
			for _, call := range p.calls {
				switch {
				case call.Kind == "lookup":
					lookups++
				case call.Client == "A-2":
					steps = append(steps, call.Step)
				}
			}
			if diff := cmp.Diff(c.steps, steps); diff != "" {
				t.Errorf("steps of the known client (-want +got):\n%s", diff)
			}
			if (lookups == 0) != (c.existing == "create") {
				t.Errorf("%d look-ups were sent", lookups)
			}
			rows := s.results()
			if diff := cmp.Diff([]string{"done", c.status, "done"}, column(rows, "Import status")); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
			if got := rows[1]["contactId"]; c.existing != "create" && got != known {
				t.Errorf("contactId %q, want %q", got, known)
			}
			if posts := s.mustRun(c.code).posts(); len(posts) > 0 {
				t.Errorf("the second run created %v", posts)
			}
		})
	}
}

// TestExistingActivitiesSkip: a client who was found gets claims, their activities and
// a link, and none of the activities on the client; also in later runs, and after the
// ledger was lost. The dry run says the same.
func TestExistingActivitiesSkip(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, strings.Replace(stepThree, "  key: E-mail\n", "  key: E-mail\n  existing_activities: skip\n", 1), leads(2))
	known := s.service.AddClient("c2@example.com", "c2@example.com", "")
	p := s.foretold(0)
	if diff := cmp.Diff(map[string]int{"client": 1, "claim": 2, "activity": 4, "link": 2}, p.posts()); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	check := func(statuses ...string) {
		t.Helper()
		if diff := cmp.Diff(statuses, column(s.results(), "Import status")); diff != "" {
			t.Errorf("statuses (-want +got):\n%s", diff)
		}
		if r := s.results()[1]; r["contactId"] != known || r["redirectUrl"] == "" {
			t.Errorf("the known client's row says %v", r)
		}
		var skipped []string
		for _, step := range s.steps() {
			if strings.HasPrefix(step["State"], "skipped") {
				skipped = append(skipped, step["Client key"]+" "+step["Step"]+" "+step["State"])
			}
		}
		const state = "skipped (existing_activities)"
		if diff := cmp.Diff([]string{"c2@example.com activity/Your details@client " + state, "c2@example.com activity/Sign your claim@client " + state}, skipped); diff != "" {
			t.Errorf("skipped steps (-want +got):\n%s", diff)
		}
	}
	check("done", "done")
	if posts := s.mustRun(0).posts(); len(posts) > 0 {
		t.Errorf("the second run created %v", posts)
	}
	check("unchanged", "unchanged")
	s.restoreState("")
	before := len(s.service.Created())
	if code, said := s.rerun("--yes", "leads.results.xlsx"); code != 0 || len(s.service.Created()) != before {
		t.Errorf("without the ledger: exit code %d\n%s", code, said)
	}
	check("unchanged", "unchanged")
}

// TestKnownClientV1: a known client gets its activities and no redirect url: the
// service gives one only when it creates a client.
func TestKnownClientV1(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, "name: b\napi: v1\n"+clientPart+"activities:"+detailsActivity, leads(2))
	known := s.service.AddClient("c2@example.com", "c2@example.com", "")
	p := s.mustRun(0)
	if diff := cmp.Diff(map[string]int{"client": 1, "activity": 2}, p.posts()); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	r := s.results()[1]
	if r["clientId"] != known || r["Import status"] != "done" || r["redirectUrl"] != "" || !strings.Contains(r["What to do"], "redirect url") {
		t.Errorf("the row says %v", r)
	}
	if p.summary.WithoutLink != 1 {
		t.Errorf("withoutLink is %d, want 1", p.summary.WithoutLink)
	}
}

// lookups returns the look-ups as text, without the probes for invented addresses.
func lookups(p played) string {
	var list []string
	for _, c := range p.calls {
		if c.Kind == "lookup" {
			list = append(list, c.Path[strings.LastIndex(c.Path, "/by-")+1:])
		}
	}
	return strings.Join(list, "\n")
}

// TestPhoneLookup: the look-up by phone is sent only where the e-mail cell is empty,
// unless confirm asks for both.
func TestPhoneLookup(t *testing.T) {
	t.Parallel()
	rows := leads(3)
	rows[1][0] = ""
	s, known := newKnownScene(t, "reuse", "")
	s.sheet(rows)
	p := s.mustRun(0, "--concurrency", "1")
	text := lookups(p)
	for path, want := range map[string]bool{
		"by-email/c1%40example.com": true, "by-email/c3%40example.com": true,
		"by-phone/%2B447911123002": true, "by-phone/%2B447911123001": false, "by-phone/%2B447911123003": false,
	} {
		plus := strings.ReplaceAll(path, "%2B", "+")
		if got := strings.Contains(text, path) || strings.Contains(text, plus); got != want {
			t.Errorf("look-up %s was sent: %v, want %v", path, got, want)
		}
	}
	if got := s.results()[1]["contactId"]; got != known {
		t.Errorf("contactId %q, want %q, who was found by phone", got, known)
	}
}

// TestConfirm: with confirm both look-ups are sent, and nothing is created where they
// disagree.
func TestConfirm(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s, known := newKnownScene(t, "reuse", ", confirm: true")
	s.service.AddClient("other", "other@example.com", "+447911123003") // A-3's phone, another's e-mail
	p := s.mustRun(1)
	if diff := cmp.Diff([]string{"done", "done", "failed"}, column(s.results(), "Import status")); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if got := s.results()[1]["contactId"]; got != known {
		t.Errorf("contactId %q, want %q", got, known)
	}
	for _, c := range p.calls {
		if c.Method != "GET" && (c.Client == "A-3" || c.Client == "other") {
			t.Errorf("%s was sent, though the look-ups disagree", c.Step)
		}
	}
}

// TestNobodyFound: every way in which a service may say that it knows nobody is
// understood.
func TestNobodyFound(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, nobody := range map[string]apitest.Reply{
		"404 JSON": apitest.JSON(404, `{"message":"not found"}`), "404 empty": apitest.JSON(404, ""),
		"200 null": apitest.JSON(200, "null"), "200 {}": apitest.JSON(200, "{}"), "200 []": apitest.JSON(200, "[]"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, known := newKnownScene(t, "reuse", "")
			s.service.Nobody = nobody
			p := s.mustRun(0)
			if diff := cmp.Diff(map[string]int{"client": 2, "link": 3}, p.posts()); diff != "" {
				t.Errorf("created (-want +got):\n%s", diff)
			}
			if got := s.results()[1]["contactId"]; got != known {
				t.Errorf("contactId %q, want %q", got, known)
			}
		})
	}
}

// unclear are answers to a look-up that say nothing about whether the client
// exists.
var unclear = []apitest.Reply{
	apitest.HTML(404), apitest.HTML(200), apitest.JSON(500, `{}`), apitest.JSON(503, `{}`), apitest.JSON(403, `{"message":"no"}`),
	apitest.JSON(200, `{"status":"ok"}`), apitest.JSON(200, `"`), apitest.JSON(404, `{"error":"no such path"}`), apitest.JSON(304, ""),
	apitest.JSON(200, `[{"contactId":"x1"},{"contactId":"x2"}]`),
}

// TestUnclearLookup: an unclear answer is never taken for "nobody": nothing is
// created for the client, the others go on, and the next run asks again.
func TestUnclearLookup(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(len(unclear)+2))
	s.service.Play(func(c apitest.Call) apitest.Fault {
		for i, reply := range unclear {
			if strings.HasSuffix(c.Path, fmt.Sprintf("/c%d%%40example.com", i+2)) {
				return apitest.Answer(reply)
			}
		}
		return apitest.Fault{}
	})
	p := s.mustRun(1)
	if p.posts()["client"] != 2 || p.summary.Rows.Failed != len(unclear) || p.summary.Rows.Done != 2 {
		t.Errorf("created %v, rows %+v", p.posts(), p.summary.Rows)
	}
	s.service.Play(nil)
	s.mustRun(0)
	s.checkPromise()
}

// TestPhoneProbe: the number that is looked up to learn what “not found” looks like has
// the mapping's format and region. Where a service refuses it none the less, the message says
// what it was, and not_found in the environment makes it unnecessary.
func TestPhoneProbe(t *testing.T) {
	t.Parallel()
	byPhone := func(t *testing.T, value, accepted string) *scene {
		s := newScene(t, strings.Replace(stepThree, "{email: E-mail}", "{phone: "+value+"}", 1), leads(2))
		s.service.Play(func(c apitest.Call) apitest.Fault {
			number, err := url.PathUnescape(c.Path[strings.LastIndex(c.Path, "/")+1:])
			if c.Kind == "lookup" && (err != nil || !regexp.MustCompile(accepted).MatchString(number)) {
				return apitest.Answer(apitest.JSON(400, `{"message":"not a phone number"}`))
			}
			return apitest.Fault{}
		})
		return s
	}
	for value, accepted := range map[string]string{
		"{column: Mobile, type: Phone, region: GB, format: national}":      `^07\d{3} \d{6}$`,
		"{column: Mobile, type: Phone, region: GB, format: international}": `^\+44 7\d{3} \d{6}$`,
		"{column: Mobile, type: Phone, region: DE}":                        `^\+49\d+$`,
		"{column: Mobile, type: Phone, region: DE, format: national}":      `^0[\d ]+$`,
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			byPhone(t, value, accepted).mustRun(0)
		})
	}
	t.Run("raw", func(t *testing.T) {
		t.Parallel()
		s := byPhone(t, "{column: Mobile, type: Phone, format: raw}", `^07911 123\d{3}$`)
		p := s.mustRun(1)
		for _, want := range []string{"HTTP 400", "+447700900", "invented", "not_found"} {
			if row := s.results()[0]; !strings.Contains(row["Error"]+row["What to do"], want) {
				t.Errorf("the row does not say %q: %s; %s", want, row["Error"], row["What to do"])
			}
		}
		s.environment("not_found: {status: [404]}")
		if p = s.mustRun(0); strings.Contains(transcript(p.calls), "7700900") {
			t.Errorf("an invented number is looked up in spite of not_found:\n%s", transcript(p.calls))
		}
	})
}

// TestNotFoundIsNotAPage: with not_found, which sends no probe, a web page still shows
// nothing about a client, and one form of “not found” is believed.
func TestNotFoundIsNotAPage(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(3))
	s.environment("not_found: {status: [404]}")
	s.service.Play(func(c apitest.Call) apitest.Fault {
		for client, reply := range map[string]apitest.Reply{"/c2%40example.com": apitest.HTML(404), "/c3%40example.com": apitest.JSON(404, `{"error":"no route"}`)} {
			if strings.HasSuffix(c.Path, client) {
				return apitest.Answer(reply)
			}
		}
		return apitest.Fault{}
	})
	if p := s.mustRun(1); p.posts()["client"] != 1 || p.summary.Requests.Lookup != 3 {
		t.Errorf("created %v with %d look-ups, want 1 client with 3", p.posts(), p.summary.Requests.Lookup)
	}
}

// TestLookupsBehindAPage: nothing is created while a web page answers every look-up,
// the probe for an invented address included.
func TestLookupsBehindAPage(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, page := range []apitest.Reply{apitest.HTML(200), apitest.HTML(404), apitest.JSON(500, "{}")} {
		t.Run(fmt.Sprint(page.Status), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(2))
			nobody := s.service.Nobody
			s.service.Nobody = page
			p := s.run()
			if len(p.posts()) > 0 || p.code == 0 {
				t.Errorf("exit code %d, created %v", p.code, p.posts())
			}
			s.service.Nobody = nobody
			s.mustRun(0)
		})
	}
}

// TestOneIDForTwoKeys: two client keys are one client for the service, known before or
// new: one of the two rows fails and names the key of the other.
func TestOneIDForTwoKeys(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	rows := leads(3)
	rows[2][0] = rows[1][0] // A-3 has A-2's e-mail
	for name, known := range map[string]bool{"known before": true, "new": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, byAgreement("reuse", ""), rows)
			s.service.KeyField = "ref"
			if known {
				s.service.AddClient("A-2", "c2@example.com", "")
			}
			s.mustRun(1)
			results := s.results()
			status := column(results, "Import status")
			if status[0] != "done" || status[1] != "failed" && status[2] != "failed" {
				t.Fatalf("statuses %q, want one of the last two failed", status)
			}
			for _, r := range results {
				if other := map[string]string{"A-2": "A-3", "A-3": "A-2"}[r["Agreement no"]]; r["Import status"] == "failed" && !strings.Contains(r["Error"], other) {
					t.Errorf("the row of %s does not name %s: %q", r["Agreement no"], other, r["Error"])
				}
			}
			made := s.service.Created()
			if n := len(made["client A-2"]) + len(made["client A-3"]); known && n != 0 || !known && n != 1 {
				t.Errorf("the person was created %d times", n)
			}
		})
	}
}

// TestAddressOfAnotherClient: two clients of one sheet share the address by which they
// are looked up, and the look-ups of the service do not show yet what was just
// created. The message says only what the sheet and the service have said.
func TestAddressOfAnotherClient(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, c := range map[string]struct {
		column int // of the sheet, that they share
		empty  int // and one that is empty, so that the other decides; -1 for none
		want   string
	}{
		"e-mail": {0, -1, "the client of the key “A-1” has the same e-mail address"},
		"phone":  {2, 0, "the client of the key “A-1” has the same phone number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := leads(2)
			rows[1][c.column] = rows[0][c.column]
			if c.empty >= 0 {
				rows[0][c.empty], rows[1][c.empty] = "", ""
			}
			s := newScene(t, byAgreement("reuse", ""), rows)
			s.service.KeyField = "ref"
			s.service.Play(func(call apitest.Call) apitest.Fault {
				if call.Kind == "lookup" {
					return apitest.Answer(s.service.Nobody)
				}
				return apitest.Fault{}
			})
			const advice = "If they are one person, give the rows one client key; if not, correct the address."
			for _, run := range []struct{ flag, file string }{{"--dry-run", "leads.plan.xlsx"}, {"--no-progress", "leads.results.xlsx"}} {
				s.mustRun(1, "--concurrency", "1", run.flag)
				got := s.workbook(run.file, "Results")[1]
				if got["Error"] != c.want || got["What to do"] != advice {
					t.Errorf("%s: Error: %q, want %q; What to do: %q", run.flag, got["Error"], c.want, got["What to do"])
				}
			}
		})
	}
}

// TestForecastOfOneAddressInTwo: where both look-ups must agree, a client who has
// only the phone number of another one of the sheet is not taken for that one, and
// the dry run says so.
func TestForecastOfOneAddressInTwo(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, existing := range []string{"reuse", "skip", "fail"} {
		t.Run(existing, func(t *testing.T) {
			t.Parallel()
			rows := leads(3)
			rows[2][2] = rows[0][2]
			s := newScene(t, byAgreement(existing, ", confirm: true"), rows)
			s.service.KeyField = "ref"
			plan := s.run("--dry-run")
			if p := s.mustRun(1); plan.code != p.code || plan.summary.Requests != p.summary.Requests || p.summary.Rows.Failed != 1 || plan.summary.Rows.Failed != 1 {
				t.Errorf("foreseen were exit code %d, rows %+v; it was %d, rows %+v", plan.code, plan.summary.Rows, p.code, p.summary.Rows)
			}
		})
	}
}

// TestRerunOfAClientLeftOut: a client was refused, and the service has learnt of it
// since, so it is left out. The results workbook shows its id, and a rerun of that
// workbook says the same.
func TestRerunOfAClientLeftOut(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, byAgreement("skip", ""), leads(3))
	s.service.KeyField = "ref"
	s.service.Play(apitest.Once(onStep("client A-2"), apitest.Answer(apitest.JSON(400, "{}"))))
	s.mustRun(1)
	s.service.AddClient("Z", "c2@example.com", "")
	if p := s.mustRun(0); p.summary.Rows.Skipped != 1 {
		t.Fatalf("rows %+v", p.summary.Rows)
	}
	if p := runMain(t, "", "rerun", "-m", s.path("mapping.yaml"), "--json", s.path("leads.results.xlsx")); p.code != 0 || p.summary.Rows.Skipped != 1 {
		t.Errorf("exit code %d, rows %+v\n%s", p.code, p.summary.Rows, p.err)
	}
}
