package trial

import (
	"context"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer"
)

// service has a place after each answer, says to the wire what is sent, and has the
// bugs of a program that sends again or misreads an answer.
type service struct {
	importer.Service
	trial *Trial
}

func (s *service) CreateReserved(ctx context.Context, slot *apiclient.Slot, r apiclient.Request) apiclient.Verdict {
	s.trial.mu.Lock()
	step := s.trial.intent
	s.trial.mu.Unlock()
	s.trial.wire.begin(step)
	defer s.trial.wire.begin("")
	began := time.Now()
	v := s.Service.CreateReserved(ctx, slot, r)
	for attempt := 1; attempt < 5 && sentAgain(v, time.Since(began)); attempt++ {
		slot, err := s.Reserve(ctx)
		if err != nil {
			break
		}
		began = time.Now()
		v = s.Service.CreateReserved(ctx, slot, r)
	}
	if v.Status != 0 {
		reach("after-answer", step)
	}
	if RefusedBy5xx.Planted() && v.Effect == apiclient.Uncertain && v.Status/100 == 5 {
		v.Effect = apiclient.Refused
	}
	return v
}

// sentAgain reports whether a planted bug sends a request again that may have
// worked. No answer after more than half a second is a time-out: what breaks a
// connection in the tests does so at once.
func sentAgain(v apiclient.Verdict, took time.Duration) bool {
	timedOut := took > 500*time.Millisecond
	return v.Effect == apiclient.Uncertain && (AgainAfterReset.Planted() && v.Status == 0 && !timedOut ||
		AgainAfterTimeout.Planted() && v.Status == 0 && timedOut || AgainAfter500.Planted() && v.Status == 500)
}

func (s *service) Find(ctx context.Context, by apiclient.By, value string) (apiclient.Found, error) {
	step := "lookup " + value
	s.trial.wire.begin(step)
	defer s.trial.wire.begin("")
	found, err := s.Service.Find(ctx, by, value)
	if err == nil {
		reach("after-answer", step)
	}
	return found, err
}
