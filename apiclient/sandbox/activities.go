package sandbox

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// dialect is how a version of the interface calls the parts of an activity
// (service document, "Activity, request shape for v1" and "… for v2").
type dialect struct {
	template, attributeTemplate string
	workflow                    bool
	statuses                    []string
}

var (
	dialect1 = dialect{"activityTemplateId", "activityAttributeTemplateId", false, []string{"Open", "Submitted"}}
	dialect2 = dialect{"templateId", "templateId", true, []string{"Open", "Submitted", "Accepted"}}
)

// fields are the names that an activity has.
func (d dialect) fields() []string {
	if d.workflow {
		return []string{d.template, "status", "workflowName", "workflowTemplateIdentifier", "attributes"}
	}
	return []string{d.template, "status", "attributes"}
}

// attributeFields are the names that an attribute has.
func (d dialect) attributeFields() []string {
	names := []string{d.attributeTemplate}
	for _, f := range valueFields {
		names = append(names, f.name)
	}
	return names
}

// createClientActivity answers POST …/clients/{clientId}/activities of version 1.
func (s *Service) createClientActivity(r *http.Request) (answer, error) {
	caseID, err := parseUUID(r.PathValue("caseId"), "caseId")
	if err != nil {
		return answer{}, err
	}
	clientID, err := parseUUID(r.PathValue("clientId"), "clientId")
	if err != nil {
		return answer{}, err
	}
	known := func() error {
		if c, ok := s.state.client("v1", clientID); !ok || c.CaseID != caseID {
			return absent("unknown-client", "clientId", "there is no client %s in case %s", clientID, caseID)
		}
		return nil
	}
	return s.addActivity(r, dialect1, clientID, known)
}

// createActivity answers POST /funnel/v2/activities, for a claim or a contact.
func (s *Service) createActivity(r *http.Request) (answer, error) {
	query := r.URL.Query()
	name := "claimId"
	switch hasClaim, hasContact := query.Has("claimId"), query.Has("contactId"); {
	case hasClaim && hasContact:
		return answer{}, bad("two-owners", "contactId", "claimId and contactId are both given: expected one of them")
	case !hasClaim && !hasContact:
		return answer{}, bad("no-owner", "claimId", "neither claimId nor contactId is given: expected one of them")
	case hasContact:
		name = "contactId"
	}
	owner, err := parseUUID(query.Get(name), name)
	if err != nil {
		return answer{}, err
	}
	known := func() error {
		if _, ok := s.state.claims[owner]; name == "claimId" && !ok {
			return absent("unknown-claim", name, "there is no claim %s", owner)
		}
		if _, ok := s.state.client("v2", owner); name == "contactId" && !ok {
			return absent("unknown-contact", name, "there is no contact %s", owner)
		}
		return nil
	}
	return s.addActivity(r, dialect2, owner, known)
}

// addActivity reads an activity and gives it to its owner, which must be known;
// known is called with mu held.
func (s *Service) addActivity(r *http.Request, d dialect, owner string, known func() error) (answer, error) {
	body, bodyErr := readBody(r)

	s.mu.Lock()
	defer s.mu.Unlock()
	if err := known(); err != nil { // a wrong address is told before a wrong body
		return answer{}, err
	}
	if bodyErr != nil {
		return answer{}, bodyErr
	}
	act, err := s.reference.readActivity(body, d)
	if err != nil {
		return answer{}, err
	}
	act.ID, act.Created = uuid.NewString(), s.clock()
	if err := s.keep(record{Activity: &act, Owner: owner}); err != nil {
		return answer{}, err
	}
	return answer{http.StatusCreated, ids{"activityId": act.ID, "status": act.Status}}, nil
}

// readActivity reads an activity's body.
func (ref *reference) readActivity(body object, d dialect) (Activity, error) {
	other := dialect2
	if d.workflow {
		other = dialect1
	}
	if err := body.only(d.fields(), other.fields()); err != nil {
		return Activity{}, err
	}
	id, err := body.uuid(d.template)
	if err != nil {
		return Activity{}, err
	}
	t, ok := ref.byID[id]
	if !ok {
		return Activity{}, bad("unknown-template", d.template, "there is no activity template %s: expected an id that GET activity-templates answers", id)
	}
	act := Activity{TemplateID: id, Template: t.Name}
	if act.Status, err = body.text("status"); err != nil {
		return Activity{}, err
	}
	if !slices.Contains(d.statuses, act.Status) {
		return Activity{}, bad("unknown-status", "status", "the status is not one of this version of the interface: expected one of %s", strings.Join(d.statuses, ", "))
	}
	if d.workflow {
		if act.WorkflowName, err = body.text("workflowName"); err != nil {
			return Activity{}, err
		}
		if act.WorkflowTemplateIdentifier, err = body.text("workflowTemplateIdentifier"); err != nil {
			return Activity{}, err
		}
	}
	act.Attributes, err = ref.readAttributes(body, d, t, act.Status)
	return act, err
}
