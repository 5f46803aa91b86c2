package sandbox

import (
	"encoding/json"
	"errors"
	"path"
)

// record is one thing that was created: a line of the journal. Exactly one of
// the pointers is set; Owner is the id of the client or claim that the thing
// belongs to.
type record struct {
	Owner    string    `json:"owner,omitempty"`
	Client   *Client   `json:"client,omitempty"`
	Claim    *Claim    `json:"claim,omitempty"`
	Activity *Activity `json:"activity,omitempty"`
	Link     *Link     `json:"link,omitempty"`
}

// state is all that the service holds; it follows from the records.
type state struct {
	clients []*client // in order of creation
	byID    map[string]*client
	claims  map[string]*claim
	found   map[lookup]*client // the first client of each value
	tokens  map[string]*client // by the last part of redirect urls
}

// client is a client or contact with its claims.
type client struct {
	Client
	claims []*claim
	things int // created for the client so far
}

// claim is a claim and its administrator, under whom it is listed.
type claim struct {
	Claim
	owner *client
}

// lookup is what a look-up asks for: who, within version and case, has that
// (folded) value in that field of the create payload?
type lookup struct{ version, caseID, field, value string }

func newState() state {
	return state{
		byID:   map[string]*client{},
		claims: map[string]*claim{},
		found:  map[lookup]*client{},
		tokens: map[string]*client{},
	}
}

// client is the client (v1) or contact (v2) of that id.
func (s *state) client(version, id string) (*client, bool) {
	c, ok := s.byID[id]
	return c, ok && c.Version == version
}

var errRecord = errors.New("not a record of what the service holds")

// apply takes a record in. It fails for a record that no service would write.
func (s *state) apply(r record) error {
	set := 0
	for _, there := range []bool{r.Client != nil, r.Claim != nil, r.Activity != nil, r.Link != nil} {
		if there {
			set++
		}
	}
	if set != 1 {
		return errRecord
	}
	if r.Client != nil {
		return s.addClient(*r.Client)
	}
	owner := s.byID[r.Owner]
	on := s.claims[r.Owner]
	if on != nil {
		owner = on.owner
	}
	if owner == nil {
		return errRecord
	}
	owner.things++
	switch {
	case r.Claim != nil:
		c := &claim{*r.Claim, owner}
		c.Order = owner.things
		owner.claims = append(owner.claims, c)
		s.claims[c.ID] = c
	case r.Activity != nil:
		act := *r.Activity
		act.Order = owner.things
		if on != nil {
			on.Activities = append(on.Activities, act)
		} else {
			owner.Activities = append(owner.Activities, act)
		}
	case r.Link != nil:
		l := *r.Link
		l.Order = owner.things
		owner.Links = append(owner.Links, l)
		s.tokens[path.Base(l.RedirectURL)] = owner
	}
	return nil
}

func (s *state) addClient(data Client) error {
	if data.ID == "" || s.byID[data.ID] != nil {
		return errRecord
	}
	var payload map[string]json.RawMessage
	if err := json.Unmarshal(data.Data, &payload); err != nil {
		return errRecord
	}
	c := &client{Client: data}
	s.clients = append(s.clients, c)
	s.byID[c.ID] = c
	if c.RedirectURL != "" {
		s.tokens[path.Base(c.RedirectURL)] = c
	}
	for field, fold := range map[string]func(string) string{"email": foldEmail, "phone": foldPhone} {
		if raw, ok := payload[field]; ok && kindOf(raw) == "string" {
			l := lookup{c.Version, c.CaseID, field, fold(unquote(raw))}
			if l.value != "" && s.found[l] == nil {
				s.found[l] = c
			}
		}
	}
	return nil
}

// startsAt is the template of the first Open activity in order of creation, of
// the client or one of its claims; "" when there is none.
func (c *client) startsAt() string {
	name, first := "", 0
	look := func(list []Activity) {
		for _, act := range list {
			if act.Status == "Open" && (first == 0 || act.Order < first) {
				name, first = act.Template, act.Order
			}
		}
	}
	look(c.Activities)
	for _, on := range c.claims {
		look(on.Activities)
	}
	return name
}
