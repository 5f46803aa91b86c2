package fault_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient/sandbox/fault"
	"claimsheet/mapping/problem"
)

var endpoints = []string{
	"POST /funnel/v1/cases/{caseId}/clients",
	"GET /funnel/v2/activity-templates",
	"POST /funnel/v2/claims",
	"POST /funnel/v2/contacts/{contactId}/magic-link",
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]fault.Rule{
		"POST /funnel/v2/claims:5%:lose-answer":                      {Method: "POST", Path: "/funnel/v2/claims", PerCent: 5, Kind: fault.LoseAnswer},
		"post  /funnel/v2/claims : 0.5% : FAIL-AFTER":                {Method: "POST", Path: "/funnel/v2/claims", PerCent: 0.5, Kind: fault.FailAfter},
		"POST /funnel/v2/claims:112th:cut-answer":                    {Method: "POST", Path: "/funnel/v2/claims", Nth: 112, Kind: fault.CutAnswer},
		"POST /funnel/v2/contacts/*/magic-link:100%:busy=2s":         {Method: "POST", Path: "/funnel/v2/contacts/*/magic-link", PerCent: 100, Kind: fault.Busy, Time: 2 * time.Second},
		"POST /funnel/v2/contacts/{contactId}/magic-link:1%:busy":    {Method: "POST", Path: "/funnel/v2/contacts/{contactId}/magic-link", PerCent: 1, Kind: fault.Busy, Time: time.Second},
		"GET /funnel/v2/activity-templates:1st:expired-login":        {Method: "GET", Path: "/funnel/v2/activity-templates", Nth: 1, Kind: fault.ExpiredLogin},
		"POST /funnel/v2/contacts/{contactId}/magic-link:21st:no-id": {Method: "POST", Path: "/funnel/v2/contacts/{contactId}/magic-link", Nth: 21, Kind: fault.NoID},
	} {
		got, err := fault.Parse(text, endpoints)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// A mistake is named with what was expected or what is near.
func TestParseMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "it has not the form METHOD PATH:SHARE:KIND; expected METHOD PATH:SHARE:KIND without a query, such as POST /funnel/v2/claims:5%:lose-answer",
		"POST /funnel/v2/claims:lose-answer":   "it has not the form",
		"POST funnel/v2/claims:5%:lose-answer": "it has not the form",
		"POST /funnel/v2/claims?a=b:5%:lose-answer": "it has not the form",
		"POST /funnel/v2/claims\x1b[31m:5%:slow=2s": "it has not the form",
		"PUT /funnel/v2/claims:5%:lose-answer":      "it begins with “PUT”; expected GET, POST or * and a path",
		"POST /funnel/v2/claim:5%:lose-answer":      "the service has no POST /funnel/v2/claim; did you mean “POST /funnel/v2/claims”?",
		"POST /funnel/v2/claims:5:lose-answer":      "“5” is not a share; expected a percentage such as 5%",
		"POST /funnel/v2/claims:NaN%:lose-answer":   "“NaN%” is not a share",
		"POST /funnel/v2/claims:0th:lose-answer":    "“0th” is not a share",
		"POST /funnel/v2/claims:5%:loose-answer":    "there is no kind “loose-answer”; did you mean “lose-answer”?",
		"POST /funnel/v2/claims:5%:lose-answer=2s":  "“2s” is not a time of lose-answer; expected lose-answer alone",
		"POST /funnel/v2/claims:5%:slow=":           "“” is not a time of slow",
		"POST /funnel/v2/claims:5%:slow=2":          "“2” is not a time of slow; expected a number and a unit, at most 1h, such as slow=2s",
		"POST /funnel/v2/claims:5%:slow=2h":         "“2h” is not a time",
		"POST /funnel/v2/claims:5%:busy=1500ms":     "expected whole seconds",
	} {
		_, err := fault.Parse(text, endpoints)
		if err == nil {
			t.Errorf("Parse(%q) succeeds", text)
			continue
		}
		p, _ := errors.AsType[problem.Problem](err)
		if got := p.Message + "; " + p.Hint; !strings.Contains(got, want) {
			t.Errorf("Parse(%q) fails with %v; want %q", text, err, want)
		}
	}
}
