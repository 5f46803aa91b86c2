package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/ledger"
)

// golden compares a text with a file of testdata. What differs from run to run
// is blotted out first.
func (w *workplace) golden(name, text string) {
	w.t.Helper()
	text = strings.NewReplacer(w.dir, "DIR", w.url, "URL").Replace(text)
	text = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`).ReplaceAllString(text, "TIME")
	path := filepath.Join("testdata", name)
	if *update {
		write(w.t, path, text)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

const (
	postContact = "contacts?isAdministrator=true"
	badGateway  = `502 {"message":"who knows"}`
)

// troubled is a workplace in which a step of each kind is uncertain.
func troubled(t *testing.T) *workplace {
	w := newWorkplace(t, [2]string{"ann@example.com", "A-1"}, [2]string{"bob@example.com", "B-1"},
		[2]string{"cy@example.com", "C-1"}, [2]string{"di@example.com", "D-1"})
	w.say(map[string]string{"Loan A-1": badGateway, "B-1\"}]": badGateway, "contacts/contact-3/magic-link": badGateway, "di@example.com": badGateway})
	w.run(4, postContact, "claims",
		postContact, "claims", "activities?claimId=claim-1",
		postContact, "claims", "activities?claimId=claim-2", "contacts/contact-3/magic-link",
		postContact)
	w.say(nil)
	return w
}

// numbers are those of the list, in its order.
func (w *workplace) numbers() []string {
	w.t.Helper()
	got := w.claimsheet("settle")
	if got.code != 4 || got.err != "" {
		w.t.Fatalf("settle ended with exit code %d\n%s%s", got.code, got.out, got.err)
	}
	var numbers []string
	for _, m := range regexp.MustCompile(`(?m)^(\d+)  `).FindAllStringSubmatch(got.out, -1) {
		numbers = append(numbers, m[1])
	}
	return numbers
}

func TestSettleLists(t *testing.T) {
	t.Parallel()
	w := troubled(t)
	got := w.claimsheet("settle", "-e", "uat")
	if got.code != 4 || got.err != "" {
		t.Errorf("exit code %d, want 4\n%s", got.code, got.err)
	}
	w.golden("settle_list.txt", got.out)
	w.environment("    wire: {activity_id: /activityId}\n")
	if got := w.claimsheet("settle"); strings.Count(got.out, "--created ID ") != 3 {
		t.Errorf("an activity whose answer has an id is asked for one:\n%s", got.out)
	}
	w.expectPosts()
}

// TestSettleCreated gives every kind of step what it needs. The run after that
// goes on with it, and sends nothing of it again.
func TestSettleCreated(t *testing.T) {
	t.Parallel()
	w := troubled(t)
	n := w.numbers()
	claim := w.service.AddClaim("contact-1", "Loan A-1")
	contact := w.service.AddClient("di@example.com", "di@example.com", "")
	out := w.must("settle", "--created", claim, n[0])
	out += w.must("settle", "--created", n[1])
	out += w.must("settle", "--created", "https://claims.example.com/go/found", n[2])
	out += w.must("settle", "--created", contact, n[3])
	w.golden("settle_created.txt", out)
	w.run(0,
		"activities?claimId="+claim, "contacts/contact-1/magic-link",
		"contacts/contact-2/magic-link",
		"claims", "activities?claimId=claim-4", "contacts/"+contact+"/magic-link")
	if diff := cmp.Diff([]string{"contact-1", "contact-2", "contact-3", contact}, w.column("contactId")); diff != "" {
		t.Errorf("contactId (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{claim, "claim-1", "claim-2", "claim-4"}, w.column("claimIds")); diff != "" {
		t.Errorf("claimIds (-want +got):\n%s", diff)
	}
	if got := w.column("redirectUrl")[2]; got != "https://claims.example.com/go/found" {
		t.Errorf("the url that was found is shown as %q", got)
	}
	w.run(0)
}

// TestSettleRefuses checks that a wrong decision is explained and changes
// nothing, also for the steps beside it.
func TestSettleRefuses(t *testing.T) {
	t.Parallel()
	w := troubled(t)
	n := w.numbers() // claim, activity, link, client
	w.must("settle", "--give-up", n[1])
	before := w.claimsheet("settle")
	var all strings.Builder
	for _, c := range []struct {
		name  string
		words []string
	}{
		{"no decision", []string{n[0]}},
		{"no step", []string{"--not-created"}},
		{"two decisions", []string{"--created", "--give-up", n[0]}},
		{"unknown number", []string{"--not-created", n[0], "9999"}},
		{"unknown name", []string{"--give-up", "claim/loan/A-2"}},
		{"decided before", []string{"--give-up", n[1]}},
		{"an old number is no id", []string{"--created", n[1], n[0]}},
		{"a claim without id", []string{"--created", n[0]}},
		{"a client without id", []string{"--created", n[3]}},
		{"a link without url", []string{"--created", n[2]}},
		{"a link with an id", []string{"--created", "link-1", n[2]}},
		{"a claim with a url", []string{"--created", "https://claims.example.com/secret", n[0]}},
		{"an id with a slash", []string{"--created", "a/b", n[0]}},
		{"a dot segment", []string{"--created", "..", n[0]}},
		{"a control character", []string{"--created", "a\nb", n[0]}},
		{"one id for two", []string{"--created", "claim-77", n[0], n[3]}},
		{"two ids", []string{"--created", "claim-77", "claim-78", n[0]}},
		{"another claim's id", []string{"--created", "claim-2", n[0]}},
		{"another client's id", []string{"--created", "contact-1", n[3]}},
		{"the same step twice", []string{"--give-up", n[0], "claim/loan/A-1"}},
		{"an id alone", []string{"--created", "claim-77"}},
	} {
		got := w.claimsheet("settle", c.words...)
		if got.code != 2 || got.out != "" {
			t.Errorf("%s: exit code %d, want 2\n%s", c.name, got.code, got.out)
		}
		if strings.Contains(got.err, "example.com") {
			t.Errorf("%s: the problem quotes a key or url:\n%s", c.name, got.err)
		}
		all.WriteString(c.name + "\n" + got.err + "\n")
	}
	w.golden("settle_refused.txt", all.String())
	if diff := cmp.Diff(before, w.claimsheet("settle"), cmp.AllowUnexported(said{})); diff != "" {
		t.Errorf("refused decisions have changed the list (-before +after):\n%s", diff)
	}
	w.expectPosts()
}

// TestSettleNumbersStay decides by a list that was printed before another
// decision, and refuses a number whose step was sent again since.
func TestSettleNumbersStay(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	w := newWorkplace(t, [2]string{"ann@example.com", "A-1"}, [2]string{"bob@example.com", "B-1"})
	w.say(map[string]string{"claims": badGateway})
	w.run(4, postContact, "claims", postContact, "claims")
	n := w.numbers()
	w.must("settle", "--not-created", n[0])
	w.run(4, "claims")
	if got := w.claimsheet("settle", "--created", "claim-77", n[0]); got.code != 2 || !strings.Contains(got.err, "[old-number]") {
		t.Errorf("the number of the attempt before: exit code %d\n%s", got.code, got.err)
	}
	claim := w.service.AddClaim("contact-2", "Loan B-1")
	w.must("settle", "--created", claim, n[1])
	if got := w.claimsheet("settle", "--undo", n[1]); got.code != 2 || !strings.Contains(got.err, "[old-number]") || !strings.Contains(got.err, "write CLIENT-KEY:NAME") {
		t.Errorf("a decided step by its number: exit code %d\n%s", got.code, got.err)
	}
	w.say(nil)
	w.run(4, "activities?claimId="+claim, "contacts/contact-2/magic-link")
}

// TestSettleV1 finds the steps of a case.
func TestSettleV1(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	w := newWorkplace(t, [2]string{"ann@example.com", ""})
	write(t, w.path("mapping.yaml"), workMappingV1)
	w.say(map[string]string{"clients": badGateway})
	w.run(4, "clients?leadRedirect=true")
	w.say(nil)
	w.environment("    claim_types: {loans: {case_id: 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a12}}\n") // the list is of every case
	w.golden("settle_v1.txt", w.claimsheet("settle").out)
	w.must("settle", "--created", "client-77", "client")
	w.run(0)
	if got := w.column("clientId"); !cmp.Equal(got, []string{"client-77"}) {
		t.Errorf("clientId %q", got)
	}
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

// TestSettleBesideARun leaves the ledger to the run that holds it.
func TestSettleBesideARun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	w := troubled(t)
	release, err := ledger.Lock(w.path(".claimsheet/ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"settle"}, {"settle", "--give-up", "client"}, {"link", "ann@example.com"}} {
		if got := w.claimsheet(words[0], words[1:]...); got.code != 5 || got.out != "" {
			t.Errorf("%s: exit code %d, want 5\n%s%s", words, got.code, got.out, got.err)
		}
	}
	release()
}
