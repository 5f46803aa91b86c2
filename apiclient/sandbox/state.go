package sandbox

import (
	"encoding/json"
	"errors"
	"path"
	"time"
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

// Client is a client (v1) or a contact (v2).
type Client struct {
	ID            string          `json:"id"`
	Version       string          `json:"version"`          // v1 or v2
	CaseID        string          `json:"caseId,omitempty"` // v1
	Administrator bool            `json:"administrator,omitempty"`
	Data          json.RawMessage `json:"data"`                  // the create payload, without white space
	RedirectURL   string          `json:"redirectUrl,omitempty"` // v1, with leadRedirect=true
	Created       time.Time       `json:"created"`
	Claims        []Claim         `json:"claims,omitempty"` // those that the contact administers
	Activities    []Activity      `json:"activities,omitempty"`
	Links         []Link          `json:"links,omitempty"`
	// StartsAt names the template of the activity that redirect urls lead to:
	// the first Open one. "" means step 1.
	StartsAt string `json:"startsAt,omitempty"`
}

// Claim is a claim (v2). Order is its place among all that was created for its
// client, counted from 1; so are those of activities and links.
type Claim struct {
	ID              string     `json:"id"`
	Order           int        `json:"order,omitempty"`
	Name            string     `json:"name"`
	AdministratorID string     `json:"administratorId"`
	Claimants       []string   `json:"claimants"`
	Created         time.Time  `json:"created"`
	Activities      []Activity `json:"activities,omitempty"`
}

// Activity is an activity of a client or of a claim.
type Activity struct {
	ID                         string      `json:"id"`
	Order                      int         `json:"order,omitempty"`
	TemplateID                 string      `json:"templateId"`
	Template                   string      `json:"template"` // its name
	Status                     string      `json:"status"`
	WorkflowName               string      `json:"workflowName,omitempty"`               // v2
	WorkflowTemplateIdentifier string      `json:"workflowTemplateIdentifier,omitempty"` // v2
	Attributes                 []Attribute `json:"attributes,omitempty"`
	Created                    time.Time   `json:"created"`
}

// Attribute is an attribute of an activity.
type Attribute struct {
	TemplateID string          `json:"templateId"`
	Name       string          `json:"name"`
	Field      string          `json:"field"` // stringValue, boolValue, dateTimeValue or doubleValue
	Value      json.RawMessage `json:"value"` // as it was sent
}

// Link is a magic link (v2).
type Link struct {
	Order       int       `json:"order,omitempty"`
	RedirectURL string    `json:"redirectUrl"` // a credential
	Created     time.Time `json:"created"`
}

