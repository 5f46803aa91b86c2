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

// TestPicture lets LibreOffice show workbooks: it must open them, show every
// sheet, and paint what is to be painted.
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
	cases := map[string]struct {
		book  reports.Workbook
		shows []string
		paint []string
	}{
		"results": {loans(), []string{"Leads!E6", "ann@example.test", "00124", "£1,500.50", "01/05/1980", "https://go.example.test/1",
			"uncertain", "claim/loan/A1", "2026-11-20 02:01:07", "nightly-loans"},
			[]string{"C6EFCE", "FFC7CE", "FFEB9C"}},
		"plan": {plan(), []string{"Leads!E6", "#REF!", "magic link", "“Agreement details” on claim loan/A1", "Requests a run would send"},
			[]string{"FFC7CE"}},
	}
	dir := t.TempDir()
	var paths []string
	for name, c := range cases {
		path := filepath.Join(dir, name+".xlsx")
		paths = append(paths, path)
		if _, err := writeWorkbook(path, c.book); err != nil {
			t.Fatal(err)
		}
	}
	office(t, dir, paths)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pdf := filepath.Join(dir, name+".pdf")
			text := output(t, "pdftotext", "-layout", pdf, "-")
			for _, word := range c.shows {
				if !strings.Contains(text, word) {
					t.Errorf("LibreOffice does not show %q", word)
				}
			}
			seen := colours(t, pdf, name)
			for _, colour := range c.paint {
				if seen[colour] < 40 {
					t.Errorf("the colour %s is on only %d points of all pages", colour, seen[colour])
				}
			}
		})
	}
}

// office lets LibreOffice print workbooks into PDF files of the same names.
func office(t *testing.T, dir string, paths []string) {
	t.Helper()
	output(t, "soffice", append([]string{"-env:UserInstallation=file://" + filepath.Join(t.TempDir(), "profile"),
		"--headless", "--convert-to", "pdf", "--outdir", dir}, paths...)...)
}

func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), program, args...).Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, said)
	}
	return string(said)
}

// colours counts the points of each colour on the pages of a PDF file.
func colours(t *testing.T, pdf, name string) map[string]int {
	t.Helper()
	dir := t.TempDir()
	output(t, "pdftoppm", "-png", "-r", "110", pdf, filepath.Join(dir, name))
	pages, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil || len(pages) < 4 {
		t.Fatalf("%d pages, expected one for each sheet (error %v)", len(pages), err)
	}
	seen := map[string]int{}
	for _, page := range pages {
		data := must(os.ReadFile(page))(t)
		picture := must(png.Decode(bytes.NewReader(data)))(t)
		for y := range picture.Bounds().Dy() {
			for x := range picture.Bounds().Dx() {
				r, g, b, _ := picture.At(x, y).RGBA()
				seen[fmt.Sprintf("%02X%02X%02X", r>>8, g>>8, b>>8)]++
			}
		}
		noError(t, os.WriteFile(filepath.Join(*pictures, filepath.Base(page)), data, 0o600))
	}
	return seen
}
