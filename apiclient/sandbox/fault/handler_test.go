package fault_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/sandbox/fault"
)

func rules(t *testing.T, texts ...string) []fault.Rule {
	t.Helper()
	var list []fault.Rule
	for _, text := range texts {
		r, err := fault.Parse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// What a client gets from each kind of fault, once, and what was created in truth. A
// refusal stays as it is for kinds that spoil successes.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, want string // status, Retry-After and the beginning of the body; "" where the answer does not come whole
		created    int32
	}{
		{"lose-answer", "", 1},
		{"cut-answer", "", 1},
		{"not-json", "201  <!DOCTYPE", 1},
		{"no-id", "201  {}", 1},
		{"fail-before", `500  {"error":`, 0},
		{"fail-after", `500  {"error":`, 1},
		{"busy=7s", `429 7 {"error":`, 0},
		{"expired-login", `401  {"error":`, 0},
		{"slow=10ms", `201  {"contactId":"c-1"}`, 1},
		{"slow=10s", "", 1},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			var created atomic.Int32
			service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, _ := io.ReadAll(r.Body); string(body) != "{}" {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
				w.WriteHeader(http.StatusCreated)
				fmt.Fprintf(w, `{"contactId":"c-%d"}`, created.Add(1))
			})
			server := httptest.NewServer(fault.New(service, rules(t, "POST /contacts:1st:"+c.kind, "POST /claims:100%:no-id"), 1, nil))
			t.Cleanup(server.Close)
			client := &http.Client{}
			if c.want == "" {
				client.Timeout = time.Second
			}
			post := func(path, body string) string {
				answer, err := client.Post(server.URL+path, "application/json", strings.NewReader(body))
				if err != nil {
					return ""
				}
				defer answer.Body.Close()
				text, err := io.ReadAll(answer.Body)
				if err != nil {
					return ""
				}
				return fmt.Sprintf("%d %s %s", answer.StatusCode, answer.Header.Get("Retry-After"), text)
			}
			if got := post("/contacts", "{}"); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
				t.Errorf("the client gets %q, want %q", got, c.want)
			}
			for deadline := time.Now().Add(10 * time.Second); created.Load() < c.created && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			if got := created.Load(); got != c.created {
				t.Errorf("%d contacts were created, want %d", got, c.created)
			}
			client.Timeout = 0
			if got := post("/contacts", "{}"); !strings.HasPrefix(got, "201") {
				t.Errorf("the next request gets %q", got)
			}
			if got := post("/claims", "?"); got != "400  " {
				t.Errorf("a refusal has become %q", got)
			}
		})
	}
}

// hit returns which of n requests to POST /funnel/v2/claims the rules hit, from 1.
func hit(t *testing.T, seed uint64, n int, texts ...string) []int {
	t.Helper()
	var list []int
	h := fault.New(http.NotFoundHandler(), rules(t, texts...), seed, func(_ fault.Rule, request int) { list = append(list, request) })
	for range n {
		claim(h)
	}
	return list
}

func claim(h http.Handler) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/funnel/v2/claims?a=b", strings.NewReader("{}")))
	return w
}

// The seed alone decides which requests a rule hits: not the other rules, and not what
// else is sent.
func TestSeed(t *testing.T) {
	t.Parallel()
	const rule, other = "POST /funnel/v2/claims:10%:fail-before", "GET *:50%:fail-before"
	first := hit(t, 7, 1000, rule)
	if len(first) < 60 || len(first) > 140 {
		t.Errorf("10%% of 1000 requests are %d", len(first))
	}
	if again := hit(t, 7, 1000, other, rule); !slices.Equal(again, first) {
		t.Errorf("the same seed hits %v, then %v", first, again)
	}
	if another := hit(t, 8, 1000, rule); slices.Equal(another, first) {
		t.Errorf("another seed hits the same requests: %v", first)
	}
	if got := hit(t, 7, 10, "POST /funnel/v2/claims:3rd:fail-before"); !slices.Equal(got, []int{3}) {
		t.Errorf("3rd hits %v", got)
	}
	if got := hit(t, 7, 5, "POST /funnel/v2/claims:100%:fail-before"); !slices.Equal(got, []int{1, 2, 3, 4, 5}) {
		t.Errorf("100%% hits %v", got)
	}
}

// The first rule that hits decides; a later one has played nothing.
func TestFirstRuleDecides(t *testing.T) {
	t.Parallel()
	var played []string
	h := fault.New(http.NotFoundHandler(), rules(t, "* *:100%:slow=1ms", "POST *:2nd:busy=3s", "POST *:100%:fail-before", "GET *:100%:fail-before"), 0,
		func(rule fault.Rule, request int) { played = append(played, fmt.Sprint(rule.Target(), ":", request)) })
	var got []int
	for range 3 {
		got = append(got, claim(h).Code)
	}
	if want := []int{500, 429, 500}; !slices.Equal(got, want) {
		t.Errorf("answers %v, want %v", got, want)
	}
	if diff := cmp.Diff([]string{"POST *:1", "POST *:2", "POST *:3"}, played); diff != "" {
		t.Errorf("played (-want +got):\n%s", diff)
	}
}

// A rule's path matches segment by segment, and not the query.
func TestPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"POST /funnel/v2/contacts/*/magic-link", "/funnel/v2/contacts/17/magic-link", true},
		{"POST /funnel/v2/contacts/{contactId}/magic-link", "/funnel/v2/contacts/17/magic-link?a=b", true},
		{"POST /funnel/v2/contacts/*/magic-link", "/funnel/v2/contacts/17/18/magic-link", false},
		{"POST /funnel/v2/contacts", "/funnel/v2/contacts/17", false},
		{"POST /funnel/v2/contacts", "/funnel/v2/contacts?isAdministrator=true", true},
		{"GET /funnel/v2/contacts", "/funnel/v2/contacts", false},
		{"* *", "/anything", true},
	} {
		h := fault.New(http.NotFoundHandler(), rules(t, c.pattern+":100%:fail-before"), 0, nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", c.path, nil))
		if got := w.Code == http.StatusInternalServerError; got != c.want {
			t.Errorf("%s matches %s: %t, want %t", c.pattern, c.path, got, c.want)
		}
	}
}
