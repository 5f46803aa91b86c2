package conformance

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
)

// suite is one run.
type suite struct {
	ctx     context.Context
	target  Target
	options Options
	report  Report

	stopped string // why nothing more is tried; "" while something is

	templates []template
	listed    answer            // the templates
	nobody    []absentee        // what look-ups of invented clients came to
	known     []answer          // look-ups that found the test client
	accepted  []answer          // answers to POSTs that were accepted
	placed    map[string]string // keys of wire and the places that were seen
	made      map[string]int    // what was created, by kind
}

// absentee is the look-up of an invented client.
type absentee struct {
	index  int // of its case
	by     string
	answer answer
}

// notSent is the note of the cases that need Options.Send.
const notSent = "it creates something, and only GETs are allowed; see -send"

// try sends the request of a case. ok is false when there is no answer; then the case is
// in the report.
func (s *suite) try(c *Case, r request) (a answer, ok bool) {
	c.Request = r.String()
	if s.stopped != "" {
		s.add(*c, NotTried, s.stopped)
		return answer{}, false
	}
	if s.target.Version == "v1" && strings.Contains(r.pattern, "{caseId}") && len(r.args) < len(placeholder.FindAllString(r.pattern, -1)) {
		r.args = slices.Insert(slices.Clone(r.args), 0, s.target.CaseID)
	}
	a = s.send(r)
	c.Came = a.String()
	if a.status == 0 {
		note := "the service gave no whole answer"
		if r.method == http.MethodPost {
			note += ", so it may have been created all the same"
		}
		s.stopped = "an earlier request got no whole answer"
		s.add(*c, NotTried, note)
	}
	return a, a.status != 0
}

func (s *suite) add(c Case, verdict Verdict, note string) {
	c.Verdict, c.Note = verdict, note
	s.report.Cases = append(s.report.Cases, c)
}

func (s *suite) propose(key, value, evidence string) {
	s.report.Proposals = append(s.report.Proposals, Proposal{key, value, evidence})
}

// placeOf records where a key of wire was seen, and proposes the place if it is not the
// one that is read without the key. It returns what to say about it.
func (s *suite) placeOf(key, place, usual, evidence string) string {
	if before, seen := s.placed[key]; seen {
		if before != place {
			return "wire." + key + " has one place only, and it was seen at " + placeName(before) + " before and is at " + placeName(place) + " here"
		}
		return "it is at " + placeName(place) + " again"
	}
	s.placed[key] = place
	if place == usual {
		return "wire." + key + " need not be set"
	}
	s.propose("wire."+key, scalar(place), evidence)
	return "wire." + key + " is to be set"
}

// placeName names a place in a message.
func placeName(place string) string {
	if place == "" {
		return "the whole body, a JSON string"
	}
	return place
}

// root is the beginning of the version's paths.
func (s *suite) root() string {
	if s.target.Version == "v1" {
		return "/funnel/v1/cases/{caseId}"
	}
	return "/funnel/v2"
}

// kind is what the version calls a client.
func (s *suite) kind() string {
	if s.target.Version == "v1" {
		return "client"
	}
	return "contact"
}

// lookUp is the look-up by email or phone.
func (s *suite) lookUp(by, value string) request {
	return request{method: http.MethodGet, pattern: s.root() + "/" + s.kind() + "s/by-" + by + "/{" + by + "}", args: []string{value}}
}

// read tries what GETs can show.
func (s *suite) read() {
	s.tryTemplates()
	unknown := s.tryUnknownPath()
	s.tryNobody("email", "nobody."+strings.ToLower(rand.Text())+"@example.com", unknown)
	s.tryNobody("phone", fmt.Sprintf("+447700900%03d", number(1000)), unknown) // a range for films, of nobody
	if s.target.Version == "v1" {
		s.tryUnknownCase()
	}
	s.tryWithoutCredentials()
}

func number(below int64) int64 {
	n, err := rand.Int(rand.Reader, big.NewInt(below))
	if err != nil {
		panic(err) // the system's random numbers never end
	}
	return n.Int64()
}

