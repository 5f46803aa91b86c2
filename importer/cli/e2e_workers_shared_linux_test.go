package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
	"claimsheet/importer/result"
)

// TestContactsWithWorkers: a further contact whom clients of several workers name is
// created once, and the claims of all of them have the contact.
func TestContactsWithWorkers(t *testing.T) {
	t.Parallel()
	const clients, contacts = 24, 4
	var rows []string
	for i := range clients {
		rows = append(rows, fmt.Sprintf("a%d@ | Ann | A-%d | p%d@ | Poe", i, i, i%contacts))
	}
	mapping := strings.NewReplacer(`, administrator: {id: "file:broker"}`, "", "{key: Agreement no", "{id: loan, key: Agreement no", "on: claim", "on: loan").Replace(joint)
	p := likeOneProcess(t, 0, func() *scene {
		s := newJoint(t, rows...)
		s.mapping(mapping)
		return s
	})
	if p.summary.Clients.Done != clients || p.posts()["client"] != clients+contacts || p.posts()["claim"] != clients {
		t.Errorf("clients %+v, creating calls %v", p.summary.Clients, p.posts())
	}
}

// TestSharedAddressWithWorkers: of two keys with one e-mail address one is created,
// whoever carries them out, and the row of the other one says why it is not.
func TestSharedAddressWithWorkers(t *testing.T) {
	t.Parallel()
	rows, first, _ := twins()
	var s *scene
	p := likeOneProcess(t, 1, func() *scene {
		s = newScene(t, strings.Replace(stepThree, "key: E-mail", "key: First name", 1), rows)
		s.service.KeyField = "firstName"
		return s
	}, "--max-failures", "100%")
	created := map[string]int{}
	for _, row := range s.results() {
		switch status := row["Import status"]; {
		case status == "done":
			created[row["E-mail"]]++
		case !saysTwin.MatchString(row["Error"]):
			t.Errorf("row %s is %q: %s", row["Source row"], status, row["Error"])
		}
	}
	for address, n := range created {
		if n != 1 {
			t.Errorf("of the two keys with the address %s, %d are created", address, n)
		}
	}
	if len(created) != len(first) || p.posts()["client"] != len(first) {
		t.Errorf("%d of %d addresses are created; creating calls %v", len(created), len(first), p.posts())
	}
}

// likeOneProcess runs a scene with workers and, made anew before, without. Both do the same,
// and what the workbook says is what the service has.
func likeOneProcess(t *testing.T, code int, set func() *scene, flags ...string) (p played) {
	t.Helper()
	alone := set().mustRun(code, flags...)
	s := set()
	s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 1}")
	s.service.Play(func(apitest.Call) apitest.Fault { return apitest.Fault{Delay: 2 * time.Millisecond} })
	s.workers(2)
	p = s.mustRun(code, append(flags, "--workers")...)
	if by := posted(p.calls); by["0"] == 0 || by["1"] == 0 {
		t.Errorf("creating calls by worker: %v; want some of both", by)
	}
	counts := func(p played) (result.Counts, result.Counts, result.Requests) {
		r := p.summary.Requests
		r.Lookup, r.Templates = 0, 0 // each process remembers those of its own
		return p.summary.Rows, p.summary.Clients, r
	}
	gotRows, gotClients, gotRequests := counts(p)
	if rows, clients, requests := counts(alone); gotRows != rows || gotClients != clients || gotRequests != requests {
		t.Errorf("with workers: rows %+v, clients %+v, %+v\none process: rows %+v, clients %+v, %+v", gotRows, gotClients, gotRequests, rows, clients, requests)
	}
	s.checkPromise()
	return p
}
