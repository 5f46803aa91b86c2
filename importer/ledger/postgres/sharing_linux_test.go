package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/ledger/postgres/pgtest"
	"claimsheet/importer/testform"
	"claimsheet/mapping/problem"
)

// shared opens the ledger as one of several processes.
func shared(t *testing.T, a postgres.Address, silence time.Duration) *ledger.Ledger {
	t.Helper()
	l, err := postgres.OpenShared(t.Context(), a, silence)
	do(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// processes are two that share a ledger.
func processes(t *testing.T) (one, two *ledger.Ledger) {
	t.Helper()
	a, _ := address(t, pgtest.Shared(t))
	return shared(t, a, 0), shared(t, a, 0)
}

// atOnce is what two processes get at the same time.
func atOnce(one, two *ledger.Ledger, do func(n int, l *ledger.Ledger) error) (errs [2]error) {
	var all sync.WaitGroup
	for n, l := range []*ledger.Ledger{one, two} {
		all.Go(func() { errs[n] = do(n, l) })
	}
	all.Wait()
	return errs
}

// oneOf is why one of two was refused, and the other was not.
func oneOf(t *testing.T, errs [2]error) ledger.Taken {
	t.Helper()
	taken, refused := errors.AsType[ledger.Taken](errors.Join(errs[:]...))
	if (errs[0] == nil) == (errs[1] == nil) || !refused {
		t.Fatalf("the outcomes are %v and %v, want one that is taken", errs[0], errs[1])
	}
	return taken
}

func who(n int) ledger.ClientKey {
	return ledger.ClientKey{Environment: "https://uat", Space: "email", Client: fmt.Sprintf("c%d@example.com", n)}
}

func stepOf(n int) ledger.StepID {
	return ledger.StepID{ClientKey: who(n), Mapping: "m", Step: "claim/c/1"}
}

func event(n int, to ledger.State) ledger.Event {
	e := ledger.Event{StepID: stepOf(n), State: to, At: time.Now(), Kind: ledger.KindClaim, Run: "r"}
	if to == ledger.Done {
		e.Via, e.Status, e.ID, e.Answer = ledger.ViaAnswer, 201, fmt.Sprint("id-", n), []byte(`{}`)
	}
	return e
}

// try locks names if they are free.
func try(t *testing.T, l *ledger.Ledger, names ...string) (unlock func(), ok bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	unlock, err := l.Lock(ctx, names...)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return unlock, err == nil
}

func state(t *testing.T, l *ledger.Ledger, n int) ledger.Step {
	t.Helper()
	steps, err := l.Steps(t.Context(), who(n), "m")
	do(t, err)
	return steps["claim/c/1"]
}

// TestLock: what a caller has locked, as a whole or not at all, no other caller and no other
// process can lock until it is unlocked, by whatever host and port it has come to the server.
func TestLock(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	a, schema := address(t, server)
	b, err := postgres.Parse(server.Proxy(t, func() {}).URLOf(schema, "other"))
	do(t, err)
	one, two := shared(t, a, 0), shared(t, b, 0)
	free := func(l *ledger.Ledger, names ...string) bool {
		t.Helper()
		unlock, ok := try(t, l, names...)
		if ok {
			unlock()
		}
		return ok
	}
	unlock, ok := try(t, one, "a", "b", "a")
	if !ok {
		t.Fatal("free names cannot be locked")
	}
	for what, l := range map[string]*ledger.Ledger{"the same process": one, "another process": two} {
		if free(l, "a") || free(l, "c", "b") || !free(l, "c") || !free(l) {
			t.Errorf("%s locks what is locked, or not what is free", what)
		}
	}
	got := make(chan error)
	go func() {
		unlock, err := two.Lock(t.Context(), "c", "a")
		if err == nil {
			unlock()
		}
		got <- err
	}()
	unlock()
	unlock()
	do(t, <-got)
	if !free(two, "a", "b") {
		t.Error("what was unlocked is not free")
	}
	file, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	do(t, err)
	defer file.Close()
	if !free(file, "a") {
		t.Error("a file needs a lock")
	}
}

// TestAddressOfTwoProcesses: of two processes that record clients with the same address at the
// same time, without locks, one is refused.
func TestAddressOfTwoProcesses(t *testing.T) {
	t.Parallel()
	one, two := processes(t)
	intent := func(n int, address string) ledger.Event {
		return ledger.Event{StepID: ledger.StepID{ClientKey: who(n), Step: ledger.KindClient}, State: ledger.Sent, At: time.Now(), Kind: ledger.KindClient, Run: "r",
			Addresses: []string{address}, LookedUp: []string{address}}
	}
	for i := range 60 {
		address, used := fmt.Sprintf("p%d@example.com", i), i%2 == 0
		if used { // the address of a client who was certainly not created is free
			do(t, one.Append(intent(3*i, address)))
			do(t, one.Append(ledger.Event{StepID: intent(3*i, "").StepID, State: ledger.Refused, At: time.Now(), Kind: ledger.KindClient, Run: "r"}))
		}
		errs := atOnce(one, two, func(n int, l *ledger.Ledger) error { return l.Append(intent(3*i+1+n, address)) })
		if taken := oneOf(t, errs); !taken.Address {
			t.Errorf("address %d, used before %v: %v", i, used, errs)
		}
	}
}

// TestLockEndsWithItsSession: what a process has locked whose connection was ended is free at
// once, and the process cannot write any more.
func TestLockEndsWithItsSession(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	a, _ := address(t, server)
	one, two := shared(t, a, 0), shared(t, a, 0)
	if _, ok := try(t, one, who(1).LockName()); !ok {
		t.Fatal("a free name cannot be locked")
	}
	do(t, one.Append(event(1, ledger.Sent)))
	began := time.Now()
	session, _ := one.Session()
	server.Exec(t, fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND (classid::bigint << 32) | objid::bigint = %d", session))
	unlock, err := two.Lock(t.Context(), who(1).LockName())
	do(t, err)
	t.Logf("free after %v", time.Since(began))
	unlock()
	if got := state(t, two, 1).State; got != ledger.Uncertain {
		t.Errorf("its intent is %q, want uncertain", got)
	}
	if err := one.Append(event(2, ledger.Sent)); !errors.Is(err, ledger.ErrStopped) || !errors.Is(one.Stopped(), ledger.ErrStopped) {
		t.Errorf("without its connection a process begins something: %v", err)
	}
}

// TestSilentSession: a session that says nothing for too long is ended by who waits for what it
// has locked; one that speaks is not.
func TestSilentSession(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	a, _ := address(t, pgtest.Shared(t))
	silent, speaks, waits := shared(t, a, time.Hour), shared(t, a, 600*time.Millisecond), shared(t, a, time.Second)
	for l, name := range map[*ledger.Ledger]string{silent: "a", speaks: "b"} {
		if _, ok := try(t, l, name); !ok {
			t.Fatal("a free name cannot be locked")
		}
	}
	unlock, err := waits.Lock(t.Context(), "a")
	do(t, err)
	unlock()
	if err := silent.Append(event(1, ledger.Sent)); !errors.Is(err, ledger.ErrStopped) || silent.Holds() {
		t.Errorf("the silent process writes: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := waits.Lock(ctx, "b"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("what a process has that speaks was locked: %v", err)
	}
	do(t, speaks.Append(event(2, ledger.Sent)))
}

// TestChangedByAnother: an outcome of a step about which another process has concluded something
// counts where the step's state allows it, and fails alone where it does not.
func TestChangedByAnother(t *testing.T) {
	t.Parallel()
	one, two := processes(t)
	do(t, one.Append(event(1, ledger.Sent), event(2, ledger.Sent)))
	do(t, two.Append(event(1, ledger.Uncertain), event(2, ledger.Refused)))
	var all sync.WaitGroup
	for n := range 3 {
		all.Go(func() {
			if n == 0 {
				do(t, one.Append(event(3, ledger.Sent)))
				return
			}
			if err := one.Append(event(n, ledger.Done)); (err != nil) != (n == 2) || err != nil && !errors.Is(err, ledger.ErrTransition) {
				t.Errorf("outcome of %d: %v", n, err)
			}
		})
	}
	all.Wait()
	for n, want := range map[int]ledger.State{1: ledger.Done, 2: ledger.Refused, 3: ledger.Uncertain} {
		if got := state(t, two, n).State; got != want {
			t.Errorf("step %d is %q, want %q", n, got, want)
		}
	}
	other := event(4, ledger.Done)
	other.ID = "another"
	do(t, one.Append(event(4, ledger.Sent)))
	do(t, two.Append(other))
	if err := one.Append(event(4, ledger.Done)); !errors.Is(err, ledger.ErrTransition) || state(t, two, 4).ID != "another" {
		t.Errorf("of two ids for a step, the second was recorded: %v", err)
	}
	first, second := event(5, ledger.Uncertain), event(5, ledger.Uncertain)
	first.Run, first.Via, first.Reason = "of the journal", ledger.ViaConflict, "the journal has the id A"
	second.Via, second.Reason = ledger.ViaConflict, "its id there is B"
	do(t, one.Append(event(5, ledger.Sent)))
	do(t, two.Append(first))
	if err := one.Append(event(5, ledger.Done)); !errors.Is(err, ledger.ErrTransition) {
		t.Errorf("an answer hides that the service has created the step before: %v", err)
	}
	do(t, one.Append(second))
	if got := state(t, two, 5); got.State != ledger.Uncertain || got.Reason != first.Reason+"; "+second.Reason {
		t.Errorf("a step with two ids is %q: %q", got.State, got.Reason)
	}
	begun := atOnce(one, two, func(_ int, l *ledger.Ledger) error { return l.Append(event(9, ledger.Sent)) })
	if (begun[0] == nil) == (begun[1] == nil) {
		t.Errorf("two processes have begun one step: %v", begun)
	}
}

// TestVersionsGrow: of two transactions at the same time, the one that changes a step last gives it
// the higher version, although it may have taken its numbers first.
func TestVersionsGrow(t *testing.T) {
	t.Parallel()
	one, two := processes(t)
	again := event(0, ledger.Uncertain)
	again.Via = ledger.ViaJournal
	do(t, one.Append(event(0, ledger.Sent), event(0, ledger.Uncertain)))
	for round := range 60 {
		errs := atOnce(one, two, func(n int, l *ledger.Ledger) error { return l.Append(event(2*round+n+1, ledger.Sent), again) })
		do(t, errors.Join(errs[:]...))
	}
	do(t, one.Check(t.Context()))
}

// TestIDOfTwoProcesses: two processes at the same time never have one id for two steps.
func TestIDOfTwoProcesses(t *testing.T) {
	t.Parallel()
	one, two := processes(t)
	for round := range 20 {
		oneOf(t, atOnce(one, two, func(n int, l *ledger.Ledger) error {
			e := event(2*round+n, ledger.Done)
			e.ID = fmt.Sprint("same-", round)
			if err := l.Append(event(2*round+n, ledger.Sent)); err != nil {
				return err
			}
			return l.Append(e)
		}))
	}
}

// TestSharedAndAlone: who needs the ledger alone waits for those who share it, and they
// for it.
func TestSharedAndAlone(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	a, _ := address(t, pgtest.Shared(t))
	first := shared(t, a, 0)
	_, err := postgres.Open(t.Context(), a)
	if problem.ClassOf(err) != problem.Locked || strings.Count(err.Error(), "process ") != 1 {
		t.Errorf("alone beside one who shares: got %v", err)
	}
	do(t, first.Close())
	alone := open(t, a)
	_, err = postgres.OpenShared(t.Context(), a, 0)
	if problem.ClassOf(err) != problem.Locked || strings.Count(err.Error(), "process ") != 1 {
		t.Errorf("shared beside one who is alone: got %v", err)
	}
	do(t, alone.Append(event(1, ledger.Sent))) // it needs no lock
}

// TestFirstTogether: processes that open a ledger at the same time, of which there is
// nothing yet, make it once.
func TestFirstTogether(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	server := pgtest.Shared(t)
	for range 3 {
		a, _ := address(t, server)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				l, err := postgres.OpenShared(t.Context(), a, 0)
				if err != nil {
					t.Error(err)
					return
				}
				unlock, err := l.Lock(t.Context(), "a")
				do(t, err)
				unlock()
				do(t, l.Close())
			})
		}
		all.Wait()
	}
}

// TestFewClientsOfMany: a session whose first reads found empty tables does not read all clients for some
// of them when there are many.
func TestFewClientsOfMany(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	a, schema := address(t, server)
	l, err := postgres.Open(t.Context(), a)
	do(t, err)
	const clients, reads = 2000, 20
	var some []ledger.ClientKey
	var begun []ledger.Event
	for n := range clients {
		begun = append(begun, event(n, ledger.Sent))
		if n%100 == 0 {
			some = append(some, who(n))
		}
	}
	read := func() {
		for range reads {
			_, err := l.BriefStepsOfClients(t.Context(), some[0].Environment, "m", some)
			do(t, err)
		}
	}
	read()
	do(t, l.Append(begun...))
	read()
	do(t, l.Close())
	const counted = `SELECT min(idx_scan) > 0, sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_user_tables WHERE relname IN ('clients', 'steps') AND schemaname = '%s'`
	for found := ""; ; time.Sleep(20 * time.Millisecond) { // the server counts what a session has read when that ends
		ended, n, _ := strings.Cut(server.Exec(t, fmt.Sprintf(counted, schema)), "|")
		if rows, err := strconv.Atoi(n); ended == "t" && n == found {
			if least := 2 * reads * len(some); err != nil || rows < least || rows > least+clients {
				t.Errorf("%d reads of %d clients with a step have read %s rows of %d clients (%v)", reads, len(some), n, clients, err)
			}
			return
		}
		found = n
	}
}
