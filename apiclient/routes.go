package apiclient

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// Routes makes the requests of the service document's section "Endpoints", one
// method per line of its tables. The zero CaseID is right for v2.
//
// The methods check nothing: Client.Do refuses a request whose path or body
// cannot be sent as it is.
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
// isAdministrator=true if it is to be an administrator). The fields are one
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

// FindByEmail looks a client or contact up by its e-mail address.
func (r Routes) FindByEmail(email string) Request {
	return r.get(FindClient, "/"+r.clients()+"/by-email/{email}", r.clients(), "by-email", email)
}

// FindByPhone looks a client or contact up by its phone number.
func (r Routes) FindByPhone(phone string) Request {
	return r.get(FindClient, "/"+r.clients()+"/by-phone/{phone}", r.clients(), "by-phone", phone)
}

// CreateClaim creates a claim whose administrator and only claimant is the
// contact. The document has claims under v2 only.
func (r Routes) CreateClaim(contactID, name string) Request {
	return r.post(CreateClaim, "/claims", claimBody(contactID, name), "claims")
}

// CreateActivity creates an activity: of the client (v1), of the claim (v2) or,
// when claimID is "", of the contact itself (v2, a case activity).
func (r Routes) CreateActivity(clientID, claimID string, a Activity) Request {
	switch {
	case r.Version == V1:
		return r.post(CreateActivity, "/clients/{clientId}/activities", activityBodyV1(a),
			"clients", clientID, "activities")
	case claimID != "":
		req := r.post(CreateActivity, "/activities?claimId={claimId}", activityBodyV2(a), "activities")
		req.Query = url.Values{"claimId": {claimID}}
		return req
	}
	req := r.post(CreateActivity, "/activities?contactId={contactId}", activityBodyV2(a), "activities")
	req.Query = url.Values{"contactId": {clientID}}
	return req
}

// CreateLink creates a magic link for the contact (v2). The document shows no
// request body: nil sends none.
func (r Routes) CreateLink(contactID string, body json.RawMessage) Request {
	req := r.post(CreateLink, "/contacts/{contactId}/magic-link", body,
		"contacts", contactID, "magic-link")
	req.NoBody = body == nil
	return req
}

// clients is what the version calls the collection of clients.
func (r Routes) clients() string {
	if r.Version == V1 {
		return "clients"
	}
	return "contacts"
}

// root is the version's part of every path (document, "Versioning").
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
