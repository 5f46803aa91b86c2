package reports_test

import (
	"strings"
	"testing"

	"claimsheet/importer/result"
	"claimsheet/reports"
)

func TestWriteSummary(t *testing.T) {
	t.Parallel()
	mixed := loans().Summary
	mixed.Results = "/data/John's leads.results.xlsx"
	done := result.Summary{Environment: "uat", Results: "a.results.xlsx", Seconds: 4.25,
		Rows: result.Counts{Total: 1, Done: 1}, Clients: result.Counts{Total: 1, Done: 1}}
	dry := result.Summary{Environment: "uat", DryRun: true, Results: "a.plan.xlsx", Seconds: 1,
		Rows: result.Counts{Total: 3, Planned: 2, Invalid: 1}, Clients: result.Counts{Total: 3, Planned: 2, Invalid: 1},
		Requests: result.Requests{Client: 2, Claim: 2}}
	stopped, waits := done, done
	stopped.Rows = result.Counts{Total: 3, Done: 1, NotStarted: 2}
	waits.Rows = result.Counts{Total: 3, Uncertain: 1, NotStarted: 2}
	refused := stopped
	refused.Rows = result.Counts{Total: 5, Failed: 3, NotStarted: 2}
	run := []string{"claimsheet", "run", "-m", "my mapping.yaml", "a.xlsx"}
	cases := []struct {
		summary result.Summary
		ending  reports.NextSteps
	}{
		{mixed, reports.NextSteps{Notice: "Sandbox: nothing was sent to a real service.", Stopped: "the service refuses the credentials (401)", Command: run,
			Settle: []string{"claimsheet", "settle", "-m", "my mapping.yaml"}, Rerun: []string{"claimsheet", "rerun"}}},
		{done, reports.NextSteps{}},
		{done, reports.NextSteps{Sandbox: []string{"claimsheet", "sandbox", "--state", "my leads/.claimsheet"}}},
		{dry, reports.NextSteps{Command: run}},
		{stopped, reports.NextSteps{Stopped: "a signal ended the run; what was in flight was finished", Interrupted: true, Rerun: []string{"claimsheet", "rerun"}}},
		{refused, reports.NextSteps{Stopped: "the mapping or the environment is wrong", Rerun: []string{"claimsheet", "rerun"}}},
		{waits, reports.NextSteps{Settle: []string{"claimsheet", "settle"}, Rerun: []string{"claimsheet", "rerun"}}},
	}
	var b strings.Builder
	for _, c := range cases {
		noError(t, reports.WriteSummary(&b, c.summary, c.ending))
		b.WriteString("----\n")
	}
	golden(t, "summary.golden", b.String())
}

// An object is one line; a program reads from it the text that was written, though no character of it moves a terminal's cursor.
func TestWriteObject(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	noError(t, reports.WriteObject(&b, map[string]string{"a": "<\u009b\u202e"}))
	same(t, "object", `{"a":"<\u009b\u202e"}`+"\n", b.String())
}
