package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

const (
	endpoints = "Endpoints"
	redirects = "Redirect response"
)

// create looks up the test client and, if that is allowed, creates it and what it needs.
func (s *suite) create() {
	looked := s.tryTestClient()
	if looked.status == 0 {
		return
	}
	id, _ := best(idPlaces(looked, s.kind()), "")
	if len(s.known) == 0 {
		id = s.tryCreateClient()
	} else {
		s.noteLookup(id)
		s.add(Case{Name: "create the " + s.kind(), Section: endpoints, Request: s.createClient().String(), Expected: s.kind() + "Id"}, NotTried,
			s.unless("the service knows the test client already; name another address to try it"))
	}
	if s.options.Email != "" && id.value != "" {
		s.tryOtherCase(id.value)
		s.tryPhone(id.value)
	}
	owner := request{method: http.MethodPost, pattern: s.root() + "/clients/{clientId}/activities", args: []string{id.value}}
	if s.target.Version == "v2" {
		claim := s.tryClaim(id.value)
		owner = request{method: http.MethodPost, pattern: s.root() + "/activities?contactId={contactId}", args: []string{id.value}}
		s.tryActivity("back-filled activity of the contact", owner, "Submitted")
		s.tryActivity("open activity of the claim", request{method: http.MethodPost, pattern: s.root() + "/activities?claimId={claimId}", args: []string{claim}}, "Open")
	} else {
		s.tryActivity("back-filled activity", owner, "Submitted")
		s.tryActivity("open activity", owner, "Open")
	}
	s.tryUnknownTemplate(owner)
	if s.target.Version == "v2" {
		s.tryLink(id.value)
	}
}

// unless returns why nothing is created at all, or else another reason.
func (s *suite) unless(reason string) string {
	switch {
	case s.stopped != "":
		return s.stopped
	case !s.options.Send:
		return notSent
	}
	return reason
}

// missing adds a case that needs something that is missing, and reports whether it does.
func (s *suite) missing(c Case, r request, value, what string) bool {
	if s.stopped == "" && s.options.Send && value != "" {
		return false
	}
	c.Request = r.String()
	s.add(c, NotTried, s.unless(what))
	return true
}

// tryTestClient looks up the test client, before anything is created. The answer is empty
// when nothing may be created for it.
func (s *suite) tryTestClient() answer {
	c := Case{Name: "look-up of the test client", Section: "Gaps in the endpoints", Expected: s.kind() + " identification (" + s.kind() + "Id); the body is not shown"}
	r := s.lookUp("email", s.options.Email)
	if s.options.Email == "" {
		c.Request = r.String()
		s.add(c, NotTried, "no test client is named, so nothing more is tried; see -client")
		return answer{}
	}
	a, ok := s.try(&c, r)
	if !ok {
		return answer{}
	}
	id, found := best(idPlaces(a, s.kind()), "")
	switch {
	case a.ok() && found && id.rank > 1:
		s.known = append(s.known, a)
		s.add(c, NotShown, "the service knows it")
	case s.meansNobody(a):
		s.add(c, NotShown, "the service does not know it")
	default:
		s.add(c, NotTried, "whether the service knows it cannot be told from the answer, so nothing is created")
		return answer{}
	}
	return a
}

// noteLookup proposes the place of the id in a look-up, and says so in the last case.
func (s *suite) noteLookup(id found) {
	usual := "/" + s.kind() + "Id"
	if place, seen := s.placed[s.kind()+"_id"]; seen {
		usual = place
	}
	c := &s.report.Cases[len(s.report.Cases)-1]
	c.Note += "; " + s.placeOf("lookup_"+s.kind()+"_id", id.place, usual, "the look-up of the test client has its id there: "+c.Came)
}

func (s *suite) createClient() request {
	r := request{method: http.MethodPost, pattern: s.root() + "/contacts?isAdministrator=true", body: s.payload()}
	if s.target.Version == "v1" {
		r.pattern = s.root() + "/clients?leadRedirect=true"
	}
	return r
}

