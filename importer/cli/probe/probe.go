// Package probe finds out how a real service answers where its document leaves that open, and
// proposes the lines of an environment (wire, not_found, errors) that describe it.
//
//	GETs ─▶ what they show ─▶ lines ─▶ one test client, by the importer's engine ─▶ lines ─▶ Report
//
// It holds no rules of its own about answers: apiclient reads them. The next request after a new line
// is made with that line. So the lines are proved before they are shown, and what a wrong place left
// undecided is done as in any run: the answer is in the ledger, and is read again.
package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/journal"
	"claimsheet/mapping"
)

// Options say what is probed.
type Options struct {
	Session    *load.Session // with the environment; its mapping may be empty. To create things it has the ledger, locked
	API        apiclient.Version
	Connection load.Connection
	Email      string // of the test client; "" for none: then no client is looked up but invented ones

	Journal *journal.File // of the ledger; without it nothing is created
	Scope   string        // the ledger's name for the environment
	RunID   string
	// Confirm is asked before anything is created; its error ends the probe.
	Confirm func(ctx context.Context, creates string) error
}

// Report is what a probe found. It has no personal data, no redirect urls and no credentials.
type Report struct {
	Environment string    `json:"environment"` // the environment's name
	Service     string    `json:"service"`     // its base url
	Version     string    `json:"version"`     // v1 or v2
	Asked       []Asked   `json:"asked"`       // the requests, in their order
	Lines       []Line    `json:"lines"`       // what is to be written into the environment; empty when nothing is
	Unknown     []Unknown `json:"unknown"`     // what could not be learnt
}

// Asked is a request, its answer and what follows from it.
type Asked struct {
	Request string `json:"request"` // the method and the path, as the document has it
	About   string `json:"about"`   // what was asked for
	Answer  string `json:"answer"`  // the answer's status and form; its values are left out
	So      string `json:"so"`      // what it means
}

// Line is a key of the environment with the value that describes the service.
type Line struct {
	Key      string          `json:"key"`      // such as wire.contact_id or not_found
	Value    json.RawMessage `json:"value"`    // its value
	Evidence string          `json:"evidence"` // the request and the answer that show it
}

// Unknown is what could not be learnt.
type Unknown struct {
	What string `json:"what"` // what is not known
	Why  string `json:"why"`  // why
	Do   string `json:"do"`   // what to do about it
}

// prober is one probe.
type prober struct {
	Options
	Report
	invented  map[apiclient.By]shown // look-ups of clients who do not exist
	known     []apiclient.Answer     // look-ups that found the test client
	blocked   string                 // why nothing is created
	looked    bool                   // the test client was looked up after its creation
	accepted  []apiclient.Answer     // answers to what was created
	clientID  string
	asked     map[string]int // by step: its answer in Asked
	templates []mapping.Template
}

// shown is an answer and its evidence.
type shown struct {
	apiclient.Answer
	evidence string
}

// Run probes the service. The Report has what was learnt until an error, which means that the service could not be used.
func Run(ctx context.Context, o Options) (Report, error) {
	p := &prober{Options: o, invented: map[apiclient.By]shown{}, asked: map[string]int{}}
	env := *o.Session.Env // a copy, which gets the lines
	p.Session.Env = &env
	p.Report = Report{Environment: env.Name, Service: env.BaseURL, Version: string(o.API), Asked: []Asked{},
		Lines: []Line{}, Unknown: []Unknown{}}
	err := p.connect(ctx)
	for _, part := range []func(context.Context) error{p.askTemplates, p.askInvented, p.askTestClient, p.create} {
		if err == nil {
			err = part(ctx)
		}
	}
	p.judgeNotFound()
	slices.SortStableFunc(p.Lines, func(a, b Line) int { return cmp.Or(place(a.Key)-place(b.Key), strings.Compare(a.Key, b.Key)) })
	return p.Report, err
}

// place is that of a line's section in the environment.
func place(key string) int {
	section, _, _ := strings.Cut(key, ".")
	return slices.Index([]string{"wire", "not_found", "errors"}, section)
}

// connect makes the client of the service as the environment describes it with the lines so far.
func (p *prober) connect(ctx context.Context) error {
	if before := p.Session.Client; before != nil {
		if end, over := before.PauseEnd(); !over { // the next client does not know what this one was told
			apiclient.Sleep(ctx, time.Until(end))
		}
	}
	p.Session.Close()
	connection := p.Connection
	connection.ReadOnly = p.Journal == nil
	return p.Session.Connect(ctx, p.API, connection)
}

