package conformance_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/apiclient/apitest/conformance"
	"claimsheet/apiclient/environment"
	"claimsheet/apiclient/sandbox"
)

var (
	environments = flag.String("environments", "environments.yaml", "the environments file of -env; relative to this package's folder")
	env          = flag.String("env", "", "the environment to try; without it only sandboxes are tried")
	api          = flag.String("api", "v2", "the version of the interface: v1 or v2")
	claimType    = flag.String("claim-type", "", "the claim type of the environment, where it has some")
	client       = flag.String("client", "", "the e-mail address of the test client; without -send it is only looked up")
	phone        = flag.String("phone", "", "the phone number of the test client")
	clientData   = flag.String("client-data", "", "a file with the JSON object that creates the test client; default: its email and phone")
	send         = flag.Bool("send", false, "create the test client and what it needs; needs -client")
	updateDocs   = flag.Bool("update-docs", false, "write the example in docs/conformance.md again")
)

// TestService runs the suite against the service of an environment, and prints the
// report. It fails when the service could not be tried at all.
func TestService(t *testing.T) {
	if *env == "" {
		t.Skip("no environment is named; see docs/conformance.md")
	}
	if *send && *client == "" {
		t.Fatal("-send needs -client: the e-mail address of a test client, who may stay in the service")
	}
	o := conformance.Options{Email: *client, Phone: *phone, Send: *send}
	if *clientData != "" {
		data, err := os.ReadFile(*clientData)
		must(t, err)
		o.Client = data
	}
	target, err := liveTarget(t.Context(), *environments, *env, *claimType, *api)
	must(t, err)
	report := conformance.Run(t.Context(), target, o)
	fmt.Print(report.Text())
	if !slices.ContainsFunc(report.Cases, func(c conformance.Case) bool { return c.Verdict != conformance.NotTried }) {
		t.Error("nothing could be tried")
	}
}

// liveTarget is the service of an environment, with its credentials, certificates and
// proxy.
func liveTarget(ctx context.Context, path, name, claimType, version string) (conformance.Target, error) {
	file, err := environment.Load(path)
	if err != nil {
		return conformance.Target{}, err
	}
	e, err := file.Choose(name)
	if err != nil {
		return conformance.Target{}, err
	}
	if e, err = e.ForClaimType(claimType); err != nil {
		return conformance.Target{}, err
	}
	config, err := e.Config(ctx, apiclient.Version(version))
	if err != nil {
		return conformance.Target{}, err
	}
	transport := &http.Transport{TLSClientConfig: config.TLS}
	if config.Proxy != nil {
		transport.DialContext = config.Proxy.DialContext
	}
	target := conformance.Target{Name: e.Name, Version: version, BaseURL: e.BaseURL, CaseID: e.CaseID,
		WorkflowTemplateIdentifier: e.WorkflowTemplateIdentifier, Transport: transport}
	if len(config.Headers) > 0 || config.Authorize != nil {
		target.Authorize = func(ctx context.Context, req *http.Request, body []byte) error {
			return authorize(ctx, config, req, body)
		}
	}
	return target, nil
}

// authorize puts on a request what the environment says.
func authorize(ctx context.Context, config apiclient.Config, req *http.Request, body []byte) error {
	for name, values := range config.Headers {
		req.Header[name] = values
	}
	if config.Authorize == nil {
		return nil
	}
	return config.Authorize(ctx, req)
}

// TestEnvironment tries a sandbox that wants credentials, through an environments file.
// GETs show no more than the templates, the credentials and the look-ups.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	s, err := sandbox.New(sandbox.Options{Authenticate: func(r *http.Request) error {
		if r.Header.Get("Authorization") != "Bearer secret-token" {
			return fmt.Errorf("another token was expected")
		}
		return nil
	}})
	must(t, err)
	service, target := serve(t, apitest.Shape{NotFound: apitest.Reply{Status: 204}}.Around(s))
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/token", []byte("secret-token"), 0o600))
	must(t, os.WriteFile(dir+"/environments.yaml", []byte("environments:\n  uat:\n    base_url: "+target.BaseURL+"\n    auth: {type: bearer, token: file:token}\n"), 0o600))
	if target, err = liveTarget(t.Context(), dir+"/environments.yaml", "uat", "", "v2"); err != nil {
		t.Fatal(err)
	}
	report := conformance.Run(t.Context(), target, conformance.Options{Email: testClient})
	checkPrivate(t, report)
	if got, want := report.Lines(), "not_found: {status: [204]}\n"; got != want || service.count() != 0 {
		t.Errorf("%d POSTs; proposed\n%swant\n%s\n%s", service.count(), got, want, report.Text())
	}
	if i := slices.IndexFunc(report.Cases, func(c conformance.Case) bool { return c.Name == "no credentials" }); i < 0 || !strings.HasPrefix(report.Cases[i].Came, "HTTP 401") {
		t.Errorf("a request without credentials was not refused\n%s", report.Text())
	}
	target.Authorize = nil
	refused := conformance.Run(t.Context(), target, conformance.Options{Email: testClient, Send: true})
	if slices.ContainsFunc(refused.Cases, func(c conformance.Case) bool { return c.Verdict != conformance.NotTried }) || service.count() != 0 {
		t.Errorf("without credentials something was tried, and %d POSTs were sent\n%s", service.count(), refused.Text())
	}
}

// TestExample holds the beginning of the report in docs/conformance.md to the suite.
func TestExample(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../../docs/conformance.md", "```text\n", "```\n"
	s, err := sandbox.New(sandbox.Options{})
	must(t, err)
	_, target := serve(t, apitest.Shape{Carrier: apitest.Header, NotFound: apitest.JSON(200, `{"items":[]}`)}.Around(s))
	report := conformance.Run(t.Context(), target, conformance.Options{Email: testClient, Send: true})
	page, err := os.ReadFile(path)
	must(t, err)
	before, rest, _ := strings.Cut(string(page), begin)
	shown, after, ok := strings.Cut(rest, end)
	want, _, _ := strings.Cut(report.Text(), "\nDiffers\n") // the cases follow, one by one
	switch {
	case !ok:
		t.Fatalf("%s has no block of text", path)
	case *updateDocs:
		must(t, os.WriteFile(path, []byte(before+begin+want+end+after), 0o644))
	case shown != want:
		t.Errorf("%s does not show the report; run this test with -update-docs\n%s", path, want)
	}
}
