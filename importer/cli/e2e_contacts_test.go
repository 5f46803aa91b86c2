package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
)

// joint is a mapping whose claims have a partner as a claimant, and are administered
// by a contact that the environment has.
const joint = `
name: joint
api: v2
client:
  key: E-mail
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}, firstName: First name}
contacts:
  - id: partner
    when: has("Partner")
    key: Partner
    lookup: {email: Partner}
    administrator: false
    fields: {email: {column: Partner, type: Email}, firstName: Partner name}
claims:
  - {key: Agreement no, name: "Loan {Agreement no}", claimants: [client, partner], administrator: {id: "file:broker"}}
workflow: {name: Batch, template_identifier: WF-1}
activities:
  - {template: Agreement details, on: claim, attributes: {Agreement number: Agreement no}}
`

// newJoint is a scene of joint; a row is an e-mail address, a name, an agreement, and
// the partner's address and name.
func newJoint(t *testing.T, rows ...string) *scene {
	t.Helper()
	s := newScene(t, joint, nil)
	write(t, s.path("broker"), s.service.AddClient("broker@example.com", "broker@example.com", "")+"\n")
	s.jointRows(rows...)
	return s
}

func (s *scene) jointRows(rows ...string) {
	s.t.Helper()
	var cells [][]any
	for _, row := range rows {
		var line []any
		for _, text := range strings.Split(row, "|") {
			line = append(line, strings.ReplaceAll(strings.TrimSpace(text), "@", "@example.com"))
		}
		cells = append(cells, line)
	}
	writeSheet(s.t, s.path(s.input), []any{"E-mail", "First name", "Agreement no", "Partner", "Partner name"}, cells)
}

// TestSharedContact creates a contact once for all clients who name it, before the
// first claim that needs it, as the dry run says. The next night sends nothing, and
// neither does a rerun of the workbook without the ledger.
func TestSharedContact(t *testing.T) {
	t.Parallel()
	s := newJoint(t, "a@ | Ann | A-1 | p@ | Poe", "b@ | Bob | B-1 | |", "b@ | Bob | B-2 | P@ | Poe", "c@ | Cid | C-1 | q@ |")
	predicted := s.mustRun(0, "--dry-run")
	p := s.mustRun(0, "--concurrency", "1")
	if got, want := p.summary.Requests, predicted.summary.Requests; got != want {
		t.Errorf("the run made %+v, the dry run said %+v", got, want)
	}
	const want = `
POST /funnel/v2/contacts?isAdministrator=true {"email":"a@example.com","firstName":"Ann"}
GET /funnel/v2/contacts/by-email/p%40example.com
POST /funnel/v2/contacts {"email":"p@example.com","firstName":"Poe"}
POST /funnel/v2/claims {"administratorId":"CLIENT1","claimants":["CLIENT2","CLIENT3"],"claimName":"Loan A-1"}
`
	got := transcript(p.calls)
	_, first, _ := strings.Cut(got, "\nPOST ") // behind the look-ups that find out whether the ledger was lost
	if diff := cmp.Diff(strings.SplitAfter(want[1:], "\n")[:4], strings.SplitAfter("POST "+first, "\n")[:4]); diff != "" {
		t.Errorf("the first calls (-want +got):\n%s", diff)
	}
	if n := strings.Count(got, `POST /funnel/v2/contacts {"email":"p@`); n != 1 {
		t.Errorf("the shared contact is asked for %d times\n%s", n, got)
	}
	id := s.service.Created()["client p@example.com"][0].ID
	lines := 0
	for _, line := range s.workbook("leads.results.xlsx", "Steps") {
		if line["Step"] == "contact/email/p@example.com" {
			lines++
			if line["Id"]+line["ID"] != id && line["State"] != "done" {
				t.Errorf("a line of the contact is %v, want the id %s", line, id)
			}
		}
	}
	if lines != 2 {
		t.Errorf("the sheet Steps has %d lines of the contact, want one for each of two clients", lines)
	}
	for _, again := range []func() played{
		func() played { return s.mustRun(0) },
		func() played {
			must(t, os.RemoveAll(s.path(".claimsheet")))
			code, said := s.rerun("--yes", "leads.results.xlsx")
			p := s.since()
			if p.code = code; code != 0 {
				t.Errorf("rerun without the ledger: exit code %d\n%s", code, said)
			}
			return p
		},
	} {
		if p := again(); len(p.posts()) > 0 {
			t.Errorf("it sent again:\n%s", transcript(p.calls))
		}
	}
}