// set proposes a line that the environment has now, and has the next requests made with it.
func (p *prober) set(ctx context.Context, key string, value any, evidence string) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	p.Lines = slices.DeleteFunc(p.Lines, func(l Line) bool { return l.Key == key })
	p.Lines = append(p.Lines, Line{key, data, evidence})
	return p.connect(ctx)
}

func (p *prober) unknown(what, why, do string) { p.Unknown = append(p.Unknown, Unknown{what, why, do}) }

// so says what the last answer means.
func (p *prober) so(format string, args ...any) {
	p.Asked[len(p.Asked)-1].So = fmt.Sprintf(format, args...)
}

// get sends a GET, again where the service asks to wait, and keeps the form of its answer. The error means that there was none.
func (p *prober) get(ctx context.Context, about string, r apiclient.Request) (found shown, err error) {
	for range 3 {
		a, err := p.Session.Client.Do(ctx, r)
		if err != nil {
			return shown{}, err
		}
		if found = p.show(about, r, a); a.Status != 429 && a.Status != 503 {
			break
		}
		p.so("the service asks to wait")
	}
	return found, nil
}

func (p *prober) show(about string, r apiclient.Request, a apiclient.Answer) shown {
	outline, request := p.Session.Client.Outline(a), r.Method+" "+r.Route
	p.Asked = append(p.Asked, Asked{request, about, outline, ""})
	return shown{a, request + ": " + outline}
}

// askTemplates reads the reference data: where it is, and where it has data types.
func (p *prober) askTemplates(ctx context.Context) error {
	a, err := p.get(ctx, "the activity templates", p.Session.Client.Routes().Templates())
	if err != nil {
		return err
	}
	place, ok := apiclient.LearnTemplates(a.Answer)
	if now, _ := apiclient.At(a.Body, p.Session.Env.Wire.Templates); ok && !strings.HasPrefix(string(now), "[") {
		if err := p.propose(ctx, "templates", place, true, a.evidence); err != nil {
			return err
		}
	}
	service := &mapping.Service{}
	if err = fmt.Errorf("the answer has no list of objects with id and name"); ok || a.Status/100 != 2 { // else asking again is no use
		service, err = p.Session.ListTemplates(ctx)
	}
	switch {
	case err != nil && a.Status/100 != 2:
		return err
	case err != nil:
		p.so("they cannot be read")
		p.unknown("the activity templates", err.Error(), "without them no activity is tried")
		return nil
	}
	attributes := 0
	p.templates = service.Templates
	for _, t := range service.Templates {
		attributes += len(t.Attributes)
	}
	wire := &p.Session.Env.Wire
	pointer, named, others := apiclient.LearnDataTypes(a.Answer, wire.Templates)
	others = slices.DeleteFunc(others, func(name string) bool { return pointer == wire.DataType && wire.DataTypes[name] != "" })
	types := "; none says a data type: give each attribute its type in the mapping"
	if named > 0 {
		types = fmt.Sprintf(", %d of them with a data type, at %s", named, pointer)
	}
	p.so("activity templates: %d; attributes: %d%s", len(service.Templates), attributes, types)
	if len(service.Templates) == 0 {
		p.unknown("the activity templates", "there are none: they belong to an environment and a claim type", "check base_url and case_id")
	}
	if len(others) > 0 {
		p.unknown("data types", "the attributes have at "+pointer+" what the document does not name: "+strings.Join(others, ", "),
			"ask the service's operator what they are, and set wire.data_type and wire.data_types")
	}
	return p.propose(ctx, "data_type", pointer, named > 0, a.evidence)
}

// askInvented looks up clients who do not exist.
func (p *prober) askInvented(ctx context.Context) error {
	for _, by := range []apiclient.By{apiclient.ByEmail, apiclient.ByPhone} {
		a, err := p.get(ctx, "a client who does not exist, by "+string(by), p.Session.Client.Routes().Find(by, p.Session.Client.Invent(by)))
		if err != nil {
			return err
		}
		p.invented[by] = a
		if p.so("this is how “not found” looks"); p.Session.Env.NotFound.Describes(a.Answer) {
			p.so("“not found”, as the environment describes it")
		}
	}
	return p.learnNotFound(ctx)
}

