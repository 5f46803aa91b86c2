package postgres_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/ledger/postgres/pgtest"
	"claimsheet/importer/testform"
)

// theService is a service that records when requests arrive from several processes. What it has recorded is read while no request is under way.
type theService struct {
	mu sync.Mutex
	at []time.Time
}

func (s *theService) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.at = append(s.at, time.Now())
	s.mu.Unlock()
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{}`)), Request: req}, nil
}

// process is a client as a process of its own has it: with its own limiter, and a clock that
// is wrong by so much.
func process(t *testing.T, a postgres.Address, s *theService, ceiling float64, wrong time.Duration) *apiclient.Client {
	t.Helper()
	limiter := postgres.NewLimiter(a, "http://localhost/api")
	t.Cleanup(func() { do(t, limiter.Close()) })
	c, err := apiclient.New(apiclient.Config{
		BaseURL: "http://localhost/api", Version: apiclient.V2, Wire: apiclient.DefaultWire(), NotFound: apiclient.DefaultNotFound(),
		Limiter: limiter, RequestsPerSecond: ceiling, Transport: s, Now: func() time.Time { return time.Now().Add(wrong) },
	})
	do(t, err)
	return c
}

// ask sends requests from several goroutines of each process until ctx ends.
func ask(ctx context.Context, workers int, all ...*apiclient.Client) {
	var wg sync.WaitGroup
	for _, c := range all {
		for range workers {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, _ = c.Do(ctx, c.Routes().Find(apiclient.ByEmail, "jane@example.com"))
				}
			})
		}
	}
	wg.Wait()
}

// within is a context that ends after a while.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// TestLimiterAndRestart: four processes, two of them with a wrong clock, together never send more than the ceiling in
// any second. While the server is away nothing is sent, and the reason says so. When it is back, the same processes go on, and the ceiling held all the time.
func TestLimiterAndRestart(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	server := pgtest.Own(t)
	a, schema := address(t, server)
	do(t, open(t, a).Close())
	var s theService
	var all []*apiclient.Client
	for _, wrong := range []time.Duration{0, time.Hour, 0, -time.Minute} {
		all = append(all, process(t, a, &s, 50, wrong))
	}
	ask(within(t, 3*time.Second), 32, all...)
	if got := server.Exec(t, "SELECT service, state::json->>'Ceiling', state::json->>'Rate', state::json->>'PausedUntil' FROM "+schema+".pace"); got != "http://localhost/api|50|0|0001-01-01T00:00:00Z" {
		t.Errorf("the row is %s", got)
	}
	server.Stop()
	before := len(s.at)
	if used := float64(before) / (3 * 50); used < 0.5 {
		t.Errorf("only %.0f %% of the ceiling", 100*used)
	}
	time.Sleep(300 * time.Millisecond)
	for _, c := range all {
		_, err := c.Do(t.Context(), c.Routes().Find(apiclient.ByEmail, "jane@example.com"))
		f, ok := errors.AsType[*apiclient.Failure](err)
		if !ok || !f.NotSent || !f.Stop || !strings.Contains(f.Reason, "nothing is sent") || !errors.Is(err, ledger.ErrStopped) {
			t.Errorf("got %+v", err)
		}
	}
	if after := len(s.at); after != before {
		t.Errorf("%d requests were sent", after-before)
	}
	do(t, server.Start())
	ask(within(t, 3*time.Second), 8, all...) // on a busy machine the connections take their time
	if n := len(s.at) - before; n < 20 {
		t.Errorf("%d requests were sent afterwards", n)
	}
	for i := range s.at[50:] {
		if took := s.at[i+50].Sub(s.at[i]); took < time.Second {
			t.Fatalf("51 requests in %v", took)
		}
	}
}

// kept is the state that a limiter keeps.
func kept(t *testing.T, l *postgres.Limiter) (text string) {
	t.Helper()
	do(t, l.Change(t.Context(), func(state []byte, _ time.Time) []byte { text = string(state); return nil }))
	return text
}

// TestLimiterOfAStoppedProcess: a process that is stopped while it has the row locked holds
// the others up for a moment only, and what it makes of the row afterwards is not kept.
func TestLimiterOfAStoppedProcess(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	a, _ := address(t, pgtest.Shared(t))
	open(t, a)
	stopped, other := postgres.NewLimiter(a, "s"), postgres.NewLimiter(a, "s")
	defer stopped.Close()
	defer other.Close()
	locked, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	calls := 0
	go func() {
		defer close(ended)
		if err := stopped.Change(t.Context(), func(state []byte, _ time.Time) []byte {
			if calls++; calls == 1 {
				close(locked)
				<-goOn
			}
			return append(state, "stopped "...)
		}); err != nil {
			t.Error(err)
		}
	}()
	<-locked
	do(t, other.Change(within(t, 5*time.Second), func(state []byte, _ time.Time) []byte { return append(state, "other "...) }))
	close(goOn)
	<-ended
	if s := kept(t, other); s != "other stopped " || calls != 2 {
		t.Errorf("%q, after %d calls; want both after 2: the change was made again", s, calls)
	}
}

// TestLimiterWithoutALedger: where there is no ledger yet, each process holds its own ceiling and
// makes nothing; what it knows then goes into the ledger's row.
func TestLimiterWithoutALedger(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	server := pgtest.Shared(t)
	a, schema := address(t, server)
	l, other := postgres.NewLimiter(a, "s"), postgres.NewLimiter(a, "s")
	defer l.Close()
	defer other.Close()
	want := `{"Rate":0.016666666666666666,"PauseReason":"ä"}`
	has := func(l *postgres.Limiter) {
		t.Helper()
		if got := kept(t, l); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	do(t, l.Change(t.Context(), func([]byte, time.Time) []byte { return []byte(want) }))
	has(l)
	if n := server.Exec(t, "SELECT count(*) FROM pg_namespace WHERE nspname = '"+schema+"'"); n != "0" {
		t.Error("a schema was made")
	}
	open(t, a)
	has(l)
	want += " "
	do(t, l.Change(t.Context(), func(state []byte, _ time.Time) []byte { return append(state, ' ') }))
	has(other)
}
