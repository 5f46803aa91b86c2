package fault_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient/sandbox/fault"
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
		"POST /funnel/v2/claims:3rd:no-id":                           {Method: "POST", Path: "/funnel/v2/claims", Nth: 3, Kind: fault.NoID},
		"POST /funnel/v2/claims:112th:cut-answer":                    {Method: "POST", Path: "/funnel/v2/claims", Nth: 112, Kind: fault.CutAnswer},
		"POST /funnel/v2/contacts/*/magic-link:100%:busy=2s":         {Method: "POST", Path: "/funnel/v2/contacts/*/magic-link", PerCent: 100, Kind: fault.Busy, Time: 2 * time.Second},
		"POST /funnel/v2/contacts/{contactId}/magic-link:1%:busy":    {Method: "POST", Path: "/funnel/v2/contacts/{contactId}/magic-link", PerCent: 1, Kind: fault.Busy, Time: time.Second},
		"POST /funnel/v1/cases/0b7c2c55/clients:1%:not-json":         {Method: "POST", Path: "/funnel/v1/cases/0b7c2c55/clients", PerCent: 1, Kind: fault.NotJSON},
		"* *:100%:slow=200ms":                                        {Method: "*", Path: "*", PerCent: 100, Kind: fault.Slow, Time: 200 * time.Millisecond},
		"GET /funnel/v2/activity-templates:1st:expired-login":        {Method: "GET", Path: "/funnel/v2/activity-templates", Nth: 1, Kind: fault.ExpiredLogin},
		"POST /funnel/v2/claims:1%:late=1m0s":                        {Method: "POST", Path: "/funnel/v2/claims", PerCent: 1, Kind: fault.Late, Time: time.Minute},
		"* /funnel/v2/claims:99.999%:fail-before":                    {Method: "*", Path: "/funnel/v2/claims", PerCent: 99.999, Kind: fault.FailBefore},
		"POST /funnel/v1/cases/{caseId}/clients:13th:late=90s":       {Method: "POST", Path: "/funnel/v1/cases/{caseId}/clients", Nth: 13, Kind: fault.Late, Time: 90 * time.Second},
		"POST /funnel/v2/contacts/{contactId}/magic-link:21st:no-id": {Method: "POST", Path: "/funnel/v2/contacts/{contactId}/magic-link", Nth: 21, Kind: fault.NoID},
	} {
		got, err := fault.Parse(text, endpoints)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", text, got, err, want)
			continue
		}
		if again, err := fault.Parse(got.String(), endpoints); err != nil || again != got {
			t.Errorf("Parse(%q) = %+v, %v; want the rule that it was written from", got.String(), again, err)
		}
	}
}

// A mistake is named with what was expected or what is near.
func TestParseMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                           "it has not three parts with a colon between them; expected METHOD PATH:SHARE:KIND, such as POST /funnel/v2/claims:5%:lose-answer",
		"POST /funnel/v2/claims:lose-answer":         "it has not three parts",
		"/funnel/v2/claims:5%:lose-answer":           "it begins with “/funnel/v2/claims”; expected GET, POST or * and a path",
		"PUT /funnel/v2/claims:5%:lose-answer":       "it begins with “PUT”",
		"POST:5%:lose-answer":                        "it has no path behind the method",
		"POST funnel/v2/claims:5%:lose-answer":       "“funnel/v2/claims” is not a path",
		"POST /funnel/v2/claims x:5%:lose-answer":    "“/funnel/v2/claims x” is not a path",
		"POST /funnel/v2/claims?a=b:5%:lose-answer":  "the path has a query; expected the path alone",
		"POST /funnel/v2/claim:5%:lose-answer":       "the service has no POST /funnel/v2/claim; did you mean “POST /funnel/v2/claims”?",
		"GET /funnel/v2/claims:5%:lose-answer":       "the service has no GET /funnel/v2/claims",
		"POST /funnel/v2/claims:5:lose-answer":       "the share “5” has no unit; expected a percentage such as 5%",
		"POST /funnel/v2/claims:0%:lose-answer":      "the share “0%” is not between 0% and 100%",
		"POST /funnel/v2/claims:101%:lose-answer":    "the share “101%” is not between",
		"POST /funnel/v2/claims:NaN%:lose-answer":    "“NaN%” is not a share",
		"POST /funnel/v2/claims:often:lose-answer":   "“often” is not a share; expected a percentage such as 5%, at most 100%, or one request by its number, such as 3rd",
		"POST /funnel/v2/claims:3th:lose-answer":     "“3th” is not how a number is written; did you mean “3rd”?",
		"POST /funnel/v2/claims:0th:lose-answer":     "“0th” is not a share",
		"POST /funnel/v2/claims:5%:loose-answer":     "there is no kind “loose-answer”; did you mean “lose-answer”?",
		"POST /funnel/v2/claims:5%:explode":          "there is no kind “explode”; expected one of lose-answer, cut-answer,",
		"POST /funnel/v2/claims:5%:lose-answer=2s":   "lose-answer takes no time; expected lose-answer alone",
		"POST /funnel/v2/claims:5%:slow=2":           "“2” is not a time; expected a number and a unit, at most 1h, such as slow=2s",
		"POST /funnel/v2/claims:5%:slow=-2s":         "“-2s” is not a time",
		"POST /funnel/v2/claims:5%:slow=2h":          "“2h” is not a time",
		"POST /funnel/v2/claims:5%:busy=1500ms":      "Retry-After cannot say 1.5s; expected whole seconds, such as busy=2s",
		"POST /funnel/v2/claims\x1b[31m:5%:slow=2s":  "is not a path",
		"POST " + strings.Repeat("x", 500) + ":1%:x": "x… is not a path",
	} {
		_, err := fault.Parse(text, endpoints)
		if err == nil {
			t.Errorf("Parse(%q) succeeds", text)
			continue
		}
		if got := inOneLine(err); !strings.Contains(strings.ReplaceAll(got, "…”", "…"), want) {
			t.Errorf("Parse(%q) fails with %q; want %q", text, got, want)
		}
	}
}

// A parsed rule, written and parsed again, is the same rule; nothing makes Parse panic.
func FuzzParse(f *testing.F) {
	for _, info := range fault.Kinds() {
		f.Add(fmt.Sprintf("POST /funnel/v2/claims:5%%:%s", info.Kind))
		f.Add(fmt.Sprintf("* *:%dth:%s=90s", 11, info.Kind))
	}
	f.Fuzz(func(t *testing.T, text string) {
		rule, err := fault.Parse(text, nil)
		if err != nil {
			return
		}
		if again, err := fault.Parse(rule.String(), nil); err != nil || again != rule {
			t.Errorf("Parse(%q) = %+v, and Parse(%q) = %+v, %v", text, rule, rule.String(), again, err)
		}
	})
}
