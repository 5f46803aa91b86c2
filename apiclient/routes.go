package apiclient

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
)

// Version is a version of the service's interface; it is part of every path.
type Version string

// The versions.
const (
	V1 Version = "v1"
	V2 Version = "v2"
)

// Kind is what a request is for. Requests are counted by kind.
type Kind string

// The kinds of request. The first four create something.
const (
	CreateClient   Kind = "client" // v1 client or v2 contact
	CreateClaim    Kind = "claim"
	CreateActivity Kind = "activity"
	CreateLink     Kind = "link"
	FindClient     Kind = "lookup"
	ReadTemplates  Kind = "templates"
)

// Request is one call as plain data. Path and Body hold personal data: a log may have Route only.
type Request struct {
	Kind   Kind
	Method string
	Route  string     // the document's path pattern, e.g. /funnel/v2/contacts/by-email/{email}
	Path   []string   // segments below the base url, not escaped
	Query  url.Values // nil for none
	Body   []byte     // JSON; never nil for a POST, unless NoBody is set
	NoBody bool       // a POST without a body
}

// Activity is an activity to create.
type Activity struct {
	TemplateID                 string
	Status                     string
	WorkflowName               string      // v2
	WorkflowTemplateIdentifier string      // v2
	Attributes                 []Attribute // nil for an Open activity: the field is left out. Empty for a back-filled one whose template has none
}

// Attribute is one attribute of an activity. The versions differ only in the names of its fields on the wire.
type Attribute struct {
	TemplateID string
	Field      string // stringValue, boolValue, dateTimeValue or doubleValue
	Value      []byte // bare JSON: a string, true or false, a number
}

// Routes makes the requests of the service document's section "Endpoints", one
// method for each line of its tables. The zero CaseID is right for v2.
//
// The methods check nothing: Client.Do refuses a request whose path or body cannot be sent as it is. The keys of the
// bodies are in the order of the document's section "Resources and their fields", so that the same step always has the
// same bytes.
type Routes struct {
	Version Version
	CaseID  string // v1: part of every path
}

// Templates reads the activity templates of the environment (v1 and v2).
func (r Routes) Templates() Request {
	return r.get(ReadTemplates, "/activity-templates", "activity-templates")
}

// CreateClient creates a client (v1, always with leadRedirect=true, so that
// the answer carries a redirect url) or a contact (v2, with
// isAdministrator=true for an administrator). The fields are one
// JSON object and are sent byte for byte.
func (r Routes) CreateClient(fields json.RawMessage, administrator bool) Request {
	switch {
	case r.Version == V1:
		req := r.post(CreateClient, "/clients?leadRedirect=true", fields, "clients")
		req.Query = url.Values{"leadRedirect": {"true"}}
		return req
	case administrator:
		req := r.post(CreateClient, "/contacts?isAdministrator=true", fields, "contacts")
		req.Query = url.Values{"isAdministrator": {"true"}}
		return req
	}
	return r.post(CreateClient, "/contacts", fields, "contacts")
}

// Find looks up a client or contact.
func (r Routes) Find(by By, value string) Request {
	name := "email"
	if by == ByPhone {
		name = "phone"
	}
	return r.get(FindClient, "/"+r.clients()+"/by-"+name+"/{"+name+"}", r.clients(), "by-"+name, value)
}

// CreateClaim creates a claim with a contact as administrator and contacts as claimants. Only v2 has claims.
func (r Routes) CreateClaim(administratorID string, claimants []string, name string) Request {
	return r.post(CreateClaim, "/claims", encode(struct {
		AdministratorID string   `json:"administratorId"`
		Claimants       []string `json:"claimants"`
		ClaimName       string   `json:"claimName"`
	}{administratorID, claimants, name}), "claims")
}

// CreateActivity creates an activity: of the client (v1), of the claim (v2) or,
// when claimID is "", of the contact (v2, a case activity).
func (r Routes) CreateActivity(clientID, claimID string, a Activity) Request {
	switch {
	case r.Version == V1:
		return r.post(CreateActivity, "/clients/{clientId}/activities", a.body(V1),
			"clients", clientID, "activities")
	case claimID != "":
		req := r.post(CreateActivity, "/activities?claimId={claimId}", a.body(V2), "activities")
		req.Query = url.Values{"claimId": {claimID}}
		return req
	}
	req := r.post(CreateActivity, "/activities?contactId={contactId}", a.body(V2), "activities")
	req.Query = url.Values{"contactId": {clientID}}
	return req
}

// CreateLink creates a magic link for the contact (v2). The document shows no request body: nil sends none.
func (r Routes) CreateLink(contactID string, body json.RawMessage) Request {
	req := r.post(CreateLink, "/contacts/{contactId}/magic-link", body,
		"contacts", contactID, "magic-link")
	req.NoBody = body == nil
	return req
}

// clients returns the name of the collection of clients in this version.
func (r Routes) clients() string {
	if r.Version == V1 {
		return "clients"
	}
	return "contacts"
}

// root returns the start of every path (document, "Versioning").
func (r Routes) root() (pattern string, path []string) {
	if r.Version == V1 {
		return "/funnel/v1/cases/{caseId}", []string{"funnel", "v1", "cases", r.CaseID}
	}
	return "/funnel/v2", []string{"funnel", "v2"}
}

func (r Routes) get(kind Kind, pattern string, segments ...string) Request {
	root, path := r.root()
	return Request{Kind: kind, Method: http.MethodGet, Route: root + pattern, Path: append(path, segments...)}
}

func (r Routes) post(kind Kind, pattern string, body json.RawMessage, segments ...string) Request {
	req := r.get(kind, pattern, segments...)
	req.Method, req.Body = http.MethodPost, body
	return req
}

// body returns an activity as it is written: the version decides the keys of template ids and
// whether there is a workflow, the data type the key of a value.
func (a Activity) body(v Version) json.RawMessage {
	var body struct {
		IDV1       string            `json:"activityTemplateId,omitempty"`
		IDV2       string            `json:"templateId,omitempty"`
		Status     string            `json:"status"`
		Workflow   *string           `json:"workflowName,omitempty"`
		Identifier *string           `json:"workflowTemplateIdentifier,omitempty"`
		Attributes []json.RawMessage `json:"attributes,omitzero"`
	}
	body.IDV1, body.Status = a.TemplateID, a.Status
	idKey := `{"activityAttributeTemplateId":`
	if v == V2 {
		body.IDV1, body.IDV2, idKey = "", a.TemplateID, `{"templateId":`
		body.Workflow, body.Identifier = &a.WorkflowName, &a.WorkflowTemplateIdentifier
	}
	if a.Attributes != nil { // the field is left out for an Open activity
		body.Attributes = []json.RawMessage{}
	}
	for _, at := range a.Attributes {
		body.Attributes = append(body.Attributes, slices.Concat([]byte(idKey), encode(at.TemplateID), []byte(","), encode(at.Field),
			[]byte(":"), at.Value, []byte("}")))
	}
	return encode(body)
}

// encode writes v as JSON without escaping <, > and &, which are ordinary
// characters in a name. It returns nil when a value inside v is not JSON; Do
// refuses a nil body.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
