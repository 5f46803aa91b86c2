package lookup_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/lookup"
	"claimsheet/mapping"
)

// service answers look-ups by value; what it does not know is nobody's.
type service struct {
	known    map[string]string // an id by e-mail address or phone number
	differs  bool              // who is found has other fields
	failure  error             // in place of an answer
	unlearnt error             // when it is asked what nobody looks like
	asked    []string          // values, and what was learnt
}

func (s *service) Find(_ context.Context, _ apiclient.By, value string) (apiclient.Found, error) {
	s.asked = append(s.asked, value)
	id := s.known[value]
	return apiclient.Found{ID: id, Absent: id == ""}, s.failure
}

func (s *service) LearnAbsent(_ context.Context, by apiclient.By) error {
	s.asked = append(s.asked, "nobody by "+string(by))
	return s.unlearnt
}

func (s *service) KnowsAbsent(apiclient.By) bool { return false }

func (s *service) Agrees(apiclient.Found, map[string]string) (string, bool) {
	return "born", !s.differs
}

func (s *service) PauseEnd() (time.Time, bool) { return time.Time{}, true }

func email(address string) mapping.Identity {
	return mapping.Identity{Space: "email", Key: address}
}

func phone(number string) mapping.Identity {
	return mapping.Identity{Space: "phone", Key: number}
}

// plan is that of a client with these addresses; "" is none.
func plan(key, address, number string) mapping.Plan {
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
	both := plan("A", "a@example.com", "+441")
	both.Lookup.Confirm = true
	away := &apiclient.Failure{Status: 500, Reason: "HTTP 500"}
	for name, c := range map[string]struct {
		service service
		plan    mapping.Plan
		want    lookup.Result // but for At
		looks   int
	}{
		"e-mail decides":     {service{known: known}, plan("A", "a@example.com", "+441"), lookup.Result{ID: "1"}, 1},
		"phone alone":        {service{known: known}, plan("A", "", "+441"), lookup.Result{ID: "2"}, 1},
		"nobody":             {service{known: known}, plan("B", "b@example.com", "+441"), lookup.Result{}, 1},
		"no address":         {service{known: known}, plan("A", "", ""), lookup.Result{}, 0},
		"both, and disagree": {service{known: known}, both, lookup.Result{Unclear: lookup.Disagree}, 2},
		"both, nobody":       {service{}, both, lookup.Result{}, 2},
		"another person": {service{known: known, differs: true}, plan("A", "a@example.com", ""),
			lookup.Result{Unclear: "the service knows a client by that e-mail, whose “born” differs"}, 1},
		"no answer":       {service{failure: away}, plan("A", "a@example.com", ""), lookup.Result{Failed: away}, 1},
		"nobody unlearnt": {service{known: known, unlearnt: away}, plan("A", "a@example.com", ""), lookup.Result{Failed: away}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := lookup.New(&c.service, lookup.Options{}).Find(t.Context(), c.plan)
				if err != nil {
					t.Fatal(err)
				}
				if answered := c.looks > 0 && c.want.Failed == nil; got.At.IsZero() == answered {
					t.Errorf("it was asked at %v", got.At)
				}
				got.At = time.Time{}
				if got != c.want || got.Nobody() != (c.want == lookup.Result{}) || got.Failed != nil && got.Status() != 500 {
					t.Errorf("%+v, want %+v", got, c.want)
				}
				if looks := len(c.service.asked) - len(lookup.By(c.plan.Lookup)); c.service.unlearnt == nil && looks != c.looks {
					t.Errorf("asked for %q, want %d look-ups and what nobody looks like for each kind", c.service.asked, c.looks)
				}
			})
		})
	}
}

// TestServiceAway ends the run at the third look-up in a row that gets no answer,
// unless the service has answered before or the run is to keep going.
func TestServiceAway(t *testing.T) {
	for name, c := range map[string]struct {
		answered, keepGoing bool
		stops               bool
	}{"never there": {false, false, true}, "there before": {true, false, false}, "keep going": {false, true, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{}
				l := lookup.New(s, lookup.Options{KeepGoing: c.keepGoing})
				if c.answered {
					if _, err := l.Find(t.Context(), plan("A", "a@example.com", "")); err != nil {
						t.Fatal(err)
					}
				}
				s.failure, s.unlearnt = &apiclient.Failure{Retry: apiclient.Now}, &apiclient.Failure{Retry: apiclient.Now}
				for n := 1; n <= 4; n++ {
					s.asked = nil
					r, err := l.Find(t.Context(), plan("A", "a@example.com", ""))
					f := new(apiclient.Failure)
					if stops := errors.As(err, &f) && f.Stop; stops != (c.stops && n >= 3) || !stops && r.Failed == nil {
						t.Errorf("look-up %d: %+v, error %v", n, r, err)
					}
					if want := map[bool]int{true: 5, false: 1}[n <= 3]; len(s.asked) != want {
						t.Errorf("look-up %d was made %d times, want %d", n, len(s.asked), want)
					}
				}
				if l.Answered() != c.answered {
					t.Errorf("answered: %v", l.Answered())
				}
			})
		})
	}
}

