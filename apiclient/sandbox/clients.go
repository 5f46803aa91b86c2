package sandbox

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"
)

// createClient answers POST …/clients of version 1. Only with leadRedirect=true
// the answer has a redirect url.
func (s *Service) createClient(in *input) answer {
	c, body := clientRecord{Version: "v1", CaseID: in.caseID()}, map[string]string{}
	if in.flag("leadRedirect") {
		c.RedirectURL = s.newRedirectURL()
		body["redirectUrl"] = c.RedirectURL
	}
	return s.addClient(in, c, body, "clientId")
}

// createContact answers POST …/contacts of version 2.
func (s *Service) createContact(in *input) answer {
	return s.addClient(in, clientRecord{Version: "v2", Administrator: in.flag("isAdministrator")}, map[string]string{}, "contactId")
}

// addClient reads the create payload and stores the client. The document does not
// show the field names, so all are accepted. Two clients may share an e-mail
// address: the document does not forbid it.
func (s *Service) addClient(in *input, c clientRecord, body map[string]string, idName string) answer {
	payload := in.body()
	if len(payload.values) == 0 {
		in.note(bad("empty-payload", "", "the body is an empty object: expected the client's data"))
	}
	var data bytes.Buffer
	_ = json.Compact(&data, in.raw) // it is an object, or the request is refused
	c.Data, c.ID, c.Created = data.Bytes(), uuid.NewString(), s.clock()
	body[idName] = c.ID
	return s.create(in, record{Client: &c}, body)
}

// find answers a look-up with the first client that was created with the value of the
// path in that field.
func (s *Service) find(version, field string, fold func(string) string) func(*input) answer {
	return func(in *input) answer {
		l, idName := lookup{version: version, field: field, value: fold(in.PathValue(field))}, "contactId"
		if version == "v1" {
			l.caseID, idName = in.caseID(), "clientId"
		}
		c, ok := s.state.found[l]
		if !ok {
			in.note(absent("not-found", field, "no client was created with this value in the field %q", field))
			return answer{}
		}
		return answer{status: http.StatusOK, body: map[string]string{idName: c.ID}}
	}
}

// foldEmail makes e-mail addresses comparable: case does not count.
func foldEmail(s string) string { return strings.ToLower(s) }

// foldPhone makes phone numbers comparable: spaces, hyphens and brackets do not
// count. It guesses nothing else, because the document shows no format.
func foldPhone(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("-()[]", r) {
			return -1
		}
		return r
	}, s)
}

// createClaim answers POST /funnel/v2/claims (service document, "Claim (v2)"). The
// administrator must have been created as one.
func (s *Service) createClaim(in *input) answer {
	body := in.body()
	body.only("administratorId", "claimants", "claimName")
	c := &claimRecord{ID: uuid.NewString(), AdministratorID: body.uuid("administratorId"), Claimants: readClaimants(body),
		Name: body.text("claimName"), Created: s.clock()}
	switch administrator, ok := s.known("v2", c.AdministratorID); {
	case !ok:
		in.note(bad("unknown-administrator", "administratorId", "there is no contact %s: expected the contactId of an existing contact", c.AdministratorID))
	case !administrator.Administrator:
		in.note(bad("not-administrator", "administratorId",
			"contact %s is not an administrator: expected one created with isAdministrator=true", c.AdministratorID))
	}
	for i, id := range c.Claimants {
		if _, ok := s.known("v2", id); !ok {
			in.note(bad("unknown-claimant", claimantAt(i), "there is no contact %s: expected the contactId of an existing contact", id))
		}
	}
	return s.create(in, record{Claim: c, Owner: c.AdministratorID}, map[string]string{"claimId": c.ID})
}

// readClaimants reads the ids of the claimants; none may be repeated.
func readClaimants(body object) (claimants []string) {
	var texts []string
	if raw := body.value("claimants", "array"); json.Unmarshal(raw, &texts) != nil || len(texts) == 0 {
		body.in.note(bad("no-claimants", "claimants", "claimants is empty or has something else than texts: expected the ids of contacts"))
	}
	for i, text := range texts {
		id := body.in.uuid(text, claimantAt(i))
		if slices.Contains(claimants, id) {
			body.in.note(bad("duplicate-claimant", claimantAt(i), "claimant %s is listed twice: expected once", id))
		}
		claimants = append(claimants, id)
	}
	return claimants
}

func claimantAt(i int) string { return fmt.Sprintf("claimants[%d]", i) }

// newRedirectURL returns a url that nobody can guess. It ends with a random token,
// so it holds no personal data.
func (s *Service) newRedirectURL() string { return s.options.BaseURL + "/start/" + rand.Text() }

// createLink answers POST …/magic-link of version 2. The document shows no body,
// so it accepts no body and any JSON object.
func (s *Service) createLink(in *input) answer {
	contactID := in.contact(s, in.PathValue("contactId"))
	if len(in.raw) > 0 {
		in.body()
	}
	l := &linkRecord{RedirectURL: s.newRedirectURL(), Created: s.clock()}
	return s.create(in, record{Link: l, Owner: contactID}, map[string]string{"redirectUrl": l.RedirectURL})
}

// contact returns the id of a contact, who must exist.
func (in *input) contact(s *Service, text string) string {
	id := in.uuid(text, "contactId")
	if _, ok := s.known("v2", id); !ok {
		in.note(absent("unknown-contact", "contactId", "there is no contact %s", id))
	}
	return id
}

// known returns a client (v1) or contact (v2).
func (s *Service) known(version, id string) (*client, bool) {
	c, ok := s.state.byID[id]
	return c, ok && c.Version == version
}

// start answers the redirect urls: it names the first Open activity, or step 1
// while there is none. It names nothing else, because whoever has the url may
// ask.
func (s *Service) start(in *input) answer {
	c, ok := s.state.tokens[in.PathValue("token")]
	if !ok {
		in.note(absent("unknown-link", "", "there is no such redirect url"))
		return answer{}
	}
	return answer{status: http.StatusOK, body: map[string]string{"startsAt": cmp.Or(c.startsAt(), "step 1")}}
}
