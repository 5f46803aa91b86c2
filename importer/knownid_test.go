package importer_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"regexp"
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
	"net/http"
	"slices"
)

const knownIDMapping = `
name: n
api: v2
client: {key: Key, known_id: Contact, %s, fields: {email: E-mail}}
claims: [{id: loan, key: "No", known_id: Claim, name: "Loan {No}", when: has("No")}]
`

var knownIDSheet = cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 1, Header: []string{"Key", "E-mail", "Contact", "No", "Claim"}}

// Ids of rows and events; the service knows a client with the first.
const (
	id1 = "7d0c0f3e-0000-4c53-9d25-0d4b9a0f7a01"
	id2 = "7d0c0f3e-0000-4c53-9d25-0d4b9a0f7a02"
	id3 = "7d0c0f3e-0000-4c53-9d25-0d4b9a0f7a03"
)

// sheetRun is a run of a mapping over a sheet and a ledger that has some events. Events
// without a key space are of the mapping's own.
type sheetRun struct {
	mapping string
	sheet   cell.Sheet
	events  []ledger.Event
	rows    []string                                               // cells are separated by |
	prepare func(*importer.Job, *apitest.Server) *strings.Replacer // of names in rows and events by ids; nil for none
}

// ways are those in which a job looks at a sheet, for sheetRun.by.
var ways = map[string]func(*importer.Job, context.Context, iter.Seq2[mapping.Plan, error]) error{
	"dry run": (*importer.Job).Forecast, "run": (*importer.Job).Do, "report": report,
}

// report is Job.Project.
func report(job *importer.Job, ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	_, _, err := job.Project(ctx, plans)
	return err
}

// by carries the rows out in one of the ways, and returns their results, the job, the service and the ledger.
func (run sheetRun) by(t *testing.T, way string) ([]result.Row, *importer.Job, *apitest.Server, *ledger.Ledger) {
	t.Helper()
	job, known, service := newJob(t, apiclient.InProcess)
	job.Binding, job.NewLedger = bind(t, run.mapping, run.sheet), true
	ids := strings.NewReplacer()
	if run.prepare != nil {
		ids = cmp.Or(run.prepare(job, service), ids)
	}
	for _, e := range run.events {
		e.ID = ids.Replace(e.ID)
		e.Environment, e.Space, e.At = "e", cmp.Or(e.Space, "n"), time.Now()
		must(t, known.Append(e))
	}
	var rows []string
	for _, row := range run.rows {
		rows = append(rows, ids.Replace(row))
	}
	must(t, ways[way](job, t.Context(), groupedPlans(t, job, rows...)))
	return rowsOf(t, job), job, service, known
}

