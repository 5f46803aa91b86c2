package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"time"
)

// record is one thing that was created, or one activity that a client completed: a
// line of the journal. Exactly one of the pointers is set. Owner is the id of the
// client or claim that the thing belongs to, or of the client who completed the activity.
type record struct {
	Owner    string          `json:"owner,omitempty"`
	Client   *clientRecord   `json:"client,omitempty"`
	Claim    *claimRecord    `json:"claim,omitempty"`
	Activity *activityRecord `json:"activity,omitempty"`
	Link     *linkRecord     `json:"link,omitempty"`
	Entry    *entryRecord    `json:"entry,omitempty"`
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

// entryRecord is what a client entered on the claims site: it completes an Open
// activity, and Next is the one that the workflow places then, on the same client or
// claim; nil for none.
type entryRecord struct {
	ActivityID string            `json:"activityId"`
	Attributes []attributeRecord `json:"attributes,omitempty"`
	Next       *activityRecord   `json:"next,omitempty"`
	Created    time.Time         `json:"created"`
}

// state is everything that the service holds; the records add up to it.
type state struct {
	clients []*client // in order of creation
	byID    map[string]*client
	claims  map[string]*claim
	found   map[lookup]*client // the first client with each value
	tokens  map[string]*client // by the last part of the redirect url
	made    int                // activities so far
}

// client is a client or contact with everything that was created for it. Exported
// names are for the pages.
type client struct {
	clientRecord
	Claims     []*claim // that the client administers or is a claimant of
	Activities []*activity
	links      []*linkRecord
}

// claim is a claim with its activities.
type claim struct {
	claimRecord
	Administrator *client
	Activities    []*activity
}

// activity is an activity as it is now.
type activity struct {
	activityRecord
	Claim *claim // nil for one of the client
	Entry *entryRecord
	place int // among all activities of the service
}

// lookup is the question of a look-up: which client, of a version and case, has
// that (folded) value in that field of the create payload?
type lookup struct{ version, caseID, field, value string }

func newState() state {
	return state{byID: map[string]*client{}, claims: map[string]*claim{}, found: map[lookup]*client{}, tokens: map[string]*client{}}
}

var errRecord = errors.New("not a record of what the service holds")

// apply adds a record. It fails for one that no service would write.
func (s *state) apply(r record) error {
	owner, on := s.byID[r.Owner], s.claims[r.Owner]
	if on != nil {
		owner = on.Administrator
	}
	switch {
	case r.Client != nil:
		return s.addClient(*r.Client)
	case owner == nil:
		return errRecord
	case r.Claim != nil:
		return s.addClaim(owner, *r.Claim)
	case r.Activity != nil:
		s.addActivity(owner, &activity{activityRecord: *r.Activity, Claim: on})
	case r.Link != nil:
		owner.links = append(owner.links, r.Link)
		s.tokens[path.Base(r.Link.RedirectURL)] = owner
	case r.Entry != nil:
		return s.complete(owner, r.Entry)
	default:
		return errRecord
	}
	return nil
}

func (s *state) addClient(data clientRecord) error {
	var payload map[string]json.RawMessage
	if err := json.Unmarshal(data.Data, &payload); err != nil || data.ID == "" || s.byID[data.ID] != nil {
		return errRecord
	}
	c := &client{clientRecord: data}
	s.clients = append(s.clients, c)
	s.byID[c.ID] = c
	if c.RedirectURL != "" {
		s.tokens[path.Base(c.RedirectURL)] = c
	}
	for field, fold := range map[string]func(string) string{"email": foldEmail, "phone": foldPhone} {
		l := lookup{c.Version, c.CaseID, field, fold(unquote(payload[field]))}
		if l.value != "" && s.found[l] == nil {
			s.found[l] = c
		}
	}
	return nil
}

func (s *state) addClaim(owner *client, data claimRecord) error {
	c := &claim{claimRecord: data, Administrator: owner}
	people := []*client{owner}
	for _, id := range data.Claimants {
		who := s.byID[id]
		if who == nil {
			return errRecord
		}
		if who != owner {
			people = append(people, who)
		}
	}
	for _, who := range people {
		who.Claims = append(who.Claims, c)
	}
	s.claims[c.ID] = c
	return nil
}

// addActivity adds an activity of a claim, or of the client.
func (s *state) addActivity(of *client, a *activity) {
	s.made++
	a.place = s.made
	if a.Claim != nil {
		a.Claim.Activities = append(a.Claim.Activities, a)
		return
	}
	of.Activities = append(of.Activities, a)
}

// complete applies an entry of the client, for an Open activity of the journey.
func (s *state) complete(c *client, e *entryRecord) error {
	for _, a := range c.Steps() {
		if a.ID != e.ActivityID || !a.IsOpen() {
			continue
		}
		a.Entry = e
		if e.Next != nil {
			s.addActivity(c, &activity{activityRecord: *e.Next, Claim: a.Claim})
		}
		return nil
	}
	return errRecord
}

// Steps returns the client's journey: the activities of the client and of the claims. The
// document has no order of templates, but says that what comes before an Open activity
// is back-filled: so back-filled ones come first, then those that were created Open, both
// in order of creation.
func (c *client) Steps() []*activity {
	steps := slices.Clone(c.Activities)
	for _, on := range c.Claims {
		steps = append(steps, on.Activities...)
	}
	createdOpen := func(a *activity) int {
		if a.Status == "Open" {
			return 1
		}
		return 0
	}
	slices.SortFunc(steps, func(a, b *activity) int {
		return cmp.Or(cmp.Compare(createdOpen(a), createdOpen(b)), cmp.Compare(a.place, b.place))
	})
	return steps
}

// IsOpen reports whether the activity waits for the client.
func (a *activity) IsOpen() bool { return a.Status == "Open" && a.Entry == nil }

// Current returns the first Open activity, which the claims site shows; nil for none.
func (c *client) Current() *activity {
	for _, a := range c.Steps() {
		if a.IsOpen() {
			return a
		}
	}
	return nil
}

// startsAt returns the template of the current activity; "" for none.
func (c *client) startsAt() string {
	if a := c.Current(); a != nil {
		return a.Template
	}
	return ""
}
