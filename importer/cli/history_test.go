package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
	"claimsheet/importer/ledger"
)

const canaryMapping = `
name: loans
api: v2
client:
  key: Customer
  existing: create
  fields: {email: {column: E-mail, type: Email}, phone: {column: Mobile, type: Phone, region: GB}, lastName: Name}
claims: [{id: loan, key: No, name: "Loan of {Name}"}]
workflow: {name: Loans, template_identifier: WF-1}
activities:
  - {template: Agreement details, on: loan, attributes: {Agreement number: Address}}
`

// canaryDesk is a desk whose clients have customer numbers for keys and
// personal data that nothing else holds.
func canaryDesk(t *testing.T) *scene {
	s := newDesk(t)
	s.mapping(canaryMapping)
	s.canarySheet("Canaryname", "Customer-A", "Customer-B")
	return s
}

func (s *scene) canarySheet(name string, customers ...string) {
	s.t.Helper()
	var rows [][]any
	for i, customer := range customers {
		rows = append(rows, []any{customer, strings.ToLower(customer) + ".canary@example.com", fmt.Sprintf("07911 12345%d", i), name + " " + customer, "Canary Street " + customer, "A-" + customer})
	}
	writeSheet(s.t, s.path(s.input), []any{"Customer", "E-mail", "Mobile", "Name", "Address", "No"}, rows)
}

