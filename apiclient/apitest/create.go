package apitest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// creates sets what a call asks for, of a client, if there is one.
func (c *Call) creates(kind string, who *client, name string) {
	if c.Kind = kind; who != nil {
		c.Client, c.Step = who.key, kind+" "+who.key+name
	}
}

// create records a created thing under the name of the call's step, and answers with values at their places.
func (s *Server) create(call *Call, thing Made, values map[string]any) (Reply, error) {
	call.Created = cmp.Or(thing.ID, thing.URL)
	s.made[call.Step] = append(s.made[call.Step], thing)
	return reply(http.StatusCreated, values), nil
}

func (s *Server) createClient(call *Call, r *http.Request) action {
	call.Kind = "client"
	var payload map[string]any
	err := json.Unmarshal([]byte(call.Body), &payload)
	call.Client = text(payload, s.KeyField)
	call.Step = "client " + call.Client
	kind, place, flag := "contact", s.Wire.ContactID, "isAdministrator"
	query, v1 := r.URL.Query(), isV1(r)
	if v1 {
		kind, place, flag = "client", s.Wire.ClientID, "leadRedirect"
	}
	return func(call *Call) (Reply, error) {
		switch {
		case err != nil || payload == nil:
			return refuse("the body is not a JSON object")
		case call.Client == "":
			return refuse("the payload does not identify a client: it has no " + s.KeyField)
		case !onlyFlag(query, flag):
			return refuse("the query has more than " + flag + "=true")
		}
		c := &client{id: s.newID(kind), key: call.Client, email: text(payload, s.EmailField), phone: text(payload, "phone"),
			since: time.Now().Add(call.hidden)}
		s.clients = append(s.clients, c)
		made, values := Made{ID: c.id}, map[string]any{place: s.idValue(c.id)}
		if v1 && query.Has(flag) {
			made.URL = s.newURL()
			values[s.Wire.RedirectURL] = made.URL
		}
		return s.create(call, made, values)
	}
}

// onlyFlag reports whether a query is empty or has just the flag set to true.
func onlyFlag(query url.Values, flag string) bool {
	return len(query) == 0 || len(query) == 1 && slices.Equal(query[flag], []string{"true"})
}

func (s *Server) createClaim(call *Call, _ *http.Request) action {
	var payload struct {
		AdministratorID *string   `json:"administratorId"`
		Claimants       *[]string `json:"claimants"`
		ClaimName       *string   `json:"claimName"`
	}
	body := json.NewDecoder(strings.NewReader(call.Body))
	body.DisallowUnknownFields()
	err := body.Decode(&payload)
	complete := payload.AdministratorID != nil && payload.Claimants != nil && payload.ClaimName != nil
	var who *client
	call.Kind = "claim"
	if complete {
		who = s.clientWith(*payload.AdministratorID)
		call.creates("claim", who, "/"+*payload.ClaimName)
	}
	return func(call *Call) (Reply, error) {
		switch {
		case err != nil || body.More():
			return refuse("the body is not one object as documented")
		case !complete:
			return refuse("administratorId, claimants and claimName are required")
		case who == nil:
			return refuse("there is no contact with the administratorId")
		case len(*payload.Claimants) == 0:
			return refuse("a claim has at least one claimant")
		case len(slices.Compact(slices.Sorted(slices.Values(*payload.Claimants)))) < len(*payload.Claimants):
			return refuse("a claimant is named twice")
		case slices.ContainsFunc(*payload.Claimants, func(id string) bool { return s.clientWith(id) == nil }):
			return refuse("there is no contact with the id of a claimant")
		case *payload.ClaimName == "":
			return refuse("claimName is empty")
		}
		id := s.newID("claim")
		s.claims[id] = claim{who, *payload.ClaimName}
		return s.create(call, Made{ID: id}, map[string]any{s.Wire.ClaimID: s.idValue(id)})
	}
}

func (s *Server) createLink(call *Call, r *http.Request) action {
	who := s.clientWith(r.PathValue("contact"))
	call.creates("link", who, "")
	return func(call *Call) (Reply, error) {
		if who == nil {
			return refuse("there is no contact with the contactId of the path")
		}
		link := s.newURL()
		return s.create(call, Made{URL: link}, map[string]any{s.Wire.RedirectURL: link})
	}
}

func (s *Server) newURL() string {
	name := s.newID("link")
	if !s.Wire.Named {
		name = fmt.Sprintf("url-token-%d", s.serial)
	}
	return "https://claims.example.com/go/" + name
}

// text returns the text at a dotted name; "" for none.
func text(value any, name string) string {
	if name == "" {
		if value == nil {
			return ""
		}
		return fmt.Sprint(value)
	}
	head, rest, _ := strings.Cut(name, ".")
	object, _ := value.(map[string]any)
	return text(object[head], rest)
}

