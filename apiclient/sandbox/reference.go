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

// fieldOf returns the value field of a data type.
func fieldOf(dataType string) (string, bool) {
	for _, f := range valueFields {
		if slices.Contains(f.dataTypes, dataType) {
			return f.name, true
		}
	}
	return "", false
}

// reference is the reference data: the answer to GET activity-templates, and the
// templates by id.
type reference struct {
	raw       json.RawMessage
	byID      map[string]template
	workflows workflows
}

// template is an activity template.
type template struct {
	ID         string              `json:"id"`
	Name       string              `json:"name"`
	Attributes []attributeTemplate `json:"activityAttributeTemplates"`
}

// attributeTemplate is an attribute template. A DataType of "" accepts any value
// field.
type attributeTemplate struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	DataType string `json:"dataType"`
	Options  any    `json:"options"` // texts that a DropDown takes; the document does not show whether there are any
}

// choices returns the options if they are a list of texts; nil for anything else.
func (t attributeTemplate) choices() []string {
	list, _ := t.Options.([]any)
	var texts []string
	for _, option := range list {
		text, ok := option.(string)
		if !ok {
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// attribute returns the attribute template with that id.
func (t template) attribute(id string) (attributeTemplate, bool) {
	i := slices.IndexFunc(t.Attributes, func(a attributeTemplate) bool { return a.ID == id })
	if i < 0 {
		return attributeTemplate{}, false
	}
	return t.Attributes[i], true
}

var errReference = errors.New("the activity templates are not in the format of the service: expected a JSON array, " +
	"each entry with id, name and activityAttributeTemplates; or what claimsheet templates --json prints")

// asAnswer returns reference data as the service answers them. What claimsheet templates
// --json prints is an object, with other names for the same.
func asAnswer(raw []byte) ([]byte, error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '{' {
		return raw, nil
	}
	type attribute struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Type     string `json:"type,omitempty"`
		DataType string `json:"dataType,omitempty"`
	}
	var printed struct {
		Templates []*struct {
			ID         string      `json:"id"`
			Name       string      `json:"name"`
			Attributes []attribute `json:"attributes,omitempty"`
			Nested     []attribute `json:"activityAttributeTemplates"`
		} `json:"templates"`
	}
	if err := json.Unmarshal(raw, &printed); err != nil || printed.Templates == nil {
		return nil, errReference
	}
	for _, t := range printed.Templates {
		if t == nil {
			return nil, errReference
		}
		t.Nested = []attribute{}
		for _, a := range t.Attributes {
			t.Nested = append(t.Nested, attribute{ID: a.ID, Name: a.Name, DataType: a.Type})
		}
		t.Attributes = nil
	}
	return json.Marshal(printed.Templates)
}

// readReference reads the reference data, with the workflows.
func (s *Service) readReference(o Options) (err error) {
	if s.reference, err = readReference(o.Templates); err != nil {
		return err
	}
	s.reference.workflows, err = newWorkflows(o.Workflows, s.reference)
	return err
}

// readReference parses and checks reference data; nil means the built-in data.
func readReference(raw []byte) (*reference, error) {
	if raw == nil {
		raw = builtIn
	}
	raw, err := asAnswer(raw)
	if err != nil {
		return nil, err
	}
	var list []template
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errReference
	}
	ref := &reference{byID: make(map[string]template, len(list))}
	for i := range list {
		if err := list[i].check(); err != nil {
			return nil, fmt.Errorf("activity template %d: %w", i+1, err)
		}
		if _, twice := ref.byID[list[i].ID]; twice {
			return nil, fmt.Errorf("activity template %d: id %s is used twice", i+1, list[i].ID)
		}
		ref.byID[list[i].ID] = list[i]
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	ref.raw = compact.Bytes()
	return ref, nil
}

// check puts the ids into lower case and refuses invalid templates.
func (t *template) check() error {
	var err error
	if t.ID, err = parseUUID(t.ID, "id"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range t.Attributes {
		a := &t.Attributes[i]
		if a.ID, err = parseUUID(a.ID, "id"); err != nil {
			return fmt.Errorf("attribute template %d: %w", i+1, err)
		}
		if seen[a.ID] {
			return fmt.Errorf("attribute template %d: id %s is used twice", i+1, a.ID)
		}
		seen[a.ID] = true
		if _, known := fieldOf(a.DataType); a.DataType != "" && !known {
			return fmt.Errorf("attribute template %d: unknown data type %q", i+1, a.DataType)
		}
	}
	return nil
}

// templates answers GET /funnel/v2/activity-templates.
func (s *Service) templates(*input) (answer, error) {
	return answer{status: http.StatusOK, body: s.reference.raw}, nil
}

// caseTemplates answers the same for a case (v1).
func (s *Service) caseTemplates(in *input) (answer, error) {
	in.caseID()
	return answer{status: http.StatusOK, body: s.reference.raw}, in.err
}
