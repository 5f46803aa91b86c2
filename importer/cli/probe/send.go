package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/importer/spool"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// mappingName is the name under which the ledger has what a probe sends.
const mappingName = "probe"

// probeText is the text of everything that may be any text.
const probeText = "Claimsheet probe"

// linkBody is the key of a line that a link is tried with; without one it is taken back.
const linkBody = "wire.link_body"

// noTemplate is the id of a template that no service has. A refusal that is provoked with it can create nothing.
const noTemplate = "b7e1c1d6-4f0a-4d3c-9a55-0e5f3f1d7c02"

// create creates of the test client what the ledger does not have, learns from the answers that it keeps, and provokes refusals.
func (p *prober) create(ctx context.Context) error {
	blocked, do := p.blocked, "ask the service's operator"
	switch {
	case p.Journal == nil:
		blocked, do = "only GETs were sent", "let the probe create one test client: --send --client E-MAIL"
	case blocked == "" && !p.Session.Env.NotFound.Describes(p.invented[apiclient.ByEmail].Answer):
		blocked, do = "whether the service knows a client cannot be told, so nothing is created", "set not_found"
	}
	if blocked != "" {
		p.unknown("where creations have their ids and redirect urls, and how refusals look", blocked, do)
		return nil
	}
	binding, plan, err := p.plan()
	if err != nil {
		return err
	}
	if err := p.Confirm(ctx, p.creates(plan)); err != nil {
		return err
	}
	return p.carryOutAll(ctx, binding, plan)
}

// isProvoked reports whether a step provokes a refusal.
func isProvoked(s mapping.Step) bool { return s.Activity != nil && s.Activity.TemplateID == noTemplate }

// object is a part of a mapping; as JSON it is YAML too.
type object = map[string]any

// plan plans one row of a mapping, which has everything that is created for the test client, and an activity of noTemplate.
func (p *prober) plan() (binding *mapping.Binding, plan mapping.Plan, err error) {
	rules := object{"name": mappingName, "api": p.API,
		"client": object{"key": "E-mail", "lookup": object{"email": "E-mail"}, "fields": p.fields()}}
	if p.API == apiclient.V2 {
		rules["claims"] = []object{{"key": "Claim", "name": probeText}}
		rules["workflow"] = object{"name": probeText}
	}
	service := &mapping.Service{WorkflowTemplateIdentifier: cmp.Or(p.Session.Mapping.Workflow.TemplateIdentifier.Text,
		p.Session.Env.WorkflowTemplateIdentifier)}
	switch {
	case len(p.templates) == 0:
		p.unknown("how refusals look", "no activity can be asked for", "see above")
	case p.API == apiclient.V2 && service.WorkflowTemplateIdentifier == "":
		p.unknown("how activities are answered, and how refusals look", "the environment has no workflow_template_identifier",
			"ask the service's operator for it, and set it")
	default:
		template, attributes := p.template()
		service.Templates = []mapping.Template{template, {ID: noTemplate, Name: "no such template"}}
		activities := []object{{"template": template.Name, "id": "Submitted", "attributes": attributes}}
		if p.API == apiclient.V2 {
			activities = append(activities,
				object{"template": template.Name, "id": "Accepted", "on": "claim", "status": "Accepted", "attributes": attributes})
		}
		rules["activities"] = append(activities, object{"template": template.Name, "id": "Open", "status": "Open"},
			object{"template": "no such template", "id": "refused", "status": "Open", "assigned": true})
	}
	text, err := json.Marshal(rules)
	if err != nil {
		return nil, plan, err
	}
	m, found := mapping.Parse("the probe", text)
	if err := found.Err(); err != nil {
		return nil, plan, err
	}
	binding, found = mapping.Bind(m, &cell.Sheet{File: "the probe", HeaderRow: 1, Header: []string{"E-mail", "Claim"}}, service, "2026-01-01")
	if err := found.Err(); err != nil {
		return nil, plan, err
	}
	row := []cell.Cell{{Kind: cell.Text, Raw: p.Email, Shown: p.Email}, {Kind: cell.Text, Raw: "probe", Shown: "probe"}}
	plan = binding.Plan(1, []mapping.ConvertedRow{binding.Convert(cell.Record{Row: 2, Cells: row})})
	return binding, plan, plan.Problems.Err()
}