// TestKnownIDs: what becomes of rows that give ids, for what the ledger has, in a dry
// run and in the run.
func TestKnownIDs(t *testing.T) {
	step := func(client, step, id string, to ledger.State, via string) []ledger.Event {
		e := ledger.Event{StepID: ledger.StepID{ClientKey: ledger.ClientKey{Client: client}, Step: step}, State: to, Via: via, ID: id, Kind: strings.SplitN(step, "/", 2)[0]}
		if e.Kind != ledger.KindClient {
			e.Mapping = "n"
		}
		if via == ledger.ViaAdopted || via == ledger.ViaSheet {
			return []ledger.Event{e}
		}
		intent := e
		intent.State, intent.Via, intent.ID = ledger.Sent, "", ""
		return []ledger.Event{intent, e}
	}
	// ofSheet is a step that is done with an id of an earlier sheet.
	ofSheet := func(client, name, id string) []ledger.Event {
		return step(client, name, id, ledger.Done, ledger.ViaSheet)
	}
	const lookup = "lookup: {email: E-mail}"
	const twice = "the sheet gives one id to several clients, in the rows 2, 3 (look in the service whose id it is, and correct the cells)"
	const stays = "the sheet gives the id " + id1 + ", and the ledger has " + id2 + " for this client"
	for name, c := range map[string]struct {
		client string
		events []ledger.Event
		known  []string // the e-mail addresses that the service knows
		rows   []string
		want   []string // of each row: status, claims, and what the error says
		calls  string   // creating calls by kind
	}{
		"a client":                  {lookup, nil, nil, []string{"K1||" + id1 + "||"}, []string{"done " + id1 + " []"}, "0 0 1"},
		"a client and a claim":      {lookup, nil, nil, []string{"K1||" + id1 + "|A|" + id2}, []string{"done " + id1 + " [" + id2 + "]"}, "0 0 1"},
		"a claim of a new client":   {lookup, nil, nil, []string{"K1|a@x.example||A|" + id2}, []string{"done * [" + id2 + "]"}, "1 0 1"},
		"beside one without":        {lookup, nil, nil, []string{"K1||" + id1 + "|A|", "K1|||B|" + id2}, []string{"done " + id1 + " [*]", "done " + id1 + " [" + id2 + "]"}, "0 1 1"},
		"existing: fail":            {"existing: fail, " + lookup, nil, nil, []string{"K1||" + id1 + "||"}, []string{"done " + id1 + " []"}, "0 0 1"},
		"the service is not asked":  {lookup, nil, []string{"a@x.example"}, []string{"K1|a@x.example|" + id1 + "||"}, []string{"done " + id1 + " []"}, "0 0 1"},
		"done with it":              {lookup, step("K1", "client", id1, ledger.Done, ledger.ViaAnswer), nil, []string{"K1||" + strings.ToUpper(id1) + "||"}, []string{"done " + id1 + " []"}, "0 0 1"},
		"done with another":         {lookup, step("K1", "client", id2, ledger.Done, ledger.ViaAnswer), nil, []string{"K1||" + id1 + "|A|"}, []string{"failed " + id2 + " [] the sheet gives the id " + id1 + ", and the ledger has " + id2 + " for this client"}, "0 0 0"},
		"a claim done with another": {lookup, step("K1", "claim/loan/A", id2, ledger.Done, ledger.ViaAnswer), nil, []string{"K1||" + id1 + "|A|" + id3}, []string{"failed " + id1 + " [" + id2 + "] the sheet gives the id " + id3 + ", and the ledger has " + id2 + " for this claim"}, "0 0 0"},
		"corrected":                 {lookup, ofSheet("K1", "client", id2), nil, []string{"K1||" + id1 + "||"}, []string{"failed " + id2 + " [] " + stays}, "0 0 0"},
		"emptied":                   {lookup, ofSheet("K1", "client", id1), nil, []string{"K1||||"}, []string{"done " + id1 + " []"}, "0 0 1"},
		"a corrected claim": {lookup, ofSheet("K1", "claim/loan/A", id2), nil, []string{"K1||" + id1 + "|A|" + id3},
			[]string{"failed " + id1 + " [" + id2 + "] the sheet gives the id " + id3 + ", and the ledger has " + id2 + " for this claim"}, "0 0 0"},
		"refused before": {lookup, step("K1", "client", "", ledger.Refused, ""), nil, []string{"K1||" + id1 + "||"}, []string{"done " + id1 + " []"}, "0 0 1"},
		"left out before": {"existing: skip, " + lookup, append(step("K2", "client", id1, ledger.Done, ledger.ViaAnswer), ledger.Event{StepID: ledger.StepID{ClientKey: ledger.ClientKey{Client: "K1"}, Step: "client"},
			Kind: ledger.KindClient, State: ledger.Refused, ID: id1, Reason: "the service knows this client already, so its rows were left out"}), nil, []string{"K1||" + id1 + "||"}, []string{"done " + id1 + " []"}, "0 0 1"},
		"in doubt":                {"existing: create", step("K1", "client", "", ledger.Uncertain, ""), nil, []string{"K1||" + id1 + "||"}, []string{"uncertain  [] "}, "0 0 0"},
		"given up":                {"existing: create", append(step("K1", "client", "", ledger.Uncertain, ""), step("K1", "client", "", ledger.Closed, ledger.ViaByHand)[1:]...), nil, []string{"K1||" + id1 + "||"}, []string{"failed  [] it was given up"}, "0 0 0"},
		"another's in the ledger": {lookup, step("K2", "client", id1, ledger.Done, ledger.ViaAnswer), nil, []string{"K1||" + id1 + "||"}, []string{"done " + id1 + " []"}, "0 0 1"}, // it is that client, whatever the key
		"a claim of another mapping": {lookup, append(step("K2", "client", id1, ledger.Done, ledger.ViaAnswer), under("m", step("K2", "claim/car/B", id2, ledger.Done, ledger.ViaAnswer))...), nil,
			[]string{"K1||" + id1 + "|A|" + id2, "K1||" + id1 + "|C|"}, []string{"done " + id1 + " [" + id2 + "]", "done " + id1 + " [*]"}, "0 1 1"},
		"another claim's in the ledger": {lookup, step("K2", "claim/loan/B", id2, ledger.Done, ledger.ViaAnswer), nil, []string{"K1||" + id1 + "|A|" + id2},
			[]string{"failed " + id1 + " [] the id " + id2 + " is that of another claim: of the step claim/loan/B of the client with the key “K2”"}, "0 0 0"},
		"a client's in the wrong column": {lookup, step("K2", "client", id2, ledger.Done, ledger.ViaAnswer), nil, []string{"K1||" + id1 + "|A|" + id2},
			[]string{"failed " + id1 + " [] the id " + id2 + " is that of another client: of the client with the key “K2”"}, "0 0 0"},
		"another's in the sheet": {lookup, nil, nil, []string{"K1||" + id1 + "||", "K2||" + id1 + "||"}, []string{
			"invalid  [] Leads!2: " + twice, "invalid  [] Leads!3: " + twice}, "0 0 0"},
		"another's, who is done with it": {lookup, step("K2", "client", id1, ledger.Done, ledger.ViaAdopted), nil, []string{"K1||" + id1 + "||", "K2||" + id1 + "||"}, []string{
			"invalid " + id1 + " [] Leads!2: " + twice, "invalid " + id1 + " [] Leads!3: " + twice}, "0 0 0"},
		"two claims of one client": {lookup, nil, nil, []string{"K1||" + id1 + "|A|" + id2, "K1|||B|" + id2}, []string{
			"not started " + id1 + " [" + id2 + "] waits for the step claim/loan/B", "failed " + id1 + " [] the id " + id2 + " is that of another claim: of the step claim/loan/A of the client with the key “K1”"}, "0 0 0"},
		"two claims of a new client": {lookup, nil, nil, []string{"K1|a@x.example||A|" + id2, "K1|a@x.example||B|" + id2}, []string{
			"not started * [" + id2 + "] waits for the step claim/loan/B", "failed * [] the id " + id2 + " is that of another claim: of the step claim/loan/A of the client with the key “K1”"}, "1 0 0"},
		"a look-up finds another's": {lookup, nil, []string{"a@x.example"}, []string{"K1|a@x.example|||", "K2||KNOWN||"}, []string{
			"done KNOWN []", "failed  [] the id KNOWN is that of another client: of the client with the key “K1”"}, "0 0 1"},
	} {
		for _, way := range []string{"dry run", "run"} {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				dry := way == "dry run"
				var ids *strings.Replacer
				run := sheetRun{fmt.Sprintf(knownIDMapping, c.client), knownIDSheet, c.events, c.rows, func(_ *importer.Job, s *apitest.Server) *strings.Replacer {
					found, one := "", s.AddClient("K1", "k1@x.example", "")
					for _, email := range c.known {
						found = s.AddClient("X", email, "")
					}
					ids = strings.NewReplacer("KNOWN", found, id1, one, strings.ToUpper(id1), strings.ToUpper(one))
					return ids
				}}
				list, job, service, known := run.by(t, way)
				for i, r := range list {
					want := ids.Replace(c.want[i])
					if dry {
						want = strings.ReplaceAll(want, "done", "planned")
						want = strings.ReplaceAll(strings.ReplaceAll(want, "planned *", "planned "), "[*]", "[]")
					}
					got := strings.TrimSpace(fmt.Sprintf("%s %s %v %s", r.Status, r.ClientID, r.ClaimIDs, r.Error))
					if pattern := strings.TrimSpace(want); !matches(pattern, got) {
						t.Errorf("row %d: %s\nwant %s", i+2, got, pattern)
					}
					if r.Status == result.Failed && r.Advice == "" {
						t.Errorf("row %d does not say what to do", i+2)
					}
				}
				summary, _, _ := job.Summary()
				calls := fmt.Sprint(summary.Requests.Client, summary.Requests.Claim, summary.Requests.Link)
				if len(list) != len(c.want) || calls != c.calls {
					t.Errorf("%d rows; calls %s, want %s", len(list), calls, c.calls)
				}
				if made := service.Created(); dry && len(made) > 0 {
					t.Errorf("a dry run created %v", made)
				}
				if name == "a client and a claim" && !dry {
					checkAdopted(t, known, ids)
				}
			})
		}
	}
}

