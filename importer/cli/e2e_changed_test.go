package cli_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mappingChanged is how the line begins that says, once, that the mapping made
// what is done differ.
const mappingChanged = "the mapping now asks for something other than what was sent"

// resuming is a mapping whose clients resume somewhere; the header Opt in holds
// the next step where it is a cell's to say.
func resuming(at string) string {
	return "name: resuming\napi: v2\nsheet: {timezone: UTC}\n" + clientPart + `
claims: [{id: loan, key: Agreement no, name: "Loan {Agreement no}"}]
workflow: {name: Batch, template_identifier: WF-1}
resume_at: ` + at + `
activities:
  - {template: Your details, attributes: {Home address: Address}}
  - {template: Agreement details, status: Accepted, attributes: {Agreement number: First name}}
  - {template: Sign your claim}
`
}

// errors are what a results workbook says beside its rows.
func (s *scene) errors() []string { return column(s.results(), "Error") }

// TestResumeMoved wants done clients to resume at another step, which would
// make a second Open activity for each: nothing new is sent for them, whoever
// wants it.
func TestResumeMoved(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const cell, next = "{column: Opt in}", "Sign your claim"
	nights := func(at string) [][]any {
		rows := append(leads(1), lead(2, "A-2"))
		for _, row := range rows {
			row[5] = at
		}
		return rows
	}
	const (
		byCell    = "held back: “Agreement details” was sent as Open and is now wanted as Accepted: "
		byMapping = "held back: “Agreement details” was sent as Open, and the mapping now wants it as Accepted"
	)
	cases := []struct {
		name          string
		first, second string // resume_at
		step          string // the cell of the second night
		said          []string
		once          bool
	}{
		{"by a cell", cell, cell, next, []string{byCell + "Results!F2 (source row 2)", byCell + "Results!F3 (source row 3)"}, false},
		{"by a constant", "Agreement details", next, "", []string{byMapping, byMapping}, true},
		{"a constant becomes a column", "Agreement details", cell, next, []string{byMapping, byMapping}, true},
		{"a column becomes a constant", cell, next, "", []string{byMapping, byMapping}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, resuming(c.first), nights("Agreement details"))
			s.mustRun(0)
			s.mapping(resuming(c.second))
			s.sheet(append(nights(c.step), nights(c.step)[0]))
			dry := s.mustRun(0, "--dry-run")
			p := s.mustRun(0)
			if steps := p.steps(); len(steps) > 0 || dry.summary.Requests.Activity > 0 {
				t.Errorf("sent %v; the dry run: %+v", steps, dry.summary.Requests)
			}
			rows := s.results()
			if diff := cmp.Diff([]string{"changed", "changed", "changed"}, column(rows, "Import status")); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append(c.said, c.said[0]), s.errors()); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			for _, got := range column(rows, "What to do") {
				if strings.Contains(got, "mapping's change") != c.once {
					t.Errorf("what to do: %q", got)
				}
			}
			if n := strings.Count(p.err, mappingChanged); (n == 1) != c.once || n > 1 {
				t.Errorf("the change of the mapping is said %d times:\n%s", n, p.err)
			}
		})
	}
}

// TestResumeMovedAfterAPurge holds the same when what was sent is no longer kept.
func TestResumeMovedAfterAPurge(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, resuming("Agreement details"), leads(1))
	s.mustRun(0)
	if p := runSaid(t, "", "history", "--environments", s.path("environments.yaml"), "--purge", "--older-than", "0d", "--yes"); p.code != 0 {
		t.Fatalf("the purge: exit code %d\n%s", p.code, p.err)
	}
	s.mapping(resuming("Sign your claim"))
	p := s.mustRun(0)
	if steps := p.steps(); len(steps) > 0 {
		t.Errorf("sent %v", steps)
	}
	want := []string{"held back: “Agreement details” was sent in another status than it is now wanted in"}
	if diff := cmp.Diff(want, s.errors()); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// TestStatusMoved holds back a new claim of a client who has an activity in
// another status than the mapping wants it in now, and says so once for the
// rows for which nothing new was to be sent.
func TestStatusMoved(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(2))
	s.mustRun(0)
	s.mapping(strings.Replace(stepThree, "status: Accepted", "status: Submitted", 1))
	s.sheet(append(leads(2), lead(2, "A-9")))
	p := s.mustRun(0)
	if steps := p.steps(); len(steps) > 0 {
		t.Errorf("sent %v", steps)
	}
	want := []string{"", "", "held back: “Agreement details” was sent as Accepted, and the mapping now wants it as Submitted"}
	if diff := cmp.Diff(want, s.errors()); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if n := strings.Count(p.err, mappingChanged); n != 1 {
		t.Errorf("the change of the mapping is said %d times:\n%s", n, p.err)
	}
}

