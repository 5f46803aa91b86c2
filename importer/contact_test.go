package importer_test

import (
	"bytes"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

const contactMapping = `
name: n
api: v2
client: {key: E-mail, known_id: Contact, lookup: {email: E-mail}, fields: {email: E-mail}}
contacts: [{id: partner, when: has("Partner"), key: Partner, lookup: {email: Partner}, administrator: false, fields: {email: Partner}}]
claims: [{id: loan, key: "No", when: has("No"), name: "Loan {No}", claimants: [client, partner]}]
`

var contactSheet = cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 1, Header: []string{"E-mail", "Partner", "No", "Contact"}}

// contactEvents are events of the step client of p@x.example, each to a state via a way.
func contactEvents(states ...string) (events []ledger.Event) {
	for _, s := range states {
		to, via, _ := strings.Cut(s, ", ")
		e := ledger.Event{StepID: ledger.StepID{ClientKey: ledger.ClientKey{Space: "email", Client: "p@x.example"}, Step: "client"},
			Kind: ledger.KindClient, State: ledger.State(to), Via: via}
		if via == "not found" {
			e.Via, e.NotFound = "", true
		}
		if e.State == ledger.Done {
			e.ID = "P"
		}
		if e.State == ledger.Sent {
			e.Data = []byte(`{"mapping":"n/partner","values":[{"name":"email","field":"stringValue","value":"p@x.example"}],"lookup":{"email":"p@x.example","asked":["email p@x.example"]},"addresses":["email p@x.example"]}`)
			e.Digest = strings.Repeat("0", 64)
		}
		events = append(events, e)
	}
	return events
}

// statuses are those of rows; what is planned is called done.
func statuses(rows []result.Row) string {
	var list []string
	for _, r := range rows {
		list = append(list, strings.Replace(string(r.Status), "planned", "done", 1))
	}
	return strings.Join(list, " ")
}

// askedFor is how often the service was asked to create a client with an e-mail address.
func askedFor(service *apitest.Server, email string) (n int) {
	for _, call := range service.Calls() {
		if call.Kind == "client" && strings.Contains(call.Body, email) {
			n++
		}
	}
	return n
}

// TestContactInDoubtIsForeseen: a dry run says of a contact who is in doubt, not found or
// decided what the run does: for the two clients who name them, and for their own row.
func TestContactInDoubtIsForeseen(t *testing.T) {
	const sent = "sent"
	for name, c := range map[string]struct {
		events []ledger.Event
		ripe   bool   // "nobody" is believed
		known  bool   // the service knows the contact
		want   string // the rows' statuses
		calls  string // creating calls for clients and claims
	}{
		"new":                    {nil, false, false, "done done done", "3 2"},
		"new, and known":         {nil, false, true, "done done done", "2 2"},
		"in doubt":               {contactEvents(sent, "uncertain"), false, false, "uncertain uncertain uncertain", "2 0"},
		"in doubt, and known":    {contactEvents(sent, "uncertain"), false, true, "done done done", "2 2"},
		"not found":              {contactEvents(sent, "uncertain, not found"), false, false, "uncertain uncertain uncertain", "2 0"},
		"not found, and known":   {contactEvents(sent, "uncertain, not found"), false, true, "done done done", "2 2"},
		"not found for long":     {contactEvents(sent, "uncertain, not found"), true, false, "done done done", "3 2"},
		"decided: created":       {contactEvents(sent, "uncertain", "done, by hand"), false, true, "done done done", "2 2"},
		"decided: not created":   {contactEvents(sent, "uncertain", "refused, by hand"), false, false, "done done done", "3 2"},
		"not created, and known": {contactEvents(sent, "uncertain", "refused, by hand"), false, true, "done done done", "2 2"},
		"decided: given up":      {contactEvents(sent, "uncertain", "closed, by hand"), false, false, "failed failed failed", "2 0"},
		"undone: in doubt":       {contactEvents(sent, "uncertain", "refused, by hand", "uncertain, by hand"), false, false, "uncertain uncertain uncertain", "2 0"},
		"refused":                {contactEvents(sent, "refused"), false, false, "done done done", "3 2"},
	} {
		for _, way := range []string{"dry run", "run"} {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				run := sheetRun{contactMapping, contactSheet, c.events, []string{"a@x.example|p@x.example|1|", "b@x.example|p@x.example|2|", "p@x.example|||"},
					func(job *importer.Job, s *apitest.Server) *strings.Replacer {
						job.Concurrency = 1
						if c.ripe {
							job.Believable = 1
						}
						id := "P"
						if c.known {
							id = s.AddClient("P", "p@x.example", "")
						}
						return strings.NewReplacer("P", id)
					}}
				list, job, _, _ := run.by(t, way)
				summary, _, _ := job.Summary()
				if calls := fmt.Sprint(summary.Requests.Client, summary.Requests.Claim); statuses(list) != c.want || calls != c.calls {
					t.Errorf("calls %s, want %s; rows %s, want %s\n%v", calls, c.calls, statuses(list), c.want, list)
				}
			})
		}
	}
}