// jointActivity is joint with an activity on the partner, and without magic links.
var jointActivity = strings.Replace(joint, "activities:\n", "link: never\nactivities:\n"+
	"  - {template: Your details, on: partner, attributes: {Home address: Partner name}}\n", 1)

// TestActivityOnContact sends an activity on a contact once for all clients who name the
// contact, side by side or on another night, as the dry run says. It stays the contact's in a
// rerun without the ledger, and where it is in doubt.
func TestActivityOnContact(t *testing.T) {
	t.Parallel()
	s := newJoint(t, "a@ | Ann | A-1 | |", "b@ | Bob | B-1 | p@ | Poe", "c@ | Cid | C-1 | P@ | Poe", "d@ | Dot | D-1 | p@ | Poe", "e@ | Eve | E-1 | q@ | Quo")
	s.mapping(jointActivity)
	predicted := s.mustRun(0, "--dry-run")
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Method == "POST" && c.Kind == "activity" && strings.Contains(c.Body, "Quo") {
			return apitest.CreateThenDrop()
		}
		return apitest.Fault{}
	})
	p := s.mustRun(4)
	s.service.Play(nil)
	got := transcript(p.calls)
	if diff := cmp.Diff(predicted.summary.Requests, p.summary.Requests); diff != "" || p.summary.Requests.Link != 0 || p.summary.WithoutLink != 0 {
		t.Errorf("requests (-dry run +run), no links wanted:\n%s\n%s", diff, got)
	}
	made := s.service.Created()
	partner := append(made["client p@example.com"], made["client P@example.com"]...)[0].ID // created with the address as the first row that needed it has it
	if n, on := strings.Count(got, `"Poe"}]`), strings.Count(got, "activities?contactId="+anyID.ReplaceAllStringFunc(partner, func(id string) string {
		m := anyID.FindStringSubmatch(id)
		return idPrefix[m[1]] + m[2]
	})); n != 1 || on != 1 {
		t.Errorf("the activity is sent %d times, %d times on the partner\n%s", n, on, got)
	}
	if diff := cmp.Diff([]string{"done", "done", "done", "done", "uncertain"}, column(s.results(), "Import status")); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	const step = "activity/Your details@contact/email/q@example.com"
	if row := s.results()[4]; row["Failed step"] != step {
		t.Errorf("the row in doubt says %v", row)
	}
	s.decide(0, "--created", "e@example.com:"+step)
	s.jointRows("f@ | Fay | F-1 | p@ | Poe", "e@ | Eve | E-1 | q@ | Quo")
	if p := s.mustRun(0); p.posts()["activity"] != 1 {
		t.Errorf("another night's client sends it again:\n%s", transcript(p.calls))
	}
	must(t, os.RemoveAll(s.path(".claimsheet")))
	if code, said := s.rerun("--yes", "leads.results.xlsx"); code != 0 || len(s.since().posts()) > 0 {
		t.Errorf("rerun without the ledger: exit code %d\n%s", code, said)
	}
	if p := s.mustRun(0); len(p.posts()) > 0 {
		t.Errorf("it is sent again:\n%s", transcript(p.calls))
	}
}

