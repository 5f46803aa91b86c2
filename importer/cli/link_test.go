package cli_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/ledger"
)

// linked is a workplace whose two clients have links.
func linked(t *testing.T) *workplace {
	w := newWorkplace(t, [2]string{"ann@example.com", "A-1"}, [2]string{"bob@example.com", "B-1"})
	w.run(0,
		postContact, "claims", "activities?claimId=claim-1", "contacts/contact-1/magic-link",
		postContact, "claims", "activities?claimId=claim-2", "contacts/contact-2/magic-link")
	return w
}

// TestLink asks for fresh links. The next run shows them and sends nothing.
func TestLink(t *testing.T) {
	t.Parallel()
	w := linked(t)
	out := w.must("link", "BOB@example.com", "email:ann@example.com")
	if want := "bob@example.com\thttps://claims.example.com/go/link-3\nann@example.com\thttps://claims.example.com/go/link-4\n"; out != want {
		t.Errorf("printed %q\nwant    %q", out, want)
	}
	w.expectPosts("contacts/contact-2/magic-link", "contacts/contact-1/magic-link")
	w.run(0)
	want := []string{"https://claims.example.com/go/link-4", "https://claims.example.com/go/link-3"}
	if diff := cmp.Diff(want, w.column("redirectUrl")); diff != "" {
		t.Errorf("redirectUrl (-want +got):\n%s", diff)
	}
}

// TestLinkWaits: a link that the client has not got yet is for what is behind
// it, as in a run.
func TestLinkWaits(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, c := range []struct {
		name, at, answer string
		run              int
		says             []string
		settle           string   // a decision
		rest             []string // what the next run sends
	}{
		{"the claim was refused", "claims", `422 {"message":"no"}`, 1, []string{"kind claim", "refused"}, "",
			[]string{"claims", "activities?claimId=claim-1", "contacts/contact-1/magic-link"}},
		{"the claim is uncertain", "claims", badGateway, 4, []string{"kind claim", "uncertain", "claimsheet settle"}, "", nil},
		{"the run was stopped behind the claim", "activities?claimId=", "401 {}", 3, []string{"kind activity", "refused"}, "",
			[]string{"activities?claimId=claim-1", "contacts/contact-1/magic-link"}},
		{"an activity was given up", "activities?claimId=", badGateway, 4, []string{"kind activity", "closed"}, "--give-up", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorkplace(t, [2]string{"ann@example.com", "A-1"})
			w.say(map[string]string{c.at: c.answer})
			if got := w.claimsheet("run", w.path("leads.xlsx")); got.code != c.run {
				t.Fatalf("exit code %d, want %d\n%s", got.code, c.run, got.err)
			}
			w.news()
			w.say(nil)
			if c.settle != "" {
				w.must("settle", c.settle, w.numbers()[0])
			}
			got := w.claimsheet("link", "ann@example.com")
			if got.code != 2 || got.out != "" || !strings.Contains(got.err, "[link-waits]") {
				t.Errorf("exit code %d, want 2\n%s", got.code, got.err)
			}
			for _, words := range c.says {
				if !strings.Contains(got.err, words) {
					t.Errorf("the refusal does not say %q:\n%s", words, got.err)
				}
			}
			w.expectPosts()
			if c.rest != nil {
				w.run(0, c.rest...)
			}
		})
	}
}

// TestLinkThatFailed is asked for by command: nothing else is missing.
func TestLinkThatFailed(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	w := newWorkplace(t, [2]string{"ann@example.com", "A-1"})
	w.say(map[string]string{"contacts/contact-1/": `422 {"message":"no"}`})
	if got := w.claimsheet("run", w.path("leads.xlsx")); got.code == 0 {
		t.Fatal("the link did not fail")
	}
	w.news()
	w.say(nil)
	if out := w.must("link", "ann@example.com"); out != "ann@example.com\thttps://claims.example.com/go/link-1\n" {
		t.Errorf("printed %q", out)
	}
	w.expectPosts("contacts/contact-1/magic-link")
	w.run(0)
}

// TestLinkOfAClientWithANewClaim: what came after a link does not take it back.
func TestLinkOfAClientWithANewClaim(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	w := linked(t)
	w.leads([2]string{"ann@example.com", "A-1"}, [2]string{"ann@example.com", "A-2"})
	w.say(map[string]string{"claims": `422 {"message":"no"}`})
	if got := w.claimsheet("run", w.path("leads.xlsx")); got.code != 1 {
		t.Fatalf("exit code %d\n%s", got.code, got.err)
	}
	w.news()
	w.must("link", "ann@example.com")
	w.expectPosts("contacts/contact-1/magic-link")
}