// activityShape describes the payload of an activity in one version (document,
// "Activity, request shape for v1" and "for v2").
type activityShape struct {
	template  string // field of the activity template's id
	attribute string // field of the attribute template's id
	required  []string
	statuses  []string
}

var (
	activityV1 = activityShape{
		template: "activityTemplateId", attribute: "activityAttributeTemplateId",
		required: []string{"activityTemplateId", "status"},
		statuses: []string{"Open", "Submitted"},
	}
	activityV2 = activityShape{
		template: "templateId", attribute: "templateId",
		required: []string{"templateId", "status", "workflowName", "workflowTemplateIdentifier"},
		statuses: []string{"Open", "Submitted", "Accepted"},
	}
)

// valueFields are the value fields, each with the data types that use it.
var valueFields = map[string][]string{
	"stringValue":   {"Text", "TextArea", "DropDown"},
	"boolValue":     {"Checkbox"},
	"dateTimeValue": {"Date", "DateTime"},
	"doubleValue":   {"Number", "Currency"},
}

// createActivity creates an activity of a client or, with a claimId, of a claim.
func (s *Server) createActivity(call *Call, r *http.Request) action {
	query := r.URL.Query()
	shape, clientID, claimID := activityV2, query.Get("contactId"), query.Get("claimId")
	if isV1(r) {
		shape, clientID, claimID = activityV1, r.PathValue("client"), ""
	}
	var payload map[string]any
	err := json.Unmarshal([]byte(call.Body), &payload)
	scope, who := "", s.clientWith(clientID)
	if on, ok := s.claims[claimID]; ok {
		who, scope = on.client, "/"+on.name
	}
	both := clientID != "" && claimID != ""
	template, known := s.template(text(payload, shape.template))
	call.creates("activity", who, scope+" "+template.Name)
	return func(call *Call) (Reply, error) {
		switch {
		case err != nil || payload == nil:
			return refuse("the body is not a JSON object")
		case who == nil || both || claimID != "" && scope == "":
			return refuse("the activity needs one client or one claim that exists")
		case !known:
			return refuse("the template id is not among the activity templates")
		}
		if err := shape.check(payload, template); err != nil {
			return refuse(err.Error())
		}
		id := s.newID("activity")
		values := map[string]any{"/status": payload["status"]}
		if s.Wire.ActivityID != "" {
			values[s.Wire.ActivityID] = s.idValue(id)
		}
		return s.create(call, Made{ID: id}, values)
	}
}

// check returns an error for a payload that breaks the document's rules.
func (shape activityShape) check(payload map[string]any, t Template) error {
	for _, name := range shape.required {
		if value, ok := payload[name].(string); !ok || value == "" {
			return fmt.Errorf("%s is required and is a text", name)
		}
	}
	for name := range payload {
		if name != "attributes" && !slices.Contains(shape.required, name) {
			return fmt.Errorf("an activity has no field %s", name)
		}
	}
	status := payload["status"].(string)
	if !slices.Contains(shape.statuses, status) {
		return fmt.Errorf("%s is not one of %s", status, strings.Join(shape.statuses, ", "))
	}
	attributes, given := payload["attributes"]
	if status == "Open" && given {
		return errors.New("an Open activity is created without attributes")
	}
	list, isList := attributes.([]any)
	if status != "Open" && (!isList || len(list) == 0 && len(t.Attributes) > 0) {
		return errors.New("a completed activity has an array of attributes, which is empty only if its template has none")
	}
	for _, item := range list {
		if err := shape.checkAttribute(item, t); err != nil {
			return err
		}
	}
	return nil
}

func (shape activityShape) checkAttribute(item any, t Template) error {
	attribute, _ := item.(map[string]any)
	i := slices.IndexFunc(t.Attributes, func(a Attribute) bool { return a.ID == attribute[shape.attribute] })
	if i < 0 {
		return fmt.Errorf("an attribute's %s is not among those of its template", shape.attribute)
	}
	if len(attribute) != 2 {
		return errors.New("an attribute has its template's id and one value field")
	}
	for name, value := range attribute {
		if name == shape.attribute {
			continue
		}
		types, known := valueFields[name]
		if !known || t.Attributes[i].DataType != "" && !slices.Contains(types, t.Attributes[i].DataType) {
			return fmt.Errorf("%s is not the value field of %s", name, t.Attributes[i].DataType)
		}
		if !fits(name, value) {
			return fmt.Errorf("%s holds %T", name, value)
		}
	}
	return nil
}

// fits reports whether a JSON value has the kind of its field.
func fits(field string, value any) bool {
	switch v := value.(type) {
	case string:
		if field == "dateTimeValue" {
			_, err := time.Parse("2006-01-02T15:04:05Z", v)
			return err == nil
		}
		return field == "stringValue"
	case bool:
		return field == "boolValue"
	case float64:
		return field == "doubleValue"
	}
	return false
}