// TestContactStaysInDoubt: rows whose contact, or the activity on it, a killed run has left in
// flight are uncertain in a dry run, in the next run and in a report, and nothing is sent again.
func TestContactStaysInDoubt(t *testing.T) {
	const withActivity = contactMapping + "workflow: {name: w, template_identifier: t}\nactivities: [{template: Details, on: partner, status: Open}]\n"
	activity := contactEvents("sent")[0]
	activity.Mapping, activity.Step, activity.Kind = "n", "activity/Details@contact", ledger.KindActivity
	activity.Data, activity.Digest = []byte(`{"mapping":"n","template":"Details","status":"Open"}`), strings.Repeat("0", 64)
	for name, events := range map[string][]ledger.Event{
		"the contact": contactEvents("sent"), "the activity": append(contactEvents("done, workbook"), activity),
	} {
		for way := range ways {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				run := sheetRun{withActivity, contactSheet, events, []string{"a@x.example|p@x.example|1|", "b@x.example|p@x.example|2|"},
					func(job *importer.Job, s *apitest.Server) *strings.Replacer {
						return strings.NewReplacer("P", "7d0c0f3e-0000-4c53-9d25-0d4b9a0f7a01")
					}}
				list, _, service, _ := run.by(t, way)
				for _, row := range list {
					if row.Status != result.Uncertain {
						t.Errorf("%+v", row)
					}
				}
				for name := range service.Created() {
					if name != "client a@x.example" && name != "client b@x.example" {
						t.Errorf("%s was created", name)
					}
				}
			})
		}
	}
}

