package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// dialect holds the names and rules of an activity in one version of the interface
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

// fields returns the names of the fields of an activity.
func (d dialect) fields() []string {
	if d.workflow {
		return []string{d.template, "status", "workflowName", "workflowTemplateIdentifier", "attributes"}
	}
	return []string{d.template, "status", "attributes"}
}

// attributeFields returns the names of the fields of an attribute.
func (d dialect) attributeFields() []string {
	names := []string{d.attributeTemplate}
	for _, f := range valueFields {
		names = append(names, f.name)
	}
	return names
}

// createClientActivity answers POST …/clients/{clientId}/activities of version 1.
func (s *Service) createClientActivity(r *http.Request) (answer, error) {
	caseID, err := caseOf(r)
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

// addActivity reads an activity and stores it under its owner. known checks that
// the owner exists; it is called with mu held.
func (s *Service) addActivity(r *http.Request, d dialect, owner string, known func() error) (answer, error) {
	body, bodyErr := readBody(r)

	s.mu.Lock()
	defer s.mu.Unlock()
	if err := known(); err != nil { // a wrong address is reported before a wrong body
		return answer{}, err
	}
	if bodyErr != nil {
		return answer{}, bodyErr
	}
	act, err := s.reference.readActivity(body, d)
	if err == nil && d.workflow {
		err = s.reference.workflows.check(act.WorkflowTemplateIdentifier)
	}
	if err != nil {
		return answer{}, err
	}
	act.ID, act.Created = uuid.NewString(), s.clock()
	if err := s.store(record{Activity: &act, Owner: owner, By: caller(r)}); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, body: ids{"activityId": act.ID, "status": act.Status}}, nil
}

// readActivity reads the body of an activity.
func (ref *reference) readActivity(body object, d dialect) (activityRecord, error) {
	other := dialect2
	if d.workflow {
		other = dialect1
	}
	if err := body.only(d.fields(), other.fields()); err != nil {
		return activityRecord{}, err
	}
	id, err := body.uuid(d.template)
	if err != nil {
		return activityRecord{}, err
	}
	t, ok := ref.byID[id]
	if !ok {
		return activityRecord{}, bad("unknown-template", d.template, "there is no activity template %s: expected an id from GET activity-templates. If the run and this sandbox have different ones: claimsheet sandbox --templates FILE, or --reset for a new start", id)
	}
	act := activityRecord{TemplateID: id, Template: t.Name}
	if act.Status, err = body.text("status"); err != nil {
		return activityRecord{}, err
	}
	if !slices.Contains(d.statuses, act.Status) {
		return activityRecord{}, bad("unknown-status", "status", "this version of the interface has no such status: expected one of %s", strings.Join(d.statuses, ", "))
	}
	if d.workflow {
		if act.WorkflowName, err = body.text("workflowName"); err != nil {
			return activityRecord{}, err
		}
		if act.WorkflowTemplateIdentifier, err = body.text("workflowTemplateIdentifier"); err != nil {
			return activityRecord{}, err
		}
	}
	act.Attributes, err = ref.readAttributes(body, d, t, act.Status)
	return act, err
}

// readAttributes reads the attributes of an activity: none for an Open one; for
// a completed one at least one, each at most once, or an empty list if its
// template has none.
func (ref *reference) readAttributes(body object, d dialect, t template, status string) ([]attributeRecord, error) {
	if status == "Open" {
		if body.has("attributes") {
			return nil, bad("attributes-on-open", "attributes", "the activity is Open and has attributes: expected none, with the field left out")
		}
		return nil, nil
	}
	if !body.has("attributes") {
		return nil, bad("no-attributes", "attributes", "the activity is %s and has no attributes: expected at least one", status)
	}
	elements, err := body.elements("attributes")
	if err != nil {
		return nil, err
	}
	if len(elements) == 0 && len(t.Attributes) > 0 {
		return nil, bad("no-attributes", "attributes", "the activity is %s and has no attributes: expected at least one", status)
	}
	list := make([]attributeRecord, 0, len(elements))
	first := map[string]int{}
	for i, raw := range elements {
		at := fmt.Sprintf("attributes[%d]", i)
		if k := kindOf(raw); k != "object" {
			return nil, bad("wrong-kind", at, "%s is %s: expected an object", at, a(k))
		}
		o, err := parseObject(raw, at)
		if err != nil {
			return nil, err
		}
		attr, err := ref.readAttribute(o, d, t)
		if err != nil {
			return nil, err
		}
		if n, twice := first[attr.TemplateID]; twice {
			return nil, bad("duplicate-attribute", o.at(d.attributeTemplate), "attribute %q is there twice, as attributes[%d] already: expected once", attr.Name, n)
		}
		first[attr.TemplateID] = i
		list = append(list, attr)
	}
	return list, nil
}

