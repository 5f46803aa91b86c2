package cli_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// leadsV1 is version 1, flow B: the client with its redirect url, the Open
// activity, the back-filled one.
const leadsV1 = "name: leads\napi: v1\nsheet: {timezone: Europe/London}\n" + clientPart + "activities:" + detailsActivity + `
  - {template: Sign your claim, status: Open}
`

// places are where a step can be killed, in the order in which it passes them.
var places = []string{"before-intent", "after-intent", "before-write", "half-written", "after-write", "after-answer", "before-outcome", "after-outcome"}

// boundary is a step of a client as the ledger and as the service names it; N
// stands for the client's number.
type boundary struct{ kind, ledger, service string }

func (b boundary) of(n int) boundary {
	number := strings.NewReplacer("N", fmt.Sprint(n))
	return boundary{b.kind, number.Replace(b.ledger), number.Replace(b.service)}
}

var (
	boundariesV2 = []boundary{
		{"client", "client", "client cN@example.com"},
		{"back-filled activity of the client", "activity/Your details@client", "activity cN@example.com Your details"},
		{"claim", "claim/loan/A-N", "claim cN@example.com/Loan A-N"},
		{"back-filled activity of a claim", "activity/Agreement details@loan/A-N", "activity cN@example.com/Loan A-N Agreement details"},
		{"Open activity", "activity/Sign your claim@client", "activity cN@example.com Sign your claim"},
		{"link", "link", "link cN@example.com"},
	}
	boundariesV1 = []boundary{
		{"v1 client with redirect", "client", "client cN@example.com"},
		{"v1 Open activity", "activity/Sign your claim@client", "activity cN@example.com Sign your claim"},
		{"v1 back-filled activity", "activity/Your details@client", "activity cN@example.com Your details"},
	}
)

// left is what a kill leaves behind: the step that is in doubt afterwards, and
// whether the service created it. An outcome is written together with the next
// step's intent, so the step in doubt may be a neighbour of the one that was
// killed; the client's can be looked up and is none when it was created.
func left(place string, at, steps int) (doubt int, created bool) {
	doubt = at
	switch place {
	case "before-intent":
		doubt, created = at-1, true
	case "after-write", "after-answer", "before-outcome":
		created = true
	case "after-outcome":
		doubt = at + 1
	}
	if doubt == steps || doubt <= 0 && created {
		doubt = -1
	}
	return doubt, created
}

// TestKilledAtBoundaries kills the program at the places of every kind of step, each
// time with another client of the same sheet, and then lets it go on until nothing is
// left to send. What is in doubt then is known exactly; no request was made twice.
func TestKilledAtBoundaries(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for mapping, steps := range map[string][]boundary{stepThree: boundariesV2, leadsV1: boundariesV1} {
		for at, step := range steps {
			t.Run(step.kind, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, mapping, leads(len(places)))
				for n, place := range places {
					s.killAt(place, step.of(n+1))
				}
				s.runUntilQuiet()
				for n, place := range places {
					doubt, created := left(place, at, len(steps))
					if s.checkLeft(n+1, steps, doubt, created); t.Failed() {
						t.Fatalf("client %d was killed %s", n+1, place)
					}
				}
				s.checkPromise()
			})
		}
	}
}

// TestKilledWhileLookingUp kills the program at every place of a look-up: no
// step had begun, so nothing is in doubt.
func TestKilledWhileLookingUp(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, place := range []string{"before-write", "after-write", "after-answer"} {
		s := newScene(t, stepThree, leads(2))
		s.kill(place, "lookup c2@example.com", func(c apitest.Call) bool {
			return strings.HasSuffix(c.Path, url.QueryEscape("c2@example.com"))
		})
		s.runUntilQuiet()
		for n := range 2 {
			s.checkLeft(n+1, boundariesV2, -1, false)
		}
		s.checkPromise()
	}
}

// runTrial runs a program over the scene, one client after the other.
func (s *scene) runTrial(name string, env ...string) (code int, said string) {
	s.t.Helper()
	return child(name, s.args("--concurrency", "1"), env...).end(s.t)
}

