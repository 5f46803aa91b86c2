package cli_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
)

var listed = regexp.MustCompile(`(?m)^(\d+)  `)

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

// canaryDesk is a scene whose clients have customer numbers for keys and personal data that nothing else holds; ids are
// contact-1, claim-2 and so on.
func canaryDesk(t *testing.T) *scene {
	s := newScene(t, canaryMapping, nil)
	s.service.Wire.Named = true
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

// leaks are those of the texts that stand in any file of the state folder, in a workbook's parts too.
func (s *scene) leaks(texts ...string) (found []string) {
	s.t.Helper()
	s.eachFile(".claimsheet", func(_ string, data []byte) {
		for _, text := range texts {
			if find(data, []string{text}) != "" && !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
	})
	slices.Sort(found)
	return found
}

// TestP7_PurgeLeavesNothingPersonal: after a purge no file of the state folder holds a name, an address, a number or a
// link; the next night sends nothing, an unchanged row is unchanged and a changed one changed.
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
	same(t, "before a purge of what is so young", canary, s.leaks(canary...))
	expect(t, s.must(0, "history", "--purge", "--older-than", "0d", "--yes"), " kept copies of sheets                          1 (", "of steps  6\n")
	if left := s.leaks(canary...); len(left) > 0 {
		t.Errorf("after the purge there are left: %q", left)
	}

	// The claim that failed is made now, with what comes behind it.
	if posts := s.mustRun(0).posts(); posts["client"]+posts["claim"]+posts["activity"]+posts["link"] != 3 {
		t.Errorf("sent %v", posts)
	}
	same(t, "the next night", []string{"unchanged", "done"}, column(s.results(), "Import status"))
	expect(t, column(s.results(), "What to do")[0], "claimsheet link") // the url is purged
	s.canarySheet("Other", "Customer-A", "Customer-B")
	s.quiet()
	same(t, "a changed sheet", []string{"changed", "changed"}, column(s.results(), "Import status"))
	expect(t, column(s.results(), "Error")[0], "no longer kept")
	expect(t, column(s.results(), "Error")[1], "Results!D3 (source row 3)")
}

// TestP7_ForgetErasesOneClient: no file of the state folder holds anything of the client, not even the key; the others
// keep all. A sheet that names the client again sends nothing and records nothing but the copy of the sheet.
func TestP7_ForgetErasesOneClient(t *testing.T) {
	t.Parallel()
	s := canaryDesk(t)
	s.mustRun(0)
	write(t, s.path("old.results.xlsx"), readText(t, s.path(s.book())))
	s.mustRun(0)
	if len(s.leaks("Canaryname Customer-A")) == 0 {
		t.Error("there is nothing to be erased")
	}
	expect(t, s.must(0, "history", "--forget", "Customer-A", "--yes"), "The service still has: client contact-1, claim claim-1\n")
	if left := s.leaks("Customer-A", "go/link-1"); len(left) > 0 {
		t.Errorf("after the erasure there are left: %q", left)
	}
	if left := s.leaks("Canaryname Customer-B", "go/link-2"); len(left) != 2 {
		t.Errorf("of the other client there is left: %q", left)
	}
	for _, p := range []played{s.run(), s.run("--dry-run"), s.rerun("-o", "new.xlsx", "old.results.xlsx")} {
		if p.code != 0 || len(p.posts()) > 0 {
			t.Errorf("exit code %d, sent %v\n%s", p.code, p.posts(), p.err)
		}
	}
	same(t, "the next night", []string{"skipped", "unchanged"}, column(s.results(), "Import status"))
	expect(t, column(s.results(), "What to do")[0], "was erased on")
	s.canarySheet("Other", "Customer-B")
	s.quiet()
	s.must(0, "history", "--purge", "--older-than", "0d", "--yes")
	if left := s.leaks("Customer-A"); len(left) > 0 {
		t.Error("a later run has recorded the client again")
	}
	expect(t, s.must(2, "history", "--forget", "Customer-A", "--yes"), "[unknown-client]")
}

// report writes the report of a run, the latest if none is named, to again.xlsx.
func (s *scene) report(run ...string) string {
	s.t.Helper()
	s.must(0, append([]string{"report", "-o", s.path("again.xlsx")}, run...)...)
	return s.path("again.xlsx")
}

// TestReportIsTheFirstWriting writes workbooks again. What nothing has changed since is as it was, byte for byte; the first
// run's rows show what a rerun of its edited results has settled and sent.
func TestReportIsTheFirstWriting(t *testing.T) {
	t.Parallel()
	s := halfDone(t)
	editWorkbook(t, s.path(s.book()), func(f *excelize.File) {
		must(t, f.SetCellValue("Steps", stepCell(t, f, "c4@example.com", "claim/loan/A-4", "Settle"), "not created"))
	})
	if p := s.rerun("-o", "second.xlsx", s.book()); p.code != 0 {
		t.Fatalf("the rerun: exit code %d\n%s", p.code, p.err)
	}
	s.mustRun(1, "-o", s.path("third.xlsx"))
	must(t, os.Remove(s.path("leads.xlsx")))
	runs := regexp.MustCompile(`(?m)^[0-9a-f]{8}`).FindAllString(s.must(0, "history"), -1) // the newest first
	if len(runs) != 3 {
		t.Fatalf("%d runs are listed, want 3", len(runs))
	}
	must(t, os.WriteFile(s.path("mapping.yaml"), []byte("name: other\n"), 0o600)) // the kept one is used
	if diff := cmp.Diff(parts(t, s.path("third.xlsx")), parts(t, s.report(runs[0]))); diff != "" {
		t.Errorf("the latest run (-first +again):\n%s", diff)
	}
	again := s.report(runs[2])
	same(t, "the first run's rows", []string{"done", "done", "invalid", "done"}, column(readSheet(t, again, "Results"), "Import status"))
	must(t, os.Remove(s.path("third.xlsx")))
	must(t, os.Symlink("third.xlsx", s.path("third.xlsx"))) // it leads to itself, so it cannot be read
	expect(t, s.must(0, "report", "-o", s.path("other.xlsx"), runs[0]), "third.xlsx: cannot be read: ")
	if posts := s.since().posts(); len(posts) > 0 {
		t.Errorf("%v were sent", posts)
	}
}