// template returns the first template that has an attribute for a text, with that attribute alone, and its value; else the
// first, without attributes.
func (p *prober) template() (mapping.Template, object) {
	for _, t := range p.templates {
		for _, a := range t.Attributes {
			if a.Type == "Text" || a.Type == "TextArea" || a.Type == "" {
				t.Attributes = []mapping.AttributeTemplate{a}
				return t, object{a.Name: object{"value": probeText, "type": cmp.Or(a.Type, "Text")}}
			}
		}
	}
	return mapping.Template{ID: p.templates[0].ID, Name: p.templates[0].Name}, object{}
}

// fields is the test client's data: those of the mapping's fields, with values of their types, or an e-mail address and a name.
func (p *prober) fields() object {
	email, fields := object{"column": "E-mail", "type": "Email"}, object{}
	for _, f := range p.Session.Mapping.Client.Fields {
		kind := f.Value.Type.Text
		if kind == "Date" && f.Value.Output.Text == "date" {
			kind = "day"
		}
		value, ok := object{
			"Email": email, "Phone": object{"value": "+447700900123"}, "day": object{"value": "1980-05-01"},
			"Date": object{"value": "1980-05-01T00:00:00Z"}, "DateTime": object{"value": "1980-05-01T00:00:00Z"},
			"Number": object{"value": 1, "type": kind}, "Currency": object{"value": 1, "type": kind},
			"Checkbox": object{"value": true, "type": kind},
		}[kind]
		if !ok {
			value = object{"value": cmp.Or(f.Value.Constant.Text, probeText)}
		}
		fields[f.Name.Text] = value
	}
	if len(fields) == 0 {
		return object{"email": email, "firstName": object{"value": "Claimsheet"}, "lastName": object{"value": "Probe"}}
	}
	return fields
}

// creates says what a plan creates.
func (p *prober) creates(plan mapping.Plan) string {
	var list []string
	for _, s := range plan.Steps {
		if !isProvoked(s) {
			list = append(list, nameOf(s))
		}
	}
	return fmt.Sprintf("In the environment “%s”, at %s, the probe creates for %s what is not there yet:\n\n  %s\n\n"+
		"They stay there: agree on it with the service's operator. claimsheet history lists them with their ids.\n"+
		"The probe also asks for an activity that must be refused: of a template that does not exist.",
		p.Environment, p.Session.Env.BaseURL, p.Email, strings.Join(list, "\n  "))
}

// carryOutAll has the engine carry out each step of a plan with those that it needs, and again as long as its answer shows a new line:
// the engine then reads the kept answers again. A step that is refused or stays in doubt does not keep others from being tried.
func (p *prober) carryOutAll(ctx context.Context, binding *mapping.Binding, plan mapping.Plan) (err error) {
	var known map[string]ledger.Step
	defer func() { p.judgeSteps(plan, known) }()
	for _, s := range plan.Steps {
		part := partOf(plan, s)
		if slices.ContainsFunc(part.Steps, func(n mapping.Step) bool { return n.Key != s.Key && known[n.Key].State != ledger.Done }) {
			continue
		}
		var stopped error // perhaps because a place is wrong that the answer shows
		for lines := -1; lines != len(p.Lines); {
			lines = len(p.Lines)
			if stopped = p.carryOut(ctx, binding, part); stopped != nil && !errors.Is(stopped, importer.ErrStopped) {
				return stopped
			}
			if known, err = p.Session.Ledger.Steps(context.WithoutCancel(ctx), p.owner(plan), mappingName); err != nil {
				return err
			}
			if err := p.learn(ctx, s, known[s.Key]); err != nil || ctx.Err() != nil {
				return cmp.Or(ctx.Err(), err)
			}
			if isProvoked(s) { // it is asked for once
				break
			}
		}
		if stopped != nil && (s.Kind == mapping.ClientStep || known[s.Key].State == "") {
			return stopped
		}
	}
	return nil
}

// partOf is a plan of a step and those that it needs.
func partOf(plan mapping.Plan, s mapping.Step) mapping.Plan {
	plan.Steps = slices.DeleteFunc(slices.Clone(plan.Steps), func(other mapping.Step) bool {
		return other.Key != s.Key && other.Key != s.Claim && other.Kind != mapping.ClientStep
	})
	return plan
}

