package sandbox

import (
	"bytes"
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
func (s *Service) createClient(r *http.Request) (answer, error) {
	caseID, err := caseOf(r)
	if err != nil {
		return answer{}, err
	}
	redirect, err := flag(r, "leadRedirect")
	if err != nil {
		return answer{}, err
	}
	c := clientRecord{Version: "v1", CaseID: caseID}
	if redirect {
		c.RedirectURL = s.newRedirectURL()
	}
	if err := s.addClient(r, &c); err != nil {
		return answer{}, err
	}
	body := ids{"clientId": c.ID}
	if redirect {
		body["redirectUrl"] = c.RedirectURL
	}
	return answer{status: http.StatusCreated, body: body}, nil
}

// caseOf returns the case of a request's path.
func caseOf(r *http.Request) (string, error) { return parseUUID(r.PathValue("caseId"), "caseId") }

// createContact answers POST …/contacts of version 2.
func (s *Service) createContact(r *http.Request) (answer, error) {
	administrator, err := flag(r, "isAdministrator")
	if err != nil {
		return answer{}, err
	}
	c := clientRecord{Version: "v2", Administrator: administrator}
	if err := s.addClient(r, &c); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, body: ids{"contactId": c.ID}}, nil
}

// addClient reads the create payload and stores the client. The document does not
// show the field names, so all are accepted. Two clients may share an e-mail
// address: the document does not forbid it.
func (s *Service) addClient(r *http.Request, c *clientRecord) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	if err := checkPayload(body); err != nil {
		return err
	}
	var data bytes.Buffer
	if err := json.Compact(&data, body.raw); err != nil {
		return err
	}
	c.Data = data.Bytes()
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ID, c.Created = uuid.NewString(), s.clock()
	return s.store(record{Client: c, By: caller(r)})
}

// checkPayload requires at least one field, and a value for each, also in nested
// objects and arrays.
func checkPayload(o object) error {
	if len(o.names) == 0 && o.path == "" {
		return bad("empty-payload", "", "the body is an empty object: expected the client's data")
	}
	if len(o.names) == 0 {
		return bad("wrong-kind", o.path, "field %q is an empty object: expected fields in it, or no such field", o.path)
	}
	for _, name := range o.names {
		if err := checkPayloadValue(o.values[name], o.at(name)); err != nil {
			return err
		}
	}
	return nil
}

func checkPayloadValue(value json.RawMessage, at string) error {
	switch kindOf(value) {
	case "null":
		return bad("wrong-kind", at, "field %q is null: expected a string, a number, a boolean, an object or an array", at)
	case "object":
		nested, err := parseObject(value, at)
		if err != nil {
			return err
		}
		return checkPayload(nested)
	case "array":
		var list []json.RawMessage
		if err := json.Unmarshal(value, &list); err != nil {
			return err
		}
		if len(list) == 0 {
			return bad("wrong-kind", at, "field %q is an empty array: expected elements in it, or no such field", at)
		}
		for i, element := range list {
			if err := checkPayloadValue(element, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// flag returns a boolean query parameter; false when it is missing.
func flag(r *http.Request, name string) (bool, error) {
	query := r.URL.Query()
	if !query.Has(name) {
		return false, nil
	}
	switch query.Get(name) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, bad("bad-parameter", name, "query parameter %s is wrong: expected true or false", name)
}

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

// findClient searches in the case of the path.
func (s *Service) findClient(r *http.Request, field, value string) (answer, error) {
	caseID, err := caseOf(r)
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
		return answer{}, absent("not-found", l.field, "no client was created with this value in the field %q", l.field)
	}
	return answer{status: http.StatusOK, body: ids{idName: c.ID}}, nil
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
	c := &claimRecord{ID: uuid.NewString(), Name: name, AdministratorID: administrator, Claimants: claimants, Created: s.clock()}
	if err := s.store(record{Claim: c, Owner: administrator, By: caller(r)}); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, body: ids{"claimId": c.ID}}, nil
}

// readClaimants reads the ids of the claimants; none may be repeated.
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

// checkParties requires an administrator who was created as one, and claimants who
// exist. The caller holds mu.
func (s *Service) checkParties(administrator string, claimants []string) error {
	c, ok := s.state.client("v2", administrator)
	switch {
	case !ok:
		return bad("unknown-administrator", "administratorId", "there is no contact %s: expected the contactId of an existing contact", administrator)
	case !c.Administrator:
		return bad("not-administrator", "administratorId", "contact %s is not an administrator: expected one created with isAdministrator=true", administrator)
	}
	for i, id := range claimants {
		if _, ok := s.state.client("v2", id); !ok {
			return bad("unknown-claimant", claimantAt(i), "there is no contact %s: expected the contactId of an existing contact", id)
		}
	}
	return nil
}

// newRedirectURL returns a url that nobody can guess. It ends with a random token,
// so it holds no personal data.
func (s *Service) newRedirectURL() string { return s.baseURL + "/start/" + rand.Text() }

// createLink answers POST …/magic-link of version 2. The document shows no body,
// so it accepts no body and any JSON object.
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
	l := &linkRecord{RedirectURL: s.newRedirectURL(), Created: s.clock()}
	if err := s.store(record{Link: l, Owner: contactID, By: caller(r)}); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, body: ids{"redirectUrl": l.RedirectURL}}, nil
}

// start answers the redirect urls: it names the first Open activity, or step 1
// while there is none. It names nothing else, because whoever has the url may
// ask.
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
	return answer{status: http.StatusOK, body: ids{"startsAt": at}}, nil
}