// TestAdviceOfARefusedClaim: what a row says where the service refuses a claim, by how its
// contacts became known. A service may refuse a claim of a contact who is no administrator.
func TestAdviceOfARefusedClaim(t *testing.T) {
	const (
		row    = "Correct the row or the mapping, then run again"
		reused = "Claimsheet did not create this contact, and a claim's contact has to be an administrator"
		wrong  = "If the service does not know the id "
	)
	created := contactEvents("sent", "done, answer")
	given := contactEvents("done, known_id")
	for name, c := range map[string]struct {
		events []ledger.Event
		known  string // whom the service knows
		row    string
		want   []string
		not    string
	}{
		"a new client":                        {nil, "", "a@x.example||1|", []string{row}, wrong},
		"a client who was found":              {nil, "a@x.example", "a@x.example||1|", []string{reused}, wrong},
		"a client who was found before":       {contactEvents("done, adopted"), "", "p@x.example||1|", []string{reused}, wrong},
		"a partner created as one":            {created, "", "a@x.example|p@x.example|1|", []string{row}, wrong},
		"a client with an id of the sheet":    {nil, "", "p@x.example||1|P", []string{reused, wrong + "P", `"p@x.example:client"`}, row},
		"a client with an id of an old sheet": {given, "", "p@x.example||1|", []string{reused, wrong}, row},
		"a partner with an id of a sheet":     {given, "", "a@x.example|p@x.example|1|", []string{row, wrong + "P", `"contact/email/p@x.example"`}, reused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ids *strings.Replacer
			run := sheetRun{contactMapping, contactSheet, c.events, []string{c.row}, func(_ *importer.Job, s *apitest.Server) *strings.Replacer {
				if c.known != "" {
					s.AddClient("x", c.known, "")
				}
				ids = strings.NewReplacer("P", s.AddClient("P", "elsewhere@x.example", ""))
				s.Play(func(call apitest.Call) apitest.Fault {
					if call.Kind == "claim" {
						return apitest.Answer(apitest.JSON(400, `{}`))
					}
					return apitest.Fault{}
				})
				return ids
			}}
			list, _, _, _ := run.by(t, "run")
			for _, want := range c.want {
				if list[0].FailedStep != "claim/loan/1" || !strings.Contains(list[0].Advice, ids.Replace(want)) {
					t.Errorf("the row says %v, want %q", list[0], want)
				}
			}
			if strings.Contains(list[0].Advice, c.not) {
				t.Errorf("the row says %q", list[0].Advice)
			}
		})
	}
}

// TestLookUpProvesNothing: a client in doubt who was looked up by something that is none
// of the fields that were sent stays in doubt, however old that is: nobody is found by it.
func TestLookUpProvesNothing(t *testing.T) {
	for by, want := range map[string]string{"p@x.example": "done", "other@x.example": "uncertain"} {
		for _, way := range []string{"dry run", "run"} {
			t.Run(by+", "+way, func(t *testing.T) {
				t.Parallel()
				events := contactEvents("sent", "uncertain, not found")
				events[0].Data = bytes.ReplaceAll(events[0].Data, []byte(`"lookup":{"email":"p@x.example"`), []byte(`"lookup":{"email":"`+by+`"`))
				run := sheetRun{contactMapping, contactSheet, events, []string{"p@x.example|||"}, func(job *importer.Job, _ *apitest.Server) *strings.Replacer {
					job.Believable = 1
					return nil
				}}
				list, _, _, _ := run.by(t, way)
				if got := statuses(list); got != want {
					t.Errorf("the row is %s, want %s: %s", got, want, list[0].Error)
				}
			})
		}
	}
}

// TestConflictStays: a claim that may exist twice stays uncertain, although the ledger has the answer to the later request.
func TestConflictStays(t *testing.T) {
	client := contactEvents("done, adopted")[0]
	claim := func(to ledger.State, via string) ledger.Event {
		e := ledger.Event{StepID: client.StepID, Kind: ledger.KindClaim, State: to, Via: via, Run: "r1"}
		e.Mapping, e.Step = "n", "claim/loan/1"
		return e
	}
	done, conflict := claim(ledger.Done, ledger.ViaAnswer), claim(ledger.Uncertain, ledger.ViaConflict)
	done.ID, done.Status, done.Answer = id2, 201, []byte(`{"claimId":"`+id2+`"}`)
	conflict.Reason = "the journal has the id " + id1
	events := []ledger.Event{client, claim(ledger.Sent, ""), done, conflict}
	run := sheetRun{contactMapping, contactSheet, events, []string{"p@x.example||1|"}, func(_ *importer.Job, s *apitest.Server) *strings.Replacer {
		return strings.NewReplacer("P", s.AddClient("P", "p@x.example", ""))
	}}
	rows, _, _, _ := run.by(t, "run")
	if len(rows) != 1 || rows[0].Status != result.Uncertain || !strings.Contains(rows[0].Error, id1) {
		t.Errorf("%+v", rows)
	}
}

