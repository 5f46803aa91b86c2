package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"
)

// createClaim answers POST /funnel/v2/claims (service document, "Claim (v2)").
func (s *Service) createClaim(r *http.Request) (answer, error) {
	body, err := readBody(r)
	if err != nil {
		return answer{}, err
	}
	if err := body.only([]string{"administratorId", "claimants", "claimName"}, nil); err != nil {
		return answer{}, err
	}
	administrator, err := body.uuid("administratorId")
	if err != nil {
		return answer{}, err
	}
	claimants, err := readClaimants(body)
	if err != nil {
		return answer{}, err
	}
	name, err := body.text("claimName")
	if err != nil {
		return answer{}, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkParties(administrator, claimants); err != nil {
		return answer{}, err
	}
	c := &Claim{ID: uuid.NewString(), Name: name, AdministratorID: administrator, Claimants: claimants, Created: s.clock()}
	if err := s.keep(record{Claim: c, Owner: administrator}); err != nil {
		return answer{}, err
	}
	return answer{http.StatusCreated, ids{"claimId": c.ID}}, nil
}

// readClaimants reads the ids of the claimants, each of them once.
func readClaimants(body object) ([]string, error) {
	elements, err := body.elements("claimants")
	if err != nil {
		return nil, err
	}
	if len(elements) == 0 {
		return nil, bad("no-claimants", "claimants", "claimants is empty: expected the id of at least one contact")
	}
	var claimants []string
	for i, raw := range elements {
		id, err := readClaimant(raw, claimantAt(i))
		if err != nil {
			return nil, err
		}
		if slices.Contains(claimants, id) {
			return nil, bad("duplicate-claimant", claimantAt(i), "claimant %s is listed twice: expected once", id)
		}
		claimants = append(claimants, id)
	}
	return claimants, nil
}

func readClaimant(raw json.RawMessage, at string) (string, error) {
	if k := kindOf(raw); k != "string" {
		return "", bad("wrong-kind", at, "%s is %s: expected the id of a contact, a string", at, a(k))
	}
	return parseUUID(unquote(raw), at)
}

func claimantAt(i int) string { return fmt.Sprintf("claimants[%d]", i) }

// checkParties wants an administrator that was created as such, and claimants
// that exist. The caller holds mu.
func (s *Service) checkParties(administrator string, claimants []string) error {
	c, ok := s.state.client("v2", administrator)
	switch {
	case !ok:
		return bad("unknown-administrator", "administratorId", "there is no contact %s: expected the contactId of one that was created before", administrator)
	case !c.Administrator:
		return bad("not-administrator", "administratorId", "contact %s is no administrator: expected one created with isAdministrator=true", administrator)
	}
	for i, id := range claimants {
		if _, ok := s.state.client("v2", id); !ok {
			return bad("unknown-claimant", claimantAt(i), "there is no contact %s: expected the contactId of one that was created before", id)
		}
	}
	return nil
}
