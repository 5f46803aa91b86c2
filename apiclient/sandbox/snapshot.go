package sandbox

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// Snapshot is what a service holds, as plain data.
type Snapshot struct {
	Clients []Client `json:"clients"` // in order of creation
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

// Snapshot is what the service holds now. It is the caller's own: nothing that
// happens later changes it.
func (s *Service) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := Snapshot{Clients: make([]Client, 0, len(s.state.clients))}
	for _, c := range s.state.clients {
		out := c.Client
		out.Data = bytes.Clone(c.Data)
		out.Activities = copyActivities(c.Activities)
		out.Links = slices.Clone(c.Links)
		for _, on := range c.claims {
			claim := on.Claim
			claim.Claimants = slices.Clone(on.Claimants)
			claim.Activities = copyActivities(on.Activities)
			out.Claims = append(out.Claims, claim)
		}
		out.StartsAt = c.startsAt()
		snap.Clients = append(snap.Clients, out)
	}
	return snap
}

func copyActivities(list []Activity) []Activity {
	out := slices.Clone(list)
	for i := range out {
		out[i].Attributes = slices.Clone(out[i].Attributes)
		for j := range out[i].Attributes {
			out[i].Attributes[j].Value = bytes.Clone(out[i].Attributes[j].Value)
		}
	}
	return out
}
