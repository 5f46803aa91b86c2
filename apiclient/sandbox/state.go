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
// By is the User-Agent of the request.
type record struct {
	Owner    string          `json:"owner,omitempty"`
	By       string          `json:"by,omitempty"`
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

// client is a client or contact with everything that was created for it.
type client struct {
	clientRecord
	by         string
	claims     []*claim // that the client administers
	joint      []*claim // that others administer and the client is a claimant of
	activities []*activity
	links      []*linkRecord
}

// claim is a claim. It is listed under its administrator, the owner.
type claim struct {
	claimRecord
	owner      *client
	activities []*activity
}

// activity is an activity as it is now. An entry, if there is one, has the status
// and the attributes that the record has not.
type activity struct {
	activityRecord
	place  int  // among all activities of the service
	placed bool // placed by the workflow, and not by a request
	entry  *entry
}

// entry is what a client entered to complete an activity.
type entry struct {
	entryRecord
	client *client
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
	for _, isSet := range []bool{r.Client != nil, r.Claim != nil, r.Activity != nil, r.Link != nil, r.Entry != nil} {
		if isSet {
			set++
		}
	}
	if set != 1 {
		return errRecord
	}
	if r.Client != nil {
		return s.addClient(*r.Client, r.By)
	}
	owner := s.byID[r.Owner]
	on := s.claims[r.Owner]
	if on != nil {
		owner = on.owner
	}
	if owner == nil {
		return errRecord
	}
	if r.Entry != nil {
		return s.complete(owner, *r.Entry)
	}
	if r.Activity != nil {
		s.addActivity(owner, on, &activity{activityRecord: *r.Activity})
		return nil
	}
	switch {
	case r.Claim != nil:
		s.addClaim(&claim{claimRecord: *r.Claim, owner: owner})
	case r.Link != nil:
		owner.links = append(owner.links, r.Link)
		s.tokens[path.Base(r.Link.RedirectURL)] = owner
	}
	return nil
}

// addActivity adds an activity of a client, or with on of a claim that the client
// administers.
func (s *state) addActivity(owner *client, on *claim, act *activity) {
	list := &owner.activities
	if on != nil {
		list = &on.activities
	}
	s.made++
	act.place = s.made
	*list = append(*list, act)
}

func (s *state) addClaim(c *claim) {
	s.claims[c.ID] = c
	c.owner.claims = append(c.owner.claims, c)
	for _, id := range c.Claimants {
		if claimant := s.byID[id]; claimant != nil && claimant != c.owner {
			claimant.joint = append(claimant.joint, c)
		}
	}
}

func (s *state) addClient(data clientRecord, by string) error {
	if data.ID == "" || s.byID[data.ID] != nil {
		return errRecord
	}
	var payload map[string]json.RawMessage
	if err := json.Unmarshal(data.Data, &payload); err != nil {
		return errRecord
	}
	c := &client{clientRecord: data, by: by}
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

// step is an activity in a client's journey; on is nil for one of the client's own.
type step struct {
	*activity
	on *claim
}

// journey returns the activities of the client and of the claims that the client
// administers or is a claimant of. The document has no order of templates, but says
// that what comes before an Open activity is back-filled: so back-filled ones come
// first, then those that were created Open, both in order of creation.
func (c *client) journey() []step {
	var steps []step
	add := func(list []*activity, on *claim) {
		for _, act := range list {
			steps = append(steps, step{act, on})
		}
	}
	add(c.activities, nil)
	for _, on := range slices.Concat(c.claims, c.joint) {
		add(on.activities, on)
	}
	slices.SortFunc(steps, func(a, b step) int {
		if (a.Status == "Open") != (b.Status == "Open") {
			if a.Status == "Open" {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.place, b.place)
	})
	return steps
}

func (a *activity) isOpen() bool { return a.Status == "Open" && a.entry == nil }

// current returns the first Open activity, which the claims site shows; ok is false for
// none.
func (c *client) current() (at step, ok bool) {
	for _, s := range c.journey() {
		if s.isOpen() {
			return s, true
		}
	}
	return step{}, false
}

// beside returns the activities of the same client or claim.
func (c *client) beside(at step) []*activity {
	if at.on != nil {
		return at.on.activities
	}
	return c.activities
}

// complete applies an entry of the client, for an Open activity of the journey.
func (s *state) complete(c *client, e entryRecord) error {
	for _, at := range c.journey() {
		if at.ID != e.ActivityID || !at.isOpen() {
			continue
		}
		at.entry = &entry{e, c}
		if e.Next != nil {
			owner := c
			if at.on != nil {
				owner = at.on.owner
			}
			s.addActivity(owner, at.on, &activity{activityRecord: *e.Next, placed: true})
		}
		return nil
	}
	return errRecord
}

// startsAt returns the template of the current activity; "" for none.
func (c *client) startsAt() string {
	if at, ok := c.current(); ok {
		return at.Template
	}
	return ""
}
