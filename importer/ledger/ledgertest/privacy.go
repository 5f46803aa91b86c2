package ledgertest

import (
	"errors"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

// testPurge: what is older loses its data, and keeps state, id and digest; an
// uncertain step keeps everything.
func (s suite) testPurge(t *testing.T) {
	l := s.fresh(t)
	id, open := jane("", "client"), jane("loans", "claim/loan/1")
	do(t, l.Append(story(id)...))
	do(t, l.Append(
		ledger.Event{StepID: open, To: ledger.Sent, At: noon, Kind: ledger.KindClaim, Data: []byte("{}")},
		ledger.Event{StepID: open, To: ledger.Uncertain, At: noon, Status: 201, Answer: []byte(`{"ref":"k-9"}`)}))
	elsewhere, err := l.Purge(ledger.Purge{Environments: []string{"https://elsewhere"}, Before: noon.AddDate(1, 0, 0)})
	do(t, err)
	same(t, "purged of another environment", elsewhere, ledger.Purged{})
	what := ledger.Purge{Environments: []string{id.Environment}, Before: noon.Add(30 * time.Second)}
	got, err := l.Purge(what)
	do(t, err)
	same(t, "purged of the first attempt", got, ledger.Purged{Bodies: 1, Unsettled: 1})
	what.Before = noon.AddDate(1, 0, 0)
	got, err = l.Purge(what)
	do(t, err)
	same(t, "purged of the second", got, ledger.Purged{Bodies: 2, URLs: 1, Unsettled: 1})
	steps, err := l.Steps(t.Context(), id.ClientKey, "loans")
	do(t, err)
	client, claim := steps["client"], steps["claim/loan/1"]
	same(t, "what stays", []string{string(client.To), client.ID, client.Digest, string(client.Data), string(client.Answer), client.URL},
		[]string{"done", "c-1", "d2", "", "", ""})
	same(t, "the answer of the uncertain step", string(claim.Answer), `{"ref":"k-9"}`)
	events, err := l.Events(t.Context(), id)
	do(t, err)
	same(t, "events", len(events), 4)
}

// testForget: a client is erased when nothing is open, and recognised afterwards.
func (s suite) testForget(t *testing.T) {
	l := s.fresh(t)
	id, open := jane("", "client"), jane("loans", "claim/loan/1")
	do(t, l.Append(story(id)...))
	do(t, l.Append(ledger.Event{StepID: open, To: ledger.Sent, At: noon, Kind: ledger.KindClaim}))
	if _, err := l.Forget(id.ClientKey, noon); !errors.Is(err, ledger.ErrUnsettled) {
		t.Errorf("while a claim is open: got %v, want ErrUnsettled", err)
	}
	do(t, l.Append(ledger.Event{StepID: open, To: ledger.Refused, At: noon}))
	done, err := l.Forget(id.ClientKey, noon)
	do(t, err)
	same(t, "steps", done.Steps, 2)
	known, err := l.Steps(t.Context(), id.ClientKey, "loans")
	do(t, err)
	same(t, "steps under the key", len(known), 0)
	erased, err := l.Erasures(t.Context(), id.Environment)
	do(t, err)
	stone, at, ok := erased.Find(id.ClientKey)
	same(t, "recognised", ok, true)
	same(t, "when", at, noon.Truncate(time.Second))
	left, err := l.StepsOfClient(t.Context(), stone)
	do(t, err)
	for _, step := range left {
		if step.Data != nil || step.Answer != nil || step.URL != "" || step.Digest != "" {
			t.Errorf("a %s step keeps something of the client", step.Kind)
		}
	}
	same(t, "steps that are left", len(left), 2)
}