// leaks are those of the texts that stand in any file of the state folder, in
// a workbook's parts too.
func (s *scene) leaks(texts ...string) (found []string) {
	s.t.Helper()
	must(s.t, filepath.WalkDir(s.path(".claimsheet"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data := bytes.ToLower(contents(s.t, path))
		for _, text := range texts {
			if bytes.Contains(data, []byte(strings.ToLower(text))) && !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
		return nil
	}))
	slices.Sort(found)
	return found
}

// TestP7_PurgeLeavesNothingPersonal: after a purge no file of the state folder
// holds a name, an address, a number or a link; the next night sends nothing, an
// unchanged row is unchanged and a changed one changed.
func TestP7_PurgeLeavesNothingPersonal(t *testing.T) {
	t.Parallel()
	s := canaryDesk(t)
	s.service.Play(func(c apitest.Call) (f apitest.Fault) {
		if strings.Contains(c.Body, "Loan of Canaryname Customer-B") {
			f = apitest.Answer(apitest.JSON(422, `{"message":"no Canaryword here"}`))
		}
		return f
	})
	s.mustRun(1)
	s.service.Play(nil)
	canary := []string{"+44791112345", "07911 12345", "Canary Street", "Canaryname", "Canaryword", "canary@", "go/link"}
	s.must(0, "history", "--purge", "--older-than", "1d", "--yes")
	if diff := cmp.Diff(canary, s.leaks(canary...)); diff != "" {
		t.Fatalf("before a purge of what is so young (-want +got):\n%s", diff)
	}
	s.golden("history_purged.txt", s.must(0, "history", "--purge", "--older-than", "0d", "--yes"))
	if left := s.leaks(canary...); len(left) > 0 {
		t.Errorf("after the purge there are left: %q", left)
	}

	// The claim that failed is made now, with what comes behind it.
	if posts := s.mustRun(0).posts(); posts["client"]+posts["claim"]+posts["activity"]+posts["link"] != 3 {
		t.Errorf("sent %v", posts)
	}
	statuses := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, column(s.results(), "Import status")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	statuses("the next night", "unchanged", "done")
	expect(t, column(s.results(), "What to do")[0], "claimsheet link") // the url is purged
	s.canarySheet("Other", "Customer-A", "Customer-B")
	s.sends(0)
	statuses("a changed sheet", "changed", "changed")
	expect(t, column(s.results(), "Error")[0], "no longer kept")
	expect(t, column(s.results(), "Error")[1], "Results!D3 (source row 3)")
}

// TestPurgeKeepsWhatAYoungerRunNeeds: two runs of one file share its copy.
func TestPurgeKeepsWhatAYoungerRunNeeds(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := canaryDesk(t)
	id := s.mustRun(0).summary.Run
	l, err := ledger.Open(s.path(".claimsheet/ledger.db"))
	must(t, err)
	old, _, err := l.Run(t.Context(), id)
	must(t, err)
	old.ID, old.Started = "00000000-0000-4000-8000-00000000000a", old.Started.AddDate(0, 0, -90)
	must(t, l.StartRun(old))
	must(t, l.Close())
	s.must(0, "history", "--purge", "--older-than", "30d", "--yes")
	s.must(0, "report", "-o", s.path("again.xlsx"), id)
	expect(t, s.must(2, "report", "-o", s.path("x.xlsx"), old.ID), "[input-purged]")
}

// TestPurgeWhileARunStarts: the purge removes the copy that the run shares with an
// earlier one before the run has the lock. The run sends nothing; the next one works.
func TestPurgeWhileARunStarts(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	s.mustRun(0)
	s.sheet(leads(2))
	s.mustRun(0)
	s.sheet(leads(1))
	var once sync.Once
	s.service.Play(func(c apitest.Call) apitest.Fault {
		once.Do(func() { // the templates are asked for before the ledger is locked
			s.must(0, "history", "--purge", "--older-than", "0d", "--yes")
		})
		return apitest.Fault{}
	})
	p := s.mustRun(3)
	expect(t, p.err, "[input-removed]")
	if len(p.posts()) > 0 {
		t.Errorf("created %v", p.posts())
	}
	s.service.Play(nil)
	s.mustRun(0)
}

// TestP7_ForgetErasesOneClient: no file of the state folder holds anything of the
// client, not even the key; the others keep all. A sheet that names the client
// again sends nothing and records nothing but the copy of the sheet.
func TestP7_ForgetErasesOneClient(t *testing.T) {
	t.Parallel()
	s := canaryDesk(t)
	s.mustRun(0)
	keep(t, s.path(s.book()), s.path("old.results.xlsx"))
	s.mustRun(0)
	if p := runAt(t.Context(), cli.QuickPace(), "no\n", "history", "-m", s.path("mapping.yaml"), "--forget", "Customer-A"); p.code != 3 || len(s.leaks("Canaryname Customer-A")) == 0 {
		t.Errorf("without a yes: exit code %d", p.code)
	}
	s.golden("history_forgot.txt", s.must(0, "history", "--forget", "Customer-A", "--yes"))
	if left := s.leaks("Customer-A", "go/link-1"); len(left) > 0 {
		t.Errorf("after the erasure there are left: %q", left)
	}
	if left := s.leaks("Canaryname Customer-B", "go/link-2"); len(left) != 2 {
		t.Errorf("of the other client there is left: %q", left)
	}
	for _, key := range []string{"Customer-A", "loans:Customer-A"} {
		expect(t, s.must(0, "history", key), "A client who was erased on ")
	}
	for _, p := range []played{s.run(), s.run("--dry-run"), s.rerun("-o", "new.xlsx", "old.results.xlsx")} {
		if p.code != 0 || len(p.posts()) > 0 {
			t.Errorf("exit code %d, sent %v\n%s", p.code, p.posts(), p.err)
		}
	}
	if diff := cmp.Diff([]string{"skipped", "unchanged"}, column(s.results(), "Import status")); diff != "" {
		t.Errorf("the next night (-want +got):\n%s", diff)
	}
	expect(t, column(s.results(), "What to do")[0], "was erased on")
	s.canarySheet("Other", "Customer-B")
	s.sends(0)
	s.must(0, "history", "--purge", "--older-than", "0d", "--yes")
	if left := s.leaks("Customer-A"); len(left) > 0 {
		t.Error("a later run has recorded the client again")
	}
	expect(t, s.must(2, "history", "--forget", "Customer-A", "--yes"), "[erased-before]")
}

// TestHistoryOfAClient tells every step, attempt and decision.
func TestHistoryOfAClient(t *testing.T) {
	t.Parallel()
	s := troubled(t)
	s.must(0, "settle", "--created", s.service.AddClaim("contact-1", "Loan A-1"), s.numbers()[0])
	s.mustRun(4)
	out := s.must(0, "history", "ANN@example.com")
	if strings.Contains(out, "https://claims.example.com") {
		t.Error("a redirect url is shown")
	}
	s.golden("history_client.txt", out)
	var told struct {
		Clients []struct {
			Space string
			Steps []any
		}
	}
	must(t, json.Unmarshal([]byte(s.must(0, "history", "--json", "ann@example.com")), &told))
	if len(told.Clients) != 1 || told.Clients[0].Space != "email" || len(told.Clients[0].Steps) != 4 {
		t.Errorf("--json tells %+v", told)
	}
}
