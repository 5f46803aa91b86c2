package fault_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient"
	"claimsheet/apiclient/sandbox"
	"claimsheet/apiclient/sandbox/fault"
	"claimsheet/mapping/problem"
)

// inOneLine returns an error's message and hint.
func inOneLine(err error) string {
	p, ok := errors.AsType[problem.Problem](err)
	if !ok {
		return "not a problem: " + err.Error()
	}
	return p.Message + "; " + p.Hint
}

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

// rehearsal is a sandbox behind faults, served over TCP, and a client of it.
type rehearsal struct {
	*apiclient.Client
	faults  *fault.Handler
	created atomic.Int32 // answers of success to POSTs, as the sandbox gave them
}

// status notes the status of an answer.
type status struct {
	http.ResponseWriter
	code int
}

func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

func rehearse(t *testing.T, texts ...string) *rehearsal {
	t.Helper()
	service, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rehearsal{}
	counting := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s := &status{ResponseWriter: w}
		service.ServeHTTP(s, req)
		if req.Method == http.MethodPost && s.code/100 == 2 {
			r.created.Add(1)
		}
	})
	r.faults = fault.New(counting, rules(t, texts...), 1, nil)
	l, err := sandbox.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- sandbox.Serve(ctx, l, r.faults) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	r.Client, err = apiclient.New(apiclient.Config{BaseURL: "http://" + l.Addr().String(), Version: apiclient.V2,
		Wire: apiclient.DefaultWire(), NotFound: apiclient.DefaultNotFound(), Timeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rehearsal) createContact(t *testing.T) apiclient.Verdict {
	return r.Create(t.Context(), r.Routes().CreateClient([]byte(`{"email":"jane@example.com"}`), true))
}

// What a client concludes from each kind of fault, and what was created in truth.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    string
		effect  apiclient.Effect
		retry   apiclient.Retry
		stop    bool
		created int32
	}{
		{"lose-answer", apiclient.Uncertain, apiclient.Never, false, 1},
		{"cut-answer", apiclient.Uncertain, apiclient.Never, false, 1},
		{"not-json", apiclient.Uncertain, apiclient.Never, false, 1},
		{"no-id", apiclient.Uncertain, apiclient.Never, false, 1},
		{"fail-before", apiclient.Uncertain, apiclient.Never, false, 0},
		{"fail-after", apiclient.Uncertain, apiclient.Never, false, 1},
		{"busy=7s", apiclient.Refused, apiclient.AfterPause, false, 0},
		{"expired-login", apiclient.Refused, apiclient.Never, true, 0},
		{"slow=10ms", apiclient.Created, apiclient.Never, false, 1},
		{"slow=10s", apiclient.Uncertain, apiclient.Never, false, 1},
		{"late=1ms", apiclient.Uncertain, apiclient.Never, false, 1},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			r := rehearse(t, "POST /funnel/v2/contacts:1st:"+c.kind)
			v := r.createContact(t)
			if v.Effect != c.effect || v.Retry != c.retry || v.Stop != c.stop {
				t.Errorf("the client concludes %s, retry %d, stop %t (%s); want %s, %d, %t", v.Effect, v.Retry, v.Stop, v.Reason, c.effect, c.retry, c.stop)
			}
			if c.kind == "busy=7s" && v.RetryAfter != 7*time.Second {
				t.Errorf("the client waits %v", v.RetryAfter)
			}
			for deadline := time.Now().Add(10 * time.Second); r.created.Load() < c.created && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			if got := r.created.Load(); got != c.created {
				t.Errorf("%d contacts were created, want %d", got, c.created)
			}
		})
	}
}

// After a fault the next requests are answered as usual, over the same client. An
// answer that says no stays what it is for kinds that spoil successes.
func TestFaultsPass(t *testing.T) {
	t.Parallel()
	r := rehearse(t, "POST /funnel/v2/contacts:1st:lose-answer", "POST /funnel/v2/claims:100%:no-id", "GET *:1st:cut-answer")
	if v := r.createContact(t); v.Effect != apiclient.Uncertain {
		t.Errorf("the first contact is %s", v.Effect)
	}
	if v := r.createContact(t); v.Effect != apiclient.Created {
		t.Errorf("the second contact is %s: %s", v.Effect, v.Reason)
	}
	nobody := "00000000-0000-4000-8000-000000000000"
	if v := r.Create(t.Context(), r.Routes().CreateClaim(nobody, []string{nobody}, "A claim")); v.Effect != apiclient.Refused || v.Status != http.StatusBadRequest {
		t.Errorf("a claim of nobody is %s, HTTP %d", v.Effect, v.Status)
	}
	if _, _, err := r.Templates(t.Context()); err == nil {
		t.Error("a cut answer of templates is read")
	}
	if _, _, err := r.Templates(t.Context()); err != nil {
		t.Errorf("templates: %v", err)
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