// tryCreateClient creates the test client, and looks it up: that shows which value of the
// answer is its id.
func (s *suite) tryCreateClient() found {
	c := Case{Name: "create the " + s.kind(), Section: endpoints, Expected: s.kind() + "Id"}
	r := s.createClient()
	if s.missing(c, r, s.options.Email, "") {
		return found{}
	}
	created, ok := s.post(&c, r, s.kind(), "the names of the fields are not shown: give the test client's data as the service's operator describes them")
	if !ok {
		return found{}
	}
	looked := Case{Name: "look-up of the new client", Section: "Gaps in the endpoints", Expected: s.kind() + " identification (" + s.kind() + "Id); the body is not shown"}
	at := len(s.report.Cases)
	again, answered := s.try(&looked, s.lookUp("email", s.options.Email))

	places := idPlaces(created, s.kind())
	id, sure := best(places, "")
	seen := idPlaces(again, s.kind())
	if in, same := best(seen, ""); same && again.ok() {
		if confirmed, ok := best(places, in.value); ok {
			id, sure = confirmed, true
		}
	}
	verdict, note := s.judgeID(c, s.kind(), id, sure)
	s.report.Cases = slices.Insert(s.report.Cases, at, c)
	s.report.Cases[at].Verdict, s.report.Cases[at].Note = verdict, note
	if !sure {
		id = found{}
	}
	if answered {
		s.judgeLookup(looked, again, seen, id)
	}
	if s.target.Version == "v1" {
		s.judgeLink(Case{Name: "redirect url of the client", Section: redirects, Request: r.String(), Expected: "a redirect url; the field is not shown", Came: c.Came}, created, id.value)
	}
	return id
}

// judgeID says where the id of a thing is, and proposes the place. sure is false when it
// could not be found.
func (s *suite) judgeID(c Case, kind string, id found, sure bool) (Verdict, string) {
	if !sure {
		return Differs, "which value is the " + kind + "'s id cannot be told: ask the service's operator, and set wire." + kind + "_id"
	}
	evidence := c.Request + " is answered with the id there: " + c.Came
	note := s.placeOf(kind+"_id", id.place, "/"+kind+"Id", evidence)
	if id.place == "/"+kind+"Id" {
		return AsDocumented, note
	}
	return Differs, note
}

// judgeLookup compares the look-up of the new client with its id.
func (s *suite) judgeLookup(c Case, a answer, seen []found, id found) {
	place, ok := best(seen, id.value)
	switch {
	case id.value == "":
		s.add(c, NotShown, "the new client's id is not known, so it cannot be compared")
	case !a.ok() || s.meansNobody(a):
		s.add(c, Differs, "the new client is not found: perhaps later, or the payload calls the address otherwise")
	case !ok:
		s.add(c, Differs, "the id of the new client is not in it: perhaps the address belongs to several clients")
	default:
		s.known = append(s.known, a)
		s.add(c, NotShown, "it has the same id as the answer to its creation")
		s.noteLookup(place)
	}
}

// tryOtherCase looks up the test client by its address in capitals.
func (s *suite) tryOtherCase(id string) {
	other := strings.ToUpper(s.options.Email)
	if other == s.options.Email {
		return
	}
	c := Case{Name: "look-up with the address in capitals", Section: "Gaps in the endpoints", Expected: "not shown"}
	a, ok := s.try(&c, s.lookUp("email", other))
	if !ok {
		return
	}
	if _, same := best(idPlaces(a, s.kind()), id); same && a.ok() {
		s.add(c, NotShown, "it finds the same client: small letters and capitals do not count")
		return
	}
	s.add(c, NotShown, "it does not find the client: write addresses in the sheet as the service has them")
}