// mustRunTrial expects an exit code of runTrial.
func (s *scene) mustRunTrial(name string, want int, env ...string) {
	s.t.Helper()
	if code, said := s.runTrial(name, env...); code != want {
		s.t.Fatalf("exit code %d, want %d\n%s", code, want, said)
	}
}

// killAt runs until the program is killed at a place of a step. What it sent
// before that has come in when killAt returns.
func (s *scene) killAt(place string, step boundary) {
	s.t.Helper()
	_, rest, _ := strings.Cut(step.service, " ")
	client, _, _ := strings.Cut(strings.Split(rest, " ")[0], "/")
	s.kill(place, client+":"+step.ledger, func(c apitest.Call) bool { return c.Step == step.service })
	if place == "after-write" {
		s.waitFor("what was written for "+step.service, func() bool { return s.asked()[step.service] > 0 })
	}
	s.settleDown()
}

// kill runs a trial build that is to be killed at a place of what it calls step.
// A request that is killed when it is written must not be answered before that,
// or the program would be further on: is tells which calls are the step's.
func (s *scene) kill(place, step string, is func(apitest.Call) bool) {
	s.t.Helper()
	dead := make(chan struct{})
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if place == "after-write" && is(c) {
			return apitest.Fault{Until: dead}
		}
		return apitest.Fault{}
	})
	code, out := s.runTrial(trialName, fmt.Sprintf("TRIAL_KILL=%s %s", place, step))
	close(dead)
	s.service.Play(nil)
	if code != -1 {
		s.t.Fatalf("exit code %d: not killed %s of %s\n%s", code, place, step, out)
	}
}

// runUntilQuiet lets the program go on until a run has nothing to send.
func (s *scene) runUntilQuiet() {
	s.t.Helper()
	for range 5 {
		before := len(s.asked())
		if code, out := s.runTrial(trialName); code != 0 && code != 4 {
			s.t.Fatalf("exit code %d\n%s", code, out)
		}
		if len(s.asked()) == before {
			return
		}
	}
	s.t.Fatal("the command does not come to rest")
}

// checkLeft holds what the workbook says of client n's steps, and how often the
// service was asked for them. doubt is the step in doubt, -1 for none.
func (s *scene) checkLeft(n int, steps []boundary, doubt int, created bool) {
	s.t.Helper()
	client := fmt.Sprintf("c%d@example.com", n)
	want, got := []string{}, []string{}
	for i, step := range steps {
		step = step.of(n)
		if i == doubt {
			want = append(want, step.ledger)
		}
		if asked := s.asked()[step.service]; asked > 1 || doubt < 0 && asked != 1 || i == doubt && asked != map[bool]int{true: 1}[created] {
			s.t.Errorf("the service was asked %d times for %s", asked, step.service)
		}
	}
	for _, r := range s.steps() {
		state := r["State"]
		if r["Client key"] != client {
			continue
		}
		if state == "uncertain" {
			got = append(got, r["Step"])
		}
		if doubt < 0 && state != "done" {
			s.t.Errorf("%s: the step %s is %q, though nothing was in doubt", client, r["Step"], state)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("%s: steps in doubt (-want +got):\n%s", client, diff)
	}
}

// TestKilledAtBoundariesOfAContact kills the program at every place of a contact
// that two clients share. Created, it is found; not created, it is parked, and
// neither client gets a claim before that is decided. It is never asked for twice.
func TestKilledAtBoundariesOfAContact(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	var rows []string
	for n := range places {
		rows = append(rows, fmt.Sprintf("c%d@ | Ann | A-%d | p%d@ | Poe", n, n, n), fmt.Sprintf("d%d@ | Dan | B-%d | p%d@ | Poe", n, n, n))
	}
	s := newJoint(t, rows...)
	for n, place := range places {
		s.killAt(place, boundary{"contact", "client", fmt.Sprintf("client p%d@example.com", n)})
	}
	s.runUntilQuiet()
	for n, place := range places {
		state, asked, claims := "done", 1, 1
		if place == "after-intent" || place == "before-write" || place == "half-written" {
			state, asked, claims = "uncertain", 0, 0
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
