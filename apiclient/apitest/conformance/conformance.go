// Package conformance learns how a claims intake service differs from its interface
// document: it tries what the document shows, looks at what the document leaves open,
// and proposes the lines of an environment (wire, not_found, errors) that describe it.
// An integrator runs it before the first import.
//
//	Target ──Run──▶ Report ──Text──▶ the integrator
//	                   └────Lines──▶ the environments file
//
// Run sends GETs only, unless Options.Send allows it to create things, all of them for
// one test client. It speaks plain HTTP, and shares no code with the client and the
// sandbox, so that they cannot share a mistake.
//
// A Report holds forms and names of fields of answers: no ids, no redirect urls, no
// personal data and no credentials. The only values in it are error codes, and the ones
// that not_found compares: null, true, false, 0 and codes.
package conformance

import (
	"cmp"
	"context"
	"net/http"
	"time"
)

// Target is the service that is tried.
type Target struct {
	Name    string // how the report calls it
	Version string // v1 or v2
	BaseURL string // what the document calls {base_url}
	CaseID  string // v1: part of every path

	// WorkflowTemplateIdentifier is the one that the service's operator gave (v2). Without
	// it no activities are created.
	WorkflowTemplateIdentifier string

	// Transport sends requests, with the certificates and the proxy that the service needs;
	// nil for the usual one of net/http.
	Transport http.RoundTripper
	// Authorize puts the credentials on a request; nil for a service that needs none. body
	// is nil for none.
	Authorize func(ctx context.Context, req *http.Request, body []byte) error
}

// Options say what may be tried.
type Options struct {
	// Email is the address of the test client; "" for none. Without Send, the client is
	// only looked up.
	Email string
	// Phone is the test client's number, for the look-up by phone; "" for none.
	Phone string
	// Send allows POSTs: it creates the test client, unless the service knows the address
	// already, and a claim, two activities and a link for it. It needs Email.
	Send bool
	// Client is the payload that creates the test client, a JSON object; nil for one with
	// the fields email and phone.
	Client []byte
	// Timeout is how long each answer may take; 0 means 60 s.
	Timeout time.Duration
}

// Verdict is how a case ended.
type Verdict string

// The verdicts.
const (
	AsDocumented Verdict = "as documented"
	Differs      Verdict = "differs"
	NotShown     Verdict = "not shown by the document" // there is nothing to compare the answer with
	NotTried     Verdict = "could not be tried"
)

// Case is one thing that was tried.
type Case struct {
	Name     string
	Section  string // of the service's document
	Request  string // the method and the document's path pattern
	Expected string // what the document shows, or that it shows nothing
	Came     string // the form of the answer; "" when nothing was sent
	Verdict  Verdict
	Note     string // what it means and what to do; "" for nothing
}

// Proposal is a line for the environment.
type Proposal struct {
	Key      string // such as wire.contact_id, not_found or errors
	Value    string // in YAML; for not_found and errors one rule
	Evidence string // what was seen
}

// Report is what a run found.
type Report struct {
	Target    string // its name
	Version   string
	Sent      bool // POSTs were allowed
	Cases     []Case
	Proposals []Proposal
	Created   []string // what was created for the test client, such as “1 claim”; it stays there
}

// Run tries the service. It stops trying what makes no sense any more, such as creating
// things without valid credentials; such cases are NotTried and say why. It sends one request at a
// time and repeats none. It creates nothing before the templates could be read.
func Run(ctx context.Context, target Target, options Options) Report {
	options.Timeout = cmp.Or(options.Timeout, 60*time.Second)
	s := &suite{ctx: ctx, target: target, options: options, placed: map[string]string{}, made: map[string]int{}}
	s.report = Report{Target: target.Name, Version: target.Version, Sent: options.Send}
	s.read()
	s.create()
	s.decideNobody()
	s.report.Created = s.created()
	return s.report
}