// tryPhone looks up the test client by phone.
func (s *suite) tryPhone(id string) {
	c := Case{Name: "look-up of the test client by phone", Section: "Gaps in the endpoints", Expected: s.kind() + " identification (" + s.kind() + "Id); the body is not shown"}
	r := s.lookUp("phone", s.options.Phone)
	if s.options.Phone == "" {
		c.Request = r.String()
		s.add(c, NotTried, "no phone number is given")
		return
	}
	a, ok := s.try(&c, r)
	if !ok {
		return
	}
	place, same := best(idPlaces(a, s.kind()), id)
	if !same || !a.ok() {
		s.add(c, NotShown, "it does not find the test client: perhaps the service has the number in another form, or the payload calls it otherwise")
		return
	}
	s.known = append(s.known, a)
	s.add(c, NotShown, "it finds the same client")
	s.noteLookup(place)
}

// post sends a POST and counts what it creates. ok is false for all but a 2xx; then the
// case is in the report, with a hint.
func (s *suite) post(c *Case, r request, kind, hint string) (a answer, ok bool) {
	a, ok = s.try(c, r)
	switch {
	case !ok:
		return a, false
	case a.ok() && !a.isPage():
		s.made[kind]++
		s.accepted = append(s.accepted, a)
		return a, true
	case a.status/100 == 4:
		s.add(*c, Differs, "the service refuses it; "+hint)
	default:
		s.add(*c, Differs, "this does not say whether it was created; ask the service's operator")
	}
	return a, false
}

// tryClaim creates a claim and returns its id.
func (s *suite) tryClaim(contact string) (id string) {
	c := Case{Name: "create a claim", Section: endpoints, Expected: "claimId"}
	r := request{method: http.MethodPost, pattern: s.root() + "/claims",
		body: map[string]any{"administratorId": contact, "claimants": []string{contact}, "claimName": "Conformance test"}}
	if s.missing(c, r, contact, "the id of the test client is not known") {
		return ""
	}
	a, ok := s.post(&c, r, "claim", "the administrator and the claimant are the test client, and the name is a free text")
	if !ok {
		return ""
	}
	place, sure := best(idPlaces(a, "claim"), "")
	verdict, note := s.judgeID(c, "claim", place, sure)
	s.add(c, verdict, note)
	if !sure {
		return ""
	}
	return place.value
}

// activity is the body of an activity in the version's names. With a status other than
// Open it has an attribute, if a template has one of a type that takes any text.
func (s *suite) activity(templateID, status string, a *attribute) any {
	names := map[string]string{"v1": "activityTemplateId", "v2": "templateId"}
	nested := map[string]string{"v1": "activityAttributeTemplateId", "v2": "templateId"}
	body := map[string]any{names[s.target.Version]: templateID, "status": status}
	if s.target.Version == "v2" {
		body["workflowName"], body["workflowTemplateIdentifier"] = "Conformance test", s.target.WorkflowTemplateIdentifier
	}
	if a != nil {
		body["attributes"] = []any{map[string]any{nested[s.target.Version]: a.id, "stringValue": "Conformance test"}}
	}
	return body
}

// noOwner adds a case that cannot be tried without an owner or a workflow, and reports
// whether it is so.
func (s *suite) noOwner(c Case, r request) bool {
	owner := r.args[len(r.args)-1]
	if s.missing(c, r, owner, "the id of what it belongs to is not known") {
		return true
	}
	if s.target.Version == "v2" && s.target.WorkflowTemplateIdentifier == "" {
		return s.missing(c, r, "", "the environment has no workflow_template_identifier")
	}
	return false
}

