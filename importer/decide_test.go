package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// tableMapping is the mapping of the tables in this package's tests: a client
// and a claim.
const tableMapping = `
name: loans
api: v2
client: {key: E-mail, lookup: {email: E-mail, phone: {column: Phone, format: raw}}, fields: {email: E-mail, phone: Phone}}
claims: [{id: loan, key: "No", name: "Loan {No}"}]
`

// bound binds a mapping to a sheet with the columns E-mail, Phone and No.
func bound(t testing.TB, text string) *mapping.Binding {
	t.Helper()
	m, problems := mapping.Parse("m.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	sheet := cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 1, Header: []string{"E-mail", "Phone", "No"}}
	b, problems := mapping.Bind(m, &sheet, nil, "2026-01-02")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return b
}

// textOf is a text value.
func textOf(s string) cell.Value {
	return cell.Value{Field: cell.StringValue, Literal: s}
}

// cellAt is the source of a value that stands in a column of row 2.
func cellAt(column int, name, text string) mapping.Source {
	return mapping.Source{Row: cell.RowOf(0, 2), Columns: []int{column}, Names: []string{name}, Texts: []string{text}}
}

// planOf is the plan of one client with one row and the given steps.
func planOf(email string, steps ...mapping.Step) mapping.Plan {
	who := mapping.Identity{Space: "email", Key: email}
	row := cell.RowOf(0, 2)
	for i := range steps {
		steps[i].Rows = []cell.Row{row}
	}
	return mapping.Plan{Number: 1, Client: who, Rows: []cell.Row{row}, Steps: steps,
		Lookup: mapping.Lookup{Email: email, EmailAddress: who}, Addresses: []mapping.Identity{who}}
}

func clientStep(email string) mapping.Step {
	return mapping.Step{Key: "client", Kind: mapping.ClientStep,
		Fields: []mapping.Value{{Name: "email", Value: textOf(email), Source: cellAt(0, "E-mail", email)}}}
}

func claimStep(key, name string) mapping.Step {
	return mapping.Step{Key: key, Kind: mapping.ClaimStep, Claim: key, Name: name, NameSource: cellAt(2, "No", name)}
}

func activityStep(key, claim string, status mapping.Status) mapping.Step {
	return mapping.Step{Key: key, Kind: mapping.ActivityStep, Claim: claim, Title: key,
		Activity: &mapping.Activity{TemplateName: "Your details", Status: status}}
}

func linkStep() mapping.Step { return mapping.Step{Key: "link", Kind: mapping.LinkStep} }

// recorded is a step as the ledger has it, asked for with the data of a plan.
func recorded(plan mapping.Plan, step mapping.Step, to ledger.State) ledger.Step {
	a := wantedOf(plan, &step, "loans")
	var s ledger.Step
	s.Step, s.Kind, s.To, s.Data, s.Digest, s.ID = step.Key, string(step.Kind), to, a.json(), a.digest(), "id-1"
	return s
}

// TestDecideByState holds each state of a step, with the same and with other
// data, to what is done about it and to the status that its rows get.
func TestDecideByState(t *testing.T) {
	b := bound(t, tableMapping)
	for _, c := range []struct {
		state  ledger.State
		edited bool
		want   action
		status result.Status // of a step that is not sent
	}{
		{"", false, send, ""},
		{ledger.Refused, false, send, ""},
		{ledger.Refused, true, send, ""},
		{ledger.Done, false, unchanged, result.Unchanged},
		{ledger.Done, true, changed, result.Changed},
		{ledger.Uncertain, false, undecided, result.Uncertain},
		{ledger.Uncertain, true, undecided, result.Uncertain},
		{ledger.Closed, false, givenUp, result.Failed},
		{ledger.Closed, true, givenUp, result.Failed},
	} {
		t.Run(fmt.Sprintf("%s, edited %v", c.state, c.edited), func(t *testing.T) {
			was := planOf("a@example.com", claimStep("claim/loan/1", "Loan 1"))
			now := planOf("a@example.com", claimStep("claim/loan/1", "Loan 1"))
			if c.edited {
				now.Steps[0] = claimStep("claim/loan/1", "Loan one")
				now.Steps[0].Rows = now.Rows
			}
			known := map[string]ledger.Step{}
			if c.state != "" {
				known["claim/loan/1"] = recorded(was, was.Steps[0], c.state)
			}
			d := decide(now, known, b)[0]
			if d.action != c.want {
				t.Fatalf("action %d, want %d", d.action, c.want)
			}
			if d.action == send {
				return
			}
			if o := d.outcome(); o.Status != c.status {
				t.Errorf("status %q, want %q", o.Status, c.status)
			}
		})
	}
}

// TestDecideSaysWhatDiffers names the cell that was edited, and blames the
// mapping for what no cell explains.
func TestDecideSaysWhatDiffers(t *testing.T) {
	b := bound(t, tableMapping)
	was := planOf("a@example.com", clientStep("a@example.com"))
	for name, c := range map[string]struct {
		now     mapping.Step
		why     string
		mapping bool
		action  action
	}{
		"nothing":   {clientStep("a@example.com"), "", false, unchanged},
		"a cell":    {clientStep("b@example.com"), "“email” differs: Leads!A2", false, changed},
		"a mapping": {mapping.Step{Key: "client", Kind: mapping.ClientStep, Fields: []mapping.Value{{Name: "email", Value: textOf("b@example.com")}}}, "", true, unchanged},
	} {
		t.Run(name, func(t *testing.T) {
			d := decide(planOf("a@example.com", c.now), map[string]ledger.Step{"client": recorded(was, was.Steps[0], ledger.Done)}, b)[0]
			if d.why != c.why || d.mapping != c.mapping || d.action != c.action {
				t.Errorf("action %d, why %q, mapping %v; want %d, %q, %v", d.action, d.why, d.mapping, c.action, c.why, c.mapping)
			}
		})
	}
}

// TestBlocked holds trouble to its own claim: the other claim goes on, and what
// belongs to the client waits until every earlier step is done.
func TestBlocked(t *testing.T) {
	const one, two = "claim/loan/1", "claim/loan/2"
	steps := func() []mapping.Step {
		return []mapping.Step{clientStep("a@example.com"), claimStep(one, "1"), activityStep("activity/a@loan/1", one, mapping.Submitted),
			claimStep(two, "2"), activityStep("activity/a@loan/2", two, mapping.Submitted), activityStep("activity/b@client", "", mapping.Open), linkStep()}
	}
	for name, c := range map[string]struct {
		trouble string
		want    []string // the keys of steps that wait, and for which
	}{
		"none":                   {"", nil},
		"client":                 {"client", []string{one + " for client", "activity/a@loan/1 for client", two + " for client", "activity/a@loan/2 for client", "activity/b@client for client", "link for client"}},
		"first claim":            {one, []string{"activity/a@loan/1 for " + one, "activity/b@client for " + one, "link for " + one}},
		"second claim":           {two, []string{"activity/a@loan/2 for " + two, "activity/b@client for " + two, "link for " + two}},
		"activity of one claim":  {"activity/a@loan/1", []string{"activity/b@client for activity/a@loan/1", "link for activity/a@loan/1"}},
		"activity of the client": {"activity/b@client", []string{"link for activity/b@client"}},
		"link":                   {"link", nil},
	} {
		t.Run(name, func(t *testing.T) {
			decisions := decide(planOf("a@example.com", steps()...), nil, bound(t, tableMapping))
			outcomes, err := walk(decisions, func(d decision) (stepOutcome, error) {
				if d.step.Key == c.trouble {
					return stepOutcome{Step: d.step, Status: result.Failed}, nil
				}
				return stepOutcome{Step: d.step, Status: result.Done}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var waits []string
			for _, o := range outcomes {
				if o.Status == result.NotStarted {
					waits = append(waits, o.Step.Key+" for "+strings.TrimPrefix(o.Error, "waits for the step "))
				}
			}
			if diff := cmp.Diff(c.want, waits); diff != "" {
				t.Errorf("waiting (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecideSkipsActivities leaves out what is new of the activities on a client who
// was found, where the mapping says so: not those on claims, not the link, and not
// what was sent before.
func TestDecideSkipsActivities(t *testing.T) {
	const claim = "claim/loan/1"
	skips := strings.Replace(tableMapping, "client: {", "client: {existing_activities: skip, ", 1)
	plan := func() mapping.Plan {
		return planOf("a@example.com", clientStep("a@example.com"), activityStep("activity/a@client", "", mapping.Submitted),
			claimStep(claim, "1"), activityStep("activity/b@loan/1", claim, mapping.Submitted), activityStep("activity/c@client", "", mapping.Open), linkStep())
	}
	for name, c := range map[string]struct {
		mapping  string
		via      string
		attempts int
		activity ledger.State // of the first activity
		skipped  []string
	}{
		"found":                       {skips, ledger.ViaAdopted, 0, "", []string{"activity/a@client", "activity/c@client"}},
		"refused before it was found": {skips, ledger.ViaAdopted, 0, ledger.Refused, []string{"activity/a@client", "activity/c@client"}},
		"sent before":                 {skips, ledger.ViaAdopted, 0, ledger.Done, []string{"activity/c@client"}},
		"in doubt":                    {skips, ledger.ViaAdopted, 0, ledger.Uncertain, []string{"activity/c@client"}},
		"created":                     {skips, ledger.ViaAnswer, 1, "", nil},
		"found after an attempt":      {skips, ledger.ViaAdopted, 1, "", nil},
		"send":                        {tableMapping, ledger.ViaAdopted, 0, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			now := plan()
			client := recorded(now, now.Steps[0], ledger.Done)
			client.Via, client.Attempts = c.via, c.attempts
			known := map[string]ledger.Step{"client": client}
			if c.activity != "" {
				known["activity/a@client"] = recorded(now, now.Steps[1], c.activity)
			}
			var left []string
			for _, d := range decide(now, known, bound(t, c.mapping)) {
				if o := d.outcome(); o.Status == result.Skipped {
					left = append(left, d.step.Key)
					if !o.ok() {
						t.Errorf("later steps wait for %s", d.step.Key)
					}
				}
			}
			if diff := cmp.Diff(c.skipped, left); diff != "" {
				t.Errorf("skipped (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecideNotesAnOlderLink says of each claim that is newer than the client's link
// that the link may lead to a completed activity, until there is a fresh one.
func TestDecideNotesAnOlderLink(t *testing.T) {
	const one, two = "claim/loan/1", "claim/loan/2"
	plan := planOf("a@example.com", clientStep("a@example.com"), claimStep(one, "1"), claimStep(two, "2"), linkStep())
	at := func(i int, event int64) ledger.Step {
		s := recorded(plan, plan.Steps[i], ledger.Done)
		s.Ref.Sent, s.Ref.Last = event, event+1
		return s
	}
	first := map[string]ledger.Step{"client": at(0, 1), one: at(1, 3), "link": at(3, 5)}
	with := func(more map[string]ledger.Step) map[string]ledger.Step {
		known := maps.Clone(first)
		maps.Copy(known, more)
		return known
	}
	for name, c := range map[string]struct {
		known map[string]ledger.Step
		want  []string
	}{
		"nothing is known":     {nil, nil},
		"a new claim":          {first, []string{two}},
		"created since":        {with(map[string]ledger.Step{two: at(2, 7)}), []string{two}},
		"a fresh link":         {with(map[string]ledger.Step{two: at(2, 7), "link": at(3, 9)}), nil},
		"a link of its own":    {with(map[string]ledger.Step{two: at(2, 7), "link/loan/2": at(3, 9)}), nil}, // link was on_new_claim
		"the link was refused": {with(map[string]ledger.Step{"link": recorded(plan, plan.Steps[3], ledger.Refused)}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			outcomes, err := walk(decide(plan, c.known, bound(t, tableMapping)), func(d decision) (stepOutcome, error) {
				return stepOutcome{Step: d.step, Status: result.Done}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var noted []string
			for _, o := range outcomes {
				if o.Advice == adviceOlderLink {
					noted = append(noted, o.Step.Key)
				}
			}
			if diff := cmp.Diff(c.want, noted); diff != "" {
				t.Errorf("noted (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecideFreshLink asks once for a fresh link for the claims that are newer than
// the newest link of their client.
func TestDecideFreshLink(t *testing.T) {
	const one, two, three = "claim/loan/1", "claim/loan/2", "claim/loan/3"
	plan := planOf("a@example.com", clientStep("a@example.com"), claimStep(one, "1"), claimStep(two, "2"), claimStep(three, "3"), linkStep())
	step := func(key string, to ledger.State, via string, sent, last int64) ledger.Step {
		i := slices.IndexFunc(plan.Steps, func(s mapping.Step) bool { return s.Key == key })
		asked := mapping.LinkStepOf(key, plan.Rows)
		if i >= 0 {
			asked = plan.Steps[i]
		}
		s := recorded(plan, asked, to)
		s.Via, s.Ref.Sent, s.Ref.Last = via, sent, last
		if to == ledger.Done && s.Kind == ledger.KindLink {
			s.URL = "https://go/" + key
		}
		return s
	}
	done := func(key string, sent int64) ledger.Step {
		return step(key, ledger.Done, ledger.ViaAnswer, sent, sent+1)
	}
	claims := []ledger.Step{done("client", 1), done(one, 3), done(two, 13), done(three, 23)}
	link, fresh, third := done("link", 5), done("link/loan/2", 15), done("link/loan/3", 25)
	undecided := func(s ledger.Step, to ledger.State, via string) ledger.Step {
		s.To, s.Via, s.URL = to, via, ""
		return s
	}
	for name, c := range map[string]struct {
		known []ledger.Step
		once  bool
		want  []string // the links, and what becomes of each
		url   string   // that the row shows
	}{
		"nothing is known":          {nil, false, []string{"link done"}, ""},
		"no link yet":               {claims[:2], false, []string{"link done"}, ""},
		"nothing is new":            {append(claims[:4:4], link, fresh, third), false, []string{"link/loan/3 unchanged"}, "link/loan/3"},
		"two new claims":            {append(claims[:2:2], link), false, []string{"link unchanged", "link/loan/3 done"}, ""},
		"a claim of an earlier run": {append(claims[:4:4], link, fresh), false, []string{"link/loan/2 unchanged", "link/loan/3 done"}, ""},
		"another night":             {append(claims[:3:3], link, fresh), false, []string{"link/loan/2 unchanged", "link/loan/3 done"}, ""},
		"once":                      {append(claims[:2:2], link), true, []string{"link unchanged"}, "link"},
		"once, after other nights":  {append(claims[:4:4], link, fresh), true, []string{"link/loan/2 unchanged"}, "link/loan/2"},
		"asked for by hand":         {append(claims[:4:4], step("link", ledger.Done, ledger.ViaAnswer, 5, 28)), false, []string{"link unchanged"}, "link"},
		"asked for by hand after a fresh one": {append(claims[:4:4], fresh, step("link", ledger.Done, ledger.ViaAnswer, 5, 28)), false,
			[]string{"link unchanged"}, "link"},
		"asked for by hand in vain": {append(claims[:3:3], step("link", ledger.Done, ledger.ViaByHand, 5, 28)), false, []string{"link unchanged", "link/loan/3 done"}, ""},
		"refused":                   {append(claims[:3:3], link, undecided(fresh, ledger.Refused, "")), false, []string{"link unchanged", "link/loan/3 done"}, ""},
		"refused, and one more claim": {append(claims[:4:4], link, undecided(fresh, ledger.Refused, "")), false,
			[]string{"link unchanged", "link/loan/3 done"}, ""},
		"refused, then asked for by hand": {append(claims[:4:4], undecided(fresh, ledger.Refused, ""), step("link", ledger.Done, ledger.ViaAnswer, 5, 28)), false,
			[]string{"link unchanged"}, "link"},
		"in doubt":              {append(claims[:3:3], link, undecided(fresh, ledger.Uncertain, "")), false, []string{"link unchanged", "link/loan/2 uncertain"}, "link"},
		"in doubt, nothing new": {append(claims[:4:4], link, fresh, undecided(third, ledger.Uncertain, "")), false, []string{"link/loan/2 unchanged", "link/loan/3 uncertain"}, "link/loan/2"},
		"settled after a new claim": {append(claims[:4:4], link, step("link/loan/2", ledger.Done, ledger.ViaByHand, 15, 30)), false,
			[]string{"link/loan/2 unchanged", "link/loan/3 done"}, ""},
		"given up":                   {append(claims[:3:3], link, undecided(fresh, ledger.Closed, ledger.ViaByHand)), false, []string{"link unchanged", "link/loan/3 done"}, ""},
		"the first one was given up": {append(claims[:2:2], undecided(link, ledger.Closed, ledger.ViaByHand)), false, []string{"link/loan/3 done"}, ""},
		"its link is there":          {append(claims[:2:2], step(two, ledger.Done, ledger.ViaByHand, 40, 41), done(three, 7), done("link", 9), fresh), false, []string{"link/loan/2 unchanged"}, "link/loan/2"},
		"taken over from a sorted workbook": {[]ledger.Step{step("link/loan/2", ledger.Done, ledger.ViaWorkbook, 1, 1), step("link", ledger.Done, ledger.ViaWorkbook, 2, 2),
			step("client", ledger.Done, ledger.ViaWorkbook, 3, 3), step(one, ledger.Done, ledger.ViaWorkbook, 4, 4), step(two, ledger.Done, ledger.ViaWorkbook, 5, 5), step(three, ledger.Done, ledger.ViaWorkbook, 6, 6)},
			false, []string{"link unchanged"}, "link"},
	} {
		t.Run(name, func(t *testing.T) {
			known := map[string]ledger.Step{}
			for _, s := range c.known {
				known[s.Step] = s
			}
			text := tableMapping
			if !c.once {
				text += "link: on_new_claim\n"
			}
			b := bound(t, text)
			outcomes, err := walk(decide(plan, known, b), func(d decision) (stepOutcome, error) {
				return stepOutcome{Step: d.step, Status: result.Done}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var links []string
			for _, o := range outcomes {
				if o.Step.Kind == mapping.LinkStep {
					says := string(o.Status)
					if o.Status == result.NotStarted {
						says = o.Error
					}
					links = append(links, o.Step.Key+" "+says)
				}
			}
			if diff := cmp.Diff(c.want, links); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
			row := outcomeOf(b, plan, outcomes).Rows[0]
			if c.url != "" && row.URL != "https://go/"+c.url {
				t.Errorf("the row shows %q, want %q", row.URL, c.url)
			}
			if row.Status == result.Failed {
				t.Errorf("the row fails for a link that was given up: %s", row.Error)
			}
			if _, url := createdBefore(known); c.url != "" && url != row.URL {
				t.Errorf("a row that is left out shows %q, want %q", url, row.URL)
			}
		})
	}
}