func (p *prober) owner(plan mapping.Plan) ledger.ClientKey {
	return ledger.ClientKey{Environment: p.Scope, Space: plan.Client.Space, Client: plan.Client.Key}
}

// carryOut has the engine carry out a plan, as in a run.
func (p *prober) carryOut(ctx context.Context, binding *mapping.Binding, plan mapping.Plan) error {
	draft, err := spool.NewResults(p.Session.State)
	if err != nil {
		return err
	}
	defer func() { _ = draft.Close() }()
	job := &importer.Job{Runs: []string{p.RunID}, Environment: p.Scope, Binding: binding, Service: p.Session.Client,
		Ledger: p.Session.Ledger, Drafts: []*spool.Results{draft}, Journal: p.Journal, Concurrency: 1, NewLedger: true,
		MaxFailures: importer.MaxFailures{Percent: 100}}
	return job.Do(ctx, func(yield func(mapping.Plan, error) bool) { yield(plan, nil) })
}

// request is that of a step, as far as reading its answer depends on it.
func (p *prober) request(s mapping.Step) apiclient.Request {
	switch routes := p.Session.Client.Routes(); s.Kind {
	case mapping.ClientStep:
		return routes.CreateClient(nil, true)
	case mapping.ClaimStep:
		return routes.CreateClaim("", nil, "")
	case mapping.LinkStep:
		return routes.CreateLink(p.clientID, nil)
	default:
		return routes.CreateActivity(p.clientID, s.Claim, apiclient.Activity{})
	}
}

// keysOf are the keys of wire by which the answer to a step is read.
func (p *prober) keysOf(s mapping.Step) []string {
	switch {
	case s.Kind == mapping.ClientStep && p.API == apiclient.V1:
		return []string{"client_id", "redirect_url"}
	case s.Kind == mapping.ClientStep:
		return []string{"contact_id"}
	case s.Kind == mapping.LinkStep:
		return []string{"redirect_url"}
	}
	return []string{string(s.Kind) + "_id"}
}

// learn learns from the answer to a step where it has the id and the redirect url, or that the request for a link has no body.
func (p *prober) learn(ctx context.Context, s mapping.Step, was ledger.Step) error {
	if s.Kind == mapping.ClientStep && was.State == ledger.Done {
		p.clientID = was.ID
	}
	if isProvoked(s) {
		return p.learnRefusal(ctx, s, was)
	}
	if was.Status == 0 || was.State == ledger.Done && was.Status/100 != 2 { // a look-up found later what was refused before
		return nil
	}
	a := apiclient.StoredAnswer(was.Status, was.Answer)
	r := p.request(s)
	if _, before := p.asked[s.Key]; !before {
		p.show(nameOf(s), r, a)
		p.asked[s.Key] = len(p.Asked) - 1
	}
	if s.Kind == mapping.LinkStep && was.State == ledger.Refused && a.Status/100 == 4 && p.Session.Client.LinkBody() != nil {
		p.Session.Env.Wire.LinkBody = nil
		return p.set(ctx, linkBody, "none", was.Reason+" with a body")
	}
	if a.Status/100 != 2 {
		return nil
	}
	p.accepted = append(p.accepted, a)
	sure := ""
	if s.Kind == mapping.ClientStep {
		if err := p.lookAgain(ctx, r, a); err != nil {
			return err
		}
		sure = p.clientID
	}
	for _, key := range p.keysOf(s) {
		place, _, ok := p.Session.Client.LearnID(r, a, sure)
		if key == "redirect_url" {
			place, ok = p.Session.Client.LearnURL(r, a, p.clientID)
		}
		if err := p.propose(ctx, key, place, ok, r.Method+" "+r.Route+": "+p.Session.Client.Outline(a)); err != nil {
			return err
		}
	}
	return nil
}

// propose proposes a place that was learnt, unless it is the one of the environment.
func (p *prober) propose(ctx context.Context, key, place string, learnt bool, evidence string) error {
	if !learnt || place == *p.wire(key) {
		return nil
	}
	switch w := &p.Session.Env.Wire; key {
	case "lookup_client_id":
		w.LookupClientID = &place
	case "lookup_contact_id":
		w.LookupContactID = &place
	default:
		*p.wire(key) = place
	}
	return p.set(ctx, "wire."+key, place, evidence)
}

