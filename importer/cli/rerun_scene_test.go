package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
	"claimsheet/importer/result"
)

// rerunTemplates are the activity templates of a rerunScene's service.
var rerunTemplates = []apitest.Template{
	{ID: "10000000-0000-4000-8000-000000000001", Name: "Agreement details", Attributes: []apitest.Attribute{
		{ID: "11000000-0000-4000-8000-000000000001", Name: "Agreement number", DataType: "Text"},
		{ID: "11000000-0000-4000-8000-000000000002", Name: "Amount", DataType: "Currency"},
		{ID: "11000000-0000-4000-8000-000000000003", Name: "Signed on", DataType: "Date"},
		{ID: "11000000-0000-4000-8000-000000000004", Name: "Consent to contact", DataType: "Checkbox"}}},
	{ID: "10000000-0000-4000-8000-000000000002", Name: "Sign your claim"},
}

// claim4 is the step whose outcome the first run of a rerunScene does not learn.
const claim4 = "claim c4@example.com/Loan 00904"

// all returns the steps of a lead.
func all(email, no string) []string {
	claim := email + "/Loan " + no
	return []string{"client " + email, "claim " + claim, "activity " + claim + " Agreement details",
		"activity " + email + " Sign your claim", "link " + email}
}

// rerunScene is a folder with a mapping, an environment, a sheet of four clients and
// the results of a first run: the amount of client 3 is not a number, and it is not
// known whether the claim of client 4 was created.
type rerunScene struct {
	t       *testing.T
	dir     string
	service *apitest.Server
}

const rerunMapping = `
name: loans
api: v2
sheet: {name: Leads, header_row: 3}
client:
  key: E-mail
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}, lastName: Name}
claims: [{id: loan, key: Agreement no, name: "Loan {Agreement no}"}]
workflow: {name: "{sheet}", template_identifier: WF-1}
activities:
  - template: Agreement details
    on: loan
    attributes: {Agreement number: Agreement no, Amount: Amount, Signed on: Signed, Consent to contact: Opt in}
  - {template: Sign your claim, status: Open}
`

func newRerunScene(t *testing.T) *rerunScene {
	t.Helper()
	s := &rerunScene{t: t, dir: t.TempDir(), service: apitest.New(rerunTemplates...)}
	s.service.Play(apitest.Once(onStep(claim4), apitest.CreateThenDrop()))
	server := httptest.NewServer(s.service)
	t.Cleanup(server.Close)
	write(t, s.path("mapping.yaml"), rerunMapping)
	write(t, s.path("environments.yaml"), "default: uat\nenvironments:\n  uat: {base_url: '"+server.URL+"'}\n  live: {base_url: '"+server.URL+"/live'}\n")
	writeRerunSheet(t, s.path("leads.xlsx"))
	if p := s.main("", "run", "-m", s.path("mapping.yaml"), "--json", s.path("leads.xlsx")); p.code != 4 {
		t.Fatalf("the first run: exit code %d\n%s", p.code, p.err)
	}
	return s
}

// writeRerunSheet writes the leads from row 4, in a workbook that counts days
// from 1904.
func writeRerunSheet(t *testing.T, path string) {
	t.Helper()
	f := excelize.NewFile()
	date1904, five, day := true, "00000", "dd/mm/yyyy"
	number, err := f.NewStyle(&excelize.Style{CustomNumFmt: &five})
	if err != nil {
		t.Fatal(err)
	}
	date, err := f.NewStyle(&excelize.Style{CustomNumFmt: &day})
	if err != nil {
		t.Fatal(err)
	}
	must(t, f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &date1904}))
	must(t, f.SetSheetName("Sheet1", "Leads"))
	must(t, f.SetSheetRow("Leads", "A3", &[]any{"Agreement no", "E-mail", "Name", "Amount", "Signed", "Opt in", "Note"}))
	for i := 1; i <= 4; i++ {
		var amount any = 1000.5
		if i == 3 {
			amount = "ask"
		}
		row := []any{900 + i, fmt.Sprintf("c%d@example.com", i), fmt.Sprintf("Name %d", i), amount, 43000 + i, i%2 == 0, "mine"}
		must(t, f.SetSheetRow("Leads", fmt.Sprintf("A%d", 3+i), &row))
		must(t, f.SetCellStyle("Leads", fmt.Sprintf("A%d", 3+i), fmt.Sprintf("A%d", 3+i), number))
		must(t, f.SetCellStyle("Leads", fmt.Sprintf("E%d", 3+i), fmt.Sprintf("E%d", 3+i), date))
	}
	must(t, f.SaveAs(path))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *rerunScene) path(name string) string { return filepath.Join(s.dir, name) }

func (s *rerunScene) results() string { return s.path("leads.results.xlsx") }

// outcome is what a command came to.
type outcome struct {
	code     int
	out, err string
	summary  result.Summary
}

