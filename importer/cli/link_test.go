package cli_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/ledger"
)

// linked is a workplace whose two clients have links.
func linked(t *testing.T) workplace {
	w := newWorkplace(t, [2]string{"ann@example.com", "A-1"}, [2]string{"bob@example.com", "B-1"})
	w.run(0,
		postContact, "claims", "activities?claimId=claim-1", "contacts/contact-1/magic-link",
		postContact, "claims", "activities?claimId=claim-2", "contacts/contact-2/magic-link")
	return w
}

// TestLink asks for fresh links. The next run shows them and sends nothing.
func TestLink(t *testing.T) {
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

// TestLinkBeforeTheRunGotThere makes the link of a client whose claim failed.
func TestLinkBeforeTheRunGotThere(t *testing.T) {
	w := newWorkplace(t, [2]string{"ann@example.com", "A-1"})
	w.say(map[string]string{"claims": `422 {"message":"no"}`})
	if got := w.claimsheet("run", w.path("leads.xlsx")); got.code == 0 {
		t.Fatal("the claim did not fail")
	}
	w.news()
	w.say(nil)
	if out := w.must("link", "ann@example.com"); out != "ann@example.com\thttps://claims.example.com/go/link-1\n" {
		t.Errorf("printed %q", out)
	}
	w.expectPosts("contacts/contact-1/magic-link")
	w.run(0, "claims", "activities?claimId=claim-1")
}

// TestLinkTrouble gives an exit code to each way in which a link is not made,
// and goes on with the other clients unless none will fare better.
func TestLinkTrouble(t *testing.T) {
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

// TestLinkUncertainIsNotRepeated leaves an uncertain link to the operator.
func TestLinkUncertainIsNotRepeated(t *testing.T) {
	w := linked(t)
	w.say(map[string]string{"contacts/contact-1/": badGateway})
	if got := w.claimsheet("link", "ann@example.com"); got.code != 4 || got.out != "" {
		t.Errorf("no answer: exit code %d, want 4; printed %q", got.code, got.out)
	}
	w.say(nil)
	w.expectPosts("contacts/contact-1/magic-link")
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
	w.golden("link_refused.txt", all.String())
	w.expectPosts()
}

// TestLinkAmbiguous asks which client, and whose link, is meant.
func TestLinkAmbiguous(t *testing.T) {
	w := linked(t)
	// Another mapping has a client with this text as its lead number, and this
	// client too.
	l, err := ledger.Open(w.path(".claimsheet/ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	owner := ledger.Owner{Environment: w.URL, Space: "leads", Client: "ann@example.com"}
	client := ledger.StepID{Owner: owner, Step: "client"}
	bob := ledger.StepID{Owner: ledger.Owner{Environment: w.URL, Space: "email", Client: "bob@example.com"}, Mapping: "cars", Step: "link"}
	err = l.Append(
		ledger.Event{StepID: client, To: ledger.Done, Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: "contact-9", At: someTime},
		ledger.Event{StepID: bob, To: ledger.Intent, Kind: ledger.KindLink, At: someTime},
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
	w.must("link", "leads:ann@example.com")
	w.expectPosts("contacts/contact-9/magic-link")

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