// learnNotFound proposes not_found where the environment does not describe what is shown.
func (p *prober) learnNotFound(ctx context.Context) error {
	env, learnt := p.Session.Env, apiclient.NotFound{Stated: true}
	evidence, right := []string{}, true
	for _, by := range []apiclient.By{apiclient.ByEmail, apiclient.ByPhone} {
		a, asked := p.invented[by]
		rule, why := apiclient.LearnNotFound(a.Answer, p.known)
		if why != "" && env.NotFound.Describes(a.Answer) {
			return nil // a person knew better
		}
		if !asked || why != "" {
			continue
		}
		same := func(other apiclient.NotFoundRule) bool { return reflect.DeepEqual(other, rule) }
		if right = right && env.NotFound.Describes(a.Answer); !slices.ContainsFunc(learnt.Rules, same) {
			learnt.Rules, evidence = append(learnt.Rules, rule), append(evidence, a.evidence)
		}
	}
	if right && !slices.ContainsFunc(p.known, env.NotFound.Describes) || len(learnt.Rules) == 0 {
		return nil
	}
	var value any = learnt.Rules
	if env.NotFound = learnt; len(learnt.Rules) == 1 {
		value = learnt.Rules[0]
	}
	return p.set(ctx, "not_found", value, strings.Join(evidence, "\n"))
}

// judgeNotFound says which look-ups have no answer that is known to mean “not found”.
func (p *prober) judgeNotFound() {
	for _, by := range []apiclient.By{apiclient.ByEmail, apiclient.ByPhone} {
		a, asked := p.invented[by]
		if !asked || p.Session.Env.NotFound.Describes(a.Answer) && !slices.ContainsFunc(p.known, p.Session.Env.NotFound.Describes) {
			continue
		}
		if _, why := apiclient.LearnNotFound(a.Answer, p.known); why != "" {
			p.unknown("what “not found” looks like in look-ups by "+string(by), why, "then set not_found")
		}
	}
}

// askTestClient looks up the test client. Nothing is created when its answer cannot be understood.
func (p *prober) askTestClient(ctx context.Context) error {
	if p.Email == "" {
		p.unknown("where a look-up has the client's id", "no client is named", "name one that exists, or is to be created: --client E-MAIL")
		return nil
	}
	r := p.Session.Client.Routes().Find(apiclient.ByEmail, p.Email)
	a, err := p.get(ctx, "the test client, by e-mail", r)
	if err != nil {
		return err
	}
	if p.Session.Env.NotFound.Describes(a.Answer) {
		if p.so("the service does not know it"); p.Journal == nil {
			p.unknown("where a look-up has the client's id", "the service does not know the client that --client names",
				"name one that exists, or let the probe create it: --send")
		}
		return nil
	}
	return p.learnLookUp(ctx, r, a, "")
}

// learnLookUp learns where a look-up that found the test client has its id: sure, where that is known.
func (p *prober) learnLookUp(ctx context.Context, r apiclient.Request, a shown, sure string) error {
	place, id, ok := p.Session.Client.LearnID(r, a.Answer, sure)
	if p.Session.Env.NotFound.Describes(a.Answer) {
		p.so("the service does not find it")
		p.unknown("where a look-up has the client's id", "the client that was created is not found",
			"it may be found later, or the field with its address has another name: -m names them")
		return nil
	}
	if !ok || a.Status/100 != 2 {
		p.so("whether the service knows it cannot be told")
		p.unknown("where a look-up has the client's id", "no value of the answer is the id for certain",
			"ask the service's operator, and set wire."+p.lookupKey())
		p.blocked = "the look-up of the test client is not understood, so nothing is created"
		return nil
	}
	p.so("found; its id is at %s", placeName(place))
	p.clientID, p.known = cmp.Or(p.clientID, id), append(p.known, a.Answer)
	if err := p.propose(ctx, p.lookupKey(), place, true, a.evidence); err != nil {
		return err
	}
	return p.learnNotFound(ctx)
}

// clientKey and lookupKey are the keys of wire for the client's id.
func (p *prober) clientKey() string {
	if p.API == apiclient.V1 {
		return "client_id"
	}
	return "contact_id"
}

func (p *prober) lookupKey() string { return "lookup_" + p.clientKey() }

// wire is the place that a key of wire names at present.
func (p *prober) wire(key string) *string {
	w := &p.Session.Env.Wire
	usual := map[string]*string{"client_id": &w.ClientID, "contact_id": &w.ContactID, "claim_id": &w.ClaimID, "activity_id": &w.ActivityID,
		"redirect_url": &w.RedirectURL, "templates": &w.Templates, "data_type": &w.DataType}
	if lookup := map[string]*string{"lookup_client_id": w.LookupClientID, "lookup_contact_id": w.LookupContactID}[key]; lookup != nil {
		return lookup
	}
	return usual[strings.TrimPrefix(key, "lookup_")]
}

func placeName(place string) string { return cmp.Or(place, "the whole body, a JSON string") }