// TestContactsInResults: the column contacts has, for each row, the contacts that it
// names, in the order of the mapping. It stays in every workbook and list that shows
// the row again: the next night's, also where the row is invalid or held back by then,
// a plan's, that of report, that of a rerun without the ledger, and history.
func TestContactsInResults(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newJoint(t)
	from, to := strings.Index(joint, "claims:"), strings.Index(joint, "workflow:")
	s.mapping(joint[:from] + `  - {id: broker, key: Broker, when: has("Broker"), lookup: {email: Broker}, fields: {email: {column: Broker, type: Email}}}
claims:
  - {id: led, key: Agreement no, when: has("Broker"), name: "Loan {Agreement no}", claimants: [client, partner], administrator: broker}
  - {id: own, key: Agreement no, when: not has("Broker"), name: "Loan {Agreement no}", claimants: [client, partner]}
` + joint[to:])
	rows := [][]any{
		{"a@example.com", "Ann", "A-1", "p@example.com", "Poe", "x@example.com"},
		{"a@example.com", "Ann", "A-2", "q@example.com", "Quo", nil},
		{"b@example.com", "Bob", "B-1", nil, nil, nil},
		{"c@example.com", "Cid", "C-1", "P@example.com", "Poe", nil},
	}
	sheet := func() {
		t.Helper()
		writeSheet(t, s.path(s.input), []any{"E-mail", "First name", "Agreement no", "Partner", "Partner name", "Broker"}, rows)
	}
	sheet()
	s.mustRun(0)
	id := func(who string) string { return s.service.Created()["client "+who+"@example.com"][0].ID }
	want := []string{"partner: " + id("p") + ", broker: " + id("x"), "partner: " + id("q"), "", "partner: " + id("p")}
	expect := func(what string, shown []record) {
		t.Helper()
		if diff := cmp.Diff(want, column(shown, "contacts")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	expect("the first night", s.results())
	s.mustRun(0, "--dry-run")
	expect("a plan", s.workbook("leads.plan.xlsx", "Results"))
	s.mustRun(0)
	expect("a night without news", s.results())
	if code, _, said := s.claimsheet("report", "-m", s.path("mapping.yaml"), "-o", s.path("again.xlsx")); code != 0 {
		t.Fatal(code, said)
	}
	expect("report", s.workbook("again.xlsx", "Results"))

	editWorkbook(t, s.path("again.xlsx"), func(f *excelize.File) {
		set(t, f, "contactId", 5, "somebody-else")
	})
	if code, said := s.rerun("--max-failures", "100%", "again.xlsx"); code != 1 {
		t.Fatal(code, said)
	}
	expect("a row that is held back", s.workbook("again.xlsx", "Results"))
	if !slices.ContainsFunc(s.workbook("again.xlsx", "Steps"), func(line record) bool {
		return line["Client key"] == "c@example.com" && line["Step"] == "contact/email/p@example.com" && line["Id"] == id("p")
	}) {
		t.Error("the sheet Steps has no line of the contact of a client who is held back")
	}

	rows[0][2], rows[1][2] = nil, nil // invalid: the key of a claim is missing
	sheet()
	s.mustRun(1, "--only", "a@example.com", "--max-failures", "100%")
	expect("invalid rows, and rows that are left out", s.results())
	must(t, os.RemoveAll(s.path(".claimsheet")))
	if code, said := s.rerun("--yes", "--max-failures", "100%", "leads.results.xlsx"); code != 1 {
		t.Fatal(code, said)
	}
	expect("a rerun without the ledger", s.results())
	if p := s.since(); len(p.posts()) > 0 {
		t.Errorf("it sent again:\n%s", transcript(p.calls))
	}
}

// TestContactWhoIsAClient makes one contact of a person who is a client in one row
// and somebody's partner in another, in either order, as the dry run says.
func TestContactWhoIsAClient(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	client, partner := "b@ | Bob | B-1 | |", "a@ | Ann | A-1 | b@ | Bob"
	for name, rows := range map[string][]string{"the client first": {client, partner}, "the partner first": {partner, client}} {
		for _, workers := range []string{"1", "4"} {
			t.Run(name+", "+workers, func(t *testing.T) {
				t.Parallel()
				s := newJoint(t, rows...)
				predicted := s.mustRun(0, "--dry-run")
				p := s.mustRun(0, "--concurrency", workers)
				if got, want := p.summary.Requests, predicted.summary.Requests; got != want {
					t.Errorf("the run made %+v, the dry run said %+v", got, want)
				}
				if n := len(s.service.Created()["client b@example.com"]); n != 1 {
					t.Errorf("%d contacts of one person\n%s", n, transcript(p.calls))
				}
				if p := s.mustRun(0); len(p.posts()) > 0 {
					t.Errorf("it sent again:\n%s", transcript(p.calls))
				}
			})
		}
	}
}

// TestContactInTwoRoles: what the rows of one person as a client and as a partner do not
// agree on is said in the dry run and in the run, tonight and on a later night.
func TestContactInTwoRoles(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	usual := strings.Replace(joint, `, administrator: {id: "file:broker"}`, "", 1)
	administrators := strings.Replace(usual, "    administrator: false\n", "", 1)
	lessOfPartner := strings.Replace(administrators, ", firstName: Partner name}", "}", 1)
	places := regexp.MustCompile(`\w+!([A-Z]\d+)( \(source row \d+\))?`)
	const client, partner, another = "b@ | Bob | B-1 | |", "a@ | Ann | A-1 | b@ | Bob", "a@ | Ann | A-1 | b@ | Rob"
	for name, c := range map[string]struct {
		mapping string
		nights  [][]string
		code    int
		want    string // status and error of each row in the last night
	}{
		"an administrator the night before": {usual, [][]string{{client}, {client, partner}}, 0, "unchanged ; done "},
		"fields that the partner lacks":     {lessOfPartner, [][]string{{partner, client}}, 0, "done ; changed “firstName” was not sent: B3"},
		"fields that only the client has":   {lessOfPartner, [][]string{{client, partner}}, 0, "done ; done "},
		"two names":                         {administrators, [][]string{{another, client}}, 0, "done ; changed “firstName” differs: B3"},
		"two names, the client first":       {administrators, [][]string{{client, another}}, 0, "done ; changed “firstName” differs: E3"},
		"two names on two nights":           {administrators, [][]string{{another}, {another, client}}, 0, "unchanged ; changed “firstName” differs: B3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newJoint(t)
			s.mapping(c.mapping)
			for i, rows := range c.nights {
				if s.jointRows(rows...); i < len(c.nights)-1 {
					s.mustRun(0)
				}
			}
			said := func(rows []record) string {
				var list []string
				for _, row := range rows {
					why, _, _ := strings.Cut(places.ReplaceAllString(row["Error"], "$1"), " (take administrator")
					list = append(list, strings.Replace(row["Import status"], "planned", "done", 1)+" "+why)
				}
				return strings.Join(list, "; ")
			}
			s.mustRun(c.code, "--dry-run", "--max-failures", "100%")
			planned := said(s.workbook("leads.plan.xlsx", "Results"))
			p := s.mustRun(c.code, "--max-failures", "100%")
			if got := said(s.results()); got != c.want || planned != c.want {
				t.Errorf("the rows are\n%s, and planned as\n%s, want\n%s", got, planned, c.want)
			}
			if c.code == 1 && len(p.posts()) > 0 {
				t.Errorf("it sent:\n%s", transcript(p.calls))
			}
			if n := len(s.service.Created()["client b@example.com"]); n != 1-c.code {
				t.Errorf("%d contacts of one person", n)
			}
		})
	}
}

// TestContactAfterARefusal: where a person with two roles was refused, the dry run of the
// next night foretells one creation.
func TestContactAfterARefusal(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newJoint(t, "a@ | Ann | A-1 | b@ | Bob", "b@ | Bob | B-1 | |")
	var healed atomic.Bool
	s.service.Play(func(call apitest.Call) apitest.Fault {
		if !healed.Load() && call.Step == "client b@example.com" {
			return apitest.Answer(apitest.Reply{Status: 422, Body: `{"error":"no"}`})
		}
		return apitest.Fault{}
	})
	s.mustRun(1, "--concurrency", "1", "--max-failures", "100%")
	healed.Store(true)
	if n := s.foretold(0).posts()["client"]; n != 1 {
		t.Errorf("%d contacts were created, want 1", n)
	}
}

// TestContactTakesTurns: clients of one contact take turns at it in the order of the
// sheet, also where one between them gives its turn up before it comes, because
// nothing is sent for it.
func TestContactTakesTurns(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, c := range map[string]struct {
		earlier []string
		rows    []string
		status  string // of the row between them
	}{
		"an invalid row": {nil, []string{"z@ | Zed | Z-1 | |", "a@ | Ann | A-1 | p@ | Poe", "p@ | Poe | P-1 | p@ |", "b@ | Bob | B-1 | p@ | Poe"}, "invalid"},
		"held back": {[]string{"x@ | Xen | X-1 | |"},
			[]string{"z@ | Zed | Z-1 | |", "a@ | Ann | A-1 | p@ | Poe", "x@ | Xen | X-1 | |", "x@ | Xen | X-2 | p@ | Poe", "b@ | Bob | B-1 | p@ | Poe"}, "changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newJoint(t, c.earlier...)
			if len(c.earlier) > 0 {
				s.mustRun(0)
				s.mapping(strings.Replace(joint, "on: claim, attributes: {Agreement number: Agreement no}", "on: claim, status: Open", 1))
			}
			s.jointRows(c.rows...)
			s.service.Play(func(call apitest.Call) apitest.Fault {
				if call.Step == "client p@example.com" {
					return apitest.Fault{Delay: 150 * time.Millisecond}
				}
				return apitest.Fault{}
			})
			p := s.run("--concurrency", "4", "--max-failures", "100%")
			var got []string
			for _, row := range s.results() {
				if row["Agreement no"] != "X-1" {
					got = append(got, row["Import status"])
				}
			}
			if diff := cmp.Diff([]string{"done", "done", c.status, "done"}, got); diff != "" || p.code > 1 {
				t.Errorf("exit code %d, rows (-want +got):\n%s\n%s", p.code, diff, p.err)
			}
			if n := len(s.service.Created()["client p@example.com"]); n != 1 {
				t.Errorf("the contact was created %d times\n%s", n, transcript(p.calls))
			}
		})
	}
}

