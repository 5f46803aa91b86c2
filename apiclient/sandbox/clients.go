package sandbox

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"
)

// createClient answers POST …/clients of version 1. Only leadRedirect=true
// yields a redirect url.
func (s *Service) createClient(r *http.Request) (answer, error) {
	caseID, err := parseUUID(r.PathValue("caseId"), "caseId")
	if err != nil {
		return answer{}, err
	}
	redirect, err := flag(r, "leadRedirect")
	if err != nil {
		return answer{}, err
	}
	c := Client{Version: "v1", CaseID: caseID}
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
	return answer{http.StatusCreated, body}, nil
}

// createContact answers POST …/contacts of version 2.
func (s *Service) createContact(r *http.Request) (answer, error) {
	administrator, err := flag(r, "isAdministrator")
	if err != nil {
		return answer{}, err
	}
	c := Client{Version: "v2", Administrator: administrator}
	if err := s.addClient(r, &c); err != nil {
		return answer{}, err
	}
	return answer{http.StatusCreated, ids{"contactId": c.ID}}, nil
}

// addClient reads the create payload, whose field names the document does not
// show: any will do. Two clients may share an e-mail; nothing forbids it.
func (s *Service) addClient(r *http.Request, c *Client) error {
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
	return s.keep(record{Client: c})
}

// checkPayload wants what a person's data look like: named values, in nested
// objects at will.
func checkPayload(o object) error {
	if len(o.names) == 0 && o.path == "" {
		return bad("empty-payload", "", "the body is an empty object: expected the client's data")
	}
	if len(o.names) == 0 {
		return bad("wrong-kind", o.path, "field %q is an empty object: expected fields in it, or no such field", o.path)
	}
	for _, name := range o.names {
		switch kind := kindOf(o.values[name]); kind {
		case "array", "null":
			return bad("wrong-kind", o.at(name), "field %q is %s: expected a string, a number, a boolean or an object", o.at(name), a(kind))
		case "object":
			nested, err := parseObject(o.values[name], o.at(name))
			if err != nil {
				return err
			}
			if err := checkPayload(nested); err != nil {
				return err
			}
		}
	}
	return nil
}

// flag is a boolean query parameter, false when it is not given.
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
	return false, bad("bad-parameter", name, "query parameter %s is neither true nor false, which was expected", name)
}