// tryActivity creates an activity.
func (s *suite) tryActivity(name string, r request, status string) {
	c := Case{Name: name, Section: endpoints, Expected: "the created activity; its body is not shown"}
	if s.noOwner(c, r) {
		return
	}
	if len(s.templates) == 0 {
		s.missing(c, r, "", "there is no template")
		return
	}
	templateID, with := s.templates[0].id, (*attribute)(nil)
	if status != "Open" {
		if templateID, with = s.textAttribute(); with == nil {
			s.missing(c, r, "", "no attribute is known to take a text, because the service reports no data types")
			return
		}
	}
	r.body = s.activity(templateID, status, with)
	a, ok := s.post(&c, r, "activity", "the template is one of the service's own, and the workflow identifier the environment's")
	if !ok {
		return
	}
	id, sure := best(idPlaces(a, "activity"), "")
	switch {
	case sure && id.rank > 1:
		why := "with it, claimsheet track finds activities by their id"
		if !a.isJSON && len(a.body) > 0 {
			why = "without it, the answer is taken for none of the service's, because it is not JSON"
		}
		s.add(c, AsDocumented, s.placeOf("activity_id", id.place, "", c.Request+" is answered with the id there: "+c.Came+"; "+why))
	case !a.isJSON && len(a.body) > 0:
		s.add(c, Differs, "Claimsheet takes an answer without a body or a JSON one; of this one, which value is the id cannot be told")
	default:
		s.add(c, AsDocumented, "it has no id that can be told from other values; none is needed")
	}
}

// textAttribute returns an attribute that takes any text, and its template's id.
func (s *suite) textAttribute() (templateID string, a *attribute) {
	for _, t := range s.templates {
		for i := range t.attributes {
			if t.attributes[i].dataType == "Text" || t.attributes[i].dataType == "TextArea" {
				return t.id, &t.attributes[i]
			}
		}
	}
	return "", nil
}

// tryUnknownTemplate learns how the service refuses something.
func (s *suite) tryUnknownTemplate(r request) {
	c := Case{Name: "activity of a template that does not exist", Section: "Errors", Expected: "not shown; a refusal"}
	if s.noOwner(c, r) {
		return
	}
	r.body = s.activity(newUUID(), "Open", nil)
	a, ok := s.try(&c, r)
	if !ok {
		return
	}
	if a.status/100 == 4 {
		s.add(c, NotShown, "a 4xx means failed, so nothing is to be set")
		return
	}
	_, code := errorCode(a.doc)
	if rule, right := errorRule(a, "failed", "the service refuses it", s.accepted); right && (code != "" || a.ok() && !a.isPage()) {
		s.propose("errors", rule.yaml, "an activity of a template that does not exist is answered "+a.String()+"; let the service's operator confirm that nothing is created then")
		s.add(c, NotShown, fmt.Sprintf("without a rule in errors, HTTP %d would not mean that it was refused", a.status))
		return
	}
	if a.ok() {
		s.made["activity"]++
		s.add(c, NotShown, "the service seems to accept it: a wrong template id would not be noticed")
		return
	}
	s.add(c, NotShown, fmt.Sprintf("HTTP %d without an error code does not say that nothing was created: such steps are uncertain; ask the service's operator", a.status))
}

// tryLink creates a magic link with an empty object, as Claimsheet does, and without a body if
// that is refused.
func (s *suite) tryLink(contact string) {
	c := Case{Name: "create a magic link", Section: redirects, Expected: "a redirect url; neither the field nor the request's body is shown"}
	r := request{method: http.MethodPost, pattern: s.root() + "/contacts/{contactId}/magic-link", args: []string{contact}, body: map[string]any{}}
	if s.missing(c, r, contact, "the id of the test client is not known") {
		return
	}
	a, ok := s.post(&c, r, "link", "it is tried again without a body")
	if !ok && a.status/100 == 4 {
		c.Name, r.body = "create a magic link without a body", nil
		if a, ok = s.post(&c, r, "link", "ask the service's operator for the body, and set wire.link_body"); ok {
			s.propose("wire.link_body", "none", "with the body {} the link is refused, and without a body it is created")
		}
	}
	if ok {
		s.judgeLink(c, a, contact)
	}
}

// judgeLink says where the redirect url is, and proposes the place.
func (s *suite) judgeLink(c Case, a answer, id string) {
	link, sure := best(linkPlaces(a, id), "")
	if !sure {
		s.add(c, Differs, "which value is the redirect url cannot be told: ask the service's operator, and set wire.redirect_url")
		return
	}
	s.add(c, NotShown, s.placeOf("redirect_url", link.place, "/redirectUrl", c.Request+" is answered with the redirect url there: "+c.Came))
}
