package cli_test

import (
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

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
	create := func() {
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/funnel/v2/contacts", strings.NewReader(`{"email":"a@b.test"}`)))
	}
	create()
	const who, link = "client a@b.test", "link a@b.test"
	done := saidStep{state: "done", id: s.Created()[who][0].ID}
	check := func(want string, said map[string]saidStep) {
		t.Helper()
		if got := strings.Join(disagreements(s, said), ", "); got != want {
			t.Errorf("%+v: got %q, want %q", said, got, want)
		}
	}
	for want, word := range map[string]saidStep{"created, but not said: " + who: {state: "done"}, "another id or url: " + who: {state: "done", id: "x"},
		"created, but called refused: " + who: {state: "refused"}, "": {state: "uncertain"}} {
		check(want, map[string]saidStep{who: word})
	}
	check("", map[string]saidStep{who: done})
	check("created, but not said: "+who, nil)
	check("never created: "+link, map[string]saidStep{who: done, link: {state: "done", url: "x"}})
	create()
	check("created twice: "+who, map[string]saidStep{who: done})
}
