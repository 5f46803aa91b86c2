package apitest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// create records what a call makes under its step's name.
func (s *Server) create(call *Call, thing Made) {
	call.Created = thing.ID
	if thing.ID == "" {
		call.Created = thing.URL
	}
	s.made[call.Step] = append(s.made[call.Step], thing)
}

func (s *Server) createClient(call *Call, query url.Values, v1 bool) action {
	call.Kind = "client"
	var payload map[string]any
	err := json.Unmarshal([]byte(call.Body), &payload)
	call.Client = text(payload, s.KeyField)
	call.Step = "client " + call.Client
	flag := "isAdministrator"
	if v1 {
		flag = "leadRedirect"
	}
	return func(call *Call) (Reply, error) {
		switch {
		case err != nil || payload == nil:
			return refuse("the body is not a JSON object")
		case call.Client == "":
			return refuse("the payload names nobody: it has no " + s.KeyField)
		case !onlyFlag(query, flag):
			return refuse("the query has more than " + flag + "=true")
		}
		c := &client{id: s.newID("c"), key: call.Client, email: text(payload, s.EmailField), phone: text(payload, s.PhoneField)}
		s.clients = append(s.clients, c)
		made, reply := Made{ID: c.id}, words{}
		if v1 {
			reply.putID(s.Wire.ClientID, s.idValue(c.id))
			if query.Has(flag) {
				made.URL = s.newURL()
				reply.put(s.Wire.RedirectURL, s.urlValue(made.URL))
			}
		} else {
			reply.putID(s.Wire.ContactID, s.idValue(c.id))
		}
		s.create(call, made)
		return reply.reply(http.StatusCreated), nil
	}
}

// onlyFlag tells that a query is empty or the flag set to true.
func onlyFlag(query url.Values, flag string) bool {
	return len(query) == 0 || len(query) == 1 && slices.Equal(query[flag], []string{"true"})
}

func (s *Server) createClaim(call *Call) action {
	call.Kind = "claim"
	var payload struct {
		AdministratorID *string   `json:"administratorId"`
		Claimants       *[]string `json:"claimants"`
		ClaimName       *string   `json:"claimName"`
	}
	err := strict(call.Body, &payload)
	complete := payload.AdministratorID != nil && payload.Claimants != nil && payload.ClaimName != nil
	var who *client
	if complete {
		who = s.clientWith(*payload.AdministratorID)
	}
	if who != nil {
		call.Client = who.key
		call.Step = "claim " + who.key + "/" + *payload.ClaimName
	}
	return func(call *Call) (Reply, error) {
		switch {
		case err != nil:
			return refuse(err.Error())
		case !complete:
			return refuse("administratorId, claimants and claimName are required")
		case who == nil:
			return refuse("administratorId is nobody's")
		case !slices.Equal(*payload.Claimants, []string{who.id}):
			return refuse("the administrator is not the only claimant")
		case *payload.ClaimName == "":
			return refuse("claimName is empty")
		}
		made, reply := Made{ID: s.newID("b")}, words{}
		s.claims[made.ID] = claim{who, *payload.ClaimName}
		reply.putID(s.Wire.ClaimID, s.idValue(made.ID))
		s.create(call, made)
		return reply.reply(http.StatusCreated), nil
	}
}

func (s *Server) createLink(call *Call, contactID string) action {
	call.Kind = "link"
	who := s.clientWith(contactID)
	if who != nil {
		call.Client = who.key
		call.Step = "link " + who.key
	}
	return func(call *Call) (Reply, error) {
		if who == nil {
			return refuse("the contactId of the path is nobody's")
		}
		made, reply := Made{URL: s.newURL()}, words{}
		reply.put(s.Wire.RedirectURL, s.urlValue(made.URL))
		s.create(call, made)
		return reply.reply(http.StatusCreated), nil
	}
}

func (s *Server) newURL() string {
	s.serial++
	return fmt.Sprintf("%s/go/url-token-%d", cmp.Or(s.Wire.Origin, "https://claims.example.com"), s.serial)
}

// strict reads a body that must be one JSON object of known fields.
func strict(body string, into any) error {
	dec := json.NewDecoder(strings.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("the body is not as documented: %w", err)
	}
	if dec.More() {
		return errors.New("the body has more than one value")
	}
	return nil
}

// text is the text at a dotted name; "" for none.
func text(payload map[string]any, name string) string { return textIn(payload, name) }

func textIn(value any, name string) string {
	if name == "" {
		if value == nil {
			return ""
		}
		return fmt.Sprint(value)
	}
	head, rest, _ := strings.Cut(name, ".")
	switch v := value.(type) {
	case map[string]any:
		return textIn(v[head], rest)
	case []any:
		if i, err := strconv.Atoi(head); err == nil && i < len(v) {
			return textIn(v[i], rest)
		}
	}
	return ""
}
