package cli_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/xuri/excelize/v2"
)

var updateLibreOffice = flag.Bool("update-libreoffice", false, "make testdata/edited-in-libreoffice.xlsx again, with the LibreOffice that is here")

// saveInLibreOffice opens a workbook in LibreOffice and saves it again.
func saveInLibreOffice(t *testing.T, path string) {
	t.Helper()
	office, err := exec.LookPath("soffice")
	if err != nil || testing.Short() {
		t.Skip("LibreOffice is not here, or the test is to be short")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), office, "-env:UserInstallation=file://"+filepath.Join(dir, "profile"),
		"--headless", "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", dir, path)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("LibreOffice: %v\n%s", err, said)
	}
	saved, err := os.ReadFile(filepath.Join(dir, filepath.Base(path)))
	must(t, err)
	must(t, os.WriteFile(path, saved, 0o600))
}

// editAsAPerson corrects the amount of client 3, sorts, filters and moves
// columns.
func editAsAPerson(t *testing.T, f *excelize.File) {
	set(t, f, "Amount", 4, 250.25)
	must(t, f.DuplicateRowTo("Results", 2, 6))
	must(t, f.RemoveRow("Results", 2))
	must(t, f.SetRowVisible("Results", 3, false))
	moveToFront(t, f, "contactId")
	moveToFront(t, f, "E-mail")
}

const libreOfficeMapping = `
name: loans
api: v2
client:
  key: E-mail
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}, lastName: Name}
claims: [{id: loan, key: Agreement no, name: "Loan {Agreement no}"}]
workflow: {name: Loans, template_identifier: WF-LOANS}
activities:
  - {template: Your details, attributes: {Date of birth: Signed, Consent to contact: Opt in}}
  - {template: Agreement details, on: loan, attributes: {Agreement number: Agreement no, Amount: Amount}}
  - {template: Sign your claim, status: Open}
`

// TestRerunLibreOfficeWorkbook runs a results workbook again that LibreOffice
// has written, in a folder without its ledger: also where LibreOffice is not.
func TestRerunLibreOfficeWorkbook(t *testing.T) {
	t.Parallel()
	const golden = "testdata/edited-in-libreoffice.xlsx"
	if *updateLibreOffice {
		makeLibreOfficeWorkbook(t, golden)
	}
	data, err := os.ReadFile(golden)
	must(t, err)
	dir := t.TempDir()
	mapping, results := filepath.Join(dir, "mapping.yaml"), filepath.Join(dir, "leads.results.xlsx")
	write(t, mapping, libreOfficeMapping)
	must(t, os.WriteFile(results, data, 0o600))
	before := byClient(t, results)

	p := claimsheet(t, "rerun", "--json", "--yes", "-m", mapping, "-e", "sandbox", results)
	if p.code != 0 || p.summary.Rows.Done != 1 || p.summary.Rows.Unchanged != 3 {
		t.Fatalf("exit code %d, rows %+v\n%s", p.code, p.summary.Rows, p.err)
	}
	if r := p.summary.Requests; r.Client != 1 || r.Claim != 1 || r.Activity != 3 || r.Link != 1 {
		t.Errorf("requests %+v, want those of one client", r)
	}
	after := byClient(t, results)
	for i := 1; i <= 4; i++ {
		email := fmt.Sprintf("c%d@example.com", i)
		for _, header := range []string{"Agreement no", "Signed", "Opt in", "Source row"} {
			if now, then := after[email][header], before[email][header]; now != then || now == "" {
				t.Errorf("%s: %s was %q and is now %q", email, header, then, now)
			}
		}
		if i != 3 && (after[email]["claimIds"] != before[email]["claimIds"] || after[email]["redirectUrl"] != before[email]["redirectUrl"]) {
			t.Errorf("%s: the ids were %v and are now %v", email, before[email], after[email])
		}
	}
	if no := after["c3@example.com"]["Agreement no"]; no != "00903" {
		t.Errorf("the agreement number is shown as %s", no)
	}
}

// makeLibreOfficeWorkbook makes results in the sandbox, edits and saves them.
func makeLibreOfficeWorkbook(t *testing.T, path string) {
	dir := t.TempDir()
	mapping, leads := filepath.Join(dir, "mapping.yaml"), filepath.Join(dir, "leads.xlsx")
	write(t, mapping, libreOfficeMapping+"sheet: {header_row: 3}\n")
	writeRerunSheet(t, leads)
	if p := claimsheet(t, "run", "-m", mapping, "-e", "sandbox", "--json", leads); p.code != 1 {
		t.Fatalf("exit code %d\n%s", p.code, p.err)
	}
	results := filepath.Join(dir, "leads.results.xlsx")
	editWorkbook(t, results, func(f *excelize.File) { editAsAPerson(t, f) })
	saveInLibreOffice(t, results)
	data, err := os.ReadFile(results)
	must(t, err)
	must(t, os.RemoveAll(filepath.Join(dir, ".claimsheet"))) // or it would be the ledger to use
	must(t, os.WriteFile(path, data, 0o644))
}

// writeRerunSheet writes the leads from row 4, in a workbook that counts days
// from 1904.
func writeRerunSheet(t *testing.T, path string) {
	t.Helper()
	f := excelize.NewFile()
	date1904, five, day := true, "00000", "dd/mm/yyyy"
	number, err := f.NewStyle(&excelize.Style{CustomNumFmt: &five})
	must(t, err)
	date, err := f.NewStyle(&excelize.Style{CustomNumFmt: &day})
	must(t, err)
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

// byClient are the results by e-mail and header.
func byClient(t *testing.T, path string) map[string]record {
	t.Helper()
	all := map[string]record{}
	for _, line := range readSheet(t, path, "Results") {
		all[line["E-mail"]] = line
	}
	return all
}