// TestContactNobodyNeeds: nobody is created whom no claim gets, because the claims
// that name the contact were created without it.
func TestContactNobodyNeeds(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	without := strings.Replace(joint, ", claimants: [client, partner]", "", 1)
	from, to := strings.Index(without, "contacts:"), strings.Index(without, "claims:")
	for name, c := range map[string]struct {
		mapping, row string
		then         []string
		posts        int
	}{
		"another partner":                  {joint, "a@ | Ann | A-1 | p@ | Poe", []string{"a@ | Ann | A-1 | q@ | Quo"}, 0},
		"the mapping gets contacts":        {without[:from] + without[to:], "a@ | Ann | A-1 | q@ | Quo", []string{"a@ | Ann | A-1 | q@ | Quo"}, 0},
		"another claim gets the new one":   {joint, "a@ | Ann | A-1 | p@ | Poe", []string{"a@ | Ann | A-1 | q@ | Quo", "a@ | Ann | A-2 | q@ | Quo"}, 1},
		"another client's claim gets them": {joint, "a@ | Ann | A-1 | p@ | Poe", []string{"a@ | Ann | A-1 | q@ | Quo", "b@ | Bob | B-1 | q@ | Quo"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newJoint(t, c.row)
			s.mapping(c.mapping)
			s.mustRun(0)
			s.mapping(joint)
			s.jointRows(c.then...)
			p := s.foretold(0)
			if got := len(s.service.Created()["client q@example.com"]); got != c.posts {
				t.Errorf("the contact was created %d times, want %d\n%s", got, c.posts, transcript(p.calls))
			}
		})
	}
}

