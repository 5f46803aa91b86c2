package cli_test

import (
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
