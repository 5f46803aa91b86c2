package cli_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger"
)

const (
	annsLink = "contacts/contact-1/magic-link"
	goTo     = "https://claims.example.com/go/"
)

// newFreshLinks is a workplace whose mapping wants fresh links, after a night with a
// claim of Ann's. The sheet of the next night has one more.
func newFreshLinks(t *testing.T) *workplace {
	t.Helper()
	w := newWorkplace(t, [2]string{"ann@example.com", "A-1"})
	write(t, w.path("mapping.yaml"), workMapping+"link: on_new_claim\n")
	w.run(0, postContact, "claims", "activities?claimId=claim-1", annsLink)
	w.leads([2]string{"ann@example.com", "A-1"}, [2]string{"ann@example.com", "A-2"})
	return w
}

// shows expects the redirect url of all rows.
func (w *workplace) shows(link string) {
	w.t.Helper()
	for _, url := range w.column("redirectUrl") {
		if url != goTo+link {
			w.t.Errorf("a row shows %q, want %q", url, goTo+link)
		}
	}
}

// linksKept returns the urls of Ann's links that the ledger has, by step.
func (w *workplace) linksKept() map[string]string {
	w.t.Helper()
	l, err := ledger.OpenReadOnly(w.path(".claimsheet/ledger.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer l.Close()
	steps, err := l.Steps(w.t.Context(), ledger.ClientKey{Environment: w.url, Space: "email", Client: "ann@example.com"}, "loans")
	if err != nil {
		w.t.Error(err)
	}
	links := map[string]string{}
	for key, s := range steps {
		if s.Kind == ledger.KindLink {
			links[key] = s.URL
		}
	}
	return links
}

// TestFreshLink: a new claim of a known client brings one fresh link, as the dry run
// says, and the workbook shows it from then on, also a workbook that is made without
// the ledger.
func TestFreshLink(t *testing.T) {
	t.Parallel()
	w := newFreshLinks(t)
	if got := w.claimsheet("run", "--dry-run", "--json", w.path("leads.xlsx")); !strings.Contains(got.out, `"link":1`) && !strings.Contains(got.out, `"link": 1`) {
		t.Errorf("the dry run does not count the link:\n%s%s", got.out, got.err)
	}
	w.run(0, "claims", "activities?claimId=claim-2", annsLink)
	w.shows("link-2")
	w.run(0)
	w.shows("link-2")
	if diff := cmp.Diff([]string{"client", "claim/loan/A-1", "activity/Agreement details@loan/A-1", "claim/loan/A-2", "activity/Agreement details@loan/A-2", "link", "link/loan/A-2"},
		column(readSheet(t, w.path("leads.results.xlsx"), "Steps"), "Step")); diff != "" {
		t.Errorf("the sheet Steps (-want +got):\n%s", diff)
	}
	w.leads([2]string{"ann@example.com", "A-1"}, [2]string{"ann@example.com", ""}) // an invalid row shows what is known
	if got := w.claimsheet("run", w.path("leads.xlsx")); got.code != 1 {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
	w.shows("link-2")
	w.leads([2]string{"ann@example.com", "A-1"}, [2]string{"ann@example.com", "A-2"}, [2]string{"ann@example.com", "A-3"})
	w.run(0, "claims", "activities?claimId=claim-3", annsLink)
	w.must("link", "ann@example.com")
	w.expectPosts(annsLink)
	w.run(0)
	w.shows("link-4")

	if err := os.RemoveAll(w.path(".claimsheet")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := w.claimsheet("rerun", "--yes", w.path("leads.results.xlsx")); got.code != 0 {
			t.Fatalf("rerun: exit code %d\n%s%s", got.code, got.out, got.err)
		}
		w.expectPosts()
		w.shows("link-4")
	}
	if diff := cmp.Diff(map[string]string{"link": "", "link/loan/A-2": "", "link/loan/A-3": goTo + "link-4"}, w.linksKept()); diff != "" {
		t.Errorf("the urls that the ledger has from the workbook (-want +got):\n%s", diff)
	}
	w.leads([2]string{"ann@example.com", "A-1"}, [2]string{"ann@example.com", "A-4"})
	w.run(0, "claims", "activities?claimId=claim-4", annsLink)
	w.shows("link-5")
}

// TestFreshLinkInDoubt: a fresh link that may have been made is uncertain, is not asked
// for again, also not by a rerun without the ledger, and goes on as you decide.
func TestFreshLinkInDoubt(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	isLink := func(c apitest.Call) bool { return c.Method == "POST" && postName(c) == annsLink }
	lost := func(t *testing.T, w *workplace) {
		w.service.Play(apitest.Once(isLink, apitest.CreateThenDrop()))
		w.run(4, "claims", "activities?claimId=claim-2", annsLink)
	}
	killed := func(t *testing.T, w *workplace) {
		w.service.Play(apitest.Once(isLink, apitest.Answer(apitest.JSON(422, `{"message":"no"}`))))
		w.run(1, "claims", "activities?claimId=claim-2", annsLink)
		l, err := ledger.Open(w.path(".claimsheet/ledger.db"))
		if err != nil {
			t.Fatal(err)
		}
		id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: w.url, Space: "email", Client: "ann@example.com"}, Mapping: "loans", Step: "link/loan/A-2"}
		err = l.Append(ledger.Event{StepID: id, To: ledger.Sent, Kind: ledger.KindLink, At: someTime})
		if err == nil {
			err = l.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	lostLedger := func(t *testing.T, w *workplace) {
		lost(t, w)
		if err := os.RemoveAll(w.path(".claimsheet")); err != nil {
			t.Fatal(err)
		}
		if got := w.claimsheet("rerun", "--yes", w.path("leads.results.xlsx")); got.code != 4 {
			t.Fatalf("rerun: exit code %d\n%s%s", got.code, got.out, got.err)
		}
	}
	const byHand = goTo + "by-hand"
	for name, c := range map[string]struct {
		trouble func(*testing.T, *workplace)
		decide  []string
		code    int
		posts   []string // of the run after the decision
		shows   string
	}{
		"lost, created":               {lost, []string{"--created", byHand}, 0, nil, "by-hand"},
		"lost, not created":           {lost, []string{"--not-created"}, 0, []string{annsLink}, "link-3"},
		"lost, given up":              {lost, []string{"--give-up"}, 1, nil, "link-1"},
		"killed, not created":         {killed, []string{"--not-created"}, 0, []string{annsLink}, "link-2"},
		"without ledger, created":     {lostLedger, []string{"--created", byHand}, 0, nil, "by-hand"},
		"without ledger, not created": {lostLedger, []string{"--not-created"}, 0, []string{annsLink}, "link-3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFreshLinks(t)
			c.trouble(t, w)
			w.run(4)
			w.shows("link-1")
			words := slices.Insert(slices.Clone(c.decide), len(c.decide), "link/loan/A-2")
			w.must("settle", words...)
			w.run(c.code, c.posts...)
			w.shows(c.shows)
			w.run(c.code)
			w.leads([2]string{"ann@example.com", "A-1"}, [2]string{"ann@example.com", "A-3"})
			w.run(0, "claims", "activities?claimId=claim-3", annsLink) // no later link waits for it
		})
	}
}

// TestFreshLinkThatWasRefused is asked for again the next night, once, also when that
// is a rerun without the ledger.
func TestFreshLinkThatWasRefused(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, again := range map[string]func(*workplace) said{
		"run": func(w *workplace) said { return w.claimsheet("run", w.path("leads.xlsx")) },
		"rerun without the ledger": func(w *workplace) said {
			if err := os.RemoveAll(w.path(".claimsheet")); err != nil {
				t.Error(err)
			}
			return w.claimsheet("rerun", "--yes", w.path("leads.results.xlsx"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFreshLinks(t)
			w.say(map[string]string{annsLink: `422 {"message":"no"}`})
			w.run(1, "claims", "activities?claimId=claim-2", annsLink)
			w.shows("link-1")
			w.say(nil)
			if got := again(w); got.code != 0 {
				t.Fatalf("exit code %d\n%s%s", got.code, got.out, got.err)
			}
			w.expectPosts(annsLink)
			w.shows("link-2")
			w.run(0)
		})
	}
}

// TestTheNewestLinkOfTwoWorkbooks: the workbooks of two nights bring a lost ledger back.
// The first has more lines, and Ann's newest url is that of the second, in any order.
func TestTheNewestLinkOfTwoWorkbooks(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, books := range [][]string{{"first.xlsx", "second.xlsx"}, {"second.xlsx", "first.xlsx"}} {
		t.Run(books[0], func(t *testing.T) {
			t.Parallel()
			w := newWorkplace(t, [2]string{"b1@example.com", "B-1"}, [2]string{"b2@example.com", "B-2"}, [2]string{"ann@example.com", "A-1"})
			write(t, w.path("mapping.yaml"), workMapping+"link: on_new_claim\n")
			w.must("run", "-o", w.path("first.xlsx"), w.path("leads.xlsx"))
			w.leads([2]string{"ann@example.com", "A-1"}, [2]string{"ann@example.com", "A-2"})
			w.must("run", "-o", w.path("second.xlsx"), w.path("leads.xlsx"))
			want := w.linksKept()["link/loan/A-2"]
			must(t, os.RemoveAll(w.path(".claimsheet")))
			if got := w.claimsheet("rerun", "--yes", w.path(books[0]), w.path(books[1])); got.code != 0 {
				t.Fatal(got)
			}
			if got := w.linksKept()["link/loan/A-2"]; got != want || want == "" {
				t.Errorf("the newest url is %q, want %q", got, want)
			}
		})
	}
}
