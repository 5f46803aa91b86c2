package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// campaign is a mapping of version 2 over the scenes' sheet with these
// activities, in this order.
func campaign(activities ...string) string {
	return `
name: campaign
api: v2
sheet: {timezone: Europe/London}
` + clientPart + `
claims: [{id: loan, key: Agreement no, name: "Loan {Agreement no}"}]
workflow: {name: Batch, template_identifier: WF-1}
activities:` + strings.Join(activities, "")
}

const signActivity = "\n  - {template: Sign your claim, status: Open}\n"

// born and address back-fill one template twice.
const (
	bornActivity    = "\n  - {template: Your details, id: born, attributes: {Date of birth: DOB}}\n"
	addressActivity = "\n  - {template: Your details, id: address, attributes: {Home address: Address}}\n"
)

// renamed is an activity under another id.
func renamed(activity, from, to string) string {
	return strings.Replace(activity, "id: "+from, "id: "+to, 1)
}

// TestACampaignGrows: the activities of a mapping that has run for some clients
// change. What is new is sent once for each of them, nothing else is sent, and no
// flag is needed.
func TestACampaignGrows(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const clients = 5
	consent := "\n  - {template: Your details, id: consent, attributes: {Consent to contact: Opt in}}\n"
	first := []string{bornActivity, agreementActivity, signActivity}
	for name, c := range map[string]struct {
		then []string
		sent int    // activities for each client
		said string // of what is new; "" for nothing
	}{
		"appended":           {append(first[:3:3], consent), 1, "“consent”"},
		"appended on claims": {append(first[:3:3], "\n  - {template: Your details, id: consent, on: claim, attributes: {Consent to contact: Opt in}}\n"), 1, "“consent”"},
		"inserted":           {[]string{bornActivity, consent, agreementActivity, signActivity}, 1, "“consent”"},
		"two are new":        {[]string{consent, bornActivity, addressActivity, agreementActivity, signActivity}, 2, "“address”"},
		"taken out":          {[]string{agreementActivity, signActivity}, 0, ""},
		"all taken out":      {[]string{signActivity}, 0, ""},
		"another order":      {[]string{agreementActivity, bornActivity, signActivity}, 0, ""},
		"an open one":        {append(first[:3:3], "\n  - {template: Handler review, assigned: true, status: Open}\n"), 1, "no new link"},
		"one of its claims":  {[]string{bornActivity, strings.Replace(agreementActivity, "on: loan", "on: claim", 1), signActivity}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workers := []string{"2", "8"}[len(name)%2]
			s := newScene(t, campaign(first...), leads(clients))
			s.mustRun(0, "--concurrency", workers)
			s.mapping(campaign(c.then...))
			want := map[string]int{}
			if c.sent > 0 {
				want["activity"] = c.sent * clients
			}
			dry, real := s.mustRun(0, "--dry-run", "--concurrency", workers), s.mustRun(0, "--concurrency", workers)
			if r := dry.summary.Requests; r.Activity != want["activity"] || r.Client+r.Claim+r.Link+r.Lookup != 0 {
				t.Errorf("foretold %+v, want %v", r, want)
			}
			if diff := cmp.Diff(want, real.posts()); diff != "" {
				t.Errorf("created (-want +got):\n%s", diff)
			}
			for _, p := range []played{dry, real} {
				if said := strings.Contains(p.err, "[grown]"); said != (c.said != "") || !strings.Contains(p.err, c.said) {
					t.Errorf("said:\n%s", p.err)
				}
				if c.said != "" && !strings.Contains(p.err, fmt.Sprint(clients, " known clients")) {
					t.Errorf("does not say for how many clients:\n%s", p.err)
				}
			}
			again := s.mustRun(0)
			if len(again.posts()) > 0 || strings.Contains(again.err, "[grown]") {
				t.Errorf("the next night created %v\n%s", again.posts(), again.err)
			}
		})
	}
}

// TestACampaignGrowsForSome: the count of clients that get a new activity has only
// known clients that meet its condition, and none that are new themselves.
func TestACampaignGrowsForSome(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, campaign(bornActivity, signActivity), leads(4))
	s.mustRun(0)
	s.mapping(campaign(bornActivity, strings.Replace(addressActivity, "attributes:", `when: col("First name") != "Ann2", attributes:`, 1), signActivity))
	s.sheet(append(leads(4), lead(9, "A-9")))
	for _, flags := range [][]string{{"--dry-run"}, nil} {
		if p := s.mustRun(0, flags...); !strings.Contains(p.err, "3 known clients") {
			t.Errorf("%q:\n%s", flags, p.err)
		}
	}
}