// TestContactIsKnown: a client whom the service knows is skipped, or refused, also
// where it was found as somebody's partner, every night.
func TestContactIsKnown(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for policy, want := range map[string]string{"skip": "skipped", "fail": "failed"} {
		for name, rows := range map[string][]string{
			"partner first": {"a@ | Ann | A-1 | b@ | Bob", "b@ | Bob | B-1 | |"},
			"client first":  {"b@ | Bob | B-1 | |", "a@ | Ann | A-1 | b@ | Bob"},
		} {
			t.Run(policy+", "+name, func(t *testing.T) {
				t.Parallel()
				s := newJoint(t, rows...)
				s.mapping(strings.Replace(joint, "  key: E-mail\n", "  key: E-mail\n  existing: "+policy+"\n", 1))
				s.service.AddClient("b@example.com", "b@example.com", "")
				for night := range 2 {
					p := s.foretold(map[string]int{"skip": 0, "fail": 1}[policy], "--max-failures", "100%")
					for _, row := range s.results() {
						if row["E-mail"] == "b@example.com" && (row["Import status"] != want || row["claimIds"] != "") {
							t.Errorf("night %d: the known client is %s with the claims %q: %s", night, row["Import status"], row["claimIds"], row["Error"])
						}
					}
					if n := p.posts()["claim"]; n != 1-night {
						t.Errorf("night %d: %d claims\n%s", night, n, transcript(p.calls))
					}
				}
			})
		}
	}
}

