package sandbox

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

//go:embed templates.json
var builtIn []byte

// valueFields are the value fields of an attribute, each with its kind of JSON
// value and the data types that use it (service document, "Activity attribute
// template").
var valueFields = []struct {
	name, kind string
	dataTypes  []string
}{
	{"stringValue", "string", []string{"Text", "TextArea", "DropDown"}},
	{"boolValue", "boolean", []string{"Checkbox"}},
	{"dateTimeValue", "string", []string{"Date", "DateTime"}},
	{"doubleValue", "number", []string{"Number", "Currency"}},
}

// fieldOf returns the value field of a data type; "" for an unknown one.
func fieldOf(dataType string) string {
	for _, f := range valueFields {
		if slices.Contains(f.dataTypes, dataType) {
			return f.name
		}
	}
	return ""
}

// reference is the reference data: the answer to GET activity-templates, and the
// templates by id.
type reference struct {
	raw       json.RawMessage
	byID      map[string]activityTemplate
	workflows map[string][]string // the template ids of each in their order, by its identifier
}

// activityTemplate is an activity template.
type activityTemplate struct {
	ID         string              `json:"id"`
	Name       string              `json:"name"`
	Attributes []attributeTemplate `json:"activityAttributeTemplates"`
}

// attributeTemplate is an attribute template. A DataType of "" accepts any value
// field.
type attributeTemplate struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	DataType string `json:"dataType,omitempty"`
	// Options are the texts that a DropDown takes. The document does not show whether there
	// are any: what is not a list of texts counts for nothing.
	Options json.RawMessage `json:"options,omitempty"`
}

// attribute returns the attribute template with that id.
func (t activityTemplate) attribute(id string) (attributeTemplate, bool) {
	i := slices.IndexFunc(t.Attributes, func(a attributeTemplate) bool { return a.ID == id })
	if i < 0 {
		return attributeTemplate{}, false
	}
	return t.Attributes[i], true
}

var errReference = errors.New("the activity templates are not in the format of the service: expected a JSON array, " +
	"each entry with id, name and activityAttributeTemplates; or what claimsheet templates --json prints")

// asAnswer returns what claimsheet templates --json prints, an object with other names for
// the same, as the service answers it.
func asAnswer(raw []byte) ([]byte, error) {
	var printed struct {
		Templates []*struct {
			ID, Name   string
			Attributes []struct {
				ID, Name, Type string
				Options        json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(raw, &printed); err != nil || printed.Templates == nil || slices.Contains(printed.Templates, nil) {
		return nil, errReference
	}
	var list []activityTemplate
	for _, t := range printed.Templates {
		attributes := []attributeTemplate{}
		for _, a := range t.Attributes {
			attributes = append(attributes, attributeTemplate{a.ID, a.Name, a.Type, a.Options})
		}
		list = append(list, activityTemplate{t.ID, t.Name, attributes})
	}
	return json.Marshal(list)
}

// readReference parses and checks reference data, nil for the built-in data, and workflows.
func readReference(raw []byte, list []Workflow) (ref *reference, err error) {
	if raw == nil {
		raw = builtIn
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		if raw, err = asAnswer(raw); err != nil {
			return nil, err
		}
	}
	var templates []activityTemplate
	if err := json.Unmarshal(raw, &templates); err != nil {
		return nil, errReference
	}
	ref = &reference{byID: map[string]activityTemplate{}}
	for i, t := range templates {
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("activity template %d: %w", i+1, err)
		}
		ref.byID[t.ID] = t
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	ref.raw = compact.Bytes()
	ref.workflows, err = newWorkflows(list, templates)
	return ref, err
}

// check puts the ids into lower case and refuses invalid templates.
func (t *activityTemplate) check() (err error) {
	if t.ID, err = parseUUID(t.ID, "id"); err != nil {
		return err
	}
	for i := range t.Attributes {
		a := &t.Attributes[i]
		if a.ID, err = parseUUID(a.ID, "id"); err != nil {
			return fmt.Errorf("attribute template %d: %w", i+1, err)
		}
		if a.DataType != "" && fieldOf(a.DataType) == "" {
			return fmt.Errorf("attribute template %d: unknown data type %q", i+1, a.DataType)
		}
	}
	return nil
}

// templates answers GET …/activity-templates, which are the same for every case (v1).
func (s *Service) templates(in *input) answer {
	if in.PathValue("caseId") != "" {
		in.caseID()
	}
	return answer{status: http.StatusOK, body: s.reference.raw}
}
