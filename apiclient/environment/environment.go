package environment

import (
	"maps"
	"slices"
	"strings"
	"time"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
)

// Sandbox is the name of the embedded service's environment. It needs no
// entry in the file; one may set its limits, ids and claim types.
const Sandbox = "sandbox"

// SandboxURL is the base url of the embedded service, which is reached through
// Config.Transport. The name is reserved (RFC 6761, section 6.4), so that a
// request for the sandbox that strays to the network arrives nowhere.
const SandboxURL = "https://sandbox.invalid"

// SandboxCaseID is the case of the embedded service's built-in data (version 1).
const SandboxCaseID = "0b7c2c55-6a4e-4f0e-9a53-2f3f1f6f5c10"

// Environment is one entry of environments.yaml, or the sandbox, with the
// defaults filled in. Secrets are not resolved and files not read before
// Config. It may be used by several goroutines as long as none changes it.
type Environment struct {
	Name    string
	Sandbox bool   // the embedded service; nothing goes over the network
	BaseURL string // normalised, see apiclient.NormaliseBaseURL
	CaseID  string // version 1; "" when the entry has none

	Limits     Limits
	Wire       apiclient.Wire
	NotFound   apiclient.NotFound
	Rules      []apiclient.Rule
	Repeatable []apiclient.Kind

	// WorkflowTemplateIdentifier is the default for mappings that name none
	// (version 2; service document, "Activity, request shape for v2").
	WorkflowTemplateIdentifier string
	// TemplateIDs maps "Template" or "Template/Attribute" to an id, where a
	// name alone does not tell. Never nil.
	TemplateIDs map[string]string

	auth       credentials
	headers    []reference // key is the header's name
	tls        tlsFiles
	claimTypes map[string]claimType
	dir        string        // the environments file's folder
	where      problem.Where // the entry's place; zero for a sandbox without one

	agreeAt map[string]problem.Where // where the fields of wire.lookup_agree stand
}

// Limits is how much an environment can take. The service document shows no
// limits (section "Limits"), so these are the operator's to set.
type Limits struct {
	RequestsPerSecond float64       // 0 means no ceiling; the default
	Adaptive          bool          // find the rate below the ceiling; default false
	Concurrency       int           // clients side by side; default 8
	Timeout           time.Duration // how long a POST may wait for its answer; default 120 s
}

// claimType is what differs between the claim types of one environment.
type claimType struct {
	caseID                     string
	workflowTemplateIdentifier string
	templateIDs                map[string]string
}

// newEnvironment is an entry before its first key is read.
func newEnvironment(name string) Environment {
	e := Environment{
		Name:        name,
		Limits:      Limits{Concurrency: 8, Timeout: 120 * time.Second},
		Wire:        apiclient.DefaultWire(),
		NotFound:    apiclient.DefaultNotFound(),
		TemplateIDs: map[string]string{},
	}
	if name == Sandbox {
		e.Sandbox, e.BaseURL, e.CaseID = true, SandboxURL, SandboxCaseID
	}
	return e
}

// ForClaimType is the environment with what the named claim type sets in place
// of its own; template ids are added, those of the claim type win. "" is the
// environment itself. A name that the environment does not list is a problem,
// except in a sandbox that lists none: there every claim type will do.
func (e *Environment) ForClaimType(name string) (*Environment, error) {
	if name == "" || e.Sandbox && len(e.claimTypes) == 0 {
		return e, nil
	}
	ct, ok := e.claimTypes[name]
	if !ok {
		p := problem.At(e.where, "unknown-claim-type", "environment “%s” has no claim type “%s”", e.Name, shorten(name))
		p.Hint = suggestion(name, slices.Sorted(maps.Keys(e.claimTypes)))
		if p.Hint == "" {
			p.Hint = "add it under claim_types"
		}
		return nil, p
	}
	o := *e
	o.TemplateIDs = maps.Clone(e.TemplateIDs)
	maps.Copy(o.TemplateIDs, ct.templateIDs)
	if ct.caseID != "" {
		o.CaseID = ct.caseID
	}
	if ct.workflowTemplateIdentifier != "" {
		o.WorkflowTemplateIdentifier = ct.workflowTemplateIdentifier
	}
	return &o, nil
}

// inCase parts the base url of an identity from the case.
const inCase = " case "

// Identity is what a ledger keeps its entries under: the base url, in the one
// spelling that stands for all that mean the same (apiclient.ServiceKey), and,
// under version 1, the case, because clients live in a case there; for the
// sandbox it is just "sandbox". Neither the entry's name nor its credentials are
// part of it.
func (e *Environment) Identity(version apiclient.Version) string {
	switch {
	case e.Sandbox:
		return Sandbox
	case version == apiclient.V1:
		return apiclient.ServiceKey(e.BaseURL) + inCase + strings.ToLower(e.CaseID)
	}
	return apiclient.ServiceKey(e.BaseURL)
}

// ServiceOf is the base url of an identity, in the spelling that stands for all
// that mean the same, and rest what comes after it.
func ServiceOf(identity string) (service, rest string) {
	base, caseID, ok := strings.Cut(identity, inCase)
	if ok {
		rest = inCase + caseID
	}
	return apiclient.ServiceKey(base), rest
}