// TestPrefetch looks nobody up twice, unless a client of the address was created
// meanwhile.
func TestPrefetch(t *testing.T) {
	for name, created := range map[string]bool{"alone": false, "one of the same address was created": true} {
		t.Run(name, func(t *testing.T) {
			s := &service{}
			l := lookup.New(s, lookup.Options{})
			p := plan("A", "a@example.com", "")
			for range 2 {
				if _, err := l.Prefetch(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			}
			if created {
				l.Reserve(plan("B", "a@example.com", ""))
			}
			if _, err := l.Find(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int{true: 3, false: 2}[created]; len(s.asked) != want {
				t.Errorf("asked for %q", s.asked)
			}
		})
	}
}

// TestReserve gives an address to the first client who creates with it, until that
// one is known not to have been created. A key is its client's own.
func TestReserve(t *testing.T) {
	ann := plan("ann", "a@example.com", "+441")
	for name, c := range map[string]struct {
		other mapping.Plan
		want  lookup.Holder
		ok    bool
	}{
		"same e-mail":           {plan("bob", "a@example.com", ""), lookup.Holder{Client: ann.Client, Sole: true}, false},
		"same phone, no e-mail": {plan("bob", "", "+441"), lookup.Holder{Client: ann.Client, Phone: true, Sole: true}, false},
		"same phone, e-mail":    {plan("bob", "b@example.com", "+441"), lookup.Holder{}, true},
		"itself":                {ann, lookup.Holder{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := lookup.New(&service{}, lookup.Options{})
			if _, ok := l.Reserve(ann); !ok {
				t.Fatal("the first client does not get its address")
			}
			if got, ok := l.Reserve(c.other); got != c.want || ok != c.ok {
				t.Errorf("%+v, %v; want %+v, %v", got, ok, c.want, c.ok)
			}
			l.Release(c.other) // gives back what is its own only
			l.Release(ann)
			if _, ok := l.Reserve(plan("eve", "a@example.com", "")); !ok {
				t.Error("a released address is taken")
			}
		})
	}
	l := lookup.New(&service{}, lookup.Options{})
	l.Reserve(ann)
	confirmed := plan("bob", "b@example.com", "+441")
	confirmed.Lookup.Confirm = true
	if got, ok := l.Reserve(confirmed); ok || got != (lookup.Holder{Client: ann.Client, Phone: true}) {
		t.Errorf("%+v, %v: one of two addresses is another's", got, ok)
	}
	keyed := plan("", "k@example.com", "")
	keyed.Client = email("k@example.com")
	l.Reserve(keyed)
	if _, ok := l.Reserve(plan("bob", "k@example.com", "")); !ok {
		t.Error("an address that is a client's key is reserved")
	}
}

// TestOwnerOf puts an undecided client of an earlier run first, and a client of
// this run where somebody was found.
func TestOwnerOf(t *testing.T) {
	l := lookup.New(&service{}, lookup.Options{})
	old, now := plan("old", "o@example.com", ""), plan("now", "n@example.com", "")
	l.AddUndecided(old.Client, lookup.Addresses(old))
	l.AddUndecided(plan("older", "", "").Client, lookup.Addresses(old)) // comes second
	l.Reserve(now)
	for name, c := range map[string]struct {
		who   mapping.Identity
		asked mapping.Plan
		found bool
		want  mapping.Identity
	}{
		"undecided":         {now.Client, old, false, old.Client},
		"undecided, itself": {old.Client, old, true, mapping.Identity{}},
		"of this run":       {old.Client, now, false, mapping.Identity{}},
		"of this run,found": {old.Client, now, true, now.Client},
		"free":              {old.Client, plan("x", "x@example.com", ""), true, mapping.Identity{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, owned := l.OwnerOf(c.who, lookup.Asked(c.asked.Lookup), c.found)
			if got != c.want || owned != (c.want != mapping.Identity{}) {
				t.Errorf("%v, %v; want %v", got, owned, c.want)
			}
		})
	}
}

// TestQueue lets clients who share an address take turns in the order of the
// sheet, and others go on.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lookup.New(&service{}, lookup.Options{})
		queue := func(p mapping.Plan) lookup.Ticket { return l.Queue(p)[0] }
		ann, bob, eve := queue(plan("ann", "a@example.com", "+441")), queue(plan("bob", "b@example.com", "+441")), queue(plan("eve", "e@example.com", ""))
		dan := queue(plan("dan", "b@example.com", ""))
		through := make(chan string, 4)
		for name, ticket := range map[string]lookup.Ticket{"ann": ann, "bob": bob, "eve": eve, "dan": dan} {
			go func() {
				ticket.Wait()
				through <- name
			}()
		}
		synctest.Wait()
		if len(through) != 2 {
			t.Fatalf("%d clients go on, want ann and eve", len(through))
		}
		ann.Done()
		synctest.Wait()
		if len(through) != 3 {
			t.Fatalf("%d clients go on, want bob too", len(through))
		}
		eve.Done()
		bob.Done()
		synctest.Wait()
		if <-through; len(through) != 3 {
			t.Error("dan waits though bob is done")
		}
		dan.Done()
	})
}

