package cli_test

import (
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

const createdTwice = "created twice: "

// disagreements are the steps, by their logical names (see apitest.Made), about which a results workbook and the service disagree.
// The program promises that there are none. A client that the service knew before (AddClient) may be done with its id.
func disagreements(s *apitest.Server, said map[string]saidStep) (list []string) {
	made := s.Created()
	for _, step := range slices.Sorted(maps.Keys(made)) {
		if len(made[step]) > 1 {
			list = append(list, createdTwice+step)
		}
		switch word := said[step]; {
		case word.state == "uncertain":
		case word.state == "refused":
			list = append(list, "created, but called refused: "+step)
		case word.state != "done", word.id == "" && word.url == "" && !strings.HasPrefix(step, "activity "):
			list = append(list, "created, but not said: "+step)
		case !slices.ContainsFunc(made[step], word.names):
			list = append(list, "another id or url: "+step)
		}
	}
	for _, step := range slices.Sorted(maps.Keys(said)) {
		if word := said[step]; word.state == "done" && len(made[step]) == 0 && step != "client "+s.KeyOf(word.id) {
			list = append(list, "never created: "+step)
		}
	}
	return list
}

// TestDisagreements breaks the promise in each way that must be found.
func TestDisagreements(t *testing.T) {
	t.Parallel()
	s := apitest.New()
	create := func() string {
		r := httptest.NewRequest("POST", "/funnel/v2/contacts", strings.NewReader(`{"email":"a@b.test"}`))
		s.ServeHTTP(httptest.NewRecorder(), r)
		return s.Created()["client a@b.test"][0].ID
	}
	type words = map[string]saidStep
	check := func(want string, said words) {
		t.Helper()
		if diff := cmp.Diff(want, strings.Join(disagreements(s, said), ", ")); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", said, diff)
		}
	}
	const who = "client a@b.test"
	id := create()
	check("", words{who: {state: "done", id: id}})
	check("", words{who: {state: "uncertain"}})
	check("created, but not said: "+who, nil)
	check("created, but not said: "+who, words{who: {state: "done"}})
	check("another id or url: "+who, words{who: {state: "done", id: "x"}})
	check("created, but called refused: "+who, words{who: {state: "refused"}})
	check("never created: link a@b.test", words{who: {state: "done", id: id}, "link a@b.test": {state: "done", url: "x"}})
	create()
	check("created twice: "+who, words{who: {state: "done", id: id}})
}
