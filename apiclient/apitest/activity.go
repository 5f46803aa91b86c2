package apitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// activityShape is what an activity's payload looks like in one version
// (document, "Activity, request shape for v1" and "for v2").
type activityShape struct {
	template  string // name of the activity template's id
	attribute string // name of the attribute template's id
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

// valueFields are the value fields and the data types that use them.
var valueFields = map[string][]string{
	"stringValue":   {"Text", "TextArea", "DropDown"},
	"boolValue":     {"Checkbox"},
	"dateTimeValue": {"Date", "DateTime"},
	"doubleValue":   {"Number", "Currency"},
}

// createActivity is on a client or, where claimID is not empty, on a claim.
func (s *Server) createActivity(call *Call, shape activityShape, clientID, claimID string) action {
	call.Kind = "activity"
	var payload map[string]any
	err := json.Unmarshal([]byte(call.Body), &payload)
	scope, who := "", s.clientWith(clientID)
	if on, ok := s.claims[claimID]; ok {
		who, scope = on.client, "/"+on.name
	}
	both := clientID != "" && claimID != ""
	template, known := s.template(text(payload, shape.template))
	if who != nil {
		call.Client = who.key
		call.Step = "activity " + who.key + scope + " " + template.Name
		if marker := s.marker(payload, shape); marker != "" {
			call.Step += " " + marker
		}
	}
	return func(call *Call) (Reply, error) {
		switch {
		case err != nil || payload == nil:
			return refuse("the body is not a JSON object")
		case who == nil || both || claimID != "" && scope == "":
			return refuse("the activity is on nobody, or on no claim, or on both")
		case !known:
			return refuse("the template id is not among the activity templates")
		}
		if err := shape.check(payload, template); err != nil {
			return refuse(err.Error())
		}
		made, reply := Made{ID: s.newID("a")}, words{}
		reply.put("/status", payload["status"])
		if s.Wire.ActivityID != "" {
			reply.putID(s.Wire.ActivityID, s.idValue(made.ID))
		}
		s.create(call, made)
		return reply.reply(http.StatusCreated), nil
	}
}

// marker is the value of the attribute that tells activities apart.
func (s *Server) marker(payload map[string]any, shape activityShape) string {
	list, _ := payload["attributes"].([]any)
	for _, item := range list {
		attribute, _ := item.(map[string]any)
		if s.Marker != "" && attribute[shape.attribute] == s.Marker {
			for field := range valueFields {
				if value, ok := attribute[field]; ok {
					return fmt.Sprint(value)
				}
			}
		}
	}
	return ""
}

// check says how a payload breaks the document's rules.
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
	if given && !isList || status != "Open" && len(list) == 0 {
		return errors.New("a completed activity has an array of attributes")
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

// fits tells whether a JSON value is of the kind that its field wants.
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
