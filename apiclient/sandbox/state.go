package sandbox

import (
	"encoding/json"
	"errors"
	"path"
	"time"
)

// record is one thing that was created: a line of the journal. Exactly one of the
// pointers is set. Owner is the id of the client or claim that the thing belongs
// to.
type record struct {
	Owner    string          `json:"owner,omitempty"`
	Client   *clientRecord   `json:"client,omitempty"`
	Claim    *claimRecord    `json:"claim,omitempty"`
	Activity *activityRecord `json:"activity,omitempty"`
	Link     *linkRecord     `json:"link,omitempty"`
}

// clientRecord is a client (v1) or a contact (v2).
type clientRecord struct {
	ID            string          `json:"id"`
	Version       string          `json:"version"`          // v1 or v2
	CaseID        string          `json:"caseId,omitempty"` // v1
	Administrator bool            `json:"administrator,omitempty"`
	Data          json.RawMessage `json:"data"`                  // the create payload, without white space
	RedirectURL   string          `json:"redirectUrl,omitempty"` // v1, with leadRedirect=true
	Created       time.Time       `json:"created"`
}

// claimRecord is a claim (v2).
type claimRecord struct {
	ID              string    `json:"id"`
	Name            string    `json:"name"`
	AdministratorID string    `json:"administratorId"`
	Claimants       []string  `json:"claimants"`
	Created         time.Time `json:"created"`
}

// activityRecord is an activity of a client or of a claim.
type activityRecord struct {
	ID                         string            `json:"id"`
	TemplateID                 string            `json:"templateId"`
	Template                   string            `json:"template"` // its name
	Status                     string            `json:"status"`
	WorkflowName               string            `json:"workflowName,omitempty"`               // v2
	WorkflowTemplateIdentifier string            `json:"workflowTemplateIdentifier,omitempty"` // v2
	Attributes                 []attributeRecord `json:"attributes,omitempty"`
	Created                    time.Time         `json:"created"`
}

// attributeRecord is an attribute of an activity.
type attributeRecord struct {
	TemplateID string          `json:"templateId"`
	Name       string          `json:"name"`
	Field      string          `json:"field"` // stringValue, boolValue, dateTimeValue or doubleValue
	Value      json.RawMessage `json:"value"` // as it was sent
}

// linkRecord is a magic link (v2).
type linkRecord struct {
	RedirectURL string    `json:"redirectUrl"` // a credential
	Created     time.Time `json:"created"`
}

// state is everything that the service holds; the records add up to it.
type state struct {
	clients []*client // in order of creation
	byID    map[string]*client
	claims  map[string]*claim
	found   map[lookup]*client // the first client with each value
	tokens  map[string]*client // by the last part of the redirect url
}

// client is a client or contact with everything that was created for it. order
// of a claim, an activity or a link counts these things from 1, all together.
type client struct {
	clientRecord
	claims     []*claim
	activities []activity
	links      []link
	things     int // created for the client so far
}

// claim is a claim. It is listed under its administrator, the owner.
type claim struct {
	claimRecord
	order      int
	owner      *client
	activities []activity
}

type activity struct {
	activityRecord
	order int
}

type link struct {
	linkRecord
	order int
}

// lookup is the question of a look-up: which client, of a version and case, has
// that (folded) value in that field of the create payload?
type lookup struct{ version, caseID, field, value string }

func newState() state {
	return state{
		byID:   map[string]*client{},
		claims: map[string]*claim{},
		found:  map[lookup]*client{},
		tokens: map[string]*client{},
	}
}

// client returns the client (v1) or contact (v2) with that id.
func (s *state) client(version, id string) (*client, bool) {
	c, ok := s.byID[id]
	return c, ok && c.Version == version
}

var errRecord = errors.New("not a record of what the service holds")

// apply adds a record. It fails for one that no service would write.
func (s *state) apply(r record) error {
	set := 0
	for _, isSet := range []bool{r.Client != nil, r.Claim != nil, r.Activity != nil, r.Link != nil} {
		if isSet {
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
		c := &claim{claimRecord: *r.Claim, order: owner.things, owner: owner}
		owner.claims = append(owner.claims, c)
		s.claims[c.ID] = c
	case r.Activity != nil && on != nil:
		on.activities = append(on.activities, activity{*r.Activity, owner.things})
	case r.Activity != nil:
		owner.activities = append(owner.activities, activity{*r.Activity, owner.things})
	case r.Link != nil:
		owner.links = append(owner.links, link{*r.Link, owner.things})
		s.tokens[path.Base(r.Link.RedirectURL)] = owner
	}
	return nil
}

func (s *state) addClient(data clientRecord) error {
	if data.ID == "" || s.byID[data.ID] != nil {
		return errRecord
	}
	var payload map[string]json.RawMessage
	if err := json.Unmarshal(data.Data, &payload); err != nil {
		return errRecord
	}
	c := &client{clientRecord: data}
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

// startsAt returns the template of the first Open activity in order of creation,
// of the client or of one of its claims; "" for none.
func (c *client) startsAt() string {
	name, first := "", 0
	look := func(list []activity) {
		for _, act := range list {
			if act.Status == "Open" && (first == 0 || act.order < first) {
				name, first = act.Template, act.order
			}
		}
	}
	look(c.activities)
	for _, on := range c.claims {
		look(on.activities)
	}
	return name
}
