package importer

import (
	"slices"
	"strings"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/testform"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

var (
	must = testform.NoError
	same = testform.Same
)

// tableMapping is the mapping of the tables in this package's tests: a client
// and a claim.
const tableMapping = `
name: loans
api: v2
client: {key: E-mail, lookup: {email: E-mail, phone: {column: Phone, format: raw}}, fields: {email: E-mail, phone: Phone}}
claims: [{id: loan, key: "No", name: "Loan {No}"}]
`

// Bind binds a mapping to a sheet.
func Bind(t testing.TB, text string, sheet cell.Sheet) *mapping.Binding {
	t.Helper()
	m, problems := mapping.Parse("m.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	b, problems := mapping.Bind(m, &sheet, nil, "2026-01-02")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return b
}

// bound binds a mapping to a sheet with the columns E-mail, Phone and No.
func bound(t testing.TB, text string) *mapping.Binding {
	t.Helper()
	return Bind(t, text, cell.Sheet{File: "leads.xlsx", Name: "Leads", HeaderRow: 1, Header: []string{"E-mail", "Phone", "No"}})
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
	return mapping.Step{Key: key, Kind: mapping.ClaimStep, Claim: key, Name: name,
		Fields: []mapping.Value{{Name: mapping.ClaimName, Value: textOf(name), Source: cellAt(2, "No", name)}}}
}

func activityStep(key, claim string, status string) mapping.Step {
	return mapping.Step{Key: key, Kind: mapping.ActivityStep, Claim: claim, Title: key,
		Activity: &mapping.Activity{TemplateName: "Your details", Status: status}}
}

func linkStep() mapping.Step { return mapping.Step{Key: "link", Kind: mapping.LinkStep} }

// recorded is a step as the ledger has it, asked for with the data of a plan.
func recorded(plan mapping.Plan, step mapping.Step, to ledger.State) ledger.Step {
	a := wantedOf(plan, &step, "loans")
	var s ledger.Step
	s.Step, s.Kind, s.State, s.Data, s.Digest, s.ID = step.Key, string(step.Kind), to, a.json(), a.digest(), "id-1"
	return s
}

// carriedOut are the outcomes of a plan's steps if the service creates each one that is sent but the one that fails.
func carriedOut(t *testing.T, b *mapping.Binding, plan mapping.Plan, known map[string]ledger.Step, fails string) []stepOutcome {
	t.Helper()
	outcomes, err := walk(decide(plan, known, b), func(d decision) (stepOutcome, error) {
		if d.Step.Key == fails {
			return stepOutcome{Step: d.Step, Status: result.Failed}, nil
		}
		return stepOutcome{Step: d.Step, Status: result.Done}, nil
	})
	must(t, err)
	return outcomes
}

// expect expects a text for each of some outcomes, "" for none.
func expect(t *testing.T, want []string, outcomes []stepOutcome, text func(o stepOutcome) string) {
	t.Helper()
	var got []string
	for _, o := range outcomes {
		if s := text(o); s != "" {
			got = append(got, s)
		}
	}
	same(t, "outcomes", want, got)
}

// TestDecideComposedLetters: letters that are composed in one export and not in the next are no difference.
func TestDecideComposedLetters(t *testing.T) {
	was, now := planOf("a@example.com", claimStep("claim/loan/1", "Zo\u00eb")), planOf("a@example.com", claimStep("claim/loan/1", "Zoe\u0308"))
	known := map[string]ledger.Step{"claim/loan/1": recorded(was, was.Steps[0], ledger.Done)}
	if o := carriedOut(t, bound(t, tableMapping), now, known, "")[0]; o.Status != result.Unchanged {
		t.Errorf("%s: %s", o.Status, o.Error)
	}
}

// TestDecideSaysWhatDiffers names the cell that was edited, and blames the
// mapping for what no cell explains.
func TestDecideSaysWhatDiffers(t *testing.T) {
	b := bound(t, tableMapping)
	was := planOf("a@example.com", clientStep("a@example.com"))
	byMapping := clientStep("b@example.com")
	byMapping.Fields[0].Source = mapping.Source{}
	for name, c := range map[string]struct {
		now     mapping.Step
		why     string
		mapping bool
		status  result.Status
	}{
		"nothing":   {clientStep("a@example.com"), "", false, result.Unchanged},
		"a cell":    {clientStep("b@example.com"), "“email” differs: Leads!A2", false, result.Changed},
		"a mapping": {byMapping, "", true, result.Unchanged},
	} {
		d := decide(planOf("a@example.com", c.now), map[string]ledger.Step{"client": recorded(was, was.Steps[0], ledger.Done)}, b)[0]
		if d.Error != c.why || d.mapping != c.mapping || d.Status != c.status {
			t.Errorf("%s: %s, why %q, mapping %v; want %s, %q, %v", name, d.Status, d.Error, d.mapping, c.status, c.why, c.mapping)
		}
	}
}

// TestBlocked holds trouble to its own claim: the other claim goes on, and what
// belongs to the client waits until every earlier step is done.
func TestBlocked(t *testing.T) {
	const one, two = "claim/loan/1", "claim/loan/2"
	plan := planOf("a@example.com", clientStep("a@example.com"), claimStep(one, "1"), activityStep("activity/a@loan/1", one, mapping.Submitted),
		claimStep(two, "2"), activityStep("activity/a@loan/2", two, mapping.Submitted), activityStep("activity/b@client", "", mapping.Open), linkStep())
	for fails, want := range map[string][]string{ // the keys of steps that wait for it
		"client":            {one, "activity/a@loan/1", two, "activity/a@loan/2", "activity/b@client", "link"},
		one:                 {"activity/a@loan/1", "activity/b@client", "link"},
		two:                 {"activity/a@loan/2", "activity/b@client", "link"},
		"activity/a@loan/1": {"activity/b@client", "link"},
		"activity/b@client": {"link"},
		"link":              nil,
		"none":              nil,
	} {
		t.Run(fails, func(t *testing.T) {
			expect(t, want, carriedOut(t, bound(t, tableMapping), plan, nil, fails), func(o stepOutcome) string {
				if o.Status != result.NotStarted {
					return ""
				}
				return o.Step.Key + strings.TrimPrefix(o.Error, "waits for the step "+fails)
			})
		})
	}
}

// TestDecideSkipsActivities leaves out what is new of the activities on a client who
// was found, where the mapping says so: not those on claims, not the link, and not
// what was sent before.
func TestDecideSkipsActivities(t *testing.T) {
	const claim = "claim/loan/1"
	skips := strings.Replace(tableMapping, "client: {", "client: {existing_activities: skip, ", 1)
	plan := planOf("a@example.com", clientStep("a@example.com"), activityStep("activity/a@client", "", mapping.Submitted),
		claimStep(claim, "1"), activityStep("activity/b@loan/1", claim, mapping.Submitted), activityStep("activity/c@client", "", mapping.Open), linkStep())
	for name, c := range map[string]struct {
		mapping  string
		via      string
		attempts int
		activity ledger.State // of the first activity
		skipped  []string
	}{
		"found":                  {skips, ledger.ViaAdopted, 0, "", []string{"activity/a@client", "activity/c@client"}},
		"sent before":            {skips, ledger.ViaAdopted, 0, ledger.Done, []string{"activity/c@client"}},
		"in doubt":               {skips, ledger.ViaAdopted, 0, ledger.Uncertain, []string{"activity/c@client"}},
		"created":                {skips, ledger.ViaAnswer, 1, "", nil},
		"found after an attempt": {skips, ledger.ViaAdopted, 1, "", nil},
		"send":                   {tableMapping, ledger.ViaAdopted, 0, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			client := recorded(plan, plan.Steps[0], ledger.Done)
			client.Via, client.Attempts = c.via, c.attempts
			known := map[string]ledger.Step{"client": client}
			if c.activity != "" {
				known["activity/a@client"] = recorded(plan, plan.Steps[1], c.activity)
			}
			expect(t, c.skipped, carriedOut(t, bound(t, c.mapping), plan, known, ""), func(o stepOutcome) string {
				if o.Status != result.Skipped {
					return ""
				}
				if !o.ok() {
					t.Errorf("later steps wait for %s", o.Step.Key)
				}
				return o.Step.Key
			})
		})
	}
}

// TestDecideLinks asks for a client's link once, and with link: on_new_claim once more for the claims that are newer
// than the newest link. Without it, claims that are newer than the link say that it may lead to a completed activity.
func TestDecideLinks(t *testing.T) {
	const one, two, three = "claim/loan/1", "claim/loan/2", "claim/loan/3"
	plan := planOf("a@example.com", clientStep("a@example.com"), claimStep(one, "1"), claimStep(two, "2"), claimStep(three, "3"), linkStep())
	// step is one of the plan, or a fresh link, as an event with the number last left it, which was sent with the number sent.
	step := func(key string, to ledger.State, via string, sent, last int64) ledger.Step {
		asked := mapping.LinkStepOf(key, plan.Rows)
		if i := slices.IndexFunc(plan.Steps, func(s mapping.Step) bool { return s.Key == key }); i >= 0 {
			asked = plan.Steps[i]
		}
		s := recorded(plan, asked, to)
		s.Via, s.SentVersion, s.Version = via, sent, last
		if to == ledger.Done && s.Kind == ledger.KindLink {
			s.URL = "https://go/" + key
		}
		return s
	}
	done := func(key string, sent int64) ledger.Step {
		return step(key, ledger.Done, ledger.ViaAnswer, sent, sent+1)
	}
	claims := []ledger.Step{done("client", 1), done(one, 3), done(two, 13), done(three, 23)}
	link, fresh, third, byHand := done("link", 5), done("link/loan/2", 15), done("link/loan/3", 25), step("link", ledger.Done, ledger.ViaAnswer, 5, 28)
	other := func(key string, to ledger.State) ledger.Step { return step(key, to, "", 15, 16) }
	var sorted []ledger.Step // a workbook that was sorted says nothing of what came first
	for i, key := range []string{"link/loan/2", "link", "client", one, two, three} {
		sorted = append(sorted, step(key, ledger.Done, ledger.ViaWorkbook, int64(i), int64(i)))
	}
	for name, c := range map[string]struct {
		known []ledger.Step
		once  bool
		want  []string // the links, and what becomes of each; of link: once also the claims that are newer
		url   string   // that the row shows
	}{
		"no link yet":                         {claims[:2], false, []string{"link done"}, ""},
		"nothing is new":                      {append(claims[:4:4], link, fresh, third), false, []string{"link/loan/3 unchanged"}, "link/loan/3"},
		"two new claims":                      {append(claims[:2:2], link), false, []string{"link/loan/3 done"}, ""},
		"a claim of an earlier run":           {append(claims[:4:4], link, fresh), false, []string{"link/loan/3 done"}, ""},
		"once, and nothing is known":          {nil, true, []string{"link done"}, ""},
		"once, and two new claims":            {append(claims[:2:2], link), true, []string{two + " newer", three + " newer", "link unchanged"}, "link"},
		"once, and one was created since":     {append(claims[:3:3], link), true, []string{two + " newer", three + " newer", "link unchanged"}, "link"},
		"once, and the link is newer":         {append(claims[:3:3], done("link", 15)), true, []string{three + " newer", "link unchanged"}, "link"},
		"once, after other nights":            {append(claims[:4:4], link, fresh), true, []string{three + " newer", "link/loan/2 unchanged"}, "link/loan/2"},
		"once, and the link was refused":      {append(claims[:2:2], other("link", ledger.Refused)), true, []string{"link done"}, ""},
		"asked for by hand after a fresh one": {append(claims[:4:4], fresh, byHand), false, []string{"link unchanged"}, "link"},
		"asked for by hand in vain":           {append(claims[:3:3], step("link", ledger.Done, ledger.ViaByHand, 5, 28)), false, []string{"link/loan/3 done"}, ""},
		"refused, and one more claim":         {append(claims[:4:4], link, other("link/loan/2", ledger.Refused)), false, []string{"link/loan/3 done"}, ""},
		"in doubt":                            {append(claims[:3:3], link, other("link/loan/2", ledger.Uncertain)), false, []string{"link/loan/2 uncertain"}, "link"},
		"settled after a new claim": {append(claims[:4:4], link, step("link/loan/2", ledger.Done, ledger.ViaByHand, 15, 30)), false,
			[]string{"link/loan/3 done"}, ""},
		"given up":                          {append(claims[:3:3], link, other("link/loan/2", ledger.Closed)), false, []string{"link/loan/3 done"}, ""},
		"its link is there":                 {append(claims[:2:2], step(two, ledger.Done, ledger.ViaByHand, 40, 41), done(three, 7), done("link", 9), fresh), false, []string{"link/loan/2 unchanged"}, "link/loan/2"},
		"taken over from a sorted workbook": {sorted, false, []string{"link unchanged"}, "link"},
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
			outcomes := carriedOut(t, b, plan, known, "")
			expect(t, c.want, outcomes, func(o stepOutcome) string {
				switch {
				case o.Step.Kind == mapping.LinkStep:
					return o.Step.Key + " " + string(o.Status)
				case o.Advice == adviceOlderLink:
					return o.Step.Key + " newer"
				}
				return ""
			})
			row := outcomeOf(b, plan, outcomes, known).Rows[0]
			if c.url != "" && row.URL != "https://go/"+c.url || row.Status == result.Failed {
				t.Errorf("the row shows %q, want %q; it is %s: %s", row.URL, c.url, row.Status, row.Error)
			}
			if url := lastGiven(known).URL; c.url != "" && url != row.URL {
				t.Errorf("a row that is left out shows %q, want %q", url, row.URL)
			}
		})
	}
}

