package trial

import (
	"context"

	"claimsheet/apiclient"
	"claimsheet/importer"
)

// service has a place after each answer, and says to the wire what is sent.
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
	v := s.Service.CreateReserved(ctx, slot, r)
	if v.Status != 0 {
		reach("after-answer", step)
	}
	return v
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