// TestContactWhoseIDIsGiven takes a contact's id from the contact's own row, wherever
// that stands.
func TestContactWhoseIDIsGiven(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, first := range []bool{false, true} {
		t.Run(fmt.Sprintf("own row first: %v", first), func(t *testing.T) {
			t.Parallel()
			s := newJoint(t)
			s.mapping(strings.Replace(joint, "  key: E-mail\n", "  key: E-mail\n  known_id: Contact ID\n", 1))
			id := s.service.AddClient("elsewhere@example.com", "elsewhere@example.com", "")
			rows := [][]any{{"a@example.com", "Ann", "A-1", "p@example.com", "Poe", nil}, {"p@example.com", "Poe", "P-1", nil, nil, id}}
			if first {
				rows[0], rows[1] = rows[1], rows[0]
			}
			writeSheet(t, s.path(s.input), []any{"E-mail", "First name", "Agreement no", "Partner", "Partner name", "Contact ID"}, rows)
			p := s.foretold(0)
			if n := len(s.service.Created()["client p@example.com"]); n != 0 || p.posts()["claim"] != 2 {
				t.Errorf("the contact was created %d times, though the sheet gives its id\n%s", n, transcript(p.calls))
			}
		})
	}
}

// TestContactIsFound: the dry run leaves the activities on a contact who was found out
// as the run does.
func TestContactIsFound(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newJoint(t, "a@ | Ann | A-1 | b@ | Bob", "b@ | Bob | B-1 | |")
	s.mapping(strings.Replace(joint, "  key: E-mail\n", "  key: E-mail\n  existing_activities: skip\n", 1) +
		"  - {template: Your details, attributes: {Home address: First name}}\n")
	s.service.AddClient("b@example.com", "b@example.com", "")
	if p := s.foretold(0); p.posts()["activity"] != 3 {
		t.Errorf("it sent other activities than one on each claim and the one on Ann:\n%s", transcript(p.calls))
	}
}

// TestContactIsFresh sends a claim again that the service refuses because it does not
// find the contact yet that another client's run has just created.
func TestContactIsFresh(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newJoint(t, "b@ | Bob | B-0 | |")
	s.mustRun(0)
	s.jointRows("a@ | Ann | A-1 | p@ | Poe", "b@ | Bob | B-0 | |", "b@ | Bob | B-1 | p@ | Poe")
	refused := map[string]bool{}
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind == "claim" && !refused[c.Step] {
			refused[c.Step] = true
			return apitest.Answer(apitest.JSON(404, "{}"))
		}
		return apitest.Fault{}
	})
	s.mustRun(0, "--concurrency", "1")
}

// TestContactInTrouble stops the claims that need the contact and no others, and
// asks for the contact once.
func TestContactInTrouble(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, c := range map[string]struct {
		fault  apitest.Fault
		status string
	}{
		"refused":   {apitest.Answer(apitest.JSON(422, "{}")), "failed"},
		"uncertain": {apitest.Answer(apitest.JSON(500, "{}")), "uncertain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newJoint(t, "a@ | Ann | A-1 | p@ | Poe", "a@ | Ann | A-2 | |", "b@ | Bob | B-1 | p@ | Poe")
			s.service.Play(func(call apitest.Call) apitest.Fault {
				if call.Step == "client p@example.com" {
					return c.fault
				}
				return apitest.Fault{}
			})
			p := s.run("--max-failures", "100%")
			if n := strings.Count(strings.Join(p.steps(), "\n"), "client p@example.com"); n != 1 {
				t.Errorf("the contact is asked for %d times", n)
			}
			rows := s.results()
			var got []string
			for _, row := range rows {
				got = append(got, row["Import status"]+" "+row["Failed step"]+" "+fmt.Sprint(row["claimIds"] != ""))
			}
			want := []string{c.status + " contact/email/p@example.com false", "not started  true", c.status + " contact/email/p@example.com false"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			s.service.Play(nil)
			if c.status == "uncertain" { // the names that the workbook and its rows' clients have for it
				for _, words := range [][]string{{"--not-created", "contact/email/P@example.com"}, {"--undo", "a@example.com:contact/email/p@example.com"},
					{"--not-created", "contact/email/p@example.com"}} {
					code, out, said := s.claimsheet(append([]string{"settle", "-m", s.path("mapping.yaml")}, words...)...)
					if code != 0 && code != 4 {
						t.Fatalf("settle %q: exit code %d\n%s%s", words, code, out, said)
					}
				}
			}
			s.mustRun(0)
			if n := len(s.service.Created()["client p@example.com"]); n != 1 {
				t.Errorf("the contact was created %d times", n)
			}
		})
	}
}

