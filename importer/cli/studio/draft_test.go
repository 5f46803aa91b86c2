package studio_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/cli/studio"
)

// What was left unsaved does not undo what a colleague has written since.
func TestDraftOfAnotherFile(t *testing.T) {
	t.Parallel()
	draft := filepath.Join(t.TempDir(), "studio", "x.json")
	keep := func(o *studio.Options) { o.Autosave = draft }
	first := begin(t, mappingText, sheetText, keep)
	left := strings.Replace(mappingText, "name: spring", "name: autumn", 1)
	first.autumn()
	again := func() *tab {
		return begin(t, "", sheetText, func(o *studio.Options) { keep(o); o.Mapping = first.file })
	}

	again().get("/api/state").has(t, "mapping.diskNote", "")

	theirs := mappingText + "# by a colleague\n"
	write(t, first.file, theirs)
	second := again()
	second.get("/api/state").has(t, "mapping.text", left, "mapping.draft", true, "mapping.diskNote", "another program has written the file meanwhile")
	second.post("/api/save", 409, "version", 1).has(t, "error.code", "changed-on-disk")
	first.holds(first.file, theirs)

	second.post("/api/history", 200, "version", 1, "to", 0).has(t, "mapping.draft", false, "mapping.diskNote", "")
	second.post("/api/history", 200, "version", 2, "to", 1).has(t, "mapping.diskNote", "another program has written the file meanwhile")
	second.post("/api/save", 200, "version", 3, "overwrite", true)
	first.holds(first.file, left)

	third := again()
	third.get("/api/state").has(t, "mapping.draft", false)
	third.post("/api/text", 200, "version", 1, "text", mappingText+"# left\n")
	must(t, os.Remove(first.file))
	fourth := begin(t, "", sheetText, func(o *studio.Options) { keep(o); o.Mapping, o.Proposed = first.file, []byte(mappingText) })
	fourth.get("/api/state").has(t, "mapping.diskNote", "the file is not there any more")
	fourth.post("/api/save", 409, "version", 1)
}

// nothing is a job that does nothing.
func nothing(context.Context, []string, io.Writer, io.Writer) int { return 0 }

// A job works with the text that is shown, whatever has become of the file, and with all
// sheets, of which the page shows the first.
func TestJobOfTheTextShown(t *testing.T) {
	t.Parallel()
	used := make(chan string, 1)
	b := begin(t, mappingText, sheetText, func(o *studio.Options) {
		o.Job = func(_ bool, mapping, _ string) []string {
			data, _ := os.ReadFile(mapping)
			used <- string(data)
			return nil
		}
		o.Sheets = append(o.Sheets, "more.csv")
		o.Run = func(_ context.Context, args []string, _, _ io.Writer) int {
			used <- strings.Join(args[len(args)-2:], " ")
			return 0
		}
	})
	b.judged().has(t, "sheet.others", 1)
	write(t, b.file, "name: by a colleague\n")
	b.post("/api/job", 200, "version", 1, "kind", "dry-run")
	if got := <-used; got != mappingText {
		t.Errorf("the job uses\n%s", got)
	}
	if got := <-used; !strings.HasSuffix(got, "leads.csv more.csv") {
		t.Errorf("the job's sheets are %s", got)
	}
}

// What cannot be kept is said.
func TestDraftNotKept(t *testing.T) {
	t.Parallel()
	notAFolder := filepath.Join(t.TempDir(), "x")
	write(t, notAFolder, "")
	b := begin(t, mappingText, sheetText, func(o *studio.Options) { o.Autosave = filepath.Join(notAFolder, "y.json") })
	notKept := func() string {
		message, _ := reply(b.get("/api/state").at("mapping").(map[string]any)).one("warnings", "code", "not-kept")["message"].(string)
		return message
	}
	b.autumn()
	if message := notKept(); !strings.Contains(message, "cannot be kept for the next time") {
		t.Errorf("the warning is %q", message)
	}
	b.post("/api/save", 200, "version", 2)
	expect(t, "the warning after saving", notKept(), "")
}
