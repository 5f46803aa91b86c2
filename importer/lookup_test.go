package importer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
	"claimsheet/mapping"
)

// lookupService answers look-ups by value; what it does not know is nobody's.
type lookupService struct {
	Service
	known    map[string]string // an id by e-mail address or phone number
	differs  bool              // who is found has other fields
	failure  error             // in place of an answer
	unlearnt error             // when it is asked what nobody looks like
	asked    []string          // values, and what was learnt
}

func (s *lookupService) Find(_ context.Context, _ apiclient.By, value string) (apiclient.Found, error) {
	s.asked = append(s.asked, value)
	id := s.known[value]
	return apiclient.Found{ID: id, Absent: id == ""}, s.failure
}

func (s *lookupService) LearnAbsent(_ context.Context, by apiclient.By) error {
	s.asked = append(s.asked, "nobody by "+string(by))
	return s.unlearnt
}

func (s *lookupService) KnowsAbsent(by apiclient.By) bool {
	return s.unlearnt == nil && slices.Contains(s.asked, "nobody by "+string(by))
}

func (s *lookupService) Agrees(apiclient.Found, map[string]string) (string, bool) {
	return "born", !s.differs
}

func (s *lookupService) PauseEnd() (time.Time, bool) { return time.Time{}, true }

func newLookups(s *lookupService) *lookups {
	return &lookups{service: s, now: time.Now, prefetched: map[mapping.Identity]lookedUp{}}
}

func email(address string) mapping.Identity {
	return mapping.Identity{Space: "email", Key: address}
}

func phone(number string) mapping.Identity {
	return mapping.Identity{Space: "phone", Key: number}
}

// plan is that of a client with these addresses; "" is none.
func lookupPlan(key, address, number string) mapping.Plan {
	p := mapping.Plan{Client: mapping.Identity{Space: "leads", Key: key}}
	if address != "" {
		p.Lookup.Email, p.Lookup.EmailAddress = address, email(address)
		p.Addresses = append(p.Addresses, email(address))
	}
	if number != "" {
		p.Lookup.Phone, p.Lookup.PhoneNumber = number, phone(number)
		p.Addresses = append(p.Addresses, phone(number))
	}
	return p
}

// TestFind holds what the service's answers say to what a client is told to be.
func TestFind(t *testing.T) {
	known := map[string]string{"a@example.com": "1", "+441": "2"}
	both := lookupPlan("A", "a@example.com", "+441")
	both.Lookup.Mode = mapping.LookupBoth
	either, other := lookupPlan("A", "a@example.com", "+441"), lookupPlan("B", "b@example.com", "+441")
	either.Lookup.Mode, other.Lookup.Mode = mapping.LookupEither, mapping.LookupEither
	away := &apiclient.Failure{Status: 500, Reason: "HTTP 500"}
	for name, c := range map[string]struct {
		service lookupService
		plan    mapping.Plan
		want    lookedUp // but for At
		looks   int
	}{
		"e-mail decides":     {lookupService{known: known}, lookupPlan("A", "a@example.com", "+441"), lookedUp{id: "1"}, 1},
		"phone alone":        {lookupService{known: known}, lookupPlan("A", "", "+441"), lookedUp{id: "2"}, 1},
		"nobody":             {lookupService{known: known}, lookupPlan("B", "b@example.com", "+441"), lookedUp{}, 1},
		"no address":         {lookupService{known: known}, lookupPlan("A", "", ""), lookedUp{}, 0},
		"both, and disagree": {lookupService{known: known}, both, lookedUp{unclear: disagree}, 2},
		"either, by e-mail":  {lookupService{known: known}, either, lookedUp{id: "1"}, 1},
		"either, by phone":   {lookupService{known: known}, other, lookedUp{id: "2"}, 2},
		"either, nobody":     {lookupService{}, other, lookedUp{}, 2},
		"either, differs": {lookupService{known: known, differs: true}, other,
			lookedUp{unclear: "the service knows a client by that phone, whose “born” differs"}, 2},
		"both, nobody": {lookupService{}, both, lookedUp{}, 2},
		"another person": {lookupService{known: known, differs: true}, lookupPlan("A", "a@example.com", ""),
			lookedUp{unclear: "the service knows a client by that e-mail, whose “born” differs"}, 1},
		"no answer":       {lookupService{failure: away}, lookupPlan("A", "a@example.com", ""), lookedUp{failed: away, unclear: away.Error()}, 1},
		"nobody unlearnt": {lookupService{known: known, unlearnt: away}, lookupPlan("A", "a@example.com", ""), lookedUp{failed: away, unclear: away.Error()}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := newLookups(&c.service).find(t.Context(), c.plan)
				must(t, err)
				if answered := c.looks > 0 && c.want.failed == nil; got.at.IsZero() == answered {
					t.Errorf("it was asked at %v", got.at)
				}
				got.at = time.Time{}
				if got != c.want || got.nobody() != (c.want == lookedUp{}) || got.failed != nil && got.status() != 500 {
					t.Errorf("%+v, want %+v", got, c.want)
				}
				if looks := len(slices.DeleteFunc(c.service.asked, isLearnt)); c.service.unlearnt == nil && looks != c.looks {
					t.Errorf("asked for %q, want %d look-ups and what nobody looks like for each kind", c.service.asked, c.looks)
				}
			})
		})
	}
}

func isLearnt(asked string) bool { return strings.HasPrefix(asked, "nobody by ") }

// TestServiceAway ends the run at the third look-up in a row that gets no answer,
// unless the service has answered before or the run is to keep going.
func TestServiceAway(t *testing.T) {
	for name, c := range map[string]struct {
		answered, keepGoing bool
		stops               bool
	}{"never there": {false, false, true}, "there before": {true, false, false}, "keep going": {false, true, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &lookupService{}
				l := newLookups(s)
				l.keepGoing = c.keepGoing
				if c.answered {
					if _, err := l.find(t.Context(), lookupPlan("A", "a@example.com", "")); err != nil {
						t.Fatal(err)
					}
				}
				s.failure, s.unlearnt = &apiclient.Failure{Retry: apiclient.Now}, &apiclient.Failure{Retry: apiclient.Now}
				for n := 1; n <= 4; n++ {
					s.asked = nil
					r, err := l.find(t.Context(), lookupPlan("A", "a@example.com", ""))
					f := new(apiclient.Failure)
					if stops := errors.As(err, &f) && f.Stop; stops != (c.stops && n >= 3) || !stops && r.failed == nil {
						t.Errorf("look-up %d: %+v, error %v", n, r, err)
					}
					if want := map[bool]int{true: 5, false: 1}[n <= 3]; len(s.asked) != want {
						t.Errorf("look-up %d was made %d times, want %d", n, len(s.asked), want)
					}
				}
				if l.answered.Load() != c.answered {
					t.Errorf("answered: %v", l.answered.Load())
				}
			})
		})
	}
}

// A client who is found is compared with its own fields, not with those of its contacts.
func TestFieldsOfThePlansClient(t *testing.T) {
	t.Parallel()
	surname := func(kind mapping.StepKind, name string) mapping.Step {
		return mapping.Step{Kind: kind, Fields: []mapping.Value{{Name: "lastName", Value: textOf(name)}}}
	}
	plan := mapping.Plan{Steps: []mapping.Step{surname(mapping.ClientStep, "Doe"), surname(mapping.ContactStep, "Roe")}}
	if got := fieldsOf(plan)["lastName"]; got != "Doe" {
		t.Errorf("the client's surname is %s", got)
	}
}