// TestKnownIDTwiceInAReport: a report shows rows of several clients with one id as the run does.
func TestKnownIDTwiceInAReport(t *testing.T) {
	t.Parallel()
	run := sheetRun{fmt.Sprintf(knownIDMapping, "existing: create"), knownIDSheet, nil, []string{"K1||" + id1 + "||", "K2||" + id1 + "||"}, nil}
	rows, _, _, _ := run.by(t, "report")
	for _, row := range rows {
		if row.Status != result.Invalid {
			t.Errorf("%+v", row)
		}
	}
}

// under gives events the name of another mapping.
func under(mapping string, events []ledger.Event) []ledger.Event {
	for i := range events {
		events[i].Mapping = mapping
	}
	return events
}

// matches reports whether a text is like a pattern, in which * stands for an id, or for nothing.
func matches(pattern, text string) bool {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, "[0-9a-f-]*") + "$").MatchString(text)
}

// checkAdopted expects the ledger to say how client and claim became done: without an
// attempt.
func checkAdopted(t *testing.T, known *ledger.Ledger, ids *strings.Replacer) {
	t.Helper()
	steps, err := known.Steps(t.Context(), ledger.ClientKey{Environment: "e", Space: "n", Client: "K1"}, "n")
	must(t, err)
	for step, id := range map[string]string{"client": id1, "claim/loan/A": id2} {
		s := steps[step]
		if s.State != ledger.Done || s.Via != ledger.ViaSheet || s.ID != ids.Replace(id) || s.Attempts != 0 {
			t.Errorf("the ledger has %s as %+v", step, s.Event)
		}
	}
}

