package cli_test

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// saidStep is what a results workbook says about one step.
type saidStep struct {
	state string // done, refused, uncertain, planned or ""
	id    string // of a client or claim; an activity's may be ""
	url   string // redirect url of a v1 client or a link
}

// names reports whether it describes a thing. An empty id or url matches any.
func (s saidStep) names(thing apitest.Made) bool {
	return (s.id == "" || s.id == thing.ID) && (s.url == "" || s.url == thing.URL)
}

// verdict lists the steps, by logical name, about which workbook and service
// disagree. The program promises that all lists are empty.
type verdict struct {
	SilentDup   []string // created more than once
	LostID      []string // created, but the workbook does not say so or has no id
	WrongID     []string // the workbook has another id or url than the service gave
	FalseFailed []string // created, but the workbook says that it failed
}

func (v verdict) isKept() bool {
	return len(v.SilentDup)+len(v.LostID)+len(v.WrongID)+len(v.FalseFailed) == 0
}

func (v verdict) String() string {
	return fmt.Sprintf("silent_dup=%q lost_id=%q wrong_id=%q false_failed=%q", v.SilentDup, v.LostID, v.WrongID, v.FalseFailed)
}

// compare compares what was created with what a results workbook says, by the logical
// names of steps (see apitest.Made). A client that the service knew before (AddClient) may
// be done with its id.
func compare(s *apitest.Server, said map[string]saidStep) verdict {
	var v verdict
	made := s.Created()
	for _, step := range slices.Sorted(maps.Keys(made)) {
		things := made[step]
		if len(things) > 1 {
			v.SilentDup = append(v.SilentDup, step)
		}
		switch word := said[step]; word.state {
		case "done":
			if word.id == "" && word.url == "" && !strings.HasPrefix(step, "activity ") {
				v.LostID = append(v.LostID, step)
			} else if !slices.ContainsFunc(things, word.names) {
				v.WrongID = append(v.WrongID, step)
			}
		case "refused":
			v.FalseFailed = append(v.FalseFailed, step)
		case "uncertain":
		default:
			v.LostID = append(v.LostID, step)
		}
	}
	for _, step := range slices.Sorted(maps.Keys(said)) {
		if word := said[step]; word.state == "done" && len(made[step]) == 0 && step != "client "+s.KeyOf(word.id) {
			v.WrongID = append(v.WrongID, step)
		}
	}
	return v
}

// TestCompare breaks the promise in each way that compare must find.
func TestCompare(t *testing.T) {
	t.Parallel()
	s := apitest.New()
	create := func() {
		r := httptest.NewRequest("POST", "/funnel/v2/contacts", strings.NewReader(`{"email":"a@b.test"}`))
		r.Header.Set("Content-Type", "application/json")
		s.ServeHTTP(httptest.NewRecorder(), r)
	}
	create()
	id := s.Created()["client a@b.test"][0].ID
	for _, c := range []struct {
		name string
		said map[string]saidStep
		want verdict
	}{
		{"true", map[string]saidStep{"client a@b.test": {state: "done", id: id}}, verdict{}},
		{"uncertain", map[string]saidStep{"client a@b.test": {state: "uncertain"}}, verdict{}},
		{"not named", nil, verdict{LostID: []string{"client a@b.test"}}},
		{"without an id", map[string]saidStep{"client a@b.test": {state: "done"}}, verdict{LostID: []string{"client a@b.test"}}},
		{"another id", map[string]saidStep{"client a@b.test": {state: "done", id: "x"}}, verdict{WrongID: []string{"client a@b.test"}}},
		{"failed", map[string]saidStep{"client a@b.test": {state: "refused"}}, verdict{FalseFailed: []string{"client a@b.test"}}},
		{"never made", map[string]saidStep{"client a@b.test": {state: "done", id: id}, "link a@b.test": {state: "done", url: "x"}},
			verdict{WrongID: []string{"link a@b.test"}}},
	} {
		if diff := cmp.Diff(c.want, compare(s, c.said)); diff != "" {
			t.Errorf("%s: verdict (-want +got):\n%s", c.name, diff)
		}
	}
	create()
	if v := compare(s, map[string]saidStep{"client a@b.test": {state: "done", id: id}}); len(v.SilentDup) != 1 || v.isKept() {
		t.Errorf("a client that was created twice is not found: %s", v)
	}
}
