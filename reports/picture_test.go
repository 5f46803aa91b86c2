package reports_test

import (
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/reports"
)

var pictures = flag.String("pictures", "", "let LibreOffice show workbooks, and keep its pictures in this `FOLDER`")

// LibreOffice opens workbooks and shows every sheet; its pictures are for people to look at.
func TestPicture(t *testing.T) {
	t.Parallel()
	if *pictures == "" {
		t.Skip("LibreOffice shows workbooks with -pictures FOLDER, as in .ci/run")
	}
	for _, program := range []string{"soffice", "pdftoppm", "pdftotext"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not here (LibreOffice and poppler-utils are needed)", program)
		}
	}
	dir := t.TempDir()
	output := func(program string, args ...string) string {
		return string(must(exec.CommandContext(t.Context(), program, args...).Output())(t))
	}
	for _, c := range []struct {
		name  string
		book  reports.Workbook
		shows []string
	}{
		{"results", loans(), []string{"Leads!E6", "ann@example.test", "00124", "£1,500.50", "01/05/1980", "https://go.example.test/1",
			"uncertain", "claim/loan/A1", "2026-11-20 02:01:07", "nightly-loans"}},
		{"plan", plan(), []string{"Leads!E6", "#REF!", "magic link", "“Agreement details” on claim loan/A1", "Requests a run would send"}},
	} {
		path, pdf := filepath.Join(dir, c.name+".xlsx"), filepath.Join(dir, c.name+".pdf")
		must(writeWorkbook(path, c.book))(t)
		output("soffice", "-env:UserInstallation=file://"+dir+"/profile", "--headless", "--convert-to", "pdf", "--outdir", dir, path)
		text := output("pdftotext", "-layout", pdf, "-")
		for _, word := range c.shows {
			if !strings.Contains(text, word) {
				t.Errorf("%s: LibreOffice does not show %q", c.name, word)
			}
		}
		output("pdftoppm", "-png", "-r", "110", pdf, filepath.Join(*pictures, c.name))
		pages := must(filepath.Glob(filepath.Join(*pictures, c.name+"-*.png")))(t)
		if len(pages) < 4 {
			t.Errorf("%s: %d pages, expected one for each sheet", c.name, len(pages))
		}
	}
}