// TestContactInDoubt: an address with which a contact may have been created belongs
// to the contact's key first. A client with another kind of key and the same address
// does not get the contact, wherever its row stands.
func TestContactInDoubt(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, everyWay, everyOrder, func(t *testing.T, v variant) {
		known, newcomer := "a@ | L1 | A-1 | p@ | Poe", "p@ | L9 | P-1 | |"
		s := newJoint(t, known)
		s.mapping(strings.Replace(joint, "key: E-mail\n", "key: First name\n", 1))
		v.doubt(s, "client p@example.com")
		rows := map[string][]string{"above": {newcomer, known}, "below": {known, newcomer}, "alone": {newcomer}}[v.order]
		s.jointRows(rows...)
		s.run(v.flags("--max-failures", "100%")...)
		if n := len(s.service.Created()["client p@example.com"]); n != 1 {
			t.Errorf("%d contacts of one address", n)
		}
		for _, row := range s.results() {
			switch taken := row["contactId"] != ""; {
			case row["First name"] == "L9" && (taken || row["Import status"] != "failed"):
				t.Errorf("the newcomer is %s with the contact %q: %s", row["Import status"], row["contactId"], row["Error"])
			case row["First name"] == "L1" && row["Import status"] != "done":
				t.Errorf("the client of the contact is %s: %s", row["Import status"], row["Error"])
			}
		}
	})
}

// TestKilledAtBoundariesOfAContact kills the program at every place of a contact
// that two clients share. Created, it is found; not created, it is parked, and
// neither client gets a claim before that is decided. It is never asked for twice.
func TestKilledAtBoundariesOfAContact(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	binary := trialName
	var rows []string
	for n := range places {
		rows = append(rows, fmt.Sprintf("c%d@ | Ann | A-%d | p%d@ | Poe", n, n, n), fmt.Sprintf("d%d@ | Dan | B-%d | p%d@ | Poe", n, n, n))
	}
	s := newJoint(t, rows...)
	for n, place := range places {
		s.killAt(binary, place, boundary{"contact", "client", fmt.Sprintf("client p%d@example.com", n)})
	}
	s.runUntilQuiet(binary)
	for n, place := range places {
		state, asked, claims := "done", 1, 1
		if place == "after-intent" || place == "before-write" || place == "half-written" {
			state, asked, claims = "parked", 0, 0
		}
		if got := s.asked()[fmt.Sprintf("client p%d@example.com", n)]; got != asked {
			t.Errorf("killed %s: the service was asked %d times for the contact, want %d", place, got, asked)
		}
		for _, claim := range []string{fmt.Sprintf("A-%d", n), fmt.Sprintf("B-%d", n)} {
			if got := len(s.service.Created()["claim broker@example.com/Loan "+claim]); got != claims {
				t.Errorf("killed %s: %d claims %s, want %d", place, got, claim, claims)
			}
		}
		lines := 0
		for _, line := range s.steps() {
			if line["Step"] == fmt.Sprintf("contact/email/p%d@example.com", n) {
				if lines++; line["State"] != state {
					t.Errorf("killed %s: the contact is %s beside %s, want %s", place, line["State"], line["Client key"], state)
				}
			}
		}
		if lines != 2 {
			t.Errorf("killed %s: the contact has %d lines in the sheet Steps, want one for each of its clients", place, lines)
		}
	}
}

