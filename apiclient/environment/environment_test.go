package environment_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/mapping/problem"
)

func load(t *testing.T, text string) *environment.File {
	t.Helper()
	f, err := environment.Load(write(t, t.TempDir(), "environments.yaml", text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestChoose(t *testing.T) {
	const entries = "environments: {uat: {base_url: https://uat.example.com}, prod: {base_url: https://prod.example.com}}\n"
	for name, test := range map[string]struct {
		file *environment.File
		name string
		want string // the environment's name, or the problem's code and hint
	}{
		"named":                    {load(t, entries), "prod", "prod"},
		"default":                  {load(t, "default: uat\n"+entries), "", "uat"},
		"named over default":       {load(t, "default: uat\n"+entries), "prod", "prod"},
		"sandbox without entry":    {load(t, entries), "sandbox", "sandbox"},
		"sandbox without file":     {nil, "sandbox", "sandbox"},
		"sandbox by default":       {load(t, "default: sandbox\n"), "", "sandbox"},
		"none named":               {load(t, entries), "", "no-environment: name one with -e: prod, uat or sandbox"},
		"none named, no file":      {nil, "", "no-environment: put environments.yaml beside the mapping and name one of its environments with -e, or use -e sandbox"},
		"near":                     {load(t, entries), "prd", "unknown-environment: did you mean “prod”? The choices are prod, uat or sandbox"},
		"far":                      {load(t, entries), "elsewhere", "unknown-environment: expected one of prod, uat, sandbox"},
		"names keep their case":    {load(t, entries), "UAT", "unknown-environment: did you mean “uat”? The choices are prod, uat or sandbox"},
		"unknown, but no file":     {nil, "uat", "unknown-environment: put environments.yaml beside the mapping, name one with --environments, or use -e sandbox"},
		"the sandbox is not near":  {load(t, entries), "SANDBOX", "unknown-environment: did you mean “sandbox”? The choices are prod, uat or sandbox"},
		"sandbox entry is no more": {load(t, "environments: {sandbox: {limits: {concurrency: 2}}}\n"), "", "no-environment: name one with -e: sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := test.file.Choose(test.name)
			got := ""
			if p, ok := errors.AsType[problem.Problem](err); ok {
				got = p.Code + ": " + p.Hint
			} else if err == nil {
				got = e.Name
				if e.Sandbox != (e.Name == "sandbox") {
					t.Errorf("Sandbox is %v for %s", e.Sandbox, e.Name)
				}
			}
			if got != test.want {
				t.Errorf("got %s (%v), want %s", got, err, test.want)
			}
		})
	}
}

func TestSandboxIsUsableAsItIs(t *testing.T) {
	var none *environment.File
	e, err := none.Choose("sandbox")
	if err != nil {
		t.Fatal(err)
	}
	if e, err = e.ForClaimType("loans"); err != nil {
		t.Fatalf("a sandbox without claim types takes every one: %v", err)
	}
	for _, v := range []apiclient.Version{apiclient.V1, apiclient.V2} {
		c, err := e.Config(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := apiclient.NormaliseBaseURL(c.BaseURL); err != nil || c.CaseID == "" || c.Authorize != nil {
			t.Errorf("Config under %s: %+v, %v", v, c, err)
		}
	}
}

func TestForClaimType(t *testing.T) {
	const (
		own   = "11111111-2f0e-4c53-9d25-0d4b9a0f7a11"
		loans = "22222222-2f0e-4c53-9d25-0d4b9a0f7a11"
	)
	f := load(t, `environments:
  uat:
    base_url: https://uat.example.com
    case_id: `+own+`
    workflow_template_identifier: WF
    template_ids: {A: `+own+`, B: `+own+`}
    claim_types:
      loans: {case_id: `+loans+`, workflow_template_identifier: WF-LOANS, template_ids: {B: `+loans+`, C: `+loans+`}}
      cards:
`)
	type view struct {
		Case, Workflow string
		Templates      map[string]string
	}
	for name, want := range map[string]view{
		"":      {own, "WF", map[string]string{"A": own, "B": own}},
		"cards": {own, "WF", map[string]string{"A": own, "B": own}},
		"loans": {loans, "WF-LOANS", map[string]string{"A": own, "B": loans, "C": loans}},
	} {
		e, err := f.Choose("uat")
		if err != nil {
			t.Fatal(err)
		}
		o, err := e.ForClaimType(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, view{o.CaseID, o.WorkflowTemplateIdentifier, o.TemplateIDs}); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
		if len(e.TemplateIDs) != 2 || e.CaseID != own {
			t.Errorf("%q changed the environment itself", name)
		}
	}
	e, _ := f.Choose("uat")
	_, err := e.ForClaimType("loan")
	if p, ok := errors.AsType[problem.Problem](err); !ok || p.Code != "unknown-claim-type" || p.Hint != "did you mean “loans”?" {
		t.Errorf("error %v", err)
	}
}

func TestIdentity(t *testing.T) {
	const caseID = "7D0C0F3E-2f0e-4c53-9d25-0d4b9a0f7a11"
	one := load(t, "environments: {a: {base_url: https://UAT.example.com:443/api/, case_id: "+caseID+"}}")
	two := load(t, "environments: {b: {base_url: https://uat.example.com/api, case_id: "+strings.ToLower(caseID)+
		", auth: {type: bearer, token: env:T}, claim_types: {loans: {case_id: 11111111-2f0e-4c53-9d25-0d4b9a0f7a11}}}}")
	a, _ := one.Choose("a")
	b, _ := two.Choose("b")
	for _, v := range []apiclient.Version{apiclient.V1, apiclient.V2} {
		if a.Identity(v) != b.Identity(v) {
			t.Errorf("%s: %q and %q are one service", v, a.Identity(v), b.Identity(v))
		}
	}
	loans, err := b.ForClaimType("loans")
	if err != nil {
		t.Fatal(err)
	}
	if loans.Identity(apiclient.V2) != b.Identity(apiclient.V2) {
		t.Error("version 2 knows no cases")
	}
	if loans.Identity(apiclient.V1) == b.Identity(apiclient.V1) {
		t.Error("version 1 keeps cases apart")
	}
	if b.Identity(apiclient.V1) == b.Identity(apiclient.V2) {
		t.Error("a client of version 1 lives in a case, a contact of version 2 does not")
	}
	if service, rest := environment.ServiceOf("https://UAT.example.com:443/api case x"); service+rest != "https://uat.example.com/api case x" {
		t.Errorf("%q and %q", service, rest)
	}
	s, _ := one.Choose("sandbox")
	if s.Identity(apiclient.V1) != "sandbox" || s.Identity(apiclient.V2) != "sandbox" {
		t.Errorf("the sandbox is %q", s.Identity(apiclient.V1))
	}
}

func TestFindAndStateDir(t *testing.T) {
	dir := t.TempDir()
	with, without := filepath.Join(dir, "with"), filepath.Join(dir, "without")
	for _, d := range []string{with, without} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	beside := write(t, with, "environments.yaml", "default: sandbox\n")
	mapping, lonely := filepath.Join(with, "mapping.yaml"), filepath.Join(without, "mapping.yaml")
	for _, test := range []struct{ mapping, flag, state, wantFile, wantState string }{
		{mapping, "", "", beside, filepath.Join(with, ".claimsheet")},
		{lonely, "", "", "", filepath.Join(without, ".claimsheet")},
		{lonely, beside, "", beside, filepath.Join(with, ".claimsheet")},
		{lonely, "absent.yaml", "", "absent.yaml", ".claimsheet"},
		{mapping, "", "elsewhere", beside, "elsewhere"},
	} {
		path, ok := environment.Find(test.mapping, test.flag)
		if path != test.wantFile || ok != (test.wantFile != "") {
			t.Errorf("Find(%q, %q) = %q, %v; want %q", test.mapping, test.flag, path, ok, test.wantFile)
		}
		if got := environment.StateDir(test.mapping, path, test.state); got != test.wantState {
			t.Errorf("StateDir(%q, %q, %q) = %q, want %q", test.mapping, path, test.state, got, test.wantState)
		}
	}
	t.Chdir(without)
	if path, ok := environment.Find("", ""); ok {
		t.Errorf("Find found %q in an empty folder", path)
	}
	if got := environment.StateDir("", "", ""); got != "" {
		t.Errorf("StateDir() = %q: the current folder must not be taken by accident", got)
	}
}
