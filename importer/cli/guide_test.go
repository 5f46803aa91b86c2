//go:build linux || darwin

package cli_test

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/sandbox"
)

var (
	updateDocs     = flag.Bool("update-docs", false, "write what the commands of docs/guide.md print into the page")
	updatePictures = flag.Bool("update-pictures", false, "make the pictures of docs/guide.md again; needs LibreOffice and poppler-utils")
)

// guideBlock is a part of docs/guide.md that its reader does, in the page's order: a
// ```console block, whose lines that begin with $ are commands with what they print
// below; a ```yaml block with a file's name, which the reader writes; a comment that
// says what the reader does to a workbook; and a picture of one.
var guideBlock = regexp.MustCompile("(?s)```console\n(.*?)```|```yaml (\\S+)\n(.*?)```|<!-- ([a-z.]+): ([A-Za-z]+)!([A-Z]+[0-9]+) = (.*?) -->|" +
	`\]\((pictures/([a-z.]+)-([0-9])\.png)\)`)

// TestGuide does what docs/guide.md shows, from the sheet to the nightly run, in a
// terminal of 100 columns. The service is a sandbox.
func TestGuide(t *testing.T) {
	t.Parallel()
	path := filepath.Join(root, "docs", "guide.md")
	page := readText(t, path)
	service, err := sandbox.New(sandbox.Options{})
	must(t, err)
	server := httptest.NewServer(service)
	defer server.Close()
	folder := t.TempDir()
	must(t, os.CopyFS(folder, os.DirFS(filepath.Join(root, "samples", "guide"))))
	commands := 0
	shown := replaceSubmatches(guideBlock, page, func(part []string) string {
		switch {
		case part[2] != "":
			write(t, filepath.Join(folder, part[2]), strings.ReplaceAll(part[3], "https://uat.example.com/api", server.URL))
		case part[4] != "":
			editWorkbook(t, filepath.Join(folder, part[4]), func(f *excelize.File) { must(t, f.SetCellValue(part[5], part[6], part[7])) })
		case part[8] != "":
			takePicture(t, filepath.Join(folder, part[9]+".xlsx"), part[10], filepath.Join(root, "docs", part[8]))
		default:
			var printed strings.Builder
			for line := range strings.Lines(part[1]) {
				if command, ok := strings.CutPrefix(line, "$ "); ok {
					commands++
					printed.WriteString(line + strings.ReplaceAll(typeCommand(t, folder, strings.TrimSpace(command)), server.URL, "https://uat.example.com/api"))
				}
			}
			return "```console\n" + printed.String() + "```"
		}
		return part[0]
	})
	if commands < 8 {
		t.Errorf("only %d commands found in %s", commands, path)
	}
	if *updateDocs {
		write(t, path, shown)
	} else if diff := cmp.Diff(page, shown); diff != "" {
		t.Errorf("what the commands of %s print (-page +printed); -update-docs writes it:\n%s", path, diff)
	}
}

// typeCommand runs a command line as it is typed, and returns what remains on the
// screen, with what differs from run to run replaced.
func typeCommand(t *testing.T, folder, line string) string {
	t.Helper()
	words := strings.Fields(line)
	if words[0] != "claimsheet" {
		t.Fatalf("%s is no command of claimsheet", line)
	}
	printed, _ := inTerminalAt(t, folder, 100, []string{"NO_COLOR=1", "UAT_TOKEN=unused"}, words[1:]...)
	text := strings.ReplaceAll(screen(printed), folder+string(filepath.Separator), "")
	for what, with := range guideConstants {
		text = regexp.MustCompile(what).ReplaceAllString(text, with)
	}
	return strings.TrimRight(text, "\n") + "\n"
}

// takePicture makes a picture of a page of a workbook, as LibreOffice prints it, where
// pictures are made again. Else it only looks whether there is one.
func takePicture(t *testing.T, workbook, page, picture string) {
	t.Helper()
	if !*updatePictures {
		if _, err := os.Stat(picture); err != nil {
			t.Error(err)
		}
		return
	}
	dir := t.TempDir()
	run := func(name string, args ...string) {
		if said, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, said)
		}
	}
	run("soffice", "-env:UserInstallation=file://"+filepath.Join(dir, "profile"), "--headless", "--convert-to", "pdf", "--outdir", dir, workbook)
	pdf := filepath.Join(dir, strings.TrimSuffix(filepath.Base(workbook), ".xlsx")+".pdf")
	run("pdftoppm", "-png", "-r", "240", "-f", page, "-singlefile", pdf, filepath.Join(dir, "page"))
	data, err := os.ReadFile(filepath.Join(dir, "page.png"))
	must(t, err)
	whole, err := png.Decode(bytes.NewReader(data))
	must(t, err)
	var out bytes.Buffer
	must(t, png.Encode(&out, whole.(interface {
		SubImage(image.Rectangle) image.Image
	}).SubImage(notWhite(whole))))
	must(t, os.WriteFile(picture, out.Bytes(), 0o644))
}

// notWhite is the part of a page that is not white, with a small margin.
func notWhite(page image.Image) image.Rectangle {
	var box image.Rectangle
	for y := page.Bounds().Min.Y; y < page.Bounds().Max.Y; y++ {
		for x := page.Bounds().Min.X; x < page.Bounds().Max.X; x++ {
			if r, g, b, _ := page.At(x, y).RGBA(); min(r, g, b) < 0xffff {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box.Inset(-12).Intersect(page.Bounds())
}

// guideConstants are what the page shows for what differs from run to run.
var guideConstants = map[string]string{
	`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`: "4c7f2a90-1d3e-4b58-9a6c-2e8f5d7b1a03",
	`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`:                               "2026-11-02 06:30:00",
	`\d{8}T\d{6}(\.2)?`:                                            "20261102T063000",
	` in [0-9.]+(ms|s)\.`:                                          " in 0.2s.",
	`\brun [0-9a-f]{8}\b`:                                          "run 3f9a1c27",
	`round trip: .*`:                                               "round trip: 1ms",
}

// replaceSubmatches is ReplaceAllStringFunc with the submatches.
func replaceSubmatches(re *regexp.Regexp, text string, replace func(part []string) string) string {
	return re.ReplaceAllStringFunc(text, func(match string) string { return replace(re.FindStringSubmatch(match)) })
}
