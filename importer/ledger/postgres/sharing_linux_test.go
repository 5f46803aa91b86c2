package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// shared opens the ledger as one of several processes. No lease ends by itself during a test.
func shared(t *testing.T, a postgres.Address, clock func() time.Time) *ledger.Ledger {
	t.Helper()
	l, err := postgres.OpenShared(t.Context(), a, postgres.Sharing{Lease: time.Hour, Clock: clock})
	do(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func who(n int) ledger.ClientKey {
	return ledger.ClientKey{Environment: "https://uat", Space: "email", Client: fmt.Sprintf("c%d@example.com", n)}
}

// group is the work on one client.
func group(n int, addresses ...string) ledger.LeaseGroup {
	return ledger.LeaseGroup{{ClientKey: who(n), Addresses: addresses}}
}

func stepOf(n int) ledger.StepID {
	return ledger.StepID{ClientKey: who(n), Mapping: "m", Step: "claim/c/1"}
}

func event(n int, to ledger.State) ledger.Event {
	e := ledger.Event{StepID: stepOf(n), To: to, At: time.Now(), Kind: ledger.KindClaim, Run: "r"}
	if to == ledger.Done {
		e.Via, e.Status, e.ID, e.Answer = ledger.ViaAnswer, 201, fmt.Sprint("id-", n), []byte(`{}`)
	}
	return e
}

// take leases groups, and returns which it got.
func take(t *testing.T, l *ledger.Ledger, groups ...ledger.LeaseGroup) string {
	t.Helper()
	taken, err := l.Lease(time.Now(), groups)
	do(t, err)
	return fmt.Sprint(taken)
}

func state(t *testing.T, l *ledger.Ledger, n int) ledger.Step {
	t.Helper()
	steps, err := l.Steps(t.Context(), who(n), "m")
	do(t, err)
	return steps["claim/c/1"]
}

// TestDefinitionsOfTwoProcesses: two processes change the definition of a mapping at the
// same time, and neither loses what the other has stored.
func TestDefinitionsOfTwoProcesses(t *testing.T) {
	t.Parallel()
	a, _ := address(t, pgtest.Shared(t))
	const calls = 30
	one, two := shared(t, a, nil), shared(t, a, nil)
	var all sync.WaitGroup
	for _, l := range []*ledger.Ledger{one, two} {
		all.Go(func() {
			for range calls {
				if err := l.ChangeDefinition("https://uat", "loans", func(stored string) string { return stored + "x" }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	got, _, err := one.Definition(t.Context(), "https://uat", "loans")
	do(t, err)
	if len(got) != 2*calls {
		t.Errorf("%d changes are stored, want %d", len(got), 2*calls)
	}
}

// TestLeases: what one process has leased, as a whole or not at all, no other can lease
// until it is given back; groups of one process do not keep each other away.
func TestLeases(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	a, _ := address(t, pgtest.Shared(t))
	one, two := shared(t, a, nil), shared(t, a, nil)
	for _, step := range []struct {
		what   string
		by     *ledger.Ledger
		groups []ledger.LeaseGroup
		want   string
	}{
		{"free", one, []ledger.LeaseGroup{group(1, "email x"), group(2)}, "[true true]"},
		{"its own again, with an address in common", one, []ledger.LeaseGroup{group(3, "email x")}, "[true]"},
		{"another's client, and one that is free", two, []ledger.LeaseGroup{group(2), group(4)}, "[false true]"},
		{"another's address", two, []ledger.LeaseGroup{group(5, "email y", "email x")}, "[false]"},
		{"what the refused group had beside", one, []ledger.LeaseGroup{group(6, "email y")}, "[true]"},
		{"a group within a group", two, []ledger.LeaseGroup{group(7), group(7)}, "[true true]"},
		{"nothing", two, nil, "[]"},
	} {
		if got := take(t, step.by, step.groups...); got != step.want {
			t.Errorf("%s: got %s, want %s", step.what, got, step.want)
		}
	}
	do(t, one.Release(group(1, "email x")))
	do(t, one.Flush())
	if got := take(t, two, group(1)); got != "[true]" {
		t.Error("a client that was given back cannot be leased:", got)
	}
	if got := take(t, two, group(5, "email x")); got != "[false]" {
		t.Error("an address that another group still needs was leased:", got)
	}
	if err := two.Release(group(5, "email x")); err != nil {
		t.Error(err)
	}
	if err := two.Flush(); !errors.Is(err, ledger.ErrStopped) {
		t.Error("what was never leased was given back:", err)
	}
	two = shared(t, a, nil)
	do(t, one.Close())
	if got := take(t, two, group(2), group(3, "email x")); got != "[true true]" {
		t.Error("a closed ledger still has leases:", got)
	}
}

// TestIntentNeedsLease: nothing is begun without a lease, also beside an outcome.
func TestIntentNeedsLease(t *testing.T) {
	t.Parallel()
	a, _ := address(t, pgtest.Shared(t))
	l := shared(t, a, nil)
	if err := l.Append(event(1, ledger.Intent)); !errors.Is(err, ledger.ErrLeaseLost) || errors.Is(err, ledger.ErrStopped) {
		t.Fatalf("got %v, want ErrLeaseLost", err)
	}
	take(t, l, group(1))
	do(t, l.Append(event(1, ledger.Intent)))
	if err := l.Append(event(1, ledger.Done), event(2, ledger.Intent)); !errors.Is(err, ledger.ErrLeaseLost) {
		t.Fatalf("got %v, want ErrLeaseLost", err)
	}
	if got := state(t, l, 1).To; got != ledger.Intent {
		t.Errorf("a refused call has recorded %s", got)
	}
	do(t, l.Append(event(1, ledger.Done)))
	if got := state(t, l, 1); got.To != ledger.Done || got.ID != "id-1" {
		t.Errorf("got %+v", got)
	}
}

// TestSharedAndAlone: who needs the ledger alone waits for those who share it, and they
// for it.
func TestSharedAndAlone(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	a, _ := address(t, pgtest.Shared(t))
	first := shared(t, a, nil)
	_, err := postgres.Open(t.Context(), a)
	if !errors.Is(err, ledger.ErrLocked) || strings.Count(err.Error(), "process ") != 1 {
		t.Errorf("alone beside one who shares: got %v", err)
	}
	do(t, first.Close())
	alone := open(t, a)
	_, err = postgres.OpenShared(t.Context(), a, postgres.Sharing{})
	if !errors.Is(err, ledger.ErrLocked) || strings.Count(err.Error(), "process ") != 1 {
		t.Errorf("shared beside one who is alone: got %v", err)
	}
	do(t, alone.Append(event(1, ledger.Intent))) // it needs no lease
}

// TestManyShare: processes that write at the same time neither lose nor mix anything up.
func TestManyShare(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	a, _ := address(t, pgtest.Shared(t))
	const processes, clients = 4, 60
	var done, refused atomic.Int64
	var all sync.WaitGroup
	for range processes {
		l := shared(t, a, nil)
		for range 3 {
			all.Go(func() {
				for n := range clients {
					taken, err := l.Lease(time.Now(), []ledger.LeaseGroup{group(n, fmt.Sprint("email ", n/2))})
					if err != nil {
						t.Error(err)
						return
					}
					if !taken[0] {
						refused.Add(1)
						continue
					}
					steps, err := l.Steps(t.Context(), who(n), "m")
					if err == nil && steps["claim/c/1"].To == "" {
						if err = l.Append(event(n, ledger.Intent)); err == nil || errors.Is(err, ledger.ErrTransition) { // another goroutine of this process may have begun it
							if err = l.Append(event(n, ledger.Done)); err == nil {
								done.Add(1)
							}
						}
					}
					if err != nil && !errors.Is(err, ledger.ErrTransition) {
						t.Error(err)
					}
					do(t, l.Release(group(n, fmt.Sprint("email ", n/2))))
				}
			})
		}
	}
	all.Wait()
	l := shared(t, a, nil)
	for n := range clients {
		taken := take(t, l, group(n))
		if s := state(t, l, n); taken != "[true]" || s.To != "" && (s.To != ledger.Done || s.Attempts != 1) {
			t.Errorf("client %d: leased %s, %s after %d attempts", n, taken, s.To, s.Attempts)
		}
	}
	do(t, l.Check(t.Context()))
	t.Logf("%d done, %d refused", done.Load(), refused.Load())
	if done.Load() < clients/2 {
		t.Errorf("only %d of %d clients were done", done.Load(), clients)
	}
}

// TestTakenOver: what a process has leased that ended without closing the ledger is free
// after its lease and the time that its request may take, and its intents are uncertain
// then. Until then nobody touches them.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Shared(t)
	a, schema := address(t, server)
	one, err := postgres.OpenShared(t.Context(), a, postgres.Sharing{Lease: 600 * time.Millisecond, Request: 400 * time.Millisecond})
	do(t, err)
	t.Cleanup(func() { _ = one.Close() })
	two := shared(t, a, nil)
	take(t, one, group(1), group(2))
	do(t, one.Append(event(1, ledger.Intent)))
	server.Exec(t, "UPDATE "+schema+".sessions SET machine = 'another' WHERE id = 1")
	server.Exec(t, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND classid = (SELECT oid FROM pg_namespace WHERE nspname = '"+schema+"')")
	ended := func() bool { // by the server's clock
		return server.Exec(t, "SELECT until + grace <= "+postgres.ServerTime+" FROM "+schema+".sessions WHERE id = 1") == "t"
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if n, err := two.MarkInterrupted("r2", time.Now()); err != nil || n > 0 && !ended() {
			t.Fatal("the intent of another process was touched:", n, err)
		}
		if take(t, two, group(1)) == "[true]" {
			if !ended() {
				t.Error("it is free before its time")
			}
			break
		}
		if time.Since(began) > 2*time.Minute {
			t.Fatal("it is never free")
		}
	}
	if got := state(t, two, 1).To; got != ledger.Uncertain {
		t.Errorf("the intent is %q, want uncertain", got)
	}
	if err := one.Append(event(2, ledger.Intent)); !errors.Is(err, ledger.ErrStopped) {
		t.Errorf("without its connection a process begins something: %v", err)
	}
}

// later is a clock that can be set forward.
type later struct{ ahead atomic.Int64 }

func (c *later) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// TestPausedProcess: a process that goes on after it was paused for longer than its lease
// begins nothing for a client that another has taken over, and what it learns then is
// recorded.
func TestPausedProcess(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Shared(t)
	for name, test := range map[string]struct {
		meanwhile []ledger.Event // by the other process
		late      ledger.Event
		want      ledger.State
		id        string
		conflict  bool
	}{
		"the outcome was not known":        {nil, event(1, ledger.Done), ledger.Done, "id-1", false},
		"an answer that nobody can read":   {nil, unread(), ledger.Uncertain, "", false},
		"such an answer, and sent again":   {[]ledger.Event{again(), unknown()}, unread(), ledger.Uncertain, "", true},
		"no answer":                        {nil, event(1, ledger.Uncertain), ledger.Uncertain, "", false},
		"done by both, without ids":        {[]ledger.Event{again(), withoutID("r2")}, withoutID("r"), ledger.Done, "", true},
		"it was never sent":                {nil, event(1, ledger.NotSent), ledger.NotSent, "", false},
		"the same was found":               {[]ledger.Event{adopted("id-1")}, event(1, ledger.Done), ledger.Done, "id-1", false},
		"another was found, not by it":     {[]ledger.Event{adopted("id-2")}, event(1, ledger.NotSent), ledger.Done, "id-2", false},
		"it was created twice":             {[]ledger.Event{adopted("id-2")}, event(1, ledger.Done), ledger.Done, "id-2", true},
		"a person closed it":               {[]ledger.Event{{StepID: stepOf(1), To: ledger.GivenUp, At: time.Now(), Via: ledger.ViaByHand}}, event(1, ledger.NotSent), ledger.GivenUp, "", false},
		"sent again and nothing is known":  {[]ledger.Event{again()}, event(1, ledger.NotSent), ledger.Intent, "", false},
		"sent again in vain, by then":      {[]ledger.Event{again(), unknown()}, event(1, ledger.NotSent), ledger.Uncertain, "", false},
		"sent again in vain, and created":  {[]ledger.Event{again(), unknown()}, event(1, ledger.Done), ledger.Uncertain, "", true},
		"sent again, and this one created": {[]ledger.Event{again()}, event(1, ledger.Done), ledger.Intent, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, schema := address(t, server)
			one, err := postgres.OpenShared(t.Context(), a, postgres.Sharing{Lease: time.Hour}) // does not renew meanwhile
			do(t, err)
			t.Cleanup(func() { _ = one.Close() })
			two := shared(t, a, nil)
			take(t, one, group(1), group(2))
			do(t, one.Append(event(1, ledger.Intent)))
			server.Exec(t, "UPDATE "+schema+".sessions SET until = 0 WHERE id = 1")
			if got := take(t, two, group(1)); got != "[true]" {
				t.Fatal("the lease has not ended:", got)
			}
			for _, e := range test.meanwhile {
				do(t, two.Append(e))
			}
			if err := one.Append(event(2, ledger.Intent)); !errors.Is(err, ledger.ErrLeaseLost) {
				t.Errorf("it begins something else: %v", err)
			}
			if one.Leased() {
				t.Error("the leases of the process last, though one is lost")
			}
			err = one.Append(test.late)
			if conflict(err) != test.conflict || err != nil && !conflict(err) {
				t.Errorf("the late outcome: %v", err)
			}
			if got := state(t, two, 1); got.To != test.want || got.ID != test.id {
				t.Errorf("the step is %s with the id %q, want %s with %q", got.To, got.ID, test.want, test.id)
			} else if !conflict(err) && test.late.To == ledger.Uncertain && len(got.Answer) != len(test.late.Answer) {
				t.Error("the late answer is lost")
			}
			do(t, two.Check(t.Context()))
		})
	}
}

// conflict reports whether a late outcome was refused because another process has done its
// step.
func conflict(err error) bool {
	return errors.Is(err, ledger.ErrStopped) && errors.Is(err, ledger.ErrLeaseLost)
}

// unread is an outcome with an answer that nobody can read.
func unread() ledger.Event {
	e := event(1, ledger.Uncertain)
	e.Status, e.Answer = 201, []byte(`{"other": 1}`)
	return e
}

// withoutID is a success whose answer has no id.
func withoutID(run string) ledger.Event {
	e := event(1, ledger.Done)
	e.Run, e.ID = run, ""
	return e
}

// TestPausedAlone: a process that was paused goes on with its leases when nobody has taken
// them over.
func TestPausedAlone(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Shared(t)
	a, schema := address(t, server)
	var clock later
	l := shared(t, a, clock.now)
	take(t, l, group(1))
	do(t, l.Append(event(1, ledger.Intent)))
	server.Exec(t, "UPDATE "+schema+".sessions SET until = 0 WHERE id = 1")
	clock.ahead.Store(int64(time.Hour))
	if !l.Leased() {
		t.Error("the leases are lost")
	}
	do(t, l.Append(event(1, ledger.Done)))
	if got := state(t, l, 1); got.To != ledger.Done || got.Via != ledger.ViaAnswer {
		t.Errorf("got %+v", got)
	}
}

// adopted is how another process finds the step by a look-up.
func adopted(id string) ledger.Event {
	return ledger.Event{StepID: stepOf(1), To: ledger.Done, At: time.Now(), Via: ledger.ViaAdopted, ID: id, Run: "r2"}
}

// again is how another process sends the step again where the environment allows it.
func again() ledger.Event {
	e := event(1, ledger.Intent)
	e.Via, e.Run = ledger.ViaRepeatable, "r2"
	return e
}

// TestFirstTogether: processes that open a ledger at the same time, of which there is
// nothing yet, make it once.
func TestFirstTogether(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Shared(t)
	for range 3 {
		a, _ := address(t, server)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				l, err := postgres.OpenShared(t.Context(), a, postgres.Sharing{})
				if err != nil {
					t.Error(err)
					return
				}
				if taken, err := l.Lease(time.Now(), []ledger.LeaseGroup{group(1)}); err != nil {
					t.Error(taken, err)
				}
				do(t, l.Close())
			})
		}
		all.Wait()
	}
}

// unknown is how the other process's attempt ends.
func unknown() ledger.Event {
	e := event(1, ledger.Uncertain)
	e.Run, e.Reason = "r2", "no answer"
	return e
}

// TestSettling: for some time after a client was created, other processes can lease its
// addresses for the same client only, whatever is leased and given back meanwhile.
func TestSettling(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	a, _ := address(t, pgtest.Shared(t))
	one, two := shared(t, a, nil), shared(t, a, nil)
	take(t, one, group(1, "email x"))
	do(t, one.Reserve(group(1, "email x")[0], time.Hour))
	if got := take(t, one, group(2, "email x")); got != "[true]" {
		t.Error("the process that has created it:", got)
	}
	do(t, one.Release(group(1, "email x")))
	do(t, one.Release(group(2, "email x")))
	do(t, one.Flush())
	for range 2 {
		if got := take(t, two, group(1, "email x"), group(2, "email x"), group(3)); got != "[true false true]" {
			t.Error("the same client, another one, and one without the address:", got)
		}
		if got := take(t, two, group(2, "email x")); got != "[false]" {
			t.Error("another client, while the same one is at work:", got)
		}
		if got := take(t, two, append(group(2, "email x"), group(1)...)); got != "[false]" {
			t.Error("another client who has the first one as a contact:", got)
		}
		do(t, two.Release(group(1, "email x")))
		do(t, two.Release(group(3)))
		do(t, two.Flush())
	}
	do(t, one.Close())
	if got := take(t, two, group(2, "email x")); got != "[false]" {
		t.Error("another client, after the process has ended:", got)
	}
	take(t, two, group(4, "email y"))
	do(t, two.Reserve(group(4, "email y")[0], time.Millisecond))
	do(t, two.Release(group(4, "email y")))
	do(t, two.Flush())
	time.Sleep(20 * time.Millisecond)
	if got := take(t, shared(t, a, nil), group(2, "email y")); got != "[true]" {
		t.Error("another client, later:", got)
	}
}

// TestServersClockIsSetForward: when a lease ends too early by the server's clock, the
// process that had it learns that at its next transaction, and overwrites nothing.
func TestServersClockIsSetForward(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Shared(t)
	a, schema := address(t, server)
	one, err := postgres.OpenShared(t.Context(), a, postgres.Sharing{Lease: time.Hour, Request: time.Hour}) // does not renew
	do(t, err)
	t.Cleanup(func() { _ = one.Close() })
	two := shared(t, a, nil)
	take(t, one, group(1), group(2))
	do(t, one.Append(event(1, ledger.Intent)))
	server.Exec(t, "UPDATE "+schema+".sessions SET until = 0, grace = 0 WHERE id = 1")
	if got := take(t, two, group(1)); got != "[true]" {
		t.Fatal("the lease has not ended:", got)
	}
	if !one.Leased() {
		t.Fatal("no clock of the process shows it")
	}
	if err := one.Append(event(2, ledger.Intent)); !errors.Is(err, ledger.ErrLeaseLost) || one.Leased() {
		t.Errorf("it begins something else: %v", err)
	}
	do(t, one.Append(event(1, ledger.Done)))
	if got := state(t, two, 1); got.To != ledger.Done || got.ID != "id-1" || got.Via != ledger.ViaAnswer {
		t.Errorf("the late outcome: %+v", got)
	}
	do(t, two.Check(t.Context()))
}

// TestOutcomeOfAChangedStep: an outcome never overwrites what somebody else has recorded.
func TestOutcomeOfAChangedStep(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	a, _ := address(t, server)
	one, two := shared(t, a, nil), shared(t, a, nil)
	take(t, one, group(1))
	do(t, one.Append(event(1, ledger.Intent)))
	do(t, two.Append(unknown())) // without a lease, as no run does
	if err := one.Append(event(1, ledger.Done)); !errors.Is(err, ledger.ErrStopped) {
		t.Errorf("got %v, want ErrStopped", err)
	}
	if got := state(t, two, 1); got.To != ledger.Uncertain {
		t.Errorf("the step is %s", got.To)
	}
	do(t, two.Check(t.Context()))
}

// TestRunsOfOneProcess: what a process has leased for one run is away for another of its
// runs, and so is an address that settles for somebody.
func TestRunsOfOneProcess(t *testing.T) {
	t.Parallel()
	a, _ := address(t, pgtest.Shared(t))
	one := shared(t, a, nil)
	of := func(run string, n int, addresses ...string) []ledger.LeaseGroup {
		g := group(n, addresses...)
		for i := range g {
			g[i].Run = run
		}
		return []ledger.LeaseGroup{g}
	}
	lease := func(groups []ledger.LeaseGroup) bool {
		taken, err := one.Lease(time.Now(), groups)
		do(t, err)
		return taken[0]
	}
	first := of("run-1", 1, "email x")
	if !lease(first) || lease(of("run-2", 1)) || lease(of("run-2", 2, "email x")) || !lease(of("run-1", 2, "email x")) {
		t.Fatal("what one run has is not away for another one alone")
	}
	do(t, one.Reserve(first[0][0], time.Hour))
	do(t, one.Release(first[0]))
	do(t, one.Release(of("run-1", 2, "email x")[0]))
	if lease(of("run-2", 3, "email x")) || !lease(of("run-2", 1, "email x")) {
		t.Error("an address does not settle for the person who was created with it")
	}
}
