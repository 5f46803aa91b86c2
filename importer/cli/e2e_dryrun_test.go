package cli_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/result"
)

// TestDryRun: a dry run sends only GETs, and the calls that it predicts, by kind, are
// those that the run then makes.
func TestDryRun(t *testing.T) {
	t.Parallel()
	v1 := "name: b\napi: v1\n" + clientPart + "activities:" + detailsActivity + "\n  - {template: Sign your claim, status: Open}\n"
	useCase1 := "name: one\napi: v2\n" + clientPart + `
claims: [{id: loan, key: Agreement no, name: "Loan {Agreement no}"}]
workflow: {name: Batch, template_identifier: WF-1}
activities:` + detailsActivity
	invalid := append(leads(4), lead(3, "A-9"))
	invalid[1][3], invalid[2][7] = "31.31.1980", "much"
	shared := append(leads(4), lead(2, "A-9"))
	shared[3][0] = "C2@example.com"
	sharedPhone := leads(6)
	for i := range sharedPhone {
		sharedPhone[i][0], sharedPhone[i][2] = "", sharedPhone[i/2*2][2]
	}
	sharedByMany := leads(24)
	for i := range sharedByMany {
		sharedByMany[i][0] = fmt.Sprintf("c%d@example.com", i%6)
	}
	phoneOnly := leads(4)
	phoneOnly[0][0], phoneOnly[2][0] = "", ""
	changed := leads(3)
	changed[1][1], changed[2][7] = "Anna", 3
	knowing := func(s *scene) { s.service.AddClient("c2@example.com", "c2@example.com", "+447911123002") }

	cases := []struct {
		name    string
		mapping string
		rows    [][]any
		before  func(*scene) // what happened before
	}{
		{"v1 flow A", "name: a\napi: v1\n" + clientPart, leads(3), nil},
		{"v1 flow B", v1, leads(3), nil},
		{"v2 use case 1", useCase1, leads(3), nil},
		{"v2 use case 2", stepThree, leads(3), nil},
		{"v2 use case 3", stepThree, append(leads(3), lead(1, "A-8"), lead(1, "A-9")), nil},
		{"v1, a known client", v1, leads(3), knowing},
		{"v2, a known client", stepThree, leads(3), knowing},
		{"known clients are left out", byAgreement("skip", ""), leads(3), knowing},
		{"known clients fail", byAgreement("fail", ""), leads(3), knowing},
		{"known clients are not asked for", byAgreement("create", ""), leads(3), knowing},
		{"both look-ups", byAgreement("reuse", ", mode: both"), leads(3), knowing},
		{"look-ups by either", byAgreement("reuse", ", mode: either"), leads(3), knowing},
		{"look-ups by either, known by phone", byAgreement("reuse", ", mode: either"), leads(3), func(s *scene) {
			s.service.AddClient("x", "x@example.com", "+447911123002")
		}},
		{"look-ups by phone", byAgreement("reuse", ""), phoneOnly, knowing},
		{"half is done", stepThree, leads(4), func(s *scene) { s.mustRun(0, "--limit", "2") }},
		{"all is done", stepThree, leads(3), func(s *scene) { s.mustRun(0) }},
		{"invalid rows", stepThree, invalid, nil},
		{"one e-mail address, two keys", byAgreement("reuse", ""), shared, nil},
		{"one e-mail address, two keys, known", byAgreement("reuse", ""), shared, knowing},
		{"v1, a known client again", v1, leads(3), func(s *scene) {
			knowing(s)
			s.mustRun(0)
		}},
		{"one phone number, two keys", byAgreement("reuse", ""), sharedPhone, nil},
		{"one e-mail address, many keys, a slow service", byAgreement("reuse", ""), sharedByMany, func(s *scene) {
			s.service.Play(func(apitest.Call) apitest.Fault { return apitest.Fault{Delay: 3 * time.Millisecond} })
		}},
		{"changed cells", stepThree, changed, func(s *scene) {
			s.sheet(leads(3))
			s.mustRun(0)
			s.sheet(changed)
		}},
		{"an uncertain step", stepThree, leads(3), func(s *scene) {
			s.service.Play(apitest.Once(onStep("claim c2@example.com/Loan A-2"), apitest.CreateThenDrop()))
			s.mustRun(4)
		}},
		{"a refused step", stepThree, leads(3), func(s *scene) {
			s.service.Play(apitest.Once(onStep("activity c2@example.com Your details"), apitest.Answer(apitest.JSON(422, "{}"))))
			s.mustRun(1)
		}},
		{"a refused client", stepThree, leads(3), func(s *scene) {
			s.service.Play(apitest.Once(onStep("client c2@example.com"), apitest.Answer(apitest.JSON(422, "{}"))))
			s.mustRun(1)
		}},
	}
	short := []string{"v2 use case 3", "both look-ups", "half is done", "invalid rows", "one e-mail address, two keys", "an uncertain step"}
	for _, c := range cases {
		if !*long && !slices.Contains(short, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, c.mapping, c.rows)
			if strings.Contains(c.mapping, "ref:") {
				s.service.KeyField = "ref"
			}
			if c.before != nil {
				c.before(s)
			}
			dry := s.run("--dry-run")
			if posts := dry.posts(); len(posts) > 0 {
				t.Errorf("the dry run sent %v", posts)
			}
			if !dry.summary.DryRun || dry.out == "" {
				t.Errorf("the summary does not say that it is a dry run's:\n%s%s", dry.out, dry.err)
			}
			real := s.run()
			if diff := cmp.Diff(dry.summary.Requests, real.summary.Requests); diff != "" {
				t.Errorf("calls foretold and made (-dry run +run):\n%s", diff)
			}
			if diff := cmp.Diff(arrived(real), real.summary.Requests); diff != "" {
				t.Errorf("calls that arrived and those that the run counted (-arrived +counted):\n%s", diff)
			}
			if dry.summary.WithoutLink != real.summary.WithoutLink {
				t.Errorf("%d clients without a link foretold, %d came", dry.summary.WithoutLink, real.summary.WithoutLink)
			}
			foretold, came := dry.summary.Rows, real.summary.Rows
			foretold.Done, foretold.Planned = foretold.Planned+foretold.Done, 0
			if diff := cmp.Diff(foretold, came); diff != "" {
				t.Errorf("rows foretold and done (-dry run +run):\n%s", diff)
			}
		})
	}
}

