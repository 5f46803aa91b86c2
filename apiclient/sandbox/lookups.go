package sandbox

import (
	"net/http"
	"strings"
	"unicode"
)

func (s *Service) findClientByEmail(r *http.Request) (answer, error) {
	return s.findClient(r, "email", foldEmail(r.PathValue("email")))
}

func (s *Service) findClientByPhone(r *http.Request) (answer, error) {
	return s.findClient(r, "phone", foldPhone(r.PathValue("phone")))
}

func (s *Service) findContactByEmail(r *http.Request) (answer, error) {
	return s.find(lookup{"v2", "", "email", foldEmail(r.PathValue("email"))}, "contactId")
}

func (s *Service) findContactByPhone(r *http.Request) (answer, error) {
	return s.find(lookup{"v2", "", "phone", foldPhone(r.PathValue("phone"))}, "contactId")
}

// findClient looks within the path's case.
func (s *Service) findClient(r *http.Request, field, value string) (answer, error) {
	caseID, err := parseUUID(r.PathValue("caseId"), "caseId")
	if err != nil {
		return answer{}, err
	}
	return s.find(lookup{"v1", caseID, field, value}, "clientId")
}

// find answers with the first client that was created with that value.
func (s *Service) find(l lookup, idName string) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.state.found[l]
	if !ok {
		return answer{}, absent("not-found", l.field, "nobody was created with this value in the field %q", l.field)
	}
	return answer{http.StatusOK, ids{idName: c.ID}}, nil
}

// foldEmail makes e-mails comparable: they are the same in any case.
func foldEmail(s string) string { return strings.ToLower(s) }

// foldPhone makes phone numbers comparable: spaces, hyphens and brackets are
// for the eye. Nothing else is guessed; the document shows no format.
func foldPhone(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("-()[]", r) {
			return -1
		}
		return r
	}, s)
}