// TestLinkTrouble gives an exit code to each way in which a link is not made,
// and goes on with the other clients unless none will fare better.
func TestLinkTrouble(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, c := range []struct {
		name, answer string
		code         int
		out          string
		posts        []string
	}{
		{"refused", `422 {"message":"ann@example.com is barred"}`, 1, "bob@example.com\thttps://claims.example.com/go/link-3\n",
			[]string{"contacts/contact-1/magic-link", "contacts/contact-2/magic-link"}},
		{"without a url", `200 {"url":"https://claims.example.com/go/elsewhere"}`, 4, "bob@example.com\thttps://claims.example.com/go/link-3\n",
			[]string{"contacts/contact-1/magic-link", "contacts/contact-2/magic-link"}},
		{"unauthorised", `401 {}`, 3, "", []string{"contacts/contact-1/magic-link"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := linked(t)
			w.say(map[string]string{"contacts/contact-1/": c.answer})
			got := w.claimsheet("link", "ann@example.com", "bob@example.com")
			if got.code != c.code || got.out != c.out {
				t.Errorf("exit code %d, want %d; printed %q", got.code, c.code, got.out)
			}
			if got.err == "" || strings.Contains(got.err, "example.com") {
				t.Errorf("the message is empty, or quotes a key, a url or the service:\n%s", got.err)
			}
			w.expectPosts(c.posts...)
		})
	}
}

// TestLinkKeepsTheOneThatIsDone: whatever becomes of a fresh link, the client
// has the old one until there is another, and another may be asked for.
func TestLinkKeepsTheOneThatIsDone(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, c := range []struct {
		name, answer string
		code         int
		says         string // what the client's history tells of it
	}{
		{"no answer", badGateway, 4, "a fresh link may or may not have been made: HTTP 502"},
		{"refused", `422 {}`, 1, "no fresh link was made: HTTP 422"},
		{"without a url", `200 {"url":"https://claims.example.com/go/elsewhere"}`, 4, "a fresh link may or may not have been made: "},
		{"unauthorised", `401 {}`, 3, "no fresh link was made: HTTP 401"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := linked(t)
			before := w.column("redirectUrl")
			w.say(map[string]string{"contacts/contact-1/": c.answer})
			got := w.claimsheet("link", "ann@example.com")
			if got.code != c.code || got.out != "" {
				t.Errorf("exit code %d, want %d; printed %q", got.code, c.code, got.out)
			}
			w.say(nil)
			w.expectPosts("contacts/contact-1/magic-link")
			w.run(0)
			if diff := cmp.Diff(before, w.column("redirectUrl")); diff != "" {
				t.Errorf("redirectUrl (-want +got):\n%s", diff)
			}
			if out := w.must("settle"); out != "nothing is uncertain\n" {
				t.Errorf("settle says %q", out)
			}
			if out := w.must("history", "ann@example.com"); !strings.Contains(out, c.says) {
				t.Errorf("the history does not say %q:\n%s", c.says, out)
			}
			if out := w.must("link", "ann@example.com"); out != "ann@example.com\thttps://claims.example.com/go/link-3\n" {
				t.Errorf("asked once more: printed %q", out)
			}
			w.expectPosts("contacts/contact-1/magic-link")
		})
	}
}

// TestLinkUncertainIsNotRepeated leaves a link that is uncertain, and the only
// one, to the operator.
func TestLinkUncertainIsNotRepeated(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t, [2]string{"ann@example.com", "A-1"})
	w.say(map[string]string{"contacts/contact-1/": badGateway})
	if got := w.claimsheet("run", w.path("leads.xlsx")); got.code != 4 {
		t.Fatalf("exit code %d\n%s", got.code, got.err)
	}
	w.news()
	w.say(nil)
	if got := w.claimsheet("link", "ann@example.com"); got.code != 2 || !strings.Contains(got.err, "[link-undecided]") {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
	w.run(4)
	w.must("settle", "--not-created", "link")
	w.must("link", "ann@example.com")
	w.expectPosts("contacts/contact-1/magic-link")
	w.run(0)
}

