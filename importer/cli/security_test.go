package cli_test

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
	"claimsheet/mapping/problem"
)

// The tests of this file are those of docs/security.md that need the whole program, by the names of its items.

// secretCanaries may be nowhere at all but in requests.
var secretCanaries = []string{"canary-token", "canary-oauth", "canary-key-from-file", "canary-from-cmd"}

// linkCanaries are redirect urls: in the workbook and the ledger only.
var linkCanaries = []string{"canary-link"}

// personalCanaries are personal data: in the sheet, its kept copy, the workbook and the ledger only.
var personalCanaries = []string{"canary-mail@example.com", "CanaryName", "911999001", "Canary Street", "CANARY-NO", "canary-detail", "canary-invalid"}

// where tells which canaries a file may hold, by its path in the scene's folder.
func allowed(path string) (personal, links bool) {
	switch name := filepath.Base(path); {
	case strings.HasPrefix(name, "ledger.db"), strings.Contains(name, ".results"):
		return true, true
	case name == "leads.xlsx", filepath.Base(filepath.Dir(path)) == "inputs", strings.Contains(name, ".plan"):
		return true, false
	}
	return false, false
}

// contents are a file's bytes; of a workbook those of its parts.
func contents(t *testing.T, path string) []byte {
	t.Helper()
	data := []byte(readText(t, path))
	if !bytes.HasPrefix(data, []byte("PK")) {
		return data
	}
	for _, part := range parts(t, path) {
		data = append(data, part...)
	}
	return data
}

func find(text []byte, canaries []string) string {
	for _, canary := range canaries {
		if bytes.Contains(bytes.ToLower(text), []byte(strings.ToLower(canary))) {
			return canary
		}
	}
	return ""
}

// searchAll looks for canaries in what was printed and in every file that is left in the scene's folder, temporary
// files included.
func (s *scene) searchAll(printed string) {
	s.t.Helper()
	if c := find([]byte(printed), append(append(secretCanaries, linkCanaries...), personalCanaries...)); c != "" {
		s.t.Errorf("%q is printed:\n%s", c, printed)
	}
	s.eachFile("", func(path string, text []byte) {
		if strings.HasPrefix(filepath.Base(path), "secret-") {
			return
		}
		personal, links := allowed(path)
		found := []string{find(text, secretCanaries)}
		if !links {
			found = append(found, find(text, linkCanaries))
		}
		if !personal {
			found = append(found, find(text, personalCanaries))
		}
		if c := strings.Join(found, " "); strings.TrimSpace(c) != "" {
			s.t.Errorf("%q is in %s", c, path)
		}
	})
}

// eachFile calls see with every file below a folder of the scene, and what the file holds.
func (s *scene) eachFile(folder string, see func(path string, text []byte)) {
	s.t.Helper()
	must(s.t, filepath.WalkDir(s.path(folder), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			see(path, contents(s.t, path))
		}
		return err
	}))
}