// TestQueueOfContacts lets the clients of one contact take turns at the contact
// alone, by its key where it has no address, and a client and its contacts never
// wait for each other.
func TestQueueOfContacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lookup.New(&service{}, lookup.Options{})
		broker, joint := plan("broker", "", ""), plan("joint", "a@example.com", "")
		first := l.Queue(plan("ann", "a@example.com", ""), broker, joint)
		second := l.Queue(plan("bob", "b@example.com", ""), broker)
		third := l.Queue(joint)
		for _, ticket := range append(first, second[0]) {
			ticket.Wait() // for nobody
		}
		through := make(chan string, 2)
		go func() { second[1].Wait(); through <- "the second client's broker" }()
		go func() { third[0].Wait(); through <- "the joint contact" }()
		first[1].Done()
		first[1].Done()
		if got := <-through; got != "the second client's broker" {
			t.Errorf("%s goes on first", got)
		}
		first[0].Done()
		synctest.Wait()
		if len(through) > 0 {
			t.Error("the joint contact does not wait for the client's own")
		}
		first[2].Done()
		<-through
		lookup.Ticket{}.Done()
	})
}

// TestQueueKeepsItsOrder has everybody wait for all those ahead, whoever gives a place
// up without having waited for it.
func TestQueueKeepsItsOrder(t *testing.T) {
	for name, order := range map[string][]int{
		"the second first": {1, 0, 2, 3}, "the first last": {2, 1, 0, 3}, "in order": {0, 1, 2, 3}, "two by two": {2, 0, 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := lookup.New(&service{}, lookup.Options{})
				broker := plan("broker", "b@example.com", "")
				var tickets []lookup.Ticket
				for _, client := range []string{"ann", "bob", "eve", "dan"} {
					tickets = append(tickets, l.Queue(plan(client, client+"@example.com", ""), broker)[1])
				}
				done, through := make([]bool, 4), make(chan int, 4)
				for i, ticket := range tickets {
					go func() { ticket.Wait(); through <- i }()
				}
				for _, i := range order {
					done[i] = true
					tickets[i].Done()
					synctest.Wait()
					want := slices.Index(append(slices.Clone(done), false), false) + 1 // the first who is not done goes on too
					if got := len(through); got != min(want, 4) {
						t.Errorf("%d clients go on when %v are done, want %d", got, done, min(want, 4))
					}
				}
				l.Queue(broker)[0].Wait() // nobody is ahead any more
			})
		})
	}
}

// TestQueueBehindBoth waits for a client and for its contact where they share the
// address, whichever is done first.
func TestQueueBehindBoth(t *testing.T) {
	for first := range 2 {
		synctest.Test(t, func(t *testing.T) {
			l := lookup.New(&service{}, lookup.Options{})
			both := l.Queue(plan("ann", "a@example.com", ""), plan("joint", "a@example.com", ""))
			next, through := l.Queue(plan("bob", "a@example.com", ""))[0], make(chan bool, 1)
			go func() { next.Wait(); through <- true }()
			both[first].Done()
			synctest.Wait()
			if len(through) > 0 {
				t.Errorf("it goes on when place %d of two is given up", first)
			}
			both[1-first].Done()
			<-through
		})
	}
}

// TestReserveOfSeveralKeySpaces gives an address that is a key to its client too,
// where others may have it under another kind of key.
func TestReserveOfSeveralKeySpaces(t *testing.T) {
	keyed := mapping.Plan{Client: email("a@example.com"), Addresses: []mapping.Identity{email("a@example.com")}}
	for keySpaces, free := range map[bool]bool{false: true, true: false} {
		l := lookup.New(&service{}, lookup.Options{KeySpaces: keySpaces})
		l.Reserve(keyed)
		if _, ok := l.Reserve(plan("L1", "a@example.com", "")); ok != free {
			t.Errorf("several key spaces: %v; it is free: %v", keySpaces, ok)
		}
	}
}