// TestLinkRefuses sends nothing, for any client, when a key is wrong.
func TestLinkRefuses(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	w := linked(t)
	var all strings.Builder
	for _, c := range []struct {
		name string
		keys []string
	}{
		{"none", nil},
		{"unknown", []string{"ann@example.com", "eve@example.com", "phone:bob@example.com"}},
		{"twice", []string{"ann@example.com", "ANN@example.com"}},
	} {
		got := w.claimsheet("link", c.keys...)
		if got.code != 2 || got.out != "" {
			t.Errorf("%s: exit code %d, want 2\n%s", c.name, got.code, got.out)
		}
		all.WriteString(c.name + "\n" + got.err + "\n")
	}
	write(t, w.path("mapping.yaml"), workMappingV1)
	all.WriteString("version 1\n" + w.claimsheet("link", "ann@example.com").err)
	w.leads([2]string{"eve@example.com", ""})
	w.must("run", w.path("leads.xlsx"))
	w.news()
	all.WriteString("\na client of version 1\n" + w.claimsheetBare("link", "--environments", w.path("environments.yaml"), "eve@example.com").err)
	w.golden("link_refused.txt", all.String())
	w.expectPosts()
}

// TestLinkAmbiguous asks which client, and whose link, is meant.
func TestLinkAmbiguous(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	w := linked(t)
	other := w.service.AddClient("ann@example.com", "", "")
	// Another mapping has a client with this text as its lead number, and this
	// client too.
	l, err := ledger.Open(w.path(".claimsheet/ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	owner := ledger.ClientKey{Environment: w.url, Space: "leads", Client: "ann@example.com"}
	client := ledger.StepID{ClientKey: owner, Step: "client"}
	link := ledger.StepID{ClientKey: owner, Mapping: "cars", Step: "link"}
	bob := ledger.StepID{ClientKey: ledger.ClientKey{Environment: w.url, Space: "email", Client: "bob@example.com"}, Mapping: "cars", Step: "link"}
	err = l.Append(
		ledger.Event{StepID: client, To: ledger.Done, Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: other, At: someTime},
		ledger.Event{StepID: link, To: ledger.Sent, Kind: ledger.KindLink, At: someTime},
		ledger.Event{StepID: link, To: ledger.Done, Via: ledger.ViaAnswer, URL: "https://claims.example.com/go/leads", At: someTime},
		ledger.Event{StepID: bob, To: ledger.Sent, Kind: ledger.KindLink, At: someTime},
		ledger.Event{StepID: bob, To: ledger.Done, Via: ledger.ViaAnswer, URL: "https://claims.example.com/go/cars", At: someTime})
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := w.claimsheet("link", "ann@example.com"); got.code != 2 || !strings.Contains(got.err, "email, leads") {
		t.Errorf("two kinds of key: exit code %d\n%s", got.code, got.err)
	}
	if got := w.claimsheet("link", "leads:ann@example.com"); got.code != 2 || !strings.Contains(got.err, "[link-waits]") {
		t.Errorf("a mapping that has not asked for a link: exit code %d\n%s", got.code, got.err)
	}
	w.claimsheetBare("link", "--environments", w.path("environments.yaml"), "leads:ann@example.com")
	w.expectPosts("contacts/" + other + "/magic-link")

	got := w.claimsheetBare("link", "--environments", w.path("environments.yaml"), "bob@example.com")
	if got.code != 2 || !strings.Contains(got.err, "cars, loans") {
		t.Errorf("two mappings: exit code %d\n%s", got.code, got.err)
	}
	got = w.claimsheetBare("link", "--environments", w.path("environments.yaml"), "leads:ann@example.com")
	if got.code != 0 {
		t.Errorf("one mapping's link: exit code %d\n%s", got.code, got.err)
	}
	w.news()
	w.must("link", "bob@example.com")
	w.expectPosts("contacts/contact-2/magic-link")
}

// TestDeskWithoutAPlace does not guess where the ledger is.
func TestDeskWithoutAPlace(t *testing.T) {
	w := newWorkplace(t, [2]string{"ann@example.com", "A-1"})
	t.Chdir(t.TempDir())
	for _, words := range [][]string{{"settle"}, {"settle", "-e", "sandbox"}, {"settle", "-m", "mistyped.yaml"}} {
		if got := w.claimsheetBare(words...); got.code != 2 || got.out != "" {
			t.Errorf("%s: exit code %d, want 2\n%s", words, got.code, got.out)
		}
	}
	t.Chdir(w.dir)
	if got := w.claimsheetBare("settle"); got.code != 0 {
		t.Errorf("beside the environments file: exit code %d\n%s", got.code, got.err)
	}
}