// TestAnIdIsRenamed: a done activity that gets another id, at once or over several
// nights, would be done again, so the run is refused.
func TestAnIdIsRenamed(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	other := renamed(bornActivity, "born", "birthday")
	for name, c := range map[string]struct {
		nights  [][]string // the last is refused
		renamed string
	}{
		"at once":                 {[][]string{{bornActivity, signActivity}, {other, signActivity}}, "“born”"},
		"over two nights":         {[][]string{{bornActivity, signActivity}, {signActivity}, {other, signActivity}}, "“born”"},
		"with another in between": {[][]string{{bornActivity, signActivity}, {agreementActivity, signActivity}, {agreementActivity, other, signActivity}}, "“born”"},
		"and an order":            {[][]string{{bornActivity, agreementActivity}, {agreementActivity, other}}, "“born”"},
		"on every claim": {[][]string{{agreementActivity}, {strings.Replace(agreementActivity, "on: loan", "on: claim\n    id: agreement", 1)}},
			"“Agreement details”"},
		"from client to claim": {[][]string{{bornActivity, signActivity}, {strings.Replace(bornActivity, "attributes", "on: loan, attributes", 1), signActivity}},
			"“born”"},
		"from claim to client, over two nights": {[][]string{{agreementActivity, signActivity}, {signActivity},
			{strings.Replace(agreementActivity, "on: loan", "on: client", 1), signActivity}}, "“Agreement details”"},
		"two swap their ids": {[][]string{{bornActivity, addressActivity},
			{renamed(bornActivity, "born", "address"), renamed(addressActivity, "address", "born")}}, "“born”"},
		"a new one takes the id": {[][]string{{bornActivity}, {other, renamed(addressActivity, "address", "born")}}, "“born”"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, campaign(c.nights[0]...), leads(3))
			for _, night := range c.nights[:len(c.nights)-1] {
				s.mapping(campaign(night...))
				s.mustRun(0)
			}
			s.mapping(campaign(c.nights[len(c.nights)-1]...))
			for _, flags := range [][]string{{"--dry-run"}, nil} {
				p := s.mustRun(2, flags...)
				if len(p.posts()) > 0 || !strings.Contains(p.err, "[new-identity]") || !strings.Contains(p.err, c.renamed) {
					t.Errorf("%q: created %v\n%s", flags, p.posts(), p.err)
				}
			}
			s.run("--accept", "new-identity")
			if p := s.run(); p.code == 2 || len(p.posts()) > 0 {
				t.Errorf("after --accept new-identity: exit code %d, created %v\n%s", p.code, p.posts(), p.err)
			}
		})
	}
}

// TestAnIdThatNeverHadAStepIsFree: what was never sent cannot be sent again.
func TestAnIdThatNeverHadAStepIsFree(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	never := strings.Replace(bornActivity, "attributes:", `when: col("First name") == "Zoe", attributes:`, 1)
	s := newScene(t, campaign(never, signActivity), leads(3))
	s.mustRun(0)
	s.mapping(campaign(renamed(bornActivity, "born", "birthday"), signActivity))
	if p := s.mustRun(0); p.posts()["activity"] != 3 {
		t.Errorf("created %v\n%s", p.posts(), p.err)
	}
}

// TestAnOldIdComesBack: two activities of one template that stood side by side
// are two, whichever of them is taken out and comes back.
func TestAnOldIdComesBack(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, campaign(bornActivity, addressActivity), leads(2))
	s.mustRun(0)
	for _, night := range [][]string{{bornActivity}, {addressActivity}, {addressActivity, bornActivity}} {
		s.mapping(campaign(night...))
		if p := s.mustRun(0); len(p.posts()) > 0 {
			t.Errorf("created %v", p.posts())
		}
	}
}

// TestAnOpenActivityMovesOn: an activity that was Open and is now wanted
// completed holds the new Open one back, for the clients who have it.
func TestAnOpenActivityMovesOn(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const completed = "\n  - {template: Your details, id: born, attributes: {Date of birth: DOB}}\n"
	s := newScene(t, campaign("\n  - {template: Your details, id: born, status: Open}\n"), leads(3))
	s.mustRun(0)
	s.mapping(campaign(completed, signActivity))
	for _, rows := range [][][]any{append(leads(3), lead(7, "A-7")), append([][]any{lead(8, "A-8")}, leads(3)...)} {
		s.sheet(rows)
		dry, real := s.mustRun(0, "--dry-run"), s.mustRun(0)
		for _, p := range []played{dry, real} {
			if p.summary.Clients.Changed != 3 || p.summary.Requests.Activity != 2 || strings.Contains(p.err, "3 known clients") {
				t.Errorf("clients %+v, requests %+v\n%s", p.summary.Clients, p.summary.Requests, p.err)
			}
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

// TestACampaignGrowsAfterAWrongPointer: in one night the mapping gets an activity
// and the environment its right pointer. The kept answers are read again, and
// nothing is sent twice.
func TestACampaignGrowsAfterAWrongPointer(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, campaign(agreementActivity), leads(3))
	s.service.Wire.ClaimID = "/data/claimId"
	s.mustRun(4)
	s.mapping(campaign(detailsActivity, agreementActivity))
	s.environment("wire: {claim_id: /data/claimId}")
	for _, flags := range [][]string{{"--dry-run"}, nil} {
		p := s.mustRun(0, flags...)
		if !strings.Contains(p.err, "3 known clients") || p.posts()["claim"] != 0 {
			t.Errorf("%q: posts %v\n%s", flags, p.posts(), p.err)
		}
	}
	s.checkPromise()
}
