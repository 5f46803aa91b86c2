package cli_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// onStep is about the creating calls of one step.
func onStep(step string) func(apitest.Call) bool {
	return func(c apitest.Call) bool { return c.Step == step }
}

// ambiguous are the ways in which a creating call may end that leave open
// whether anything was created. Those that are marked carry an answer that only
// lacks an id, which an activity need not have.
var ambiguous = []struct {
	name   string
	fault  apitest.Fault
	onlyID bool
}{
	{"created, then 500", apitest.CreateThen(apitest.JSON(500, `{"message":"oops"}`)), false},
	{"500, not created", apitest.Answer(apitest.JSON(500, `{"message":"oops"}`)), false},
	{"created, then 503", apitest.CreateThen(apitest.JSON(503, `{}`)), false},
	{"created, then closed", apitest.CreateThenDrop(), false},
	{"closed, not created", apitest.DropBefore(), false},
	{"body cut", apitest.CreateThenCut(), false},
	{"2xx without an id", apitest.CreateThen(apitest.JSON(201, `{"status":"ok"}`)), true},
	{"2xx with an empty id", apitest.CreateThen(apitest.JSON(201, `{"contactId":"","claimId":null,"redirectUrl":""}`)), true},
	{"HTML 200", apitest.CreateThen(apitest.HTML(200)), false},
	{"408", apitest.CreateThen(apitest.JSON(408, `{}`)), false},
}

// TestAmbiguousAnswers lets one step of every client but the first and the
// last end in one of the ambiguous ways: the step is uncertain and never sent
// again, unless it is a client's and a look-up finds the client; what depends on it waits, other claims of the client and all other
// clients go on.
func TestAmbiguousAnswers(t *testing.T) {
	t.Parallel()
	// The clients have the claims A and B; K stands for the client's key.
	all := []string{
		"client K", "activity K Your details", "claim K/Loan A", "activity K/Loan A Agreement details",
		"claim K/Loan B", "activity K/Loan B Agreement details", "activity K Sign your claim", "link K",
	}
	targets := []struct {
		step   string
		sent   []string // steps that are sent for the client
		status []string // of its rows
	}{
		{"client K", all[:1], []string{"uncertain", "uncertain"}},
		{"claim K/Loan A", slices.Concat(all[:3], all[4:6]), []string{"uncertain", "not started"}},
		{"activity K/Loan A Agreement details", all[:6], []string{"uncertain", "not started"}},
		{"activity K Sign your claim", all[:7], []string{"uncertain", "uncertain"}},
		{"link K", all, []string{"uncertain", "uncertain"}},
	}
	for _, target := range targets[:longOr(len(targets), 2)] {
		t.Run(target.step, func(t *testing.T) {
			t.Parallel()
			faults := map[string]apitest.Fault{}
			ways := map[string]string{} // by client key
			rows := [][]any{lead(1, "A"), lead(1, "B")}
			for i, way := range ambiguous {
				if way.onlyID && strings.HasPrefix(target.step, "activity ") {
					continue
				}
				key := rowKey(lead(i+2, ""))
				rows = append(rows, lead(i+2, "A"), lead(i+2, "B"))
				faults[strings.Replace(target.step, "K", key, 1)] = way.fault
				ways[key] = way.name
			}
			rows = append(rows, lead(99, "A"), lead(99, "B"))
			s := newScene(t, stepThree, rows)
			s.service.Play(apitest.OnceEach(faults))
			first := s.mustRun(4)

			sent := map[string][]string{}
			for _, c := range first.calls {
				if c.Method != http.MethodGet {
					sent[c.Client] = append(sent[c.Client], strings.Replace(c.Step, c.Client, "K", 1))
				}
			}
			statuses := map[string][]string{}
			for _, r := range s.results() {
				statuses[r["E-mail"]] = append(statuses[r["E-mail"]], r["Import status"])
			}
			for _, row := range rows {
				key := rowKey(row)
				steps, status := all, []string{"done", "done"}
				if ways[key] != "" {
					steps, status = target.sent, target.status
				}
				if target.step == "client K" && !strings.Contains(ways[key], "not created") {
					steps, status = all, []string{"done", "done"} // a look-up finds the client
				}
				if diff := cmp.Diff(steps, sent[key]); diff != "" {
					t.Errorf("%s: %s: steps (-want +got):\n%s", key, ways[key], diff)
				}
				if diff := cmp.Diff(status, statuses[key]); diff != "" {
					t.Errorf("%s: %s: statuses (-want +got):\n%s", key, ways[key], diff)
				}
			}
			s.checkPromise()

			if second := s.mustRun(4); len(second.posts()) > 0 {
				t.Errorf("the second run created %v:\n%s", second.posts(), transcript(second.calls))
			}
			s.checkPromise()
		})
	}
}

// rowKey is the client key of a row.
func rowKey(row []any) string { return row[0].(string) }