// TestTakenNames compares the claims that a plan creates with each other and with the client's
// earlier claims, as far as the ledger knows their names, and never two of the latter.
func TestTakenNames(t *testing.T) {
	b := bound(t, tableMapping)
	one, two, twice := claimStep("claim/loan/1", "Loan"), claimStep("claim/loan/2", "Loan"), []string{"as that of"}
	known := two
	known.KnownID = "k-2"
	earlier, pair := []string{"as an earlier claim"}, []mapping.Step{one, two}
	purged := func(s *ledger.Step) { s.Data = nil }
	for name, c := range map[string]struct {
		steps []mapping.Step
		one   ledger.State // of the first claim, "" where the ledger does not have it
		was   func(*ledger.Step)
		both  bool // the second one is in that state too
		want  []string
	}{
		"another name":               {[]mapping.Step{claimStep("claim/loan/2", "Other")}, ledger.Done, nil, false, nil},
		"the name of a done claim":   {pair[1:], ledger.Done, nil, false, earlier},
		"of one in doubt":            {pair[1:], ledger.Uncertain, nil, false, earlier},
		"of one that failed":         {pair[1:], ledger.Refused, nil, false, nil},
		"of one that was given up":   {pair, ledger.Closed, nil, false, nil},
		"of one that was purged":     {pair[1:], ledger.Done, purged, false, nil},
		"purged, and asked for":      {pair, ledger.Done, purged, false, earlier},
		"of one that was taken over": {pair[1:], ledger.Done, func(s *ledger.Step) { s.Via = ledger.ViaSheet }, false, nil},
		"to be taken over":           {[]mapping.Step{known}, ledger.Done, nil, false, nil},
		"its own":                    {pair[:1], ledger.Done, nil, false, nil},
		"both are to be created":     {pair, "", nil, false, twice},
		"both are done":              {pair, ledger.Done, nil, true, nil},
		"both failed":                {pair, ledger.Refused, nil, true, twice},
	} {
		t.Run(name, func(t *testing.T) {
			ledgerHas := map[string]ledger.Step{}
			for i, step := range pair {
				if c.one != "" && (i == 0 || c.both) {
					s := recorded(planOf("a@b.example", step), step, c.one)
					if c.was != nil {
						c.was(&s)
					}
					ledgerHas[step.Key] = s
				}
			}
			plan := planOf("a@b.example", append(c.steps[:len(c.steps):len(c.steps)], claimStep("claim/loan/3", "Third"))...)
			plan.Problems = takenNames(plan, ledgerHas, b)
			var found []string
			for i, p := range plan.Problems {
				if found = append(found, "it says "+p.Message); i < len(c.want) && strings.Contains(p.Message, c.want[i]) {
					found[i] = c.want[i]
				}
				if p.Where.String() != "Leads!C2" || p.Code != "claim-name" || p.Hint == "" || p.Seen == "" {
					t.Errorf("found %+v", p)
				}
			}
			same(t, "problems", c.want, found)
			if o := invalidOutcome(b, plan, nil, ""); c.want != nil && (o.Status != result.Invalid || o.Rows[0].Status != result.Invalid) {
				t.Errorf("the row is %+v, want invalid", o.Rows[0])
			}
		})
	}
}