// TestKnownIDOfAnErasedClient: nothing is sent for a client who was erased, also where the sheet still gives the id.
func TestKnownIDOfAnErasedClient(t *testing.T) {
	const text = `
name: n
api: v2
client: {key: E-mail, known_id: Contact, lookup: {email: E-mail}, fields: {email: E-mail}}
claims: [{id: loan, key: "No", when: has("No"), name: "Loan {No}"}]
`
	job, known, service := newJob(t, apiclient.InProcess)
	job.Binding = bind(t, text, cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 1, Header: []string{"E-mail", "No", "Contact"}})
	id := service.AddClient("P", "jane@x.example", "")
	must(t, job.Do(t.Context(), plansOf(job.Binding, "jane@x.example|1|"+id)))
	_, err := known.Forget(ledger.ClientKey{Environment: "e", Space: "email", Client: "jane@x.example"}, time.Now())
	must(t, err)
	before := len(service.Calls())
	for i, who := range []string{"jane", "other"} { // her own row, and one of another key with her id
		later := laterJob(t, job, known, fmt.Sprintf("7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a2%d", i))
		must(t, later.Do(t.Context(), plansOf(job.Binding, who+"@x.example|1|"+id)))
		if status := rowsOf(t, later)[0].Status; status != []result.Status{result.Skipped, result.Failed}[i] {
			t.Errorf("the row of %s is %s", who, status)
		}
	}
	if sent := service.Calls()[before:]; slices.ContainsFunc(sent, func(c apitest.Call) bool { return c.Method == http.MethodPost }) {
		t.Errorf("sent %v", sent)
	}
}

// TestKnownIDWithTheAddressOfOneGivenUp: an id that the sheet gives does not take the address of a client who was given up.
func TestKnownIDWithTheAddressOfOneGivenUp(t *testing.T) {
	const text = `
name: n
api: v2
client: {key: Key, known_id: Contact, lookup: {email: E-mail}, fields: {email: E-mail}}
claims: [{id: loan, key: "No", known_id: Claim, name: "Loan {No}", when: has("No")}]
`
	events := contactEvents("sent", "uncertain", "closed, by hand")
	for i := range events {
		events[i].Client, events[i].Space, events[i].Addresses, events[i].LookedUp = "K9", "n", nil, nil
	}
	events[0].Addresses, events[0].LookedUp = []string{"email p@x.example"}, []string{"email p@x.example"}
	run := sheetRun{text, knownIDSheet, events, []string{"K1|p@x.example|" + id1 + "|1|"}, func(_ *importer.Job, s *apitest.Server) *strings.Replacer {
		return strings.NewReplacer(id1, s.AddClient("P", "q@x.example", ""))
	}}
	list, _, service, _ := run.by(t, "run")
	if len(service.Created()) > 0 || list[0].Status != result.Failed || !strings.Contains(list[0].Error, "K9") {
		t.Errorf("created %v; the row is %s: %s", service.Created(), list[0].Status, list[0].Error)
	}
}
