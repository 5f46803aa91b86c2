package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"claimsheet/apiclient/sandbox"
)

// The built-in data need no options, have every data type, and allow an activity of
// each template.
func TestBuiltInTemplates(t *testing.T) {
	s := start(t, sandbox.Options{})
	var templates []struct {
		ID         string
		Attributes []struct{ ID, DataType string } `json:"activityAttributeTemplates"`
	}
	noError(t, json.Unmarshal(send(s, "GET", v2+"/activity-templates", "", "").Body.Bytes(), &templates))
	value := map[string]string{
		"Text": `"stringValue":"x"`, "TextArea": `"stringValue":"x"`, "DropDown": `"stringValue":"x"`, "Checkbox": `"boolValue":false`,
		"Date": `"dateTimeValue":"1980-05-01T00:00:00Z"`, "DateTime": `"dateTimeValue":"1980-05-01T09:00:00Z"`,
		"Number": `"doubleValue":-1.5e3`, "Currency": `"doubleValue":0`,
	}
	contact, seen := newContact(t, s), map[string]bool{}
	for _, template := range templates {
		var attributes []string
		for _, a := range template.Attributes {
			seen[a.DataType] = true
			attributes = append(attributes, `{"templateId":"`+a.ID+`",`+value[a.DataType]+`}`)
		}
		post(t, s, v2+"/activities?contactId="+contact, `{"templateId":"`+template.ID+
			`","status":"Accepted","workflowName":"x","workflowTemplateIdentifier":"x","attributes":[`+strings.Join(attributes, ",")+`]}`)
	}
	for dataType := range value {
		if !seen[dataType] {
			t.Errorf("no built-in attribute is a %s", dataType)
		}
	}
}
