package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
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

// canaryPlace is a workplace whose clients have customer numbers for keys and
// personal data that nothing else holds.
func canaryPlace(t *testing.T) *workplace {
	w := newWorkplace(t)
	write(t, w.path("mapping.yaml"), canaryMapping)
	w.canarySheet("Canaryname", "Customer-A", "Customer-B")
	return w
}

func (w *workplace) canarySheet(name string, customers ...string) {
	w.t.Helper()
	var rows [][]any
	for i, customer := range customers {
		rows = append(rows, []any{customer, strings.ToLower(customer) + ".canary@example.com", fmt.Sprintf("07911 12345%d", i), name + " " + customer, "Canary Street " + customer, "A-" + customer})
	}
	writeSheet(w.t, w.path("leads.xlsx"), []any{"Customer", "E-mail", "Mobile", "Name", "Address", "No"}, rows)
}

// leaks are those of the texts that stand in any file of the state folder, in
// a workbook's parts too.
func (w *workplace) leaks(texts ...string) []string {
	w.t.Helper()
	var found []string
	must(w.t, filepath.WalkDir(w.path(".claimsheet"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		must(w.t, err)
		if filepath.Ext(path) == ".xlsx" {
			for _, part := range parts(w.t, path) {
				data = append(data, part...)
			}
		}
		for _, text := range texts {
			if bytes.Contains(bytes.ToLower(data), []byte(strings.ToLower(text))) && !slices.Contains(found, text) {
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
	w := canaryPlace(t)
	w.say(map[string]string{"Loan of Canaryname Customer-B": `422 {"message":"no Canaryword here"}`})
	if got := w.claimsheet("run", w.path("leads.xlsx")); got.code != 1 {
		t.Fatalf("exit code %d\n%s", got.code, got.err)
	}
	w.say(nil)
	w.news()
	canary := []string{"Canaryname", "canary@", "07911 12345", "+44791112345", "Canary Street", "go/link", "Canaryword"}
	if diff := cmp.Diff([]string{"+44791112345", "07911 12345", "Canary Street", "Canaryname", "Canaryword", "canary@", "go/link"}, w.leaks(canary...)); diff != "" {
		t.Fatalf("before the purge (-want +got):\n%s", diff)
	}

	w.must("history", "--purge", "--older-than", "1d", "--yes")
	if n := len(w.leaks(canary...)); n != len(canary) {
		t.Errorf("what is younger was purged: %d of %d canaries are left", n, len(canary))
	}
	out := w.must("history", "--purge", "--older-than", "0d", "--yes")
	w.golden("history_purged.txt", regexp.MustCompile(`\d+ bytes`).ReplaceAllString(out, "N bytes"))
	if left := w.leaks(canary...); len(left) > 0 {
		t.Errorf("after the purge there are left: %q", left)
	}

	// The claim that failed is made now, with what comes behind it.
	w.run(0, "claims", "activities?claimId=claim-2", "contacts/contact-2/magic-link")
	if diff := cmp.Diff([]string{"unchanged", "done"}, w.column("Import status")); diff != "" {
		t.Errorf("the next night (-want +got):\n%s", diff)
	}
	if got := w.column("What to do")[0]; !strings.Contains(got, "claimsheet link") {
		t.Errorf("what to do about a purged url: %q", got)
	}
	w.canarySheet("Other", "Customer-A", "Customer-B")
	w.run(0)
	if diff := cmp.Diff([]string{"changed", "changed"}, w.column("Import status")); diff != "" {
		t.Errorf("a changed sheet (-want +got):\n%s", diff)
	}
	if got := w.column("Error"); !strings.Contains(got[0], "no longer kept") || !strings.Contains(got[1], "Results!D3 (source row 3)") {
		t.Errorf("why they are changed: %q", got)
	}
}

// runs are the ids of all runs, whole, the newest first.
func (w *workplace) runs() []string {
	w.t.Helper()
	var told struct{ Runs []struct{ Run string } }
	must(w.t, json.Unmarshal([]byte(w.must("history", "--json")), &told))
	var ids []string
	for _, r := range told.Runs {
		ids = append(ids, r.Run)
	}
	return ids
}

// TestPurgeKeepsWhatAYoungerRunNeeds: two runs of one file share its copy.
func TestPurgeKeepsWhatAYoungerRunNeeds(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	w := canaryPlace(t)
	w.claimsheet("run", w.path("leads.xlsx"))
	w.claimsheet("run", w.path("leads.xlsx"))
	w.addOldRun(w.runs()[1])
	w.must("history", "--purge", "--older-than", "30d", "--yes")
	w.must("report", "-o", w.path("again.xlsx"))
	if got := w.claimsheet("report", "-o", w.path("x.xlsx"), oldRun); !strings.Contains(got.err, "[input-purged]") {
		t.Errorf("the older run: exit code %d\n%s", got.code, got.err)
	}
}

const oldRun = "00000000-0000-4000-8000-00000000000a"

// addOldRun enters a run of ninety days ago over the sheet of another.
func (w *workplace) addOldRun(id string) {
	w.t.Helper()
	l, err := ledger.Open(w.path(".claimsheet/ledger.db"))
	must(w.t, err)
	defer l.Close()
	r, _, err := l.Run(w.t.Context(), id)
	must(w.t, err)
	old := r
	old.ID, old.Started = oldRun, r.Started.AddDate(0, 0, -90)
	must(w.t, l.StartRun(old))
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
			code, _, said := s.claimsheet("history", "--environments", s.path("environments.yaml"), "--purge", "--older-than", "0d", "--yes")
			if code != 0 {
				t.Errorf("the purge: exit code %d\n%s", code, said)
			}
		})
		return apitest.Fault{}
	})
	if p := s.mustRun(3); len(p.posts()) > 0 || !strings.Contains(p.err, "[input-removed]") {
		t.Errorf("created %v\n%s", p.posts(), p.err)
	}
	s.service.Play(nil)
	s.mustRun(0)
}

func TestPurgeAsks(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	w := canaryPlace(t)
	w.claimsheet("run", w.path("leads.xlsx"))
	for answer, code := range map[string]int{"": 3, "y\n": 3, "yes\n": 0} {
		got := runSaid(t, answer, "history", "-m", w.path("mapping.yaml"), "--purge", "--older-than", "0d")
		if got.code != code || !strings.Contains(got.err, "Type yes: ") {
			t.Errorf("answered %q: exit code %d, want %d\n%s", answer, got.code, code, got.err)
		}
		if purged := len(w.leaks("Canaryname")) == 0; purged != (code == 0) {
			t.Errorf("answered %q: purged is %v", answer, purged)
		}
		w.claimsheet("run", w.path("leads.xlsx"))
	}
}

// TestP7_ForgetErasesOneClient: no file of the state folder holds anything of the
// client, not even the key; the others keep all. A sheet that names the client
// again sends nothing and records nothing but the copy of the sheet.
func TestP7_ForgetErasesOneClient(t *testing.T) {
	t.Parallel()
	w := canaryPlace(t)
	w.claimsheet("run", w.path("leads.xlsx"))
	results := keep(t, w.path("leads.results.xlsx"), w.path("old.results.xlsx"))
	w.claimsheet("run", w.path("leads.xlsx"))
	w.news()
	got := runSaid(t, "no\n", "history", "-m", w.path("mapping.yaml"), "--forget", "Customer-A")
	if got.code != 3 || len(w.leaks("Canaryname Customer-A")) == 0 {
		t.Errorf("without a yes: exit code %d", got.code)
	}
	out := w.must("history", "--forget", "Customer-A", "--yes")
	w.golden("history_forgot.txt", regexp.MustCompile(`\d+ bytes`).ReplaceAllString(out, "N bytes"))
	if left := w.leaks("Customer-A", "go/link-1"); len(left) > 0 {
		t.Errorf("after the erasure there are left: %q", left)
	}
	if left := w.leaks("Canaryname Customer-B", "go/link-2"); len(left) != 2 {
		t.Errorf("of the other client there is left: %q", left)
	}
	for _, key := range []string{"Customer-A", "loans:Customer-A"} {
		if got := w.must("history", key); !strings.HasPrefix(got, "A client who was erased on ") {
			t.Errorf("the history of %s: %s", key, got)
		}
	}

	for _, command := range [][]string{
		{"run", w.path("leads.xlsx")}, {"run", "--dry-run", "-o", w.path("p.xlsx"), w.path("leads.xlsx")},
		{"rerun", "-o", w.path("new.xlsx"), results},
	} {
		if got := w.claimsheet(command[0], command[1:]...); got.code != 0 {
			t.Errorf("%s: exit code %d\n%s", command, got.code, got.err)
		}
		w.expectPosts()
	}
	if diff := cmp.Diff([]string{"skipped", "unchanged"}, w.column("Import status")); diff != "" {
		t.Errorf("the next night (-want +got):\n%s", diff)
	}
	if got := w.column("What to do")[0]; !strings.Contains(got, "was erased on") {
		t.Errorf("what to do: %q", got)
	}
	w.canarySheet("Other", "Customer-B")
	w.run(0)
	w.must("history", "--purge", "--older-than", "0d", "--yes")
	if left := w.leaks("Customer-A"); len(left) > 0 {
		t.Error("a later run has recorded the client again")
	}
	if got := w.claimsheet("history", "--forget", "Customer-A", "--yes"); got.code != 2 || !strings.Contains(got.err, "[erased-before]") {
		t.Errorf("erased twice: exit code %d\n%s", got.code, got.err)
	}
}

// TestHistoryOfAClient tells every step, attempt and decision.
func TestHistoryOfAClient(t *testing.T) {
	t.Parallel()
	w := troubled(t)
	n := w.numbers()
	w.must("settle", "--created", w.service.AddClaim("contact-1", "Loan A-1"), n[0])
	w.claimsheet("run", w.path("leads.xlsx"))
	out := w.must("history", "ANN@example.com")
	if strings.Contains(out, "https://claims.example.com") {
		t.Error("a redirect url is shown")
	}
	w.golden("history_client.txt", regexp.MustCompile(`run [0-9a-f]{8}`).ReplaceAllString(out, "run RUN"))

	var told struct {
		Clients []struct {
			Key, Space string
			Steps      []struct {
				Step, State, ID string
				HasURL          bool `json:"hasUrl"`
				Attempts        int
				Events          []struct{ State, Via string }
			}
		}
	}
	must(t, json.Unmarshal([]byte(w.must("history", "--json", "ann@example.com")), &told))
	c := told.Clients[0]
	if len(told.Clients) != 1 || c.Space != "email" || len(c.Steps) != 4 {
		t.Errorf("--json tells %+v", told)
	}
	if got := w.claimsheet("history", "eve@example.com"); got.code != 2 || strings.Contains(got.err, "eve@") {
		t.Errorf("an unknown client: exit code %d\n%s", got.code, got.err)
	}
}