// byPhone looks clients up by their phone numbers and contacts by their e-mail addresses.
const byPhone = `
name: n
api: v2
client:
  key: E-mail
  lookup: {phone: {column: Mobile, type: Phone, region: GB}}
  fields: {email: {column: E-mail, type: Email}, phone: {column: Mobile, type: Phone, region: GB}}
contacts: [{id: partner, when: has("Partner"), key: Partner, lookup: {email: Partner}, administrator: false, fields: {email: {column: Partner, type: Email}}}]
claims: [{id: loan, key: "No", name: "Loan {No}", claimants: [client, partner]}]
`

var byPhoneSheet = cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 1, Header: []string{"E-mail", "Mobile", "Partner", "No"}}

// TestContactWhoIsAClient: a contact whose key is the address that another row sends for its client is that client,
// also where the client is looked up by its phone number. The second of them in the sheet is refused, whatever the
// concurrency, and in a dry run too.
func TestContactWhoIsAClient(t *testing.T) {
	named, own, other := "a@x.example|07700900101|p@x.example|1", "p@x.example|07700900102||2", "b@x.example|07700900103|p@x.example|3"
	for name, c := range map[string]struct {
		rows []string
		want string
	}{
		"the contact first": {[]string{named, own, other}, "done failed done"},
		"the client first":  {[]string{own, named, other}, "done failed failed"},
	} {
		for _, concurrency := range []int{1, 8} {
			for _, way := range []string{"dry run", "run"} {
				t.Run(fmt.Sprintf("%s, concurrency %d, %s", name, concurrency, way), func(t *testing.T) {
					t.Parallel()
					run := sheetRun{byPhone, byPhoneSheet, nil, c.rows, func(j *importer.Job, _ *apitest.Server) *strings.Replacer {
						j.Concurrency = concurrency
						return nil
					}}
					list, _, service, _ := run.by(t, way)
					if got := statuses(list); got != c.want {
						t.Errorf("the rows are %s, want %s: %+v", got, c.want, list)
					}
					if people, want := askedFor(service, "p@x.example"), map[string]int{"run": 1}[way]; people != want {
						t.Errorf("p@x.example was created %d times, want %d", people, want)
					}
				})
			}
		}
	}
}

// TestManyClientsWaitForAContact: a client that works on a contact is not held up by clients that wait for the contact, even when they
// are more than may have open intents, or were just looked up under a rate.
func TestManyClientsWaitForAContact(t *testing.T) {
	const on = "workflow: {name: w, template_identifier: t}\nactivities: [{template: Details, on: partner, status: Open}, {template: Other, on: partner, status: Open, assigned: true}]\n"
	for name, perSecond := range map[string]float64{"no rate": 0, "a rate": 400} {
		t.Run(name, func(t *testing.T) {
			job, _, service := newJob(t, apiclient.InProcess)
			job.Service = newClient(t, apiclient.InProcess(service), 4, atRate(perSecond))
			job.Binding, job.NewLedger, job.Concurrency, job.MaxFailures = bind(t, contactMapping+on, contactSheet), true, 4, importer.MaxFailures{Percent: 100}
			service.Play(func(c apitest.Call) (f apitest.Fault) {
				if c.Method == http.MethodPost {
					time.Sleep(5 * time.Millisecond)
				}
				if c.Kind == "activity" {
					return apitest.Answer(apitest.JSON(201, "{}"))
				}
				return f
			})
			rows := []string{"first@x.example||0|"}
			for i := range 40 {
				rows = append(rows, fmt.Sprintf("c%d@x.example|p%d@x.example|%d|", i, i/20, i+1))
			}
			for i := range 10 {
				service.AddClient(fmt.Sprint("c", i), fmt.Sprintf("c%d@x.example", i), "")
			}
			must(t, job.Do(t.Context(), groupedPlans(t, job, rows...)))
			for _, r := range rowsOf(t, job) {
				if r.Status != result.Done {
					t.Errorf("row %d is %s: %s", r.Row, r.Status, r.Error)
				}
			}
		})
	}
}

