package sandbox

import (
	"crypto/rand"
	"net/http"
)

// newRedirectURL makes a url that nobody can guess: a token and nothing else,
// so that it carries no personal data.
func (s *Service) newRedirectURL() string { return s.baseURL + "/start/" + rand.Text() }

// createLink answers POST …/magic-link of version 2. The document shows no
// body, so none and any JSON object will do.
func (s *Service) createLink(r *http.Request) (answer, error) {
	contactID, err := parseUUID(r.PathValue("contactId"), "contactId")
	if err != nil {
		return answer{}, err
	}
	raw, bodyErr := readAll(r)
	if bodyErr == nil && len(raw) > 0 {
		if bodyErr = checkContentType(r.Header); bodyErr == nil {
			_, bodyErr = parseBody(raw)
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.state.client("v2", contactID); !ok {
		return answer{}, absent("unknown-contact", "contactId", "there is no contact %s", contactID)
	}
	if bodyErr != nil {
		return answer{}, bodyErr
	}
	l := &Link{RedirectURL: s.newRedirectURL(), Created: s.clock()}
	if err := s.keep(record{Link: l, Owner: contactID}); err != nil {
		return answer{}, err
	}
	return answer{http.StatusCreated, ids{"redirectUrl": l.RedirectURL}}, nil
}

// start answers what a client who follows a redirect url comes to: the first
// Open activity, or step 1 while there is none. It tells no more than the
// activity's name, for the url is all that the caller has shown.
func (s *Service) start(r *http.Request) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.state.tokens[r.PathValue("token")]
	if !ok {
		return answer{}, absent("unknown-link", "", "there is no such redirect url")
	}
	at := c.startsAt()
	if at == "" {
		at = "step 1"
	}
	return answer{http.StatusOK, ids{"startsAt": at}}, nil
}
