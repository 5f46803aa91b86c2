package studio

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// getClient answers with what would be sent for the client of a row, or of a number.
func getClient(v view, r *http.Request) (any, error) {
	row, client := number(r, "row"), number(r, "number")
	if v.bound != nil && v.verdict == nil {
		return nil, cannot("not-ready", "the rows are being judged", "it is shown as soon as that is done") // the page retries
	}
	if v.verdict == nil || v.verdict.survey == nil {
		return nil, cannot("not-judged", "the mapping does not say yet which rows are one client, or has a mistake there",
			"choose the client's key, or correct what is marked")
	}
	survey := v.verdict.survey
	var places []int64
	if row > 0 {
		i := v.book.record(cell.RowOf(0, row))
		if i < 0 {
			return nil, cannot("no-such-row", "the sheet has no such row", "")
		}
		if client = survey.Client(i); client == 0 { // it is a plan of its own
			places = v.book.places[i : i+1]
		}
	}
	for i := range v.book.records {
		if client > 0 && survey.Client(i) == client && len(places) < maxRows {
			places = append(places, v.book.places[i])
		}
	}
	if len(places) == 0 {
		return nil, cannot("no-such-client", "there is no such client", "")
	}
	return v.client(client, survey.Clients, places)
}

func (v view) client(number, of int, places []int64) (any, error) {
	var leads []mapping.ConvertedRow
	err := v.book.rows.Read(places, func(record cell.Record) { leads = append(leads, v.bound.Convert(record)) })
	if err != nil {
		return nil, err
	}
	plan := v.bound.Plan(number, leads)
	standIns(&plan)
	steps := []map[string]any{}
	routes := v.options.Routes
	routes.Version = apiclient.Version(v.mapping.API.Text)
	for i, request := range importer.Preview(plan, routes, v.options.LinkBody) {
		step, path, body := plan.Steps[i], "/"+strings.Join(request.Path, "/"), json.RawMessage(request.Body)
		if request.NoBody {
			body = nil
		}
		if query, _ := url.QueryUnescape(request.Query.Encode()); query != "" {
			path += "?" + query
		}
		steps = append(steps, map[string]any{"title": step.Title, "values": v.values(&step, request.Body),
			"method": request.Method, "path": path, "body": body})
	}
	rows := []int{}
	for _, row := range plan.Rows {
		rows = append(rows, row.Number())
	}
	return map[string]any{"number": number, "of": of, "rows": rows, "why": v.why(plan),
		"problems": v.show(plan.Problems), "steps": steps}, nil
}

// values are those of a step as they are sent, with the cells that they come from: first what every claim or activity has, then its
// payload. A value is "" when it is left out, because its cells are empty.
func (v view) values(step *mapping.Step, body json.RawMessage) []map[string]any {
	list := []map[string]any{}
	add := func(name, value string, from mapping.Source) {
		cells := []map[string]string{}
		for i, column := range from.Columns {
			if i < len(from.Texts) && from.Texts[i] != "" && from.Row != 0 {
				cells = append(cells, map[string]string{"cell": v.bound.At(column, from.Row).Cell, "text": from.Texts[i]})
			}
		}
		list = append(list, map[string]any{"name": name, "value": value, "cells": cells})
	}
	if a := step.Activity; a != nil {
		add("Status", a.Status, a.StatusSource)
		if a.Workflow.Name != "" {
			add("Workflow", a.Workflow.Name, mapping.Source{})
			add("Workflow template", a.Workflow.TemplateIdentifier, mapping.Source{})
		}
	}
	var claim struct {
		AdministratorID string   `json:"administratorId"`
		Claimants       []string `json:"claimants"`
	}
	if step.Kind == mapping.ClaimStep && json.Unmarshal(body, &claim) == nil {
		from := step.Fields[len(step.Fields)-1].Source // that of the name where the client is all of them
		if len(step.Fields) == 1 {
			from = mapping.Source{}
		}
		add("Administrator", claim.AdministratorID, from)
		add("Claimants", strings.Join(claim.Claimants, ", "), from)
	}
	for _, p := range step.Fields {
		switch p.Name {
		case mapping.ClaimAdministrator, mapping.ClaimClaimants:
		case mapping.ClaimName:
			add("Name of the claim", p.Value.Literal, p.Source)
		default:
			add(p.Name, p.Value.Literal, p.Source)
		}
	}
	return list
}

// standIns fills in the ids of templates that no environment was asked for.
func standIns(plan *mapping.Plan) {
	for i := range plan.Steps {
		a := plan.Steps[i].Activity
		if a == nil {
			continue
		}
		a.TemplateID = cmp.Or(a.TemplateID, "«id of the template "+a.TemplateName+"»")
		a.Workflow.TemplateIdentifier = cmp.Or(a.Workflow.TemplateIdentifier, "«identifier of the workflow's template»")
		for k := range plan.Steps[i].Fields {
			attr := &plan.Steps[i].Fields[k]
			attr.TemplateID = cmp.Or(attr.TemplateID, "«id of the attribute "+attr.Name+"»")
		}
	}
}

func (v view) why(plan mapping.Plan) string {
	var names []string
	for _, key := range v.mapping.Client.Key {
		names = append(names, key.Text)
	}
	switch key := strings.Join(names, " and "); {
	case plan.Skipped != "":
		return "This row is skipped"
	case plan.Client == (mapping.Identity{}):
		return fmt.Sprintf("Row %d belongs to no client: its key, %s, cannot be read", plan.Rows[0].Number(), key)
	case len(plan.Rows) == 1:
		return fmt.Sprintf("Only row %d has the key %s: %s", plan.Rows[0].Number(), key, plan.Client.Key)
	default:
		return fmt.Sprintf("%d rows have the same key, %s: %s", len(plan.Rows), key, plan.Client.Key)
	}
}
