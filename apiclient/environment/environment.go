// Package environment reads environments.yaml, resolves the secrets that it
// refers to, and makes the apiclient.Config of an environment.
//
//	file ──Load──▶ File ──Choose──▶ Environment ──ForClaimType──▶ Environment ──Config──▶ apiclient.Config
//
// Load reports everything that is wrong with the file at once, and reads neither
// the secrets nor the files that it names. Config reads them, so that a file with
// ten environments can be used by someone who has the secrets of one.
//
// A secret is never written in the file: it is a reference (env:NAME, file:PATH
// or cmd:PROGRAM ARG…). A resolved secret is a Secret, which no formatter prints;
// its value is used only in a request.
//
// Template ids, case ids and workflow identifiers are part of an environment and
// not of a mapping, because they belong to one environment and one claim type
// (service document, "What the service does").
package environment

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
)

// sandbox is the name of the embedded service's environment. It needs no entry
// in the file; one may set its limits, ids and claim types.
const sandbox = "sandbox"

// sandboxURL is the base url of the embedded service, which is reached through
// Config.Transport. The name is reserved (RFC 6761, section 6.4), so that a
// request for the sandbox that goes to the network by mistake reaches nobody.
const sandboxURL = "https://sandbox.invalid"

// sandboxCaseID is the case of the embedded service's built-in data (version 1).
const sandboxCaseID = "0b7c2c55-6a4e-4f0e-9a53-2f3f1f6f5c10"

// Environment is one entry of environments.yaml, or the sandbox, with the
// defaults filled in. Secrets are not resolved and files not read before
// Config. It may be used by several goroutines as long as none changes it.
type Environment struct {
	Name     string
	Sandbox  bool // the embedded service; nothing goes over the network
	Tracking Tracking
	settings

	// WorkflowTemplateIdentifier is the default for mappings that name none
	// (version 2; service document, "Activity, request shape for v2").
	WorkflowTemplateIdentifier string
	// TemplateIDs maps "Template" or "Template/Attribute" to an id, where a name alone does not tell. Never nil.
	TemplateIDs map[string]string

	auth       credentials
	headers    []reference // key is the header's name
	tls        tlsFiles
	proxy      proxySettings
	ledger     reference              // no name: the ledger is a file of the state folder
	claimTypes map[string]Environment // of each only CaseID, WorkflowTemplateIdentifier and TemplateIDs, where they differ
	where      problem.Where          // the entry's place; zero for a sandbox without one
}

// settings are those of the client that the file gives as they are: the base url, normalised; the case; the limits,
// by default 8 requests in flight, 120 s for an answer to a POST and no ceiling; and how answers are read.
// Environment.Config fills in the rest.
type settings = apiclient.Config

// newEnvironment is an entry with the defaults.
func newEnvironment(name string) Environment {
	e := Environment{
		Name:        name,
		settings:    settings{Concurrency: 8, Timeout: 120 * time.Second, Wire: apiclient.DefaultWire(), NotFound: apiclient.DefaultNotFound()},
		TemplateIDs: map[string]string{},
	}
	if name == sandbox {
		e.Sandbox, e.BaseURL, e.CaseID = true, sandboxURL, sandboxCaseID
	}
	return e
}

// ForClaimType returns the environment with the settings of a claim type: its case
// and workflow identifier replace those of the environment, and its template ids
// are added and win. "" is the environment itself. An unknown name is a problem,
// except in a sandbox that has no claim types: it accepts every name.
func (e *Environment) ForClaimType(name string) (*Environment, error) {
	if name == "" || e.Sandbox && len(e.claimTypes) == 0 {
		return e, nil
	}
	ct, ok := e.claimTypes[name]
	if !ok {
		p := problem.At(e.where, "unknown-claim-type", "environment “%s” has no claim type “%s”", e.Name, problem.Shorten(name))
		p.Hint = problem.Suggestion(name, slices.Sorted(maps.Keys(e.claimTypes)))
		if p.Hint == "" {
			p.Hint = "add it under claim_types"
		}
		return nil, p
	}
	o := *e
	o.TemplateIDs = maps.Clone(e.TemplateIDs)
	maps.Copy(o.TemplateIDs, ct.TemplateIDs)
	o.CaseID = cmp.Or(ct.CaseID, e.CaseID)
	o.WorkflowTemplateIdentifier = cmp.Or(ct.WorkflowTemplateIdentifier, e.WorkflowTemplateIdentifier)
	return &o, nil
}

// inCase separates the base url of an identity from the case.
const inCase = " case "