// canaryScene is a scene in which every secret and every cell is a canary, over a service that gives canaries as links.
func canaryScene(t *testing.T) *scene {
	good := []any{"canary-mail@example.com", "CanaryName", "07911 999001", "1980-05-01", "1 Canary Street", "Yes", "CANARY-NO", 12.5, "2026-03-31 09:30"}
	bad := []any{"c2@example.com", "CanaryName", "canary-invalid", "canary-invalid", "2 Canary Street", "Yes", "CANARY-NO-2", "canary-invalid", "2026-03-31 09:30"}
	worse := []any{"canary-invalid@@x", "CanaryName the second", "canary-invalid", "1980-05-01", "2 Canary Street", "canary-invalid", "CANARY-NO", 12.5, "canary-invalid"}
	s := newScene(t, stepThree, [][]any{good, bad, worse})
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"canary-token","token_type":"bearer","expires_in":3600}`)
	}))
	t.Cleanup(tokens.Close)
	write(t, s.path("secret-key"), "canary-key-from-file\n")
	write(t, s.path("secret-program"), "#!/bin/sh\necho canary-from-cmd\n")
	must(t, os.Chmod(s.path("secret-program"), 0o700))
	s.environment("auth: {type: oauth2, token_url: '" + tokens.URL + "', client_id: intake, client_secret: 'env:CANARY'}\n" +
		"headers: {X-Api-Key: 'file:secret-key', X-Other: 'cmd:./secret-program'}")
	return s
}

// P-3: secrets are nowhere, whatever the service makes of them; personal data and links are where they belong. 12
// canaries, and a service that repeats all it was sent.
func TestP3_Canaries(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program that prints a secret is a shell script")
	}
	if n := len(secretCanaries) + len(linkCanaries) + len(personalCanaries); n != 12 {
		t.Fatalf("%d canaries", n)
	}
	echo := `{"message":"canary-detail Bearer canary-token canary-oauth canary-key-from-file","headers":{"X-Other":"canary-from-cmd"},"redirectUrl":"https://claims.example.com/canary-link"}`
	link := apitest.CreateThen(apitest.JSON(201, `{"redirectUrl":"https://claims.example.com/canary-link","sent":"Bearer canary-token","client_secret":"canary-oauth"}`))
	on := func(kind string, f apitest.Fault) func(apitest.Call) apitest.Fault {
		return func(c apitest.Call) apitest.Fault {
			switch {
			case c.Kind == kind:
				return f
			case c.Kind == "link":
				return link
			}
			return apitest.Fault{}
		}
	}
	formats := []string{"text", "json"}
	for i, c := range []struct {
		name   string
		faults func(apitest.Call) apitest.Fault
	}{
		{"done", on("", apitest.Fault{})},
		{"refused", on("claim", apitest.Answer(apitest.JSON(422, echo)))},
		{"500", on("claim", apitest.CreateThen(apitest.JSON(500, echo)))},
		{"redirect", on("claim", apitest.Answer(apitest.Reply{Status: 302, Header: map[string]string{"Location": "https://x.example/canary-link?canary-token"}}))},
		{"401", on("claim", apitest.Answer(apitest.JSON(401, echo)))},
		{"no id", on("claim", apitest.CreateThen(apitest.JSON(201, echo)))},
		{"web page", on("claim", apitest.CreateThen(apitest.Reply{Status: 200, Body: "<html>" + echo}))},
		{"look-up page", on("lookup", apitest.Answer(apitest.Reply{Status: 404, Body: "<html>" + echo}))},
		{"templates", on("templates", apitest.Answer(apitest.JSON(403, echo)))},
		{"no answer", on("client", apitest.DropBefore())},
		{"cut", on("client", apitest.CreateThenCut())},
		{"look-up fails", func(c apitest.Call) (f apitest.Fault) {
			if strings.Contains(c.Path, "canary") {
				f = apitest.DropBefore()
			}
			return f
		}},
	} {
		if short := []string{"done", "500"}; !*long && !slices.Contains(short, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, name, format := canaryScene(t), c.name, formats[i%2]
			s.service.Play(c.faults)
			var printed strings.Builder
			temp := s.path("temp")
			must(t, os.Mkdir(temp, 0o700))
			for _, args := range [][]string{s.args("--dry-run", "--trace", s.path("trace-1")), s.args("--trace", s.path("trace-2"), "--log-format", format, "--log-file", s.path("log")),
				s.args("--json", "--log-format", format), {"doctor", "-m", s.path("mapping.yaml"), "--trace", s.path("trace-3")}} {
				_, out := child(programName, args, "TMPDIR="+temp, "TMP="+temp, "CANARY=canary-oauth").end(t)
				printed.WriteString(out)
			}
			s.searchAll(printed.String())
			if name == "done" && find(contents(t, s.path("leads.results.xlsx")), linkCanaries) == "" {
				t.Error("the workbook has no link: this is not the run that was to be looked at")
			}
			if name == "refused" && find(contents(t, s.path("leads.results.xlsx")), []string{"canary-detail"}) == "" {
				t.Error("the workbook lacks the service's words")
			}
		})
	}
}

// C-6: a workbook that claims to be of a run of this user's own gets this user's configuration, not the one that it
// names.
func TestC6_ForgedRunsGetTheLedgersMapping(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	// The attacker's results workbook names a mapping beside which an environments file makes a file when a secret is resolved.
	attacker, bait := newScene(t, stepThree, leads(2)), filepath.Join(t.TempDir(), "touched")
	attacker.mustRun(0)
	attacker.environment("headers: {X-Api-Key: 'cmd:touch " + bait + "'}")
	victim := newScene(t, stepThree, leads(2))
	p := victim.mustRun(0)
	forged := filepath.Join(victim.dir, "forged.results.xlsx")
	write(t, forged, readText(t, attacker.path("leads.results.xlsx")))
	editWorkbook(t, forged, func(f *excelize.File) {
		must(t, f.SetCustomProps(excelize.CustomProperty{Name: "claimsheet.run", Value: p.summary.Run}))
	})
	run := func(args ...string) (code int, printed string) {
		p := child(programName, args)
		p.Dir = victim.dir
		return p.end(t)
	}
	for _, args := range [][]string{{"rerun", forged}, {"rerun", "--dry-run", forged}, {"rerun", "--yes", forged}, {"rerun", "-e", "uat", forged}, {"run", forged}, {"check", forged},
		{"doctor", forged}, {"init", forged}, {"report", forged}, {"settle", forged}, {"link", forged}, {"history", forged}} {
		_, printed := run(args...)
		if _, err := os.Lstat(bait); err == nil {
			t.Fatalf("%s ran the command of an environments file that the workbook led to\n%s", strings.Join(args, " "), printed)
		}
	}
	if code, printed := run("rerun", "leads.results.xlsx"); code != 0 {
		t.Errorf("a rerun of the victim's own workbook: exit code %d\n%s", code, printed)
	}
}

// hostile is a text with what a terminal obeys: escape sequences of 7 and of 8 bits, line separators, and turned
// directions.
const hostile = "x\u009b31m\u202ey\u2066z\u2028w\u0085v"

// P-9: no command prints a character that a terminal obeys, whoever wrote it: a header, a cell, a key, a file's name, a
// template, a redirect url or an answer.
func TestP9_NothingPrintedIsObeyed(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(2))
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind == "link" {
			return apitest.CreateThen(apitest.JSON(201, `{"redirectUrl":"https://claims.example.com/`+hostile+`"}`))
		}
		if c.Step == "claim c2@example.com/Loan A-2" {
			return apitest.Answer(apitest.Reply{Status: 422, Body: "no\nlevel=ERROR forged\r" + hostile})
		}
		return apitest.Fault{}
	})
	writeSheet(t, s.path("hostile.xlsx"), []any{"E-mail", hostile}, [][]any{{"c1@example.com", hostile}})
	named := s.path("x\u009b31m\u202e.xlsx")
	forged := s.path("a\nlevel=ERROR forged\r\x1b[31m\u009b1m\u2028b.xlsx")
	writeSheet(t, named, header, leads(1))
	writeSheet(t, forged, header, leads(1))
	mapping := s.path("mapping.yaml")
	for _, args := range [][]string{
		s.args(), {"run", "-m", mapping, "--dry-run", named}, {"run", "-m", mapping, s.path("hostile.xlsx")},
		{"init", s.path("hostile.xlsx")}, {"link", "-m", mapping, "c1@example.com"}, {"link", "-m", mapping, hostile},
		{"history", "-m", mapping}, {"history", "-m", mapping, "c1@example.com"}, {"history", "-m", mapping, "--json", "c1@example.com"},
		{"settle", "-m", mapping}, {"settle", "-m", mapping, "--created", hostile}, {"report", "-m", mapping, hostile},
		{"run", "-m", mapping, "--log-format", "text", forged}, {"run", "-m", mapping, "--log-format", "json", forged}, {hostile}, {"run", "--" + hostile}, {"check", "-m", s.path(hostile)},
	} {
		p := claimsheet(t, args...)
		for _, text := range []string{p.out, p.err} {
			obeyed := func(r rune) bool { return r != '\n' && r != '\t' && problem.IsControl(r) || r == '\ufffd' }
			if at := strings.IndexFunc(text, obeyed); at >= 0 || strings.Contains(text, "\nlevel=ERROR") {
				t.Errorf("%q prints %q\n%s", args, text[max(at, 0):], text)
			}
		}
	}
}
