package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
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

// createClientActivity answers POST …/clients/{clientId}/activities of version 1.
func (s *Service) createClientActivity(in *input) answer {
	caseID, clientID := in.caseID(), in.uuid(in.PathValue("clientId"), "clientId")
	if c, ok := s.known("v1", clientID); !ok || c.CaseID != caseID {
		in.note(absent("unknown-client", "clientId", "there is no client %s in case %s", clientID, caseID))
	}
	return s.addActivity(in, dialect1, clientID)
}

// createActivity answers POST /funnel/v2/activities, for a claim or a contact.
func (s *Service) createActivity(in *input) answer {
	query := in.URL.Query()
	switch hasClaim, hasContact := query.Has("claimId"), query.Has("contactId"); {
	case hasClaim && hasContact:
		in.note(bad("two-owners", "contactId", "claimId and contactId are both given: expected one of them"))
	case !hasClaim && !hasContact:
		in.note(bad("no-owner", "claimId", "neither claimId nor contactId is given: expected one of them"))
	case hasContact:
		return s.addActivity(in, dialect2, in.contact(s, query.Get("contactId")))
	}
	claimID := in.uuid(query.Get("claimId"), "claimId")
	if s.state.claims[claimID] == nil {
		in.note(absent("unknown-claim", "claimId", "there is no claim %s", claimID))
	}
	return s.addActivity(in, dialect2, claimID)
}

// addActivity reads an activity and stores it under its owner.
func (s *Service) addActivity(in *input, d dialect, owner string) answer {
	act := s.reference.readActivity(in.body(), d)
	act.ID, act.Created = uuid.NewString(), s.clock()
	return s.create(in, record{Activity: &act, Owner: owner}, map[string]string{"activityId": act.ID, "status": act.Status})
}

// readActivity reads the body of an activity.
func (ref *reference) readActivity(body object, d dialect) activityRecord {
	body.only(d.fields()...)
	act := activityRecord{TemplateID: body.uuid(d.template)}
	t, ok := ref.byID[act.TemplateID]
	if !ok {
		body.in.note(bad("unknown-template", d.template,
			"there is no activity template %s: expected an id from GET activity-templates. If the run and this sandbox have different ones: claimsheet sandbox --templates FILE, or --reset for a new start", act.TemplateID))
	}
	act.Template, act.Status = t.Name, body.text("status")
	if !slices.Contains(d.statuses, act.Status) {
		body.in.note(bad("unknown-status", "status", "this version of the interface has no such status: expected one of %s",
			strings.Join(d.statuses, ", ")))
	}
	if d.workflow {
		act.WorkflowName, act.WorkflowTemplateIdentifier = body.text("workflowName"), body.text("workflowTemplateIdentifier")
		body.in.note(ref.checkWorkflow(act.WorkflowTemplateIdentifier))
	}
	act.Attributes = readAttributes(body, d, t, act.Status)
	return act
}

// readAttributes reads the attributes of an activity: none for an Open one; for
// a completed one at least one, each at most once, or an empty list if its
// template has none.
func readAttributes(body object, d dialect, t activityTemplate, status string) (list []attributeRecord) {
	if status == "Open" {
		if body.has("attributes") {
			body.in.note(bad("attributes-on-open", "attributes", "the activity is Open and has attributes: expected none, with the field left out"))
		}
		return nil
	}
	var elements []json.RawMessage
	if body.has("attributes") {
		_ = json.Unmarshal(body.value("attributes", "array"), &elements) // any array is one of these
	}
	if len(elements) == 0 && (len(t.Attributes) > 0 || !body.has("attributes")) {
		body.in.note(bad("no-attributes", "attributes", "the activity is %s and has no attributes: expected at least one", status))
	}
	first := map[string]int{}
	for i, raw := range elements {
		at := fmt.Sprintf("attributes[%d]", i)
		if k := kindOf(raw); k != "object" {
			body.in.note(bad("wrong-kind", at, "%s is %s: expected an object", at, a(k)))
			return nil
		}
		o := body.in.object(raw, at)
		attr := readAttribute(o, d, t)
		if n, twice := first[attr.TemplateID]; twice {
			body.in.note(bad("duplicate-attribute", o.at(d.attributeTemplate),
				"attribute %q is there twice, as attributes[%d] already: expected once", attr.Name, n))
		}
		first[attr.TemplateID] = i
		list = append(list, attr)
	}
	return list
}

// readAttribute reads one attribute of an activity of template t. The data type decides
// which value field it has.
func readAttribute(o object, d dialect, t activityTemplate) attributeRecord {
	known, given, kind := []string{d.attributeTemplate}, []string(nil), ""
	for _, f := range valueFields {
		known = append(known, f.name)
		if o.has(f.name) {
			given, kind = append(given, f.name), f.kind
		}
	}
	o.only(known...)
	id := o.uuid(d.attributeTemplate)
	at, ok := t.attribute(id)
	if !ok {
		o.in.note(bad("unknown-attribute", o.at(d.attributeTemplate),
			"activity template %q has no attribute template %s: expected one of the %d from GET activity-templates", t.Name, id, len(t.Attributes)))
	}
	typed := at.DataType != ""
	wanted := cmp.Or(fieldOf(at.DataType), "stringValue, boolValue, dateTimeValue or doubleValue")
	switch {
	case len(given) == 0:
		o.in.note(bad("no-value", o.path, "attribute %q has no value: expected %s", at.Name, wanted))
	case len(given) > 1:
		o.in.note(bad("several-values", o.at(given[1]), "attribute %q has %s: expected %s only", at.Name, strings.Join(given, " and "), wanted))
	case typed && given[0] != wanted:
		o.in.note(bad("wrong-value-field", o.at(given[0]), "attribute %q is a %s and has a %s: expected %s", at.Name, at.DataType, given[0], wanted))
	default:
		value := o.value(given[0], kind)
		o.in.note(at.checkValue(value, o.at(given[0]), given[0]))
		return attributeRecord{TemplateID: id, Name: at.Name, Field: given[0], Value: value}
	}
	return attributeRecord{}
}

// dateTime matches a date-time in UTC. time.Parse also accepts other spellings,
// such as an hour of one digit.
var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)

// checkValue checks the two fields whose JSON kind is not enough: a number must fit, and a
// date-time is in UTC, at midnight for a Date. The refusal does not repeat the value, which
// may be a date of birth.
func (t attributeTemplate) checkValue(value json.RawMessage, at, field string) *refusal {
	_, notFitting := strconv.ParseFloat(string(value), 64)
	text := unquote(value)
	moment, wrong := time.Parse(time.RFC3339, text)
	switch {
	case field == "doubleValue" && notFitting != nil:
		return bad("bad-number", at, "the number of attribute %q does not fit a double", t.Name)
	case field == "dateTimeValue" && (wrong != nil || !dateTime.MatchString(text)):
		return bad("bad-date-time", at, "the value of attribute %q is not a date-time in UTC: expected ISO 8601 such as 2026-03-01T00:00:00Z", t.Name)
	case t.DataType == "Date" && !moment.Equal(moment.Truncate(24*time.Hour)):
		return bad("date-with-time", at, "attribute %q is a Date and its value has a time of day: expected T00:00:00Z", t.Name)
	}
	return nil
}