// lookAgain looks the test client up once after its creation r: of several values of the answer a, its id is the one found again.
func (p *prober) lookAgain(ctx context.Context, r apiclient.Request, a apiclient.Answer) error {
	if len(p.known) > 0 || p.looked {
		return nil
	}
	p.looked = true
	find := p.Session.Client.Routes().Find(apiclient.ByEmail, p.Email)
	found, err := p.get(ctx, "the test client, now that it is there", find)
	if err != nil {
		return err
	}
	place, id, ok := p.Session.Client.LearnID(r, a, p.clientID)
	if _, looked, sure := p.Session.Client.LearnID(find, found.Answer, ""); !ok && sure && found.Status/100 == 2 {
		place, id, ok = p.Session.Client.LearnID(r, a, looked)
	}
	if err := p.propose(ctx, p.clientKey(), place, ok, r.Method+" "+r.Route+": "+p.Session.Client.Outline(a)); err != nil {
		return err
	}
	return p.learnLookUp(ctx, find, found, id)
}

// judgeSteps says what became of the steps, and what they leave open.
func (p *prober) judgeSteps(plan mapping.Plan, known map[string]ledger.Step) {
	for _, s := range plan.Steps {
		if isProvoked(s) {
			continue
		}
		was, what, so := known[s.Key], "how the service answers: "+nameOf(s), ""
		at, answered := p.asked[s.Key]
		switch was.State {
		case ledger.Done:
			if so = "created before"; was.Run == p.RunID && was.Via == ledger.ViaAnswer {
				so = "created now"
			}
			for _, key := range p.keysOf(s) {
				if place := *p.wire(key); key != "activity_id" || place != "" {
					so += "; " + strings.NewReplacer("_id", " id", "_", " ").Replace(key) + " at " + placeName(place)
				}
			}
			if !answered && s.Kind == mapping.ClientStep {
				p.unknown("where the answer to the client's creation has its id",
					"the ledger has no such answer: the service knew the client before", "name another address, which it does not know")
			}
		case ledger.Refused:
			so = "refused"
			p.unknown(what, "it refuses it: "+problem.OneLine(was.Reason),
				"ask the service's operator; with -m, the client has the fields of the mapping")
		case "":
			p.unknown(what, "it waits for what is above", "see there")
		default:
			so = "it may have been created"
			p.unknown(what, "it may have been created: "+problem.OneLine(was.Reason),
				"ask the service's operator, set the place in wire, and probe again; claimsheet settle decides it")
		}
		if answered {
			p.Asked[at].So = so
		}
		if s.Kind == mapping.LinkStep && was.State != ledger.Done {
			p.Lines = slices.DeleteFunc(p.Lines, func(l Line) bool { return l.Key == linkBody })
		}
	}
}

func nameOf(s mapping.Step) string {
	switch {
	case isProvoked(s):
		return "an activity of a template that does not exist"
	case s.Kind == mapping.ActivityStep:
		return fmt.Sprintf("activity “%s”, %s", s.Activity.TemplateName, s.Activity.Status)
	}
	return s.Title
}

// learnRefusal proposes a rule of errors for a refusal that Claimsheet does not take for one.
func (p *prober) learnRefusal(ctx context.Context, s mapping.Step, was ledger.Step) error {
	if was.Status == 0 {
		p.unknown("how the service answers: "+nameOf(s), cmp.Or(problem.OneLine(was.Reason), "it was not sent"), "ask the service's operator")
		return nil
	}
	r, a := p.request(s), apiclient.StoredAnswer(was.Status, was.Answer)
	shown := p.show(nameOf(s), r, a)
	if p.Session.Client.JudgeStored(r, a).Effect == apiclient.Refused {
		p.so("a refusal, as Claimsheet reads it")
		return nil
	}
	rule, ok := apiclient.LearnRefusal(a, p.accepted)
	if !ok {
		p.so("nothing in it says that it was refused")
		p.unknown("how the service refuses "+nameOf(s), "nothing in the answer says that nothing was created: such a step is uncertain",
			"ask the service's operator")
		return nil
	}
	p.so("a refusal, by its code; claimsheet settle --not-created decides the step that it left uncertain")
	rule.Hint = "the service refuses it"
	p.Session.Env.Rules = append(slices.Clone(p.Session.Env.Rules), rule)
	return p.set(ctx, "errors", []apiclient.Rule{rule}, shown.evidence)
}
