package apiclient

import (
	"bytes"
	"encoding/json"
)

// The bodies' keys stand in the order of the document's section "Resources and
// their fields", so that the same step is always the same bytes.

type claim struct {
	AdministratorID string   `json:"administratorId"`
	Claimants       []string `json:"claimants"`
	ClaimName       string   `json:"claimName"`
}

type activityV1 struct {
	ActivityTemplateID string          `json:"activityTemplateId"`
	Status             string          `json:"status"`
	Attributes         []wireAttribute `json:"attributes,omitzero"`
}

type activityV2 struct {
	TemplateID                 string          `json:"templateId"`
	Status                     string          `json:"status"`
	WorkflowName               string          `json:"workflowName"`
	WorkflowTemplateIdentifier string          `json:"workflowTemplateIdentifier"`
	Attributes                 []wireAttribute `json:"attributes,omitzero"`
}

// wireAttribute is an attribute whose keys are known only when it is written:
// the template id's by the version, the value's by the data type.
type wireAttribute struct {
	idKey string
	Attribute
}

// MarshalJSON writes the attribute's two keys, the template id first.
func (w wireAttribute) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"` + w.idKey + `":`)
	b.Write(encode(w.TemplateID))
	b.WriteByte(',')
	b.Write(encode(w.Field))
	b.WriteByte(':')
	b.Write(w.Value)
	b.WriteByte('}')
	return b.Bytes(), nil
}

func claimBody(contactID, name string) json.RawMessage {
	return encode(claim{AdministratorID: contactID, Claimants: []string{contactID}, ClaimName: name})
}

func activityBodyV1(a Activity) json.RawMessage {
	return encode(activityV1{
		ActivityTemplateID: a.TemplateID,
		Status:             a.Status,
		Attributes:         wireAttributes("activityAttributeTemplateId", a.Attributes),
	})
}

func activityBodyV2(a Activity) json.RawMessage {
	return encode(activityV2{
		TemplateID:                 a.TemplateID,
		Status:                     a.Status,
		WorkflowName:               a.WorkflowName,
		WorkflowTemplateIdentifier: a.WorkflowTemplateIdentifier,
		Attributes:                 wireAttributes("templateId", a.Attributes),
	})
}

// wireAttributes keeps nil nil: the field is left out for an Open activity.
func wireAttributes(idKey string, attributes []Attribute) []wireAttribute {
	if attributes == nil {
		return nil
	}
	out := make([]wireAttribute, len(attributes))
	for i, a := range attributes {
		out[i] = wireAttribute{idKey: idKey, Attribute: a}
	}
	return out
}

// encode writes v as JSON without escaping <, > and &, which are ordinary
// characters in a name. It is nil when a value within v is not JSON, and a nil
// body is refused by Do.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
