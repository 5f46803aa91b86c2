package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
)

// halfDone is a scene with results in which a person has corrected the amount of the third client. It is not known
// whether the claim of the fourth was created.
func halfDone(t *testing.T) *scene {
	t.Helper()
	rows := leads(4)
	rows[2][7] = "ask"
	s := newScene(t, stepThree, rows)
	s.service.Play(apitest.Once(onStep("claim c4@example.com/Loan A-4"), apitest.CreateThenDrop()))
	s.mustRun(4)
	editWorkbook(t, s.path(s.book()), func(f *excelize.File) { set(t, f, "Amount", 4, 250.25) })
	return s
}

func (s *scene) glob(pattern string) []string {
	s.t.Helper()
	found, err := filepath.Glob(s.path(pattern))
	must(s.t, err)
	return found
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

// TestRerunLibreOfficeWorkbook runs a results workbook again that LibreOffice has written (soffice --convert-to xlsx), in
// a folder without its ledger. It is of a run into the sandbox of four leads from row 4 of a workbook that counts days from
// 1904; a person has corrected the amount of the third, sorted, filtered, and moved columns.
func TestRerunLibreOfficeWorkbook(t *testing.T) {
	t.Parallel()
	const golden = "testdata/edited-in-libreoffice.xlsx"
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
	for email, now := range after {
		headers := []string{"Agreement no", "Signed", "Opt in", "Source row", "claimIds", "redirectUrl"}
		if email == "c3@example.com" {
			headers = headers[:4]
		}
		for _, header := range headers {
			if then := before[email][header]; now[header] != then || then == "" {
				t.Errorf("%s: %s was %q and is now %q", email, header, then, now[header])
			}
		}
	}
	if no := after["c3@example.com"]["Agreement no"]; no != "00903" {
		t.Errorf("the agreement number is shown as %s", no)
	}
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
