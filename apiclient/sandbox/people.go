package sandbox

import (
	"encoding/json"
	"errors"
	"path"
	"slices"

	"claimsheet/apiclient/sandbox/pages"
)

// Dashboard returns the path of the case handlers' dashboard, which is new with
// every New: it is a credential, because the dashboard shows personal data.
func (s *Service) Dashboard() string { return s.pages.Dashboard() }

// pageStore is the service as its pages see it.
type pageStore struct{ *Service }

// Clients implements pages.Store, as the methods below do.
func (s pageStore) Clients() []pages.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]pages.Client, 0, len(s.state.clients))
	for _, c := range s.state.clients {
		all = append(all, s.view(c))
	}
	return all
}

func (s pageStore) Client(id string) (pages.Client, bool) {
	return s.viewOf(func() *client { return s.state.byID[id] })
}

func (s pageStore) Holder(token string) (pages.Client, bool) {
	return s.viewOf(func() *client { return s.state.tokens[token] })
}

// viewOf returns what find returns with mu held; nil is nobody.
func (s pageStore) viewOf(find func() *client) (pages.Client, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := find()
	if c == nil {
		return pages.Client{}, false
	}
	return s.view(c), true
}

// Complete stores what the client entered, and the activity that the workflow places
// then. The document does not show how the service completes an activity: here it is as
// if it were Submitted with the attributes.
func (s pageStore) Complete(token, activityID string, values map[string]json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.state.tokens[token]
	if !ok {
		return pages.ErrNotCurrent
	}
	at, ok := c.current()
	if !ok || at.ID != activityID {
		return pages.ErrNotCurrent
	}
	ref := s.reference
	t, ok := ref.byID[at.TemplateID]
	if !ok {
		return errors.New("the sandbox was started without the template of this activity: start it with the reference data of the run, --templates FILE")
	}
	e := entryRecord{ActivityID: activityID, Created: s.clock()}
	for _, a := range t.Attributes {
		value, given := values[a.ID]
		if !given {
			continue
		}
		field, typed := fieldOf(a.DataType)
		if !typed {
			field = "stringValue"
		}
		if err := a.checkValue(value, "", field); err != nil {
			return err
		}
		e.Attributes = append(e.Attributes, attributeRecord{TemplateID: a.ID, Name: a.Name, Field: field, Value: value})
	}
	if len(e.Attributes) == 0 && len(t.Attributes) > 0 {
		return errors.New("a completed activity has at least one attribute")
	}
	e.Next = ref.next(at.activity, c.beside(at), e.Created)
	return s.store(record{Entry: &e, Owner: c.ID})
}

// view copies a client for the pages. The caller holds mu.
func (s pageStore) view(c *client) pages.Client {
	out := pages.Client{ID: c.ID, Version: c.Version, CaseID: c.CaseID, Administrator: c.Administrator, Data: c.Data, Created: c.Created, By: c.by}
	if url := c.newestURL(); url != "" {
		out.Token = path.Base(url)
	}
	for _, on := range slices.Concat(c.claims, c.joint) {
		shown := pages.Claim{ID: on.ID, Name: on.Name, Administrator: on.owner.person(), Created: on.Created}
		for _, id := range on.Claimants {
			shown.Claimants = append(shown.Claimants, s.state.byID[id].person())
		}
		out.Claims = append(out.Claims, shown)
	}
	for _, at := range c.journey() {
		out.Steps = append(out.Steps, viewStep(at, s.reference))
	}
	return out
}

func viewStep(at step, ref *reference) pages.Step {
	out := pages.Step{ID: at.ID, Template: at.Template, Status: at.Status, Open: at.isOpen(), Placed: at.placed, Created: at.Created}
	if at.on != nil {
		out.ClaimID = at.on.ID
	}
	set := at.Attributes
	if at.entry != nil {
		who := at.entry.client.person()
		set, out.EnteredBy, out.Entered = at.entry.Attributes, &who, at.entry.Created
	}
	t := ref.byID[at.TemplateID]
	if out.Open {
		for _, a := range t.Attributes {
			out.Attributes = append(out.Attributes, pages.Attribute{ID: a.ID, Name: a.Name, DataType: a.DataType, Options: a.choices()})
		}
	}
	for _, a := range set {
		template, _ := t.attribute(a.TemplateID)
		out.Attributes = append(out.Attributes, pages.Attribute{ID: a.TemplateID, Name: a.Name, DataType: template.DataType, Value: a.Value})
	}
	return out
}

// person returns the client as others see one; a claimant whom the journal does not
// know is empty.
func (c *client) person() pages.Person {
	if c == nil {
		return pages.Person{}
	}
	return pages.Person{ID: c.ID, Data: c.Data}
}

// newestURL returns the redirect url that was handed out last; "" for none.
func (c *client) newestURL() string {
	if n := len(c.links); n > 0 {
		return c.links[n-1].RedirectURL
	}
	return c.RedirectURL
}
