package ledgertest

import (
	"errors"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

var loans = ledger.Run{ID: "r1", Environment: jane("", "").Environment, EnvironmentName: "uat", Mapping: "loans",
	MappingFile: "mapping.yaml", MappingDigest: "m", Input: "leads.xlsx", InputDigest: "i", KeptInput: "inputs/i.xlsx",
	Version: "v1.0.0", Started: noon}

// testRun: a run is known from its start, once, and comes back as it ended.
func (s suite) testRun(t *testing.T) {
	l := s.fresh(t)
	do(t, l.StartRun(loans))
	if err := l.StartRun(loans); err == nil || errors.Is(err, ledger.ErrStopped) {
		t.Errorf("started twice: got %v, want a refusal", err)
	}
	got, ok, err := l.Run(t.Context(), "r1")
	do(t, err)
	same(t, "known", ok, true)
	same(t, "running", got, loans)

	ended := loans
	ended.Finished, ended.Output, ended.OutputDigest, ended.Summary = noon.Add(time.Hour), "leads.results.xlsx", "o", []byte("{}")
	do(t, l.FinishRun(ended))
	got, _, err = l.Run(t.Context(), "r1")
	do(t, err)
	same(t, "finished", got, ended)

	_, ok, err = l.Run(t.Context(), "r9")
	do(t, err)
	same(t, "unknown run", ok, false)
	if err := l.FinishRun(ledger.Run{ID: "r9"}); err == nil || errors.Is(err, ledger.ErrStopped) {
		t.Errorf("finishing an unknown run: got %v, want a refusal", err)
	}
}