// TestHeldClaim names the activity, once, beside a new claim that is held back.
func TestHeldClaim(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	at := func(step string, rows ...[]any) [][]any {
		for _, row := range rows {
			row[5] = step
		}
		return rows
	}
	s := newScene(t, resuming("{column: Opt in}"), at("Agreement details", lead(1, "A-1")))
	s.mustRun(0)
	s.sheet(at("Sign your claim", lead(1, "A-1"), lead(1, "A-9")))
	s.mustRun(0)
	why := "held back: “Agreement details” was sent as Open and is now wanted as Accepted: Results!F2 (source row 2)"
	if diff := cmp.Diff([]string{why, why}, s.errors()); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// TestDataChangedByTheMapping tells what the mapping made differ from what
// stands in a cell: the one is said once for all rows, the other where it is.
func TestDataChangedByTheMapping(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	details := func(source string) string {
		return strings.Replace(stepThree, "Home address: Address", "Home address: "+source, 1)
	}
	cell := [][]any{lead(1, "A-1"), lead(2, "A-2")}
	cell[1][4] = "elsewhere"
	cases := []struct {
		name          string
		first, second string // the source of the attribute
		rows          [][]any
		said          []string
		once          bool
	}{
		{"a constant instead of a column", "Address", "{value: ZZ}", leads(2), []string{"", ""}, true},
		{"a column instead of a constant", "{value: ZZ}", "Address", leads(2), []string{"", ""}, true},
		{"another constant", "{value: ZZ}", "{value: YY}", leads(2), []string{"", ""}, true},
		{"another column", "Address", "Mobile", leads(2), []string{"", ""}, true},
		{"one column more", "{text: \"{Address}\"}", "{text: \"{Address} {Mobile}\"}", leads(2), []string{"", ""}, true},
		{"a table", "Address", "{column: Address, values: {1 High Street: Home}, else: Away}", leads(2), []string{"", ""}, true},
		{"a cell", "Address", "Address", cell, []string{"", "“Home address” differs: Results!E3 (source row 3)"}, false},
		{"a cell whose column is written in another way", "Address", "ADDRESS", cell, []string{"", "“Home address” differs: Results!E3 (source row 3)"}, false},
		{"a cell of several", "{first_of: [Address, Mobile]}", "{first_of: [Address, Opt in]}", cell, []string{"", "“Home address” differs: Results!E3 (source row 3), Results!F3 (source row 3)"}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, details(c.first), leads(2))
			s.mustRun(0)
			s.mapping(details(c.second))
			s.sheet(c.rows)
			p := s.mustRun(0)
			if diff := cmp.Diff(c.said, s.errors()); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if n := strings.Count(p.err, mappingChanged); (n == 1) != c.once || n > 1 {
				t.Errorf("the change of the mapping is said %d times:\n%s", n, p.err)
			}
			if posts := p.posts(); len(posts) > 0 {
				t.Errorf("created %v", posts)
			}
		})
	}
}

// TestRenamedColumn follows a column that was renamed in the sheet and in the
// mapping: what is corrected in it is the cell's doing still.
func TestRenamedColumn(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	s.mustRun(0)
	s.mapping(strings.Replace(stepThree, "Home address: Address", "Home address: Street", 1))
	renamed := append([]any{}, header...)
	renamed[4] = "Street"
	rows := leads(2)
	rows[1][4] = "elsewhere"
	writeSheet(t, s.path("leads.xlsx"), renamed, rows)
	p := s.mustRun(0)
	if diff := cmp.Diff([]string{"", "“Home address” differs: Results!E3 (source row 3)"}, s.errors()); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if strings.Contains(p.err, mappingChanged) {
		t.Errorf("stderr:\n%s", p.err)
	}
}

// TestResumeCellIsInnocent does not name the cell of the next step for a status
// that the mapping gives.
func TestResumeCellIsInnocent(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	rows := leads(1)
	rows[0][5] = "Sign your claim"
	mapping := resuming("{column: Opt in}")
	s := newScene(t, mapping, rows)
	s.mustRun(0)
	s.mapping(strings.Replace(mapping, "status: Accepted, ", "", 1))
	p := s.mustRun(0)
	if diff := cmp.Diff([]string{""}, s.errors()); diff != "" || strings.Count(p.err, mappingChanged) != 1 {
		t.Errorf("errors (-want +got):\n%s\nstderr:\n%s", diff, p.err)
	}
}