// TestContactWithAClientsAddress: a contact who has the address of another row's client, by which that one is not looked up,
// is worked on after or before that client and not beside it.
func TestContactWithAClientsAddress(t *testing.T) {
	job, _, service := newJob(t, apiclient.InProcess)
	job.Binding, job.NewLedger, job.Concurrency, job.MaxFailures = bind(t, byPhone, byPhoneSheet), true, 4, importer.MaxFailures{Percent: 100}
	asked, made := make(chan struct{}), make(chan struct{}) // the contact was looked up; the client was created
	wait := func(until chan struct{}) {
		select {
		case <-until:
		case <-time.After(200 * time.Millisecond):
		}
	}
	service.Play(func(c apitest.Call) (f apitest.Fault) {
		switch {
		case c.Kind == "claim" && strings.Contains(c.Body, "Loan 2"):
			close(made)
		case c.Kind == "lookup" && strings.Contains(c.Path, "7700900102"):
			wait(asked)
		case c.Kind == "lookup" && strings.Contains(c.Path, "x.example"):
			close(asked)
			wait(made)
			return apitest.Answer(service.Nobody)
		}
		return f
	})
	must(t, job.Do(t.Context(), groupedPlans(t, job, "z@x.example|07700900100||0", "a@x.example|07700900101|p@x.example|1", "p@x.example|07700900102||2")))
	if people := askedFor(service, "p@x.example"); people != 1 {
		t.Errorf("p@x.example was created %d times: %+v", people, rowsOf(t, job))
	}
}

// TestHeldBackWithANewContact: a client that is held back because an activity is wanted in another status is held back in a report too.
func TestHeldBackWithANewContact(t *testing.T) {
	const text = contactMapping + "workflow: {name: w, template_identifier: t}\nactivities: [{template: Details, status: Open}, {template: Other, on: partner, assigned: true, status: Open}]\n"
	done := func(step, kind, mapping, data string) []ledger.Event {
		sent := ledger.Event{StepID: ledger.StepID{ClientKey: ledger.ClientKey{Space: "email", Client: "a@x.example"}, Mapping: mapping, Step: step},
			Kind: kind, State: ledger.Sent, Run: "00000000-2f0e-4c53-9d25-0d4b9a0f7a11", Data: []byte(data), Digest: strings.Repeat("0", 64)}
		answer := sent
		answer.Data, answer.Digest, answer.State, answer.Via = nil, "", ledger.Done, ledger.ViaAnswer
		if kind == ledger.KindClient {
			answer.ID = "A"
		}
		return []ledger.Event{sent, answer}
	}
	events := append(done("client", "client", "", `{"mapping":"n","values":[{"name":"email","field":"stringValue","value":"a@x.example"}],"lookup":{"email":"a@x.example","asked":["email a@x.example"]},"addresses":["email a@x.example"]}`),
		done("activity/Details@client", "activity", "n", `{"mapping":"n","template":"Details","status":"Submitted"}`)...)
	for way := range ways {
		run := sheetRun{text, contactSheet, events, []string{"a@x.example|p@x.example|1|"}, func(j *importer.Job, _ *apitest.Server) *strings.Replacer {
			if way == "report" {
				j.Service = nil
			}
			return strings.NewReplacer("A", id3)
		}}
		if list, _, _, _ := run.by(t, way); list[0].Status != result.Changed {
			t.Errorf("%s: the row is %s", way, list[0].Status)
		}
	}
}

// groupedPlans returns the plans of rows, of which the job knows who belongs together.
func groupedPlans(t *testing.T, job *importer.Job, rows ...string) iter.Seq2[mapping.Plan, error] {
	t.Helper()
	records := spooled(t, asRead(recordsOf(rows...)))
	survey, err := importer.NewSurvey(t.Context(), job.Binding, records, true)
	must(t, err)
	job.Groups = survey.Groups
	return survey.Plans(job.Binding, records)
}
