package settle_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/settle"
)

// events is a ledger that takes events, and cannot say whose a url is.
type events struct{ appended []ledger.Event }

var errUnreadable = errors.New("the disk cannot be read")

func (l *events) Append(e ...ledger.Event) error {
	l.appended = append(l.appended, e...)
	return nil
}

func (l *events) StepWithID(context.Context, ledger.Event) (ledger.Taken, bool, error) {
	return ledger.Taken{}, false, errUnreadable
}

// TestLinkIsKeptWhenTheLedgerCannotBeRead: the service has made a link, and the
// ledger cannot be asked whether another client has it. The answer is kept.
func TestLinkIsKeptWhenTheLedgerCannotBeRead(t *testing.T) {
	const answer = `{"redirectUrl":"https://example.com/l/1"}`
	client, err := apiclient.New(apiclient.Config{BaseURL: "http://localhost", Version: apiclient.V2, Wire: apiclient.DefaultWire(),
		NotFound: apiclient.DefaultNotFound(), Transport: apiclient.InProcess(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(answer))
		}))})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ before, after ledger.State }{
		"a first link": {"", ledger.Uncertain},
		"a fresh link": {ledger.Done, ledger.Done}, // the earlier one stays
	} {
		t.Run(name, func(t *testing.T) {
			var l events
			step := ledger.Step{Event: ledger.Event{StepID: ledger.StepID{Step: "link"}, To: c.before, At: time.Now()}}
			link, err := settle.Links{Ledger: &l, Service: client, Run: "r"}.Request(t.Context(), step, "c-1")
			if !errors.Is(err, errUnreadable) || link.URL != "" {
				t.Errorf("got %v, %v", link, err)
			}
			if len(l.appended) != 2 {
				t.Fatalf("recorded %v, want the request and its outcome", l.appended)
			}
			if e := l.appended[1]; e.To != c.after || e.URL != "" || string(e.Answer) != answer {
				t.Errorf("recorded %+v", e)
			}
		})
	}
}
