package environment

import (
	"context"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
)

// Config makes what an apiclient.Client needs to know of the environment: it
// fetches the secrets (a program gets 30 s), reads the TLS files and makes
// Authorize. ReadOnly, Transport and UserAgent are the caller's to set; for the
// sandbox Transport must be. An OAuth2 token is fetched by the first request.
//
// The error is a problem.List of everything that is missing. Under version 1
// that includes a case, which is part of every path (service document,
// "Versioning").
func (e *Environment) Config(ctx context.Context, version apiclient.Version) (apiclient.Config, error) {
	r := &resolver{ctx: ctx, dir: e.dir}
	if version == apiclient.V1 && e.CaseID == "" {
		r.note(problem.At(e.where, "no-case", "environment “%s” has no “case_id”, and version 1 needs one in every path", e.Name).
			Hinted("set case_id in the environment, or in the claim type that the mapping names"))
	}
	tlsConfig, problems := e.tls.load(e.dir)
	r.note(problems...)
	headers, steps := splitHeaders(r, e.headers)
	step, renew := e.auth.authorize(r, tlsConfig)
	if step != nil {
		steps = append(steps, step)
	}
	r.problems.Sort()
	if err := r.problems.Err(); err != nil {
		return apiclient.Config{}, err
	}
	return apiclient.Config{
		BaseURL:           e.BaseURL,
		Version:           version,
		CaseID:            e.CaseID,
		Headers:           headers,
		Authorize:         all(steps),
		Renew:             renew,
		Secrets:           r.reveal(),
		TLS:               tlsConfig,
		Timeout:           e.Limits.Timeout,
		RequestsPerSecond: e.Limits.RequestsPerSecond,
		Adaptive:          e.Limits.Adaptive,
		Wire:              e.Wire,
		NotFound:          e.NotFound,
		Rules:             e.Rules,
		Repeatable:        e.Repeatable,
	}, nil
}

// Secrets names what Config fetches from elsewhere, such as “token (env:NAME)”,
// without fetching it.
func (e *Environment) Secrets() []string {
	a := e.auth
	var names []string
	for _, ref := range append([]reference{a.token, a.key, a.username, a.password, a.clientID, a.clientSecret}, e.headers...) {
		if ref.source != literal {
			names = append(names, ref.key+" ("+string(ref.source)+":"+ref.name+")")
		}
	}
	return names
}

// Warnings names the secret files and the private key that every user of this
// machine may read. They are no reason to stop, but to be told.
func (e *Environment) Warnings() []problem.Problem {
	var warnings []problem.Problem
	warn := func(where problem.Where, path string) {
		if path = beside(e.dir, path); exposed(path) {
			warnings = append(warnings, problem.At(where, "world-readable", "every user of this machine can read %s", path).
				Hinted("chmod o-r %s", path))
		}
	}
	a := e.auth
	for _, ref := range append([]reference{a.token, a.key, a.username, a.password, a.clientID, a.clientSecret}, e.headers...) {
		if ref.source == fromFile {
			warn(ref.where, ref.name)
		}
	}
	if e.tls.key != "" {
		warn(e.tls.where, e.tls.key)
	}
	return warnings
}
