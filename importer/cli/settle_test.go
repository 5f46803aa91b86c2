package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

const deskMapping = `
name: loans
api: v2
client:
  key: E-mail
  existing: create
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}}
claims: [{id: loan, key: No, name: "Loan {No}"}]
workflow: {name: Loans, template_identifier: WF-1}
activities:
  - {template: Agreement details, on: loan, attributes: {Agreement number: No}}
`

// newDesk is a scene whose ids are contact-1, claim-2 and so on, with a row for each e-mail address and
// agreement number.
func newDesk(t *testing.T, rows ...string) *scene {
	t.Helper()
	s := newScene(t, deskMapping, nil)
	s.service.Wire.Named = true
	var cells [][]any
	for _, row := range rows {
		email, no, _ := strings.Cut(row, " ")
		cells = append(cells, []any{email, no})
	}
	writeSheet(t, s.path(s.input), []any{"E-mail", "No"}, cells)
	return s
}

// sends runs and expects an exit code and the steps that are sent.
func (s *scene) sends(code int, steps ...string) {
	s.t.Helper()
	if diff := cmp.Diff(steps, s.mustRun(code, "--concurrency", "1").steps()); diff != "" {
		s.t.Fatalf("sent (-want +got):\n%s", diff)
	}
}

// golden compares a text with a file of testdata. What differs from run to run
// is blotted out first.
func (s *scene) golden(name, text string) {
	s.t.Helper()
	text = strings.NewReplacer(s.dir, "DIR", s.url, "URL").Replace(text)
	for what, with := range map[string]string{`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`: "TIME", `\d+ bytes`: "N bytes", `run [0-9a-f]{8}\b`: "run RUN"} {
		text = regexp.MustCompile(what).ReplaceAllString(text, with)
	}
	path := filepath.Join("testdata", name)
	if *update {
		write(s.t, path, text)
	}
	want, err := os.ReadFile(path)
	must(s.t, err)
	if diff := cmp.Diff(string(want), text); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

var badGateway = apitest.Answer(apitest.JSON(502, `{"message":"who knows"}`))

// troubled is a desk at which a step of each kind is uncertain.
func troubled(t *testing.T) *scene {
	t.Helper()
	s := newDesk(t, "ann@example.com A-1", "bob@example.com B-1", "cy@example.com C-1", "di@example.com D-1")
	s.service.Play(apitest.OnceEach(map[string]apitest.Fault{"claim ann@example.com/Loan A-1": badGateway, "activity bob@example.com/Loan B-1 Agreement details": badGateway,
		"link cy@example.com": badGateway, "client di@example.com": badGateway}))
	s.sends(4, "client ann@example.com", "claim ann@example.com/Loan A-1",
		"client bob@example.com", "claim bob@example.com/Loan B-1", "activity bob@example.com/Loan B-1 Agreement details",
		"client cy@example.com", "claim cy@example.com/Loan C-1", "activity cy@example.com/Loan C-1 Agreement details", "link cy@example.com",
		"client di@example.com")
	return s
}

var listed = regexp.MustCompile(`(?m)^(\d+)  `)

// numbers are those of the list, in its order.
func (s *scene) numbers() (numbers []string) {
	s.t.Helper()
	for _, m := range listed.FindAllStringSubmatch(s.must(4, "settle"), -1) {
		numbers = append(numbers, m[1])
	}
	return numbers
}

// TestSettleLists also shows that an activity whose answer has an id is asked for one.
func TestSettleLists(t *testing.T) {
	t.Parallel()
	s := troubled(t)
	s.golden("settle_list.txt", s.must(4, "settle", "-e", "uat"))
	s.environment("wire: {activity_id: /activityId}")
	if out := s.must(4, "settle"); strings.Count(out, "--created ID ") != 3 {
		t.Errorf("it lists\n%s", out)
	}
}

// TestSettleCreated gives every kind of step what it needs. The run after that
// goes on with it, and sends nothing of it again.
func TestSettleCreated(t *testing.T) {
	t.Parallel()
	s := troubled(t)
	n := s.numbers()
	claim, contact := s.service.AddClaim("contact-1", "Loan A-1"), s.service.AddClient("di@example.com", "di@example.com", "")
	s.golden("settle_created.txt", s.must(0, "settle", "--created", claim, n[0])+s.must(0, "settle", "--created", n[1])+
		s.must(0, "settle", "--created", "https://claims.example.com/go/found", n[2])+s.must(0, "settle", "--created", contact, n[3]))
	s.sends(0, "activity ann@example.com/Loan A-1 Agreement details", "link ann@example.com", "link bob@example.com",
		"claim di@example.com/Loan D-1", "activity di@example.com/Loan D-1 Agreement details", "link di@example.com")
	for name, want := range map[string][]string{"contactId": {"contact-1", "contact-2", "contact-3", contact}, "claimIds": {claim, "claim-1", "claim-2", "claim-4"}} {
		if diff := cmp.Diff(want, column(s.results(), name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := column(s.results(), "redirectUrl")[2]; got != "https://claims.example.com/go/found" {
		t.Errorf("the url that was found is shown as %q", got)
	}
	s.sends(0)
}

// TestSettleRefuses checks that a wrong decision is explained and changes
// nothing, also for the steps beside it.
func TestSettleRefuses(t *testing.T) {
	t.Parallel()
	s := troubled(t)
	n := s.numbers() // claim, activity, link, client
	s.must(0, "settle", "--give-up", n[1])
	before := s.must(4, "settle")
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
		code, out, said := s.claimsheet(append([]string{"settle", "-m", s.path("mapping.yaml")}, c.words...)...)
		if code != 2 || out != "" || strings.Contains(said, "example.com") {
			t.Errorf("%s: exit code %d, want 2, and no key or url\n%s%s", c.name, code, out, said)
		}
		all.WriteString(c.name + "\n" + said + "\n")
	}
	s.golden("settle_refused.txt", all.String())
	if diff := cmp.Diff(before, s.must(4, "settle")); diff != "" {
		t.Errorf("refused decisions have changed the list (-before +after):\n%s", diff)
	}
	if posts := s.since().posts(); len(posts) > 0 {
		t.Errorf("%v were sent", posts)
	}
}

// TestSettleNumbersStay decides by a list that was printed before another
// decision, and refuses a number whose step was sent again since.
func TestSettleNumbersStay(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newDesk(t, "ann@example.com A-1", "bob@example.com B-1")
	s.service.Play(func(c apitest.Call) (f apitest.Fault) {
		if c.Kind == "claim" {
			f = badGateway
		}
		return f
	})
	s.mustRun(4)
	n := s.numbers()
	expect(t, s.must(2, "settle", "--undo", n[0]), "[not-decided]")
	s.must(0, "settle", "--not-created", n[0])
	s.sends(4, "claim ann@example.com/Loan A-1")
	expect(t, s.must(2, "settle", "--created", "claim-77", n[0]), "[old-number]")
	s.must(0, "settle", "--created", s.service.AddClaim("contact-2", "Loan B-1"), n[1])
	expect(t, s.must(2, "settle", "--undo", n[1]), "[old-number]", "write CLIENT-KEY:NAME")
	s.service.Play(nil)
	s.sends(4, "activity bob@example.com/Loan B-1 Agreement details", "link bob@example.com")
}