// readAttribute reads one attribute of an activity of template t.
func (ref *reference) readAttribute(o object, d dialect, t template) (attributeRecord, error) {
	other := dialect2
	if d.workflow {
		other = dialect1
	}
	if err := o.only(d.attributeFields(), []string{other.attributeTemplate}); err != nil {
		return attributeRecord{}, err
	}
	id, err := o.uuid(d.attributeTemplate)
	if err != nil {
		return attributeRecord{}, err
	}
	at, ok := t.attribute(id)
	if !ok {
		return attributeRecord{}, bad("unknown-attribute", o.at(d.attributeTemplate), "activity template %q has no attribute template %s: expected one of the %d from GET activity-templates", t.Name, id, len(t.Attributes))
	}
	field, value, err := at.readValue(o)
	if err != nil {
		return attributeRecord{}, err
	}
	return attributeRecord{TemplateID: id, Name: at.Name, Field: field, Value: value}, nil
}

// readValue reads the one value field of an attribute. The data type decides which
// field that is.
func (t attributeTemplate) readValue(o object) (string, json.RawMessage, error) {
	var given []string
	kind := ""
	for _, f := range valueFields {
		if o.has(f.name) {
			given = append(given, f.name)
			kind = f.kind
		}
	}
	wanted, typed := fieldOf(t.DataType)
	if !typed {
		wanted = "stringValue, boolValue, dateTimeValue or doubleValue"
	}
	switch {
	case len(given) == 0:
		return "", nil, bad("no-value", o.path, "attribute %q has no value: expected %s", t.Name, wanted)
	case len(given) > 1:
		return "", nil, bad("several-values", o.at(given[1]), "attribute %q has %s: expected %s only", t.Name, strings.Join(given, " and "), wanted)
	case typed && given[0] != wanted:
		return "", nil, bad("wrong-value-field", o.at(given[0]), "attribute %q is a %s and has a %s: expected %s", t.Name, t.DataType, given[0], wanted)
	}
	value, err := o.value(given[0], kind)
	if err != nil {
		return "", nil, err
	}
	return given[0], value, t.checkValue(value, o.at(given[0]), given[0])
}

// checkValue checks the two fields whose JSON kind is not enough.
func (t attributeTemplate) checkValue(value json.RawMessage, at, field string) error {
	switch field {
	case "dateTimeValue":
		return t.checkDateTime(unquote(value), at)
	case "doubleValue":
		if _, err := strconv.ParseFloat(string(value), 64); err != nil {
			return bad("bad-number", at, "the number of attribute %q does not fit a double", t.Name)
		}
	}
	return nil
}

// dateTime matches a date-time in UTC. time.Parse also accepts other spellings,
// such as an hour of one digit.
var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)

// checkDateTime requires an ISO 8601 date-time in UTC with Z, at midnight for a
// Date. The refusal does not repeat the value, which may be a date of birth.
func (t attributeTemplate) checkDateTime(s, at string) error {
	moment, err := time.Parse(time.RFC3339, s)
	if err != nil || !dateTime.MatchString(s) {
		return bad("bad-date-time", at, "the value of attribute %q is not a date-time in UTC: expected ISO 8601 such as 2026-03-01T00:00:00Z", t.Name)
	}
	if t.DataType == "Date" && !moment.Equal(moment.Truncate(24*time.Hour)) {
		return bad("date-with-time", at, "attribute %q is a Date and its value has a time of day: expected T00:00:00Z", t.Name)
	}
	return nil
}
