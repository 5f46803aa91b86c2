package tracking_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/tracking"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var format = tracking.Format{ID: "/id", Kind: "/type", Status: "/data/status", Client: "/data/contactId", Claim: "/data/claimId",
	Activity: "/data/activityId", Template: "/data/name", At: "/at"}

func TestRead(t *testing.T) {
	t.Parallel()
	one := tracking.Event{Key: "7", Kind: "activity.completed", Client: "c1", At: noon.Add(-time.Hour), Received: noon}
	list := format
	list.Events = "/events"
	unix := tracking.Format{Client: "/c", At: "/t"}
	tests := []struct {
		name, document string
		format         tracking.Format
		want           []tracking.Event
		wrong          string // a part of the error
	}{
		{"an event", `{"id":7,"type":"activity.completed","data":{"contactId":"c1","claimId":null},"at":"2026-03-01T11:00:00Z"}`, format, []tracking.Event{one}, ""},
		{"another timezone", `{"id":"7","type":"activity.completed","data":{"contactId":"c1"},"at":"2026-03-01T12:00:00+01:00"}`, format, []tracking.Event{one}, ""},
		{"an array of events", `[{"id":7,"type":"activity.completed","data":{"contactId":"c1"},"at":"2026-03-01T11:00:00Z"}]`, format, []tracking.Event{one}, ""},
		{"no events", `{"events":[]}`, list, []tracking.Event{}, ""},
		{"events that are not there", `{"event":[]}`, list, nil, "nothing at “events” (/events)"},
		{"events that are an object", `{"events":{}}`, list, nil, "no array at “events” (/events)"},
		{"the second event is wrong", `{"events":[{"id":1,"data":{"contactId":"c"}},{"data":{"contactId":"c"}}]}`, list, nil, "event 2: there is no id of the event"},
		{"one of two events is about nobody", `{"events":[{"id":2,"type":"ping"},{"id":"7","type":"activity.completed","data":{"contactId":"c1"},"at":"2026-03-01T11:00:00Z"}]}`, list, []tracking.Event{one}, ""},
		{"true for an id", `{"id":true,"data":{"contactId":"c"}}`, format, nil, "“id” (/id) is neither a text nor a number"},
		{"another kind", `{"id":"8","type":"activity.opened","data":{"activityId":"a"}}`, format,
			[]tracking.Event{{Key: "8", Kind: "activity.opened", Activity: "a", At: noon, Received: noon}}, ""},
		{"seconds since 1970", `{"c":"x","t":1772362800}`, unix,
			[]tracking.Event{{Key: "9f9703ceff2ef35f7ccb6f27dac2e1e6", Client: "x", At: noon.Add(-time.Hour), Received: noon}}, ""},
		{"the same in other words", `{"more":1,"t":1772362800,"c":"x"}`, unix,
			[]tracking.Event{{Key: "9f9703ceff2ef35f7ccb6f27dac2e1e6", Client: "x", At: noon.Add(-time.Hour), Received: noon}}, ""},
		{"a time that is not one", `{"c":"x","t":"soon"}`, unix, nil, "“time” (/t) is neither a time such as"},
		{"milliseconds since 1970", `{"c":"x","t":1772362800000}`, unix,
			[]tracking.Event{{Key: "06caac81241ea56ae962859d743fef83", Client: "x", At: noon.Add(-time.Hour), Received: noon}}, ""},
		{"a number that is neither", `{"c":"x","t":17}`, unix, nil, "nor a number of seconds or milliseconds"},
		{"an object for an id", `{"id":"1","data":{"contactId":{}}}`, format, nil, "“client_id” (/data/contactId) is neither a text nor a number"},
		{"a repeated key", `{"id":"1","data":{"contactId":"a","contactId":"b"}}`, format, nil, "neither the id of a client"},
		{"a line break", `{"id":"1","data":{"contactId":"a\n"}}`, format, nil, "control character"},
		{"a long text", `{"id":"1","data":{"contactId":"` + strings.Repeat("x", 201) + `"}}`, format, nil, "more than 200 characters"},
		{"no id of the event", `{"data":{"contactId":"a"}}`, format, nil, "no id of the event at “id” (/id)"},
		{"a text in place of an event", `{"events":["a"]}`, list, nil, "an event is neither an object nor an array"},
		{"null in place of the second event", `{"events":[{"id":1,"data":{"contactId":"c"}},null]}`, list, nil, "event 2: an event is neither"},
		{"null in place of events", `{"events":null}`, list, nil, "no array at “events” (/events)"},
		{"null", `null`, format, nil, "an event is neither"},
		{"a number", `7`, format, nil, "an event is neither"},
		{"an event that is an array", `[["c1"]]`, tracking.Format{Client: "/0"}, []tracking.Event{{Key: "8b486f41d9c63042aa6841f5b5725413", Client: "c1", At: noon, Received: noon}}, ""},
		{"a page", `<html>`, format, nil, "not JSON"},
		{"nothing", ``, format, nil, "not JSON"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.format.Read([]byte(test.document), noon)
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Fatalf("%v, want an error with %q", err, test.wrong)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			again, err := test.format.Read([]byte(test.document), noon.Add(time.Hour))
			if len(got) > 0 && (err != nil || again[0].Key != got[0].Key) {
				t.Errorf("an event that arrives again is another one: %+v, %v", again, err)
			}
		})
	}
}

