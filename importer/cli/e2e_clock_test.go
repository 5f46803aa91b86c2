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

// clocks are the environment of a trial build whose wall clock and boot clock
// are ahead by as much as the files say.
func (s *scene) clocks(wall, boot time.Duration) []string {
	s.t.Helper()
	write(s.t, s.path("wall"), wall.String())
	write(s.t, s.path("boot"), boot.String())
	return []string{"TRIAL_CLOCK=" + s.path("wall"), "TRIAL_BOOT=" + s.path("boot")}
}

// TestParkedWhileClocksJump parks the creation of a client, and sets the wall
// clock before the next run. The step is sent again when ten minutes have
// passed by the boot clock, whatever the wall clock says; after a new start of
// the machine the wall clock decides, and one that was put back says nothing.
// Put right, no step is lost.
func TestParkedWhileClocksJump(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const day, step = 24 * time.Hour, "client c2@example.com"
	cases := []struct {
		name       string
		wall, boot time.Duration
		rebooted   bool
		sent       bool
	}{
		{"no jump", 0, 0, false, false},
		{"an hour forward", time.Hour, 0, false, false},
		{"an hour back", -time.Hour, 0, false, false},
		{"a day forward", day, 0, false, false},
		{"a day back", -day, 0, false, false},
		{"back to 1970", -since1970(), 0, false, false},
		{"nine minutes later", 0, 9 * time.Minute, false, false},
		{"eleven minutes later", 0, 11 * time.Minute, false, true},
		{"eleven minutes later, a day back", -day, 11 * time.Minute, false, true},
		{"eleven minutes later, back to 1970", -since1970(), 11 * time.Minute, false, true},
		{"rebooted", 0, 0, true, false},
		{"rebooted, an hour forward", time.Hour, 0, true, true},
		{"rebooted, an hour back", -time.Hour, 0, true, false},
		{"rebooted, a day back", -day, 0, true, false},
		{"rebooted, back to 1970", -since1970(), 0, true, false},
	}
	binary := trialName
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(3))
			s.service.Play(apitest.Once(onStep(step), apitest.Answer(apitest.JSON(500, `{}`))))
			s.mustRunTrial(binary, 4)
			env := s.clocks(c.wall, c.boot)
			if c.rebooted {
				env = append(env, "TRIAL_REBOOT=another")
			}
			code, asked := 4, 1
			if c.sent {
				code, asked = 0, 2
			}
			s.mustRunTrial(binary, code, env...)
			if got := s.asked()[step]; got != asked {
				t.Errorf("the service was asked %d times for the client, want %d", got, asked)
			}
			s.checkPromise()
			s.mustRunTrial(binary, 0, append(s.clocks(0, 11*time.Minute), "TRIAL_REBOOT=")...)
			if got := s.asked()[step]; got != 2 {
				t.Errorf("with the clocks put right the service was asked %d times for the client, want 2", got)
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

// TestClockJumpsInsideARun sets the wall clock in the middle of a run that has
// parked a client, holds an uncertain claim and an OAuth2 token, and is then
// asked to wait, in seconds and until a date.
func TestClockJumpsInsideARun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const day = 24 * time.Hour
	binary := trialName
	for name, jump := range map[string]time.Duration{
		"an hour forward": time.Hour, "an hour back": -time.Hour, "a day forward": day, "a day back": -day, "back to 1970": -since1970(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(6))
			tokens := s.tokenServer()
			env := s.clocks(0, 0)
			jumped, faults := new(atomic.Bool), map[string]apitest.Fault{
				"client c2@example.com":         apitest.Answer(apitest.JSON(500, `{}`)),
				"claim c3@example.com/Loan A-3": apitest.CreateThen(apitest.JSON(500, `{}`)),
				"claim c5@example.com/Loan A-5": apitest.Busy(429, 1),
				"claim c6@example.com/Loan A-6": until(time.Now().Add(2 * time.Second)),
			}
			script := apitest.OnceEach(faults)
			s.service.Play(func(c apitest.Call) apitest.Fault {
				if c.Step == "claim c4@example.com/Loan A-4" {
					s.clocks(jump, 0)
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
				s.mustRunTrial(binary, 4, s.clocks(wall, 0)...)
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
