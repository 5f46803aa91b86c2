package ledger_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claimsheet/importer/ledger"
)

// StepFollowsFromEvents appends whatever comes, and compares the ledger
// with what the taken events add up to.
func (s store) StepFollowsFromEvents(t *testing.T) {
	l := s.fresh(t)
	defer func() { do(t, l.Check(t.Context())) }()
	try := 0
	rapid.Check(t, func(t *rapid.T) {
		try++
		id := jane("m", fmt.Sprint("claim/c/", try)) // a new step each time
		id.Environment = fmt.Sprint(try)             // in which no other step has its ids
		foreign := ""                                // the url that another client has
		if rapid.Bool().Draw(t, "foreign") {
			foreign = "https://a"
			other := id
			other.Client = "other"
			if err := l.Append(finished(other, "", foreign)...); err != nil {
				t.Fatal(err)
			}
		}
		var taken []ledger.Event
		kind := rapid.SampledFrom(append(kinds[:], ledger.KindClient, ledger.KindClient)).Draw(t, "kind")
		for range rapid.IntRange(1, 120).Draw(t, "calls") {
			call := rapid.SliceOfN(events(id, kind), 1, 2).Draw(t, "call")
			err := l.Append(call...)
			switch {
			case err == nil:
				taken = append(taken, call...)
			case !errors.Is(err, ledger.ErrTransition) && !errors.As(err, new(ledger.Taken)):
				t.Fatal(err)
			}
		}
		got, err := l.Events(t.Context(), id)
		if diff := cmp.Diff(news(taken, foreign), news(got, foreign), anyNumber); err != nil || diff != "" {
			t.Fatalf("events: %v (-taken +stored):\n%s", err, diff)
		}
		steps, err := l.Steps(t.Context(), id.ClientKey, "m")
		step, known := steps[id.Step]
		want := sum(taken, foreign)
		if want.State == ledger.Sent {
			want.State, want.Reason = ledger.Uncertain, step.Reason
		}
		if diff := cmp.Diff(want, step, anyNumber); err != nil || known != (len(taken) > 0) || diff != "" {
			t.Fatalf("step: %v (-sum +stored):\n%s", err, diff)
		}
	})
}

// news are events as the ledger tells them: without the request, status, id and url that they leave
// as they were, but for an intent's request.
func news(all []ledger.Event, foreign string) []ledger.Event {
	list := slices.Clone(all)
	for i := range list {
		e, was, is := &list[i], sum(all[:i], foreign), sum(all[:i+1], foreign)
		if e.State == ledger.Sent {
			e.Data, e.Digest = is.Data, is.Digest
		}
		if i == 0 || e.State == ledger.Sent {
			e.Via = ""
			continue
		}
		if is.Digest == was.Digest && bytes.Equal(is.Data, was.Data) {
			e.Data, e.Digest = nil, ""
		}
		e.Answer = is.Answer
		if was.Via == ledger.ViaConflict && e.Via == ledger.ViaConflict {
			e.Reason = "" // it is added to the one before
		}
		if is.Status == was.Status {
			e.Status = 0
		}
		if is.ID == was.ID {
			e.ID = ""
		}
		if is.URL == was.URL {
			e.URL = ""
		}
	}
	return list
}

// ways are the changes of a step that are often allowed; EveryTransition tries the others.
var ways = []ledger.Event{
	{State: ledger.Sent}, {State: ledger.Sent}, {State: ledger.Sent, Via: ledger.ViaRepeatable},
	{State: ledger.Done, Via: ledger.ViaAnswer}, {State: ledger.Done, Via: ledger.ViaAdopted}, {State: ledger.Done, Via: ledger.ViaByHand},
	{State: ledger.Refused}, {State: ledger.Refused, Via: ledger.ViaByHand},
	{State: ledger.Uncertain}, {State: ledger.Uncertain, Via: ledger.ViaByHand}, {State: ledger.Uncertain, Via: ledger.ViaConflict},
	{State: ledger.Closed, Via: ledger.ViaByHand},
}

func events(id ledger.StepID, kind string) *rapid.Generator[ledger.Event] {
	bytes := func(words ...string) *rapid.Generator[[]byte] {
		return rapid.Map(rapid.SampledFrom(words), func(s string) []byte {
			if s == "none" {
				return nil
			}
			return []byte(s)
		})
	}
	return rapid.Custom(func(t *rapid.T) ledger.Event {
		e := ledger.Event{
			StepID: id, Kind: kind, At: noon,
			Status: rapid.SampledFrom([]int{0, 0, 201, 400}).Draw(t, "status"),
			Reason: strings.ReplaceAll(rapid.String().Draw(t, "reason"), "\x00", ""), // PostgreSQL has no such text
			Data:   bytes("none", "none", `{"a":"é"}`).Draw(t, "data"),
			Digest: rapid.SampledFrom([]string{"", "", "d1", "d2"}).Draw(t, "digest"),
			Answer: bytes("none", "none", `{"id":1}`).Draw(t, "answer"),
			ID:     rapid.SampledFrom([]string{"", "", "id-1", "id-2"}).Draw(t, "id"),
			URL:    rapid.SampledFrom([]string{"", "", "https://a", "https://b"}).Draw(t, "url"),
		}
		way := rapid.SampledFrom(ways).Draw(t, "way")
		e.State, e.Via = way.State, way.Via
		if e.State == ledger.Sent { // it has a request only
			e.Status, e.Reason, e.Answer, e.ID, e.URL = 0, "", nil, "", ""
		} else if kind == ledger.KindClient && e.State == ledger.Uncertain {
			e.NotFound = rapid.Bool().Draw(t, "not found")
		}
		return e
	})
}

// sum is what a step's documentation says that its events add up to. A step is never
// done with the foreign url.
func sum(events []ledger.Event, foreign string) ledger.Step {
	var s ledger.Step
	for _, e := range events {
		was := s
		s.Event = e
		if was.Via == ledger.ViaConflict && e.Via == ledger.ViaConflict {
			s.Reason = was.Reason + "; " + e.Reason // both name ids
		}
		if e.Data == nil && e.Digest == "" {
			s.Data, s.Digest = was.Data, was.Digest
		}
		if e.State == ledger.Sent {
			s.Attempts++
			continue
		}
		if e.State == ledger.Refused && e.Via == "" {
			continue // a run was refused: what was found before does not count
		}
		if e.Answer == nil {
			s.Answer = was.Answer
		}
		if e.Status == 0 && e.State != ledger.Refused {
			s.Status = was.Status
		}
		if e.State == ledger.Uncertain && e.Via == ledger.ViaByHand {
			continue // a decision was taken back, and the id and url with it
		}
		if e.ID == "" {
			s.ID = was.ID
		}
		if e.URL == "" {
			s.URL = was.URL
		}
		if e.State == ledger.Done && s.URL == foreign {
			s.URL = ""
		}
	}
	return s
}
