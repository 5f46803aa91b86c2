package cli_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const trackingEntry = `tracking:
  webhook: {path: /hook, header: X-Token, token: "file:token", id: /id, kind: /type, client_id: /contact, claim_id: /claim, activity: /activity, time: /at}
  export: {client_id: /Contact, activity: /Step, status: /State, time: /When}
  completed: {kinds: [completed]}
`

// TestTracking: what the service posts and what its operator exports stands in the sheet Progress and in the history,
// whatever arrives twice or out of order, and no step is changed by it.
func TestTracking(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(2))
	s.environment(trackingEntry)
	write(t, s.path("token"), "sesame")
	s.mustRun(0)
	before := s.results()
	steps := s.steps()
	ann, bob := before[0]["contactId"], before[1]["contactId"]

	b := inBackground(t, s.pace, "listen", "-m", s.path("mapping.yaml"), "--addr", "127.0.0.1:0")
	hook := b.line(&b.out, "")
	event := func(id, kind, contact, activity, at string) string {
		return fmt.Sprintf(`{"id":%q,"type":%q,"contact":%q,"activity":%q,"at":%q,"name":"Ann"}`, id, kind, contact, activity, at)
	}
	for _, post := range []struct {
		token, body string
		want        int
	}{
		{"guess", event("1", "completed", ann, "Sign your claim", "2026-04-01T10:00:00Z"), 401},
		{"sesame", event("1", "completed", ann, "Sign your claim", "2026-04-01T10:00:00Z"), 204},
		{"sesame", event("1", "completed", ann, "Sign your claim", "2026-04-01T10:00:00Z"), 204}, // again
		{"sesame", event("0", "opened", ann, "Sign your claim", "2026-04-01T09:00:00Z"), 204},    // out of order
		{"sesame", event("2", "completed", "nobody", "Sign your claim", "2026-04-01T10:00:00Z"), 204},
		{"sesame", `{"id":"3"}`, 204}, // about nobody,
		{"sesame", "{", 422},
	} {
		r, err := http.NewRequest(http.MethodPost, hook, strings.NewReader(post.body))
		must(t, err)
		r.Header.Set("X-Token", post.token)
		answer, err := http.DefaultClient.Do(r)
		must(t, err)
		if answer.Body.Close(); answer.StatusCode != post.want {
			t.Errorf("%s: HTTP %d, want %d", post.body, answer.StatusCode, post.want)
		}
	}

	p := s.mustRun(0)
	if p.summary.Requests.Client+p.summary.Requests.Activity+p.summary.Requests.Link > 0 {
		t.Errorf("events made the run send %+v", p.summary.Requests)
	}
	if !strings.Contains(p.err, "new events: 2; 1 already recorded; 1 with ids that the ledger does not know are kept") {
		t.Errorf("the run does not say what it recorded:\n%s", p.err)
	}
	want := []map[string]string{{"Client key": "c1@example.com", "Activity": "Sign your claim", "Sent as": "Open", "State": "completed",
		"Completed": "2026-04-01T10:00:00", "Last event": "completed", "When": "2026-04-01T10:00:00"}}
	s.expectProgress("leads.results.xlsx", want)

	// An export says what the webhook missed, and more than once.
	write(t, s.path("export.csv"), "Contact,Step,State,When\n"+bob+",Sign your claim,Open,2026-04-02T08:00:00Z\n")
	for _, want := range []string{"new events: 1\n", "new events: 0; 1 already recorded\n"} {
		if said := s.must(0, "track", "--import", s.path("export.csv")); said != want {
			t.Errorf("it says %q, want %q", said, want)
		}
	}
	s.report()
	s.expectProgress("again.xlsx", append(want, map[string]string{"Client key": "c2@example.com", "Activity": "Sign your claim", "Sent as": "Open", "State": "open",
		"Last event": "Open", "When": "2026-04-02T08:00:00"}))
	expect(t, s.must(0, "history", "c1@example.com"), "completed  by the service, Sign your claim, completed")
	if diff := cmp.Diff(steps, s.steps()); diff != "" {
		t.Errorf("events changed steps (-before +after):\n%s", diff)
	}
	// What people's data the service sends is nowhere.
	must(t, filepath.WalkDir(s.path(".claimsheet"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(path, "tracking") {
			return err
		}
		t.Errorf("%s is left", path)
		return nil
	}))
}

func (s *scene) expectProgress(file string, want []map[string]string) {
	s.t.Helper()
	var got []map[string]string
	for _, r := range s.workbook(file, "Progress") {
		line := map[string]string{}
		for name, text := range r {
			if text != "" {
				line[name] = text
			}
		}
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("Progress of %s (-want +got):\n%s", file, diff)
	}
}