// TestContactIsNamed: people read a contact's step without escapes, in the workbook, in
// settle, which says that it is a contact; settle accepts it as it is shown
// and as a person types it, and a rerun reads it back.
func TestContactIsNamed(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newJoint(t, "a@ | Ann | A-1 | p@ | Poe Lee", "b@ | Bob | B-1 | p@ | Poe Lee")
	s.mapping(strings.Replace(joint, "    key: Partner\n    lookup: {email: Partner}\n", "    key: Partner name\n    lookup: {email: Partner}\n", 1))
	s.inDoubt("client p@example.com", apitest.CreateThenDrop())
	s.mustRun(4)
	s.service.Play(nil)
	const shown = "contact/joint:partner/Poe Lee"
	if rows := s.results(); rows[0]["Failed step"] != shown || s.steps()[1]["Step"] != shown {
		t.Errorf("the workbook shows %q and %v", rows[0]["Failed step"], s.steps())
	}
	if _, out, _ := s.claimsheet("settle", "-m", s.path("mapping.yaml")); !strings.Contains(out, "client of the client Poe Lee, a contact “partner”\n") {
		t.Errorf("settle says\n%s", out)
	}
	id := s.service.Created()["client p@example.com"][0].ID
	for _, words := range [][]string{{"--give-up", shown}, {"--undo", "contact/joint/partner/Poe Lee"}, {"--not-created", "contact/joint%2Fpartner/Poe Lee"}, {"--undo", "a@example.com:" + shown}, {"--created", id, shown}} {
		if code, out, said := s.claimsheet(append([]string{"settle", "-m", s.path("mapping.yaml")}, words...)...); code != 0 && code != 4 {
			t.Fatalf("settle %q: exit code %d\n%s%s", words, code, out, said)
		}
	}
	s.mustRun(0)
	s.restoreState("")
	if code, said := s.rerun("--yes", "leads.results.xlsx"); code != 0 {
		t.Errorf("the rerun without the ledger ended with exit code %d\n%s", code, said)
	}
	if made := s.service.Created()["client p@example.com"]; len(made) != 1 || s.steps()[1]["Step"] != shown {
		t.Errorf("the contact was created %d times; the rerun's steps are %v", len(made), s.steps())
	}
}

// TestContactIsErased: what was done with a contact who was erased stays as it is,
// nothing new is sent for it, and the ledger learns nothing of it again.
func TestContactIsErased(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newJoint(t, "a@ | Ann | A-1 | p@ | Poe")
	s.mustRun(0)
	if code, out, said := s.claimsheet("history", "--forget", "p@example.com", "--yes", "--environments", s.path("environments.yaml")); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, said)
	}
	s.jointRows("a@ | Ann | A-1 | p@ | Poe", "a@ | Ann | A-2 | p@ | Poe", "b@ | Bob | B-1 | |")
	p := s.mustRun(1, "--max-failures", "100%")
	var got []string
	for _, row := range s.results() {
		got = append(got, row["Import status"]+": "+row["Error"])
	}
	want := []string{"unchanged: ", "not started: waits for the contact “partner”", "done: "}
	if diff := cmp.Diff(want, got); diff != "" || p.posts()["claim"] != 1 {
		t.Errorf("rows (-want +got):\n%s\n%s", diff, transcript(p.calls))
	}
	for _, file := range []string{"ledger.db", "ledger.db-wal"} {
		data, err := os.ReadFile(filepath.Join(s.path(".claimsheet"), file))
		if err == nil && bytes.Contains(data, []byte("p@example.com")) {
			t.Errorf("%s holds the address of the erased contact", file)
		}
	}
}

// TestContactOfTheEnvironment says what is wrong with the place of a contact's id,
// before anything is sent.
func TestContactOfTheEnvironment(t *testing.T) {
	t.Parallel()
	s := newJoint(t, "a@ | Ann | A-1 | |")
	for text, want := range map[string]string{"": "is empty", "two words": "not one word", strings.Repeat("x", 300): "too long for an id",
		"contact-7": "is not an id of the service", "00000000-0000-0000-0000-000000000000": "stands for no id"} {
		write(t, s.path("broker"), text)
		p := s.run()
		if p.code != 2 || len(p.posts()) > 0 || !strings.Contains(p.err, want) || !strings.Contains(p.err, "mapping.yaml:16:") || text != "" && strings.Contains(p.err, text) {
			t.Errorf("%q: exit code %d, want %q\n%s", text, p.code, want, p.err)
		}
	}
	must(t, os.Remove(s.path("broker")))
	if p := s.run(); p.code != 2 || !strings.Contains(p.err, "[contact-id]") {
		t.Errorf("without the file: exit code %d\n%s", p.code, p.err)
	}
}
