package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// TestWire reads ids and urls where the environment says that they are, as
// texts and as numbers that a float does not hold.
func TestWire(t *testing.T) {
	t.Parallel()
	for _, numeric := range []bool{false, true} {
		t.Run(fmt.Sprint("numeric ", numeric), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, append(leads(2), lead(1, "A-9")))
			s.service.Wire = apitest.Wire{
				ContactID: "/data/person/id", ClaimID: "/data/claim/id", ActivityID: "/data/activity/id",
				RedirectURL: "/links/redirect/0", LookupID: "/found/0/id", DataType: "/meta/type", Numeric: numeric,
			}
			known := s.service.AddClient("c2@example.com", "c2@example.com", "")
			s.environment(`wire:
  contact_id: /data/person/id
  claim_id: /data/claim/id
  activity_id: /data/activity/id
  redirect_url: /links/redirect/0
  lookup_contact_id: /found/0/id
  data_type: /meta/type`)
			s.mustRun(0)
			s.checkIDs("c1@example.com")
			if got := s.results()[1]["contactId"]; got != known {
				t.Errorf("contactId %q, want %q", got, known)
			}
			s.checkPromise()
			for _, r := range s.steps() {
				if r["Id"] == "" && r["Step"] != "link" {
					t.Errorf("the step %s has no id", r["Step"])
				}
			}
		})
	}
	t.Run("v1", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, "name: a\napi: v1\n"+clientPart, leads(2))
		s.service.Wire = apitest.Wire{ClientID: "/data/person/id", RedirectURL: "/links/redirect/0", Numeric: true}
		s.environment("wire: {client_id: /data/person/id, redirect_url: /links/redirect/0}")
		s.mustRun(0)
		s.checkIDs("c1@example.com")
		s.checkIDs("c2@example.com")
	})
}

// TestUntypedTemplates binds templates that tell no data type: the mapping's
// types are used.
func TestUntypedTemplates(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, strings.NewReplacer(
		"DOB", "{column: DOB, type: Date}", "Opt in", "{column: Opt in, type: Checkbox}",
		"Amount: Amount", "Amount: {column: Amount, type: Currency}", "Signed at: Signed", "Signed at: {column: Signed, type: DateTime}",
	).Replace(stepThree), leads(1))
	s.service.Wire.DataType = ""
	s.mustRun(0) // the service knows the types and complains of a wrong value field
}