// arrived counts a run's calls as the service saw them.
func arrived(p played) (r result.Requests) {
	for _, c := range p.calls {
		switch c.Kind {
		case "client":
			r.Client++
		case "claim":
			r.Claim++
		case "activity":
			r.Activity++
		case "link":
			r.Link++
		case "lookup":
			r.Lookup++
		case "templates":
			r.Templates++
		}
	}
	return r
}

// TestDryRunWithoutLookup: --no-lookup sends no look-up.
func TestDryRunWithoutLookup(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	p := s.mustRun(0, "--dry-run", "--no-lookup")
	if got := transcript(p.calls); got != "GET /funnel/v2/activity-templates\n" {
		t.Errorf("calls:\n%s", got)
	}
	if p.summary.Rows.Planned != 3 || p.summary.Requests.Client != 3 {
		t.Errorf("rows %+v, requests %+v", p.summary.Rows, p.summary.Requests)
	}
	s.mustRun(2, "--no-lookup")
}

// TestDryRunLeavesNothing: a dry run writes a plan and no other file, and refuses to
// write it over results.
func TestDryRunLeavesNothing(t *testing.T) {
	s := newScene(t, stepThree, leads(2))
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	s.mustRun(0, "--dry-run")
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("the dry run leaves %v in the temporary folder (error %v)", left, err)
	}
	var names []string
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"environments.yaml", "leads.plan.xlsx", "leads.xlsx", "mapping.yaml"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	order := "client, “Your details”, claim loan/A-%d, “Agreement details” on claim loan/A-%[1]d, “Sign your claim”, magic link"
	want := []record{
		{"Client key": "c1@example.com", "First row": "2", "Rows": "1", "Clients": "1", "Claims": "1", "Activities": "3", "Links": "1",
			"Calls": "6", "In this order": fmt.Sprintf(order, 1)},
		{"Client key": "c2@example.com", "First row": "3", "Rows": "1", "Clients": "1", "Claims": "1", "Activities": "3", "Links": "1",
			"Calls": "6", "In this order": fmt.Sprintf(order, 2)},
		{},
		{"Client key": "total", "First row": "", "Rows": "", "Clients": "2", "Claims": "2", "Activities": "6", "Links": "2", "Calls": "12"},
	}
	if diff := cmp.Diff(want, s.workbook("leads.plan.xlsx", "Plan")); diff != "" {
		t.Errorf("the calls of the plan (-want +got):\n%s", diff)
	}
	s.mustRun(0)
	s.mustRun(2, "--dry-run", "-o", s.path("leads.results.xlsx"))
}

// TestOneTemplateTwice: two activities of one template on one client are two steps.
func TestOneTemplateTwice(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	mapping := "name: twice\napi: v2\n" + clientPart + `
workflow: {name: Batch, template_identifier: WF-1}
activities:
  - {template: Your details, id: home, attributes: {Home address: Address}}
  - {template: Your details, id: work, attributes: {Home address: {text: "c/o {First name}"}}}
`
	s := newScene(t, mapping, leads(1))
	s.service.Marker = "11000000-0000-4000-8000-000000000002"
	want := []string{
		"client c1@example.com", "activity c1@example.com Your details 1 High Street",
		"activity c1@example.com Your details c/o Ann1", "link c1@example.com",
	}
	if diff := cmp.Diff(want, s.mustRun(0).steps()); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if posts := s.mustRun(0).posts(); len(posts) > 0 {
		t.Errorf("the second run created %v", posts)
	}
	for step, made := range s.service.Created() {
		if len(made) != 1 {
			t.Errorf("%s was created %d times", step, len(made))
		}
	}
}

// TestNextKeepsTheGuards: the command that a dry run names is the one that does
// what it foretold.
func TestNextKeepsTheGuards(t *testing.T) {
	t.Parallel()
	s := newScene(t, campaign(signActivity), leads(1))
	p := s.runContext(t.Context(), "--dry-run", "--accept", "new-identity", "--accept", "new-ledger")
	_, next, _ := strings.Cut(p.out, "Next:")
	if !strings.Contains(next, "--accept new-identity") || !strings.Contains(next, "--accept new-ledger") {
		t.Errorf("%s", p.out)
	}
}