// Identity is the name of the service in a ledger: the base url, in one spelling
// for all that mean the same (apiclient.ServiceKey), and under version 1 also the
// case, because a client belongs to a case there; for the sandbox it is
// "sandbox". Neither the entry's name nor its credentials are part of it.
func (e *Environment) Identity(version apiclient.Version) string {
	switch {
	case e.Sandbox:
		return sandbox
	case version == apiclient.V1:
		return apiclient.ServiceKey(e.BaseURL) + inCase + strings.ToLower(e.CaseID)
	}
	return apiclient.ServiceKey(e.BaseURL)
}

// ServiceOf splits an identity into the base url and the rest.
func ServiceOf(identity string) (service, rest string) {
	service, caseID, ok := strings.Cut(identity, inCase)
	if ok {
		rest = inCase + caseID
	}
	return service, rest
}

// Config makes the settings of an apiclient.Client: it reads the secrets (a
// program gets 30 s) and the TLS files. The caller sets ReadOnly, Transport, Wrap
// and UserAgent; the sandbox needs a Transport. The first request fetches the
// OAuth2 token.
//
// The error joins problems: everything that is missing. Version 1 also needs
// a case, which is part of every path (service document, "Versioning").
func (e *Environment) Config(ctx context.Context, version apiclient.Version) (apiclient.Config, error) {
	r := e.resolver(ctx)
	if version == apiclient.V1 && e.CaseID == "" {
		r.note(problem.At(e.where, "no-case", "environment “%s” has no “case_id”, and version 1 needs one in every path", e.Name).
			Hinted("set case_id in the environment, or in the claim type that the mapping names"))
	}
	cfg := e.settings
	cfg.Version, cfg.Headers = version, http.Header{}
	cfg.TLS, cfg.Proxy = e.tls.load(r), e.proxy.resolve(r)
	e.authenticate(r, &cfg)
	if len(r.secrets) > 0 {
		cfg.Secrets = func() (values []string) {
			for _, s := range r.secrets {
				values = append(values, s.Reveal())
			}
			return values
		}
	}
	if err := r.done(); err != nil {
		return apiclient.Config{}, err
	}
	return cfg, nil
}

// dir returns the environments file's folder.
func (e *Environment) dir() string { return filepath.Dir(e.where.File) }

// references are the values that are kept elsewhere.
func (e *Environment) references() []reference {
	a := e.auth
	all := slices.Concat([]reference{a.token, a.key, a.username, a.password, a.clientID, a.clientSecret}, e.headers,
		[]reference{e.proxy.username, e.proxy.password})
	if w := e.Tracking.webhook; w != nil {
		all = append(all, w.token, w.secret)
	}
	return slices.DeleteFunc(append(all, e.ledger), func(ref reference) bool { return ref.source == literal })
}

// Secrets names what Config, Webhook and Ledger read from elsewhere, such as “token (env:NAME)”, without reading it.
func (e *Environment) Secrets() []string {
	var names []string
	for _, ref := range e.references() {
		names = append(names, ref.key+" ("+string(ref.source)+":"+ref.name+")")
	}
	return names
}

// Warnings names the secret files and the private key that every user of this machine may read.
func (e *Environment) Warnings() []problem.Problem {
	var warnings []problem.Problem
	warn := func(where problem.Where, path string) {
		path = beside(e.dir(), path)
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o004 != 0 && runtime.GOOS != "windows" { // which has no such bits
			warnings = append(warnings, problem.At(where, "world-readable", "every user of this machine can read %s", path).
				Hinted("chmod o-r %s", path))
		}
	}
	for _, ref := range e.references() {
		if ref.source == fromFile {
			warn(ref.at.In(e.where.File), ref.name)
		}
	}
	if e.tls.key != "" {
		warn(e.tls.where, e.tls.key)
	}
	return warnings
}

// CheckAgreement reports the fields of wire.lookup_agree that are not among the
// fields that a mapping fills: without them nothing would be compared, and a
// different client with the same address would be reused.
func (e *Environment) CheckAgreement(fields []string) problem.List {
	var found problem.List
	for _, name := range slices.Sorted(maps.Keys(e.Wire.LookupAgree)) {
		if slices.Contains(fields, name) {
			continue
		}
		found = append(found, problem.At(e.where, "unfilled-field",
			"wire.lookup_agree compares the client field “%s” before an existing client is reused, and the mapping does not fill it", problem.Shorten(name)).
			Hinted("add it to client.fields of the mapping, or take it out of lookup_agree"))
	}
	return found
}