// TestJSON holds the summary's names, which scripts read.
func TestJSON(t *testing.T) {
	t.Parallel()
	rows := leads(3)
	rows[1][3] = "31.31.1980"
	s := newScene(t, stepThree, rows)
	p := s.mustRun(1)
	var got map[string]any
	if err := json.Unmarshal([]byte(p.out), &got); err != nil {
		t.Fatal(err)
	}
	if strings.Count(p.out, "\n") != 1 {
		t.Errorf("stdout has more than one line:\n%s", p.out)
	}
	counts := func(total, done, invalid float64) map[string]any {
		return map[string]any{"total": total, "done": done, "failed": 0., "uncertain": 0., "invalid": invalid,
			"skipped": 0., "unchanged": 0., "changed": 0., "notStarted": 0., "planned": 0.}
	}
	want := map[string]any{
		"run": got["run"], "environment": "uat", "dryRun": false, "rows": counts(3, 2, 1), "clients": counts(3, 2, 1),
		"requests":    map[string]any{"client": 2., "claim": 2., "activity": 6., "link": 2., "lookup": 3., "templates": 1.},
		"withoutLink": 0., "uncertainSteps": 0., "results": s.path("leads.results.xlsx"), "seconds": got["seconds"],
		"exitCode": 1., "errors": []any{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if run, _ := got["run"].(string); run == "" || !strings.Contains(p.calls[0].Header.Get("User-Agent"), run) {
		t.Errorf("the run %q is not the one of the User-Agent %q", run, p.calls[0].Header.Get("User-Agent"))
	}
	if seconds, _ := got["seconds"].(float64); seconds <= 0 {
		t.Errorf("seconds is %v", got["seconds"])
	}
}

// TestHeaders looks at what every request carries.
func TestHeaders(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	s.environment("auth: {type: bearer, token: 'env:UAT_TOKEN'}\nheaders: {X-Tenant: acme}")
	p := s.mustRun(0)
	seen := map[string]bool{}
	for _, c := range p.calls {
		if got := c.Header.Get("Authorization"); got != "Bearer canary-token" {
			t.Errorf("%s: Authorization %q", c.Kind, got)
		}
		if got := c.Header.Get("X-Tenant"); got != "acme" {
			t.Errorf("%s: X-Tenant %q", c.Kind, got)
		}
		id := c.Header.Get("X-Request-Id")
		if id == "" || seen[id] {
			t.Errorf("%s: X-Request-Id %q is empty or was used before", c.Kind, id)
		}
		seen[id] = true
		for name := range c.Header {
			if strings.Contains(strings.ToLower(name), "idempotency") {
				t.Errorf("%s: the header %s makes the network library send a request twice", c.Kind, name)
			}
		}
		if got := c.Header.Get("Content-Type"); c.Method != http.MethodGet && got != "application/json" {
			t.Errorf("%s: Content-Type %q", c.Kind, got)
		}
	}
	s.environment("headers: {Idempotency-Key: x}")
	s.mustRun(2)
}

// canaries stand for what must never be on a terminal or in a log.
var canaries = []string{
	"canary-mail@example.com", "CanaryName", "07911 999001", "447911999001", "Canary Street", "CANARY-NO", "canary-token",
	"url-token", "canary-bad-mail", "canary-date", "canary-amount", "canary-detail", "canary-badphone", "Canary%20", "canary-mail%40",
}

// TestNothingPersonalIsPrinted looks for personal data, secrets and redirect
// urls on stdout and stderr, in good runs and in bad ones.
func TestNothingPersonalIsPrinted(t *testing.T) {
	t.Parallel()
	good := []any{"canary-mail@example.com", "CanaryName", "07911 999001", "1980-05-01", "1 Canary Street", "Yes", "CANARY-NO", 12.5, "2026-03-31 09:30"}
	with := func(column int, value any) []any {
		row := slices.Clone(good)
		row[column] = value
		return row
	}
	echo := `{"message":"canary-mail@example.com CanaryName is not welcome: canary-detail"}`
	cases := []struct {
		name  string
		rows  [][]any
		fault apitest.Fault
		code  int // of the first run
	}{
		{"done", [][]any{good}, apitest.Fault{}, 0},
		{"refused", [][]any{good}, apitest.Answer(apitest.JSON(422, echo)), 1},
		{"unauthorised", [][]any{good}, apitest.Answer(apitest.JSON(401, echo)), 3},
		{"no answer", [][]any{good}, apitest.DropBefore(), 4},
		{"cut", [][]any{good}, apitest.CreateThenCut(), 4},
		{"500", [][]any{good}, apitest.CreateThen(apitest.JSON(500, echo)), 4},
		{"redirect", [][]any{good}, apitest.Answer(apitest.Reply{Status: 302, Header: map[string]string{"Location": "https://x/?t=canary-detail"}}), 3},
		{"invalid cells", [][]any{
			with(0, "canary-bad-mail@@x"), with(2, "canary-badphone"), with(3, "canary-date"),
			with(7, "canary-amount"), with(5, "canary-amount"), with(1, "CanaryName the second"),
		}, apitest.Fault{}, 1},
	}
	for _, c := range cases {
		if short := []string{"refused", "500", "invalid cells"}; !*long && !slices.Contains(short, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, c.rows)
			s.environment("auth: {type: bearer, token: 'env:UAT_TOKEN'}")
			s.service.Play(func(call apitest.Call) apitest.Fault {
				if call.Kind == "client" || call.Kind == "link" {
					return c.fault
				}
				return apitest.Fault{}
			})
			dry, first := s.runContext(t.Context(), "--dry-run"), s.run()
			if first.code != c.code {
				t.Fatalf("exit code %d, want %d: this is not the run that was to be looked at", first.code, c.code)
			}
			for _, p := range []played{dry, first, s.runContext(t.Context())} {
				for _, canary := range canaries {
					if printed := p.out + p.err; strings.Contains(strings.ToLower(printed), strings.ToLower(canary)) {
						t.Errorf("%q is on stdout or stderr:\n%s", canary, printed)
					}
				}
			}
		})
	}
	t.Run("look-up fails", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, stepThree, [][]any{good})
		s.service.Play(func(call apitest.Call) apitest.Fault {
			if strings.Contains(call.Path, "canary") {
				return apitest.DropBefore()
			}
			return apitest.Fault{}
		})
		p := s.mustRun(1)
		for _, canary := range canaries {
			if strings.Contains(p.out+p.err, canary) || strings.Contains(column(s.results(), "Error")[0], canary) {
				t.Errorf("%q is on stdout or stderr, or in the Error column", canary)
			}
		}
	})
}