// newUUID returns an id that nothing has.
func newUUID() string {
	b := make([]byte, 16)
	rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// tryWithoutCredentials learns how the service refuses a request without credentials. It
// sends no wrong ones, because a service may lock an account after some.
func (s *suite) tryWithoutCredentials() {
	c := Case{Name: "no credentials", Section: "Authentication", Expected: "not shown"}
	r := request{method: http.MethodGet, pattern: s.root() + "/activity-templates", anonymous: true}
	if s.target.Authorize == nil && s.stopped == "" {
		c.Request = r.String()
		s.add(c, NotTried, "the environment has no credentials")
		return
	}
	a, ok := s.try(&c, r)
	if !ok {
		return
	}
	isTemplates := func() bool { _, isList := a.doc.([]any); return a.ok() && isList }
	switch {
	case a.status == http.StatusUnauthorized:
		s.add(c, NotShown, "HTTP 401 ends a run; nothing is to be set")
	case a.status/100 == 3:
		s.add(c, NotShown, "a redirect ends a run; nothing is to be set")
	case isTemplates():
		s.add(c, NotShown, "the service gives the templates to everybody; whether it checks credentials elsewhere is not known")
	default:
		others := []answer{s.listed}
		for _, n := range s.nobody {
			others = append(others, n.answer)
		}
		rule, right := errorRule(a, "stop", "the service does not accept the credentials: check auth", others)
		if _, code := errorCode(a.doc); !right || code == "" && !a.isPage() && a.status != http.StatusForbidden {
			s.add(c, NotShown, "nothing in it says that credentials are missing, so a run does not end at once when they are refused")
			return
		}
		s.propose("errors", rule.yaml, "a request without credentials is answered "+a.String()+", and such an answer must end a run; let the service's operator confirm that it means nothing else")
		s.add(c, NotShown, "errors is to be set, so that a run ends when the credentials are refused")
	}
}

// tryUnknownPath learns the answer to a path that does not exist.
func (s *suite) tryUnknownPath() answer {
	c := Case{Name: "a path that does not exist", Section: "Errors", Expected: "not shown"}
	a, ok := s.try(&c, request{method: http.MethodGet, pattern: s.root() + "/no-such-path"})
	if !ok {
		return answer{}
	}
	note := "nothing is to be set"
	if a.ok() {
		note = "the service answers paths that do not exist as if all were well: compare base_url with what the service's operator gave you"
	}
	s.add(c, NotShown, note)
	return a
}

// tryNobody looks up a client that nobody is. unknown is the answer to a path that does
// not exist. What is to be set is decided when the test client was looked up, too.
func (s *suite) tryNobody(by, value string, unknown answer) {
	c := Case{Name: "look-up of nobody by " + by, Section: "Gaps in the endpoints", Expected: "not shown"}
	a, ok := s.try(&c, s.lookUp(by, value))
	if !ok {
		return
	}
	note := ""
	if unknown.status != 0 && a.String() == unknown.String() {
		note = "; a path that does not exist is answered in the same way, so a wrong base_url looks like an unknown client"
	}
	s.nobody = append(s.nobody, absentee{len(s.report.Cases), by, a})
	s.add(c, NotShown, note)
}

// tryUnknownCase learns whether a wrong case_id can be told from an unknown client.
func (s *suite) tryUnknownCase() {
	c := Case{Name: "look-up in a case that does not exist", Section: "Endpoints, version 1", Expected: "not shown"}
	r := s.lookUp("email", "nobody."+strings.ToLower(rand.Text())+"@example.com")
	r.args = slices.Insert(r.args, 0, newUUID())
	a, ok := s.try(&c, r)
	if !ok {
		return
	}
	note := "nothing is to be set"
	if i := slices.IndexFunc(s.nobody, func(n absentee) bool { return n.by == "email" }); i >= 0 &&
		s.nobody[i].answer.String() == a.String() {
		note = "it is answered like an unknown client, so a wrong case_id looks like one: compare case_id with what the service's operator gave you"
	}
	s.add(c, NotShown, note)
}

// meansNobody reports whether an answer to a look-up means nobody.
func (s *suite) meansNobody(a answer) bool {
	if _, found := best(idPlaces(a, s.kind()), ""); found && a.ok() {
		return false
	}
	return slices.ContainsFunc(s.nobody, func(n absentee) bool {
		r, why := absence(n.answer, nil)
		return why == "" && n.answer.status == a.status && (r.describe == nil && n.answer.String() == a.String() || r.describe != nil && r.describe(a))
	})
}

// decideNobody proposes not_found, after all look-ups.
func (s *suite) decideNobody() {
	var rules []string
	for _, n := range s.nobody {
		r, why := absence(n.answer, s.known)
		note := "the default of not_found describes it"
		switch {
		case why != "":
			note = "not_found cannot be proposed: " + why
		case r.yaml != "":
			note = "not_found is to be set"
		case n.answer.ok():
			rules = append(rules, "{empty: true}")
		default:
			rules = append(rules, "{status: [404]}")
		}
		if r.yaml != "" && why == "" {
			rules = append(rules, r.yaml)
		}
		if id, found := best(idPlaces(n.answer, s.kind()), ""); found && n.answer.ok() && id.rank > 2 {
			note = "somebody is found for an invented value: look-ups of this service do not tell who exists"
		}
		c := &s.report.Cases[n.index]
		c.Note = note + c.Note
	}
	slices.Sort(rules)
	rules = slices.Compact(rules)
	if !slices.ContainsFunc(rules, func(r string) bool { return r != "{empty: true}" && r != "{status: [404]}" }) {
		return
	}
	for _, r := range rules {
		evidence := "an invented client is answered in this way, as without the key"
		for _, n := range s.nobody {
			if rule, _ := absence(n.answer, s.known); rule.yaml == r {
				evidence = "the look-up of an invented client by " + n.by + " is answered " + n.answer.String()
				if len(s.known) > 0 {
					evidence += ", and that of the test client otherwise"
				}
			}
		}
		s.propose("not_found", r, evidence)
	}
}

// created lists what was created.
func (s *suite) created() []string {
	var list []string
	for _, kind := range []string{"client", "contact", "claim", "activity", "link"} {
		switch n := s.made[kind]; {
		case n == 1:
			list = append(list, "1 "+kind)
		case n > 1:
			list = append(list, fmt.Sprintf("%d %ss", n, strings.Replace(kind, "activity", "activitie", 1)))
		}
	}
	return list
}

// payload is what creates the test client.
func (s *suite) payload() any {
	if s.options.Client != nil {
		return json.RawMessage(s.options.Client)
	}
	fields := map[string]string{"email": s.options.Email}
	if s.options.Phone != "" {
		fields["phone"] = s.options.Phone
	}
	return fields
}
