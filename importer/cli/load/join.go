package load

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"claimsheet/apiclient"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Shared is what a worker needs of the session of a run to plan and to send as that run does: JSON, without secrets and rows.
type Shared struct {
	MappingFile string // its name in messages
	Mapping     []byte
	Sheets      []cell.Sheet // their headers
	Service     *mapping.Service
	RunDate     string
	Identity    string  // of the environment, by its base url and case
	Settings    string  // a digest of how the environment's answers are understood
	Rate        float64 // requests per second; 0 for the worker's own
}

// Share returns what workers need of a session.
func (s *Session) Share() (Shared, error) {
	shared := Shared{MappingFile: s.Mapping.File, Mapping: s.MappingText, RunDate: s.RunDate, Service: s.Service, Identity: s.Scope(),
		Rate: s.connection.Rate}
	for _, src := range s.Inputs {
		sheet := src.Sheet()
		sheet.Copied = nil // the worker names cells of the sheet
		shared.Sheets = append(shared.Sheets, sheet)
	}
	var err error
	shared.Settings, err = s.settings()
	return shared, err
}

// settings is a digest of what the environment says about requests and answers.
func (s *Session) settings() (string, error) {
	e := s.Env
	var text bytes.Buffer
	err := json.NewEncoder(&text).Encode([]any{e.Wire, e.NotFound, e.Repeatable})
	fmt.Fprintf(&text, "%+v", e.Rules)
	sum := sha256.Sum256(text.Bytes())
	return hex.EncodeToString(sum[:]), err
}

// Join opens a worker's session for a run: with the mapping, the headers and the templates of the run, and this machine's environment,
// which must be the same, else the error is the problem other-environment. The session must be closed.
func Join(ctx context.Context, where Where, c Connection, shared Shared) (s *Session, err error) {
	s = &Session{MappingText: shared.Mapping, Service: shared.Service, RunDate: shared.RunDate}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	var found problem.List
	if s.Mapping, found = mapping.Parse(shared.MappingFile, shared.Mapping); len(found) > 0 {
		return s, found.Err()
	}
	if err := s.chooseEnvironment(where); err != nil {
		return s, err
	}
	settings, err := s.settings()
	if err != nil {
		return s, err
	}
	if s.Scope() != shared.Identity || settings != shared.Settings {
		return s, problem.New("other-environment",
			"the environment “%s” of this worker is not that of the run: base_url, case_id, wire, not_found, errors or repeatable differ", s.Env.Name).
			Hinted("give all machines the same environments file; secrets may be in other places")
	}
	if shared.Rate > 0 {
		c.Rate = shared.Rate
	}
	if err := s.Connect(ctx, apiclient.Version(s.Mapping.API.Text), c); err != nil {
		return s, err
	}
	s.Binding, found = mapping.BindAll(s.Mapping, shared.Sheets, shared.Service, shared.RunDate)
	return s, found.Err()
}
