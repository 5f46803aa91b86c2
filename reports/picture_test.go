package reports_test

import (
	"bytes"
	"flag"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/reports"
)

var pictures = flag.String("pictures", "", "let LibreOffice show workbooks, and keep its pictures in this `FOLDER`")

// LibreOffice opens workbooks, shows every sheet, and paints what is to be painted.
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
		name         string
		book         reports.Workbook
		shows, paint []string
	}{
		{"results", loans(), []string{"Leads!E6", "ann@example.test", "00124", "£1,500.50", "01/05/1980", "https://go.example.test/1",
			"uncertain", "claim/loan/A1", "2026-11-20 02:01:07", "nightly-loans"}, []string{"C6EFCE", "FFC7CE", "FFEB9C"}},
		{"plan", plan(), []string{"Leads!E6", "#REF!", "magic link", "“Agreement details” on claim loan/A1", "Requests a run would send"}, []string{"FFC7CE"}},
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
		points := map[string]int{} // of each colour, on all pages
		for _, page := range pages {
			picture := must(png.Decode(bytes.NewReader(must(os.ReadFile(page))(t))))(t)
			for y := range picture.Bounds().Dy() {
				for x := range picture.Bounds().Dx() {
					r, g, b, _ := picture.At(x, y).RGBA()
					points[fmt.Sprintf("%02X%02X%02X", r>>8, g>>8, b>>8)]++
				}
			}
		}
		for _, colour := range c.paint {
			if points[colour] < 40 {
				t.Errorf("%s: the colour %s is on only %d points of all pages", c.name, colour, points[colour])
			}
		}
	}
}
