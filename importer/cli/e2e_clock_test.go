package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
)

// since1970 is how far the clock must be put back for it to be 1970.
func since1970() time.Duration { return time.Since(time.Unix(0, 0)) }

// clock is the environment of a trial build whose clock is ahead.
func (s *scene) clock(ahead time.Duration) []string {
	s.t.Helper()
	write(s.t, s.path("clock"), ahead.String())
	return []string{"TRIAL_CLOCK=" + s.path("clock")}
}

// TestParkedWhileClocksJump parks the creation of a client, and sets the clock before the
// next run. A clock that was set back never makes the attempt look old.
func TestParkedWhileClocksJump(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const step = "client c2@example.com"
	for name, c := range map[string]struct {
		ahead time.Duration
		sent  bool
	}{
		"at once":              {0, false},
		"an hour back":         {-time.Hour, false},
		"a day back":           {-24 * time.Hour, false},
		"back to 1970":         {-since1970(), false},
		"nine minutes later":   {9 * time.Minute, false},
		"eleven minutes later": {11 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(3))
			s.service.Play(apitest.Once(onStep(step), apitest.Answer(apitest.JSON(500, `{}`))))
			s.mustRunTrial(trialName, 4)
			code, asked := 4, 1
			if c.sent {
				code, asked = 0, 2
			}
			s.mustRunTrial(trialName, code, s.clock(c.ahead)...)
			if got := s.asked()[step]; got != asked {
				t.Errorf("the service was asked %d times for the client, want %d", got, asked)
			}
			s.checkPromise()
			s.mustRunTrial(trialName, 0, s.clock(11*time.Minute)...)
			if got := s.asked()[step]; got != 2 {
				t.Errorf("with the clock put right the service was asked %d times for the client, want 2", got)
			}
			s.checkPromise()
		})
	}
}

// mustRunTrial runs a trial build and expects an exit code.
func (s *scene) mustRunTrial(binary string, want int, env ...string) {
	s.t.Helper()
	if code, out := s.runTrial(binary, env...); code != want {
		s.t.Fatalf("exit code %d, want %d\n%s", code, want, out)
	}
}

// TestClockJumpsInsideARun sets the clock back in the middle of a run that has
// parked a client, holds an uncertain claim and an OAuth2 token, and is then
// asked to wait, in seconds and until a date.
func TestClockJumpsInsideARun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	binary := trialName
	for name, jump := range map[string]time.Duration{
		"an hour back": -time.Hour, "a day back": -24 * time.Hour, "back to 1970": -since1970(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(6))
			tokens := s.tokenServer()
			env := s.clock(0)
			jumped, faults := new(atomic.Bool), map[string]apitest.Fault{
				"client c2@example.com":         apitest.Answer(apitest.JSON(500, `{}`)),
				"claim c3@example.com/Loan A-3": apitest.CreateThen(apitest.JSON(500, `{}`)),
				"claim c5@example.com/Loan A-5": apitest.Busy(429, 1),
				"claim c6@example.com/Loan A-6": until(time.Now().Add(2 * time.Second)),
			}
			script := apitest.OnceEach(faults)
			s.service.Play(func(c apitest.Call) apitest.Fault {
				if c.Step == "claim c4@example.com/Loan A-4" {
					s.clock(jump)
					jumped.Store(true)
				}
				return script(c)
			})
			began := time.Now()
			s.mustRunTrial(binary, 4, env...)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("the run took %s", took)
			}
			if !jumped.Load() || tokens.Load() != 1 {
				t.Errorf("jumped %v, %d tokens were asked for, want one", jumped.Load(), tokens.Load())
			}
			// Once more with the clock as it is now, and once with it put right.
			for _, wall := range []time.Duration{jump, 0} {
				s.mustRunTrial(binary, 4, s.clock(wall)...)
			}
			for step, n := range s.asked() {
				want := 1
				if f, ok := faults[step]; ok && f.Reply.Status == 429 {
					want = 2
				}
				if n != want {
					t.Errorf("%s was sent %d times, want %d", step, n, want)
				}
			}
			s.checkPromise()
		})
	}
}

// until is a 429 that asks to wait until a date.
func until(at time.Time) apitest.Fault {
	f := apitest.Busy(429, 0)
	f.Reply.Header["Retry-After"] = at.UTC().Format(http.TimeFormat)
	return f
}

// tokenServer has the scene's environment ask for OAuth2 tokens, which last an
// hour, and counts them.
func (s *scene) tokenServer() *atomic.Int64 {
	s.t.Helper()
	tokens := new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"t%d","token_type":"Bearer","expires_in":3600}`, tokens.Add(1))
	}))
	s.t.Cleanup(server.Close)
	s.environment("auth: {type: oauth2, token_url: " + server.URL + ", client_id: env:PATH, client_secret: env:PATH}")
	return tokens
}