func TestCompleted(t *testing.T) {
	t.Parallel()
	kinds, statuses := []string{"a", "b"}, []string{"Done"}
	tests := []struct {
		completed    tracking.Completed
		kind, status string
		want         bool
	}{
		{tracking.Completed{}, "a", "Done", false},
		{tracking.Completed{Kinds: kinds}, "b", "", true},
		{tracking.Completed{Kinds: kinds}, "A", "", false},
		{tracking.Completed{Statuses: statuses}, "x", "Done", true},
		{tracking.Completed{Kinds: kinds, Statuses: statuses}, "a", "Done", true},
		{tracking.Completed{Kinds: kinds, Statuses: statuses}, "a", "Open", false},
		{tracking.Completed{Kinds: kinds, Statuses: statuses}, "x", "Done", false},
	}
	for _, test := range tests {
		if got := test.completed.Means(test.kind, test.status); got != test.want {
			t.Errorf("%+v of %q, %q: %v", test.completed, test.kind, test.status, got)
		}
	}
}

func TestExports(t *testing.T) {
	t.Parallel()
	csv := tracking.Format{Client: "/Contact ID", Status: "/Status", At: "/When"}
	tests := []struct {
		name, text, clients, wrong string
	}{
		{name: "a CSV file", text: "\ufeffContact ID,Status,When\r\nc1,Done,2026-03-01T11:00:00Z\r\nc2,,\r\n", clients: "c1 c2"},
		{name: "semicolons", text: "Contact ID;Status;When\nc1;x;\n", wrong: "export:1:1: the column “Status” is there 0 times"},
		{name: "a header alone that does not end", text: "Contact ID,Status,When", clients: ""},
		{name: "a column is missing", text: "Contact ID,State,When\nc1,x,\n", wrong: "export:1:1: the column “Status” is there 0 times"},
		{name: "a column is there twice", text: "Contact ID,Status,When,Status\nc1,x,,y\n", wrong: "the column “Status” is there 2 times"},
		{name: "a row without ids", text: "Contact ID,Status,When\nc1,x,\n,x,\nc3,x,\n", clients: "c1 c3", wrong: "export:3:1: this event cannot be read: it has neither"},
		{name: "a row that is too short", text: "Contact ID,Status,When\nc1\nc2,x,\n", clients: "c2", wrong: "export:2:1: this event cannot be read: wrong number of fields"},
		{name: "a quote that does not end", text: "Contact ID,Status,When\nc1,\"x\n", wrong: "export:2:1: this event cannot be read: extraneous"},
		{name: "an empty file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var clients, wrong []string
			for events, err := range csv.ReadCSV("export", strings.NewReader(test.text), noon) {
				if err != nil {
					wrong = append(wrong, err.Error())
				}
				for _, e := range events {
					clients = append(clients, e.Client)
				}
			}
			if got := strings.Join(clients, " "); got != test.clients || test.wrong == "" && wrong != nil || !strings.Contains(strings.Join(wrong, "\n"), test.wrong) {
				t.Errorf("%q, %q; want %q, %q", got, wrong, test.clients, test.wrong)
			}
		})
	}
	lines := "{\"id\":1,\"data\":{\"contactId\":\"c1\"}}\n\n{\"id\":2}\nnot JSON\n{\"id\":3,\"data\":{\"contactId\":\"c3\"}}"
	var got []string
	for events, err := range format.ReadJSONL("export", strings.NewReader(lines), noon) {
		if err != nil {
			got = append(got, err.Error()[:len("export:0")])
		}
		for _, e := range events {
			got = append(got, e.Key)
		}
	}
	if diff := cmp.Diff([]string{"1", "export:3", "export:4", "3"}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestInbox(t *testing.T) {
	t.Parallel()
	inbox := tracking.Inbox(filepath.Join(t.TempDir(), "tracking"))
	if err := inbox.Take(func([]tracking.Event) error { return errors.New("there are none") }); err != nil {
		t.Fatal(err)
	}
	const files = 201 // more than are taken at once
	for i := range files {
		if err := inbox.Add([]tracking.Event{{Key: strconv.Itoa(i), Received: noon.Add(time.Duration(i) * time.Second)}}); err != nil {
			t.Fatal(err)
		}
	}
	full := errors.New("the disk is full")
	calls, got := 0, []string{}
	take := func(failing int) error {
		return inbox.Take(func(events []tracking.Event) error {
			if calls++; calls == failing {
				return full
			}
			for _, e := range events {
				got = append(got, e.Key)
			}
			return nil
		})
	}
	if err := take(2); !errors.Is(err, full) {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(string(inbox)); len(left) != 1 || err != nil {
		t.Errorf("%d wait, %v; want 1", len(left), err)
	}
	if err := take(0); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		if len(got) != files || got[i] != strconv.Itoa(i) {
			t.Fatalf("taken: %q", got)
		}
	}
	left, err := os.ReadDir(string(inbox))
	if len(left) != 0 || err != nil {
		t.Errorf("%v, %v is left", left, err)
	}
}

func TestDamagedInbox(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "1.events.json"), []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := tracking.Inbox(folder).Take(func([]tracking.Event) error { t.Error("events were read"); return nil })
	if err == nil || !strings.Contains(err.Error(), "1.events.json") {
		t.Errorf("%v, want the file named", err)
	}
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	const event = `{"id":1,"data":{"contactId":"c1"}}`
	tests := []struct {
		name, request, token, body string
		full                       bool
		status, kept               int
	}{
		{name: "an event", body: event, status: 204, kept: 1},
		{name: "another path", request: "POST /other", body: event, status: 404},
		{name: "another method", request: "GET /hook", status: 405},
		{name: "a wrong token", token: "no", body: event, status: 401},
		{name: "a wrong token and nonsense", token: "no", body: "{", status: 401},
		{name: "nonsense", body: "{", status: 422},
		{name: "about nobody", body: `{"id":5,"type":"ping"}`, status: 204},
		{name: "too long", body: `"` + strings.Repeat("x", tracking.MaxDocument) + `"`, status: 413},
		{name: "a full disk", body: event, full: true, status: 503},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			kept, logged := 0, 0
			h := &tracking.Webhook{Path: "/hook", Format: format,
				Authentic: func(r *http.Request, _ []byte) bool { return r.Header.Get("X-Token") == "" },
				Keep: func(events []tracking.Event) error {
					if test.full {
						return errors.New("the disk is full")
					}
					kept += len(events)
					return nil
				},
				Log: func(status, events int, _ string) { logged = status },
			}
			request := "POST /hook"
			if test.request != "" {
				request = test.request
			}
			method, path, _ := strings.Cut(request, " ")
			r := httptest.NewRequest(method, path, strings.NewReader(test.body))
			r.Header.Set("X-Token", test.token)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != test.status || kept != test.kept || logged != test.status {
				t.Errorf("HTTP %d, %d kept, %d logged; want %d, %d", w.Code, kept, logged, test.status, test.kept)
			}
		})
	}
}

// TestWebhookIsBounded: 16 requests that do not end leave no room for another one.
func TestWebhookIsBounded(t *testing.T) {
	t.Parallel()
	h := &tracking.Webhook{Path: "/hook", Format: format, Authentic: func(*http.Request, []byte) bool { return false },
		Log: func(int, int, string) {}}
	post := func(body io.Reader) int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/hook", body))
		return w.Code
	}
	var pipes []*io.PipeWriter
	var requests sync.WaitGroup
	for range 16 {
		read, write := io.Pipe()
		pipes = append(pipes, write)
		requests.Go(func() { post(read) })
		_, _ = write.Write([]byte("{")) // returns when the request is being read
	}
	if code := post(strings.NewReader("{}")); code != 503 {
		t.Errorf("HTTP %d beside 16 others, want 503", code)
	}
	for _, write := range pipes {
		write.Close()
	}
	requests.Wait()
	if code := post(strings.NewReader("{}")); code != 401 {
		t.Errorf("HTTP %d after them, want 401", code)
	}
}