// main runs the program; in is what is typed.
func (s *rerunScene) main(in string, args ...string) outcome {
	s.t.Helper()
	return runMain(s.t, in, args...)
}

func runMain(t *testing.T, in string, args ...string) outcome {
	t.Helper()
	var out, diagnostics bytes.Buffer
	stdio := cli.IO{In: strings.NewReader(in), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }}
	p := outcome{code: quickMain(context.Background(), args, stdio), out: out.String(), err: diagnostics.String()}
	if p.out != "" {
		if err := json.Unmarshal(out.Bytes(), &p.summary); err != nil {
			t.Fatalf("stdout is not the summary: %v\n%s", err, p.out)
		}
	}
	return p
}

// rerun runs the results workbook again.
func (s *rerunScene) rerun(flags ...string) outcome {
	s.t.Helper()
	return s.main("", s.rerunArgs(flags...)...)
}

// rerunArgs are the words of a rerun, which finds its run in the scene's ledger;
// the test's working directory is another one.
func (s *rerunScene) rerunArgs(flags ...string) []string {
	args := append([]string{"rerun", "--json", "--state", s.path(".claimsheet")}, flags...)
	return append(args, s.results())
}

// rerunWithout is a rerun that no ledger leads to its mapping.
func (s *rerunScene) rerunWithout(flags ...string) outcome {
	s.t.Helper()
	return s.main("", s.rerunArgs(append([]string{"-m", s.path("mapping.yaml")}, flags...)...)...)
}

// edit changes the results workbook as a person would.
func (s *rerunScene) edit(change func(f *excelize.File)) {
	s.t.Helper()
	editWorkbook(s.t, s.results(), change)
}

func editWorkbook(t *testing.T, path string, change func(f *excelize.File)) {
	t.Helper()
	f, err := excelize.OpenFile(path)
	must(t, err)
	change(f)
	must(t, f.SaveAs(path))
	must(t, f.Close())
}

// cellAt is the reference of a row's cell below a header.
func cellAt(t *testing.T, f *excelize.File, sheet, header string, row int) string {
	t.Helper()
	found, err := f.SearchSheet(sheet, header)
	must(t, err)
	for _, at := range found {
		column, line, err := excelize.CellNameToCoordinates(at)
		must(t, err)
		if line == 1 {
			name, err := excelize.CoordinatesToCellName(column, row)
			must(t, err)
			return name
		}
	}
	t.Fatalf("the sheet %s has no column %q", sheet, header)
	return ""
}

// stepCell is the cell of a column in the line of a client's step in the sheet
// Steps.
func stepCell(t *testing.T, f *excelize.File, client, step, header string) string {
	t.Helper()
	rows, err := f.GetRows("Steps")
	must(t, err)
	for i, row := range rows {
		if len(row) > 2 && row[1] == client && row[2] == step {
			return cellAt(t, f, "Steps", header, i+1)
		}
	}
	t.Fatalf("the sheet Steps has no line for %s %s", client, step)
	return ""
}

// set writes a cell of the sheet Results.
func set(t *testing.T, f *excelize.File, header string, row int, value any) {
	t.Helper()
	must(t, f.SetCellValue("Results", cellAt(t, f, "Results", header, row), value))
}

// shown are the results by e-mail and header, as a person reads them.
func shown(t *testing.T, path string) map[string]record {
	t.Helper()
	all := map[string]record{}
	for _, line := range readSheet(t, path, "Results") {
		all[line["E-mail"]] = line
	}
	return all
}

func (s *rerunScene) createdOnce(leads ...[]string) {
	s.t.Helper()
	created, want := s.service.Created(), map[string]bool{}
	for _, lead := range leads {
		for _, name := range lead {
			want[name] = true
			if n := len(created[name]); n != 1 {
				s.t.Errorf("%s was created %d times", name, n)
			}
		}
	}
	for name := range created {
		if !want[name] {
			s.t.Errorf("%s was created", name)
		}
	}
}

// url returns the redirect url of the one link that was created for a client.
func (s *rerunScene) url(email string) string {
	s.t.Helper()
	links := s.service.Created()["link "+email]
	if len(links) != 1 {
		s.t.Fatalf("%d links were created for %s", len(links), email)
	}
	return links[0].URL
}

// creations returns the creating calls so far.
func (s *rerunScene) creations() []apitest.Call {
	return slices.DeleteFunc(s.service.Calls(), func(c apitest.Call) bool { return c.Method != http.MethodPost })
}

// sent returns how many creating calls there have been.
func (s *rerunScene) sent() int { return len(s.creations()) }

func (s *rerunScene) loseLedger() {
	s.t.Helper()
	files, err := filepath.Glob(s.path(".claimsheet/ledger.db*"))
	must(s.t, err)
	for _, file := range files {
		must(s.t, os.Remove(file))
	}
}
