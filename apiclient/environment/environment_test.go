package environment_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/mapping/problem"
)

func load(t *testing.T, text string) *environment.File {
	t.Helper()
	return must(environment.Load(write(t, t.TempDir(), "environments.yaml", text)))(t)
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
		e, err := test.file.Choose(test.name)
		got := ""
		if p, ok := errors.AsType[problem.Problem](err); ok {
			got = p.Code + ": " + p.Hint
		} else if got = e.Name; e.Sandbox != (e.Name == "sandbox") {
			t.Errorf("Sandbox is %v for %s", e.Sandbox, e.Name)
		}
		if got != test.want {
			t.Errorf("%s: got %s (%v), want %s", name, got, err, test.want)
		}
	}
}

func TestSandboxIsUsableAsItIs(t *testing.T) {
	var none *environment.File
	e := must(must(none.Choose("sandbox"))(t).ForClaimType("loans"))(t) // one without claim types takes every one
	for _, v := range []apiclient.Version{apiclient.V1, apiclient.V2} {
		c := must(e.Config(t.Context(), v))(t)
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
		e := must(f.Choose("uat"))(t)
		o := must(e.ForClaimType(name))(t)
		same(t, name, want, view{o.CaseID, o.WorkflowTemplateIdentifier, o.TemplateIDs})
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
	loans := must(b.ForClaimType("loans"))(t)
	if loans.Identity(apiclient.V2) != b.Identity(apiclient.V2) {
		t.Error("version 2 knows no cases")
	}
	if loans.Identity(apiclient.V1) == b.Identity(apiclient.V1) {
		t.Error("version 1 keeps cases apart")
	}
	if b.Identity(apiclient.V1) == b.Identity(apiclient.V2) {
		t.Error("a client of version 1 lives in a case, a contact of version 2 does not")
	}
	if service, rest := environment.ServiceOf("https://uat.example.com/api case x"); service != "https://uat.example.com/api" || rest != " case x" {
		t.Errorf("%q and %q", service, rest)
	}
	s, _ := one.Choose("sandbox")
	if s.Identity(apiclient.V1) != "sandbox" || s.Identity(apiclient.V2) != "sandbox" {
		t.Errorf("the sandbox is %q", s.Identity(apiclient.V1))
	}
}

func TestFind(t *testing.T) {
	with, without := t.TempDir(), t.TempDir()
	beside := write(t, with, "environments.yaml", "default: sandbox\n")
	mapping, lonely := filepath.Join(with, "mapping.yaml"), filepath.Join(without, "mapping.yaml")
	t.Chdir(without)
	for _, test := range []struct{ mapping, flag, want string }{
		{mapping, "", beside},
		{lonely, "", ""},
		{lonely, beside, beside},
		{lonely, "absent.yaml", "absent.yaml"},
		{"", "", ""},
	} {
		if path, ok := environment.Find(test.mapping, test.flag); path != test.want || ok != (test.want != "") {
			t.Errorf("Find(%q, %q) = %q, %v; want %q", test.mapping, test.flag, path, ok, test.want)
		}
	}
}

// TestCheckAgreement reports the fields that a mapping does not fill.
func TestCheckAgreement(t *testing.T) {
	const entries = `default: uat
environments:
  uat:
    base_url: https://uat.example.com
    wire:
      lookup_agree:
        lastNam: /surname
        email: /email
        name.first: /firstName
`
	env := must(load(t, entries).Choose("uat"))(t)
	if found := env.CheckAgreement([]string{"email", "lastNam", "name.first", "more"}); len(found) > 0 {
		t.Error(found)
	}
	got := report(t, env.CheckAgreement([]string{"email", "lastName"}).Err())
	want := `3:3: wire.lookup_agree compares the client field “lastNam” before an existing client is reused, and the mapping does not fill it [unfilled-field]
    add it to client.fields of the mapping, or take it out of lookup_agree
3:3: wire.lookup_agree compares the client field “name.first” before an existing client is reused, and the mapping does not fill it [unfilled-field]
    add it to client.fields of the mapping, or take it out of lookup_agree
`
	same(t, "problems", want, regexp.MustCompile(`(?m)^/.*\.yaml:`).ReplaceAllString(got, ""))
}

// only loads a file whose one entry has the given keys, and chooses it.
func only(t *testing.T, dir, keys string) *environment.Environment {
	t.Helper()
	text := "environments:\n  uat:\n    base_url: https://uat.example.com\n" + keys
	return must(must(environment.Load(write(t, dir, "environments.yaml", text)))(t).Choose("uat"))(t)
}

// must is the value of a call that must succeed: must(environment.Load(path))(t).
func must[V any](value V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		noError(t, err)
		return value
	}
}

// same expects that two values are equal.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// noError ends a test that an error makes pointless.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sent is what a request carries after Authorize.
func sent(t *testing.T, c apiclient.Config) http.Header {
	t.Helper()
	req := must(http.NewRequest(http.MethodGet, "https://uat.example.com/x", nil))(t)
	if c.Authorize != nil {
		noError(t, c.Authorize(t.Context(), req))
	}
	return req.Header
}

func TestConfigFetchesSecretsFromEverywhere(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "token", canary+"\r\n\n")
	write(t, dir, "spaces", " "+canary+" \n")
	absolute := write(t, t.TempDir(), "absolute", canary)
	program := filepath.ToSlash(os.Args[0])
	playProgram(t)
	t.Setenv("CANARY", canary+"\n")
	if runtime.GOOS != "windows" {
		noError(t, os.Symlink("token", filepath.Join(dir, "link")))
	} else {
		write(t, dir, "link", canary)
	}
	for ref, want := range map[string]string{
		"env:CANARY":                            canary,
		"file:token":                            canary,
		"file:link":                             canary,
		"file: token":                           canary,
		"file:spaces":                           " " + canary + " ",
		"file:" + filepath.ToSlash(absolute):    canary,
		`cmd:"` + program + `" print a 'b  c'`:  "a|b  c",
		`cmd:"` + program + `" print $HOME *;x`: "$HOME|*;x",
		`cmd:"` + program + `" print '' pre'mid dle'post "it's" a\b`: `|premid dlepost|it's|a\b`,
	} {
		keys := "    auth: {type: api_key, header: X-Key, key: '" + strings.ReplaceAll(ref, "'", "''") + "'}\n"
		c, err := only(t, dir, keys).Config(t.Context(), apiclient.V2)
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		if got := sent(t, c).Get("X-Key"); got != want {
			t.Errorf("%s gave %q, want %q", ref, got, want)
		}
		if shown := fmt.Sprintf("%+v %#v", c, c); strings.Contains(shown, canary) {
			t.Errorf("%s: the secret shows in the Config: %s", ref, shown)
		}
	}
}

func TestConfigRunsProgramsBesideTheFile(t *testing.T) {
	dir := must(filepath.EvalSymlinks(t.TempDir()))(t)
	playProgram(t)
	t.Chdir(filepath.Dir(dir))
	base := filepath.Base(dir) // the file is named by a relative path
	e := only(t, base, `    auth: {type: api_key, header: X-Key, key: 'cmd:"`+filepath.ToSlash(os.Args[0])+`" folder'}`+"\n")
	if got := sent(t, must(e.Config(t.Context(), apiclient.V2))(t)).Get("X-Key"); got != dir {
		t.Errorf("the program ran in %s, want %s", got, dir)
	}
}

// Whatever is wrong with a secret, the report has its place, but neither its value
// nor the output of a program.
func TestConfigReportsSecretsThatCannotBeHad(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "empty", "\n")
	write(t, dir, "two", canary+"\n"+canary)
	write(t, dir, "large", strings.Repeat(canary, 10_000))
	program := `cmd:"` + filepath.ToSlash(os.Args[0]) + `" `
	playProgram(t)
	t.Setenv("EMPTY", "")
	t.Setenv("TWO", canary+"\n"+canary)
	for ref, want := range map[string]string{
		"env:NO_SUCH_VARIABLE": "the environment variable NO_SUCH_VARIABLE is not set",
		"env:EMPTY":            "the environment variable EMPTY is empty",
		"env:TWO":              "line break",
		"file:absent":          "there is no such file",
		"file:empty":           "is empty",
		"file:two":             "line break",
		"file:large":           "is larger than 64 KiB",
		"file:.":               "this is a folder, not a file",
		"cmd:no-such-program":  "no-such-program cannot be run",
		program + "fail":       "failed with exit status 3",
		program + "print":      "what the program prints is empty",
	} {
		wantProblem(t, dir, "    auth: {type: bearer, token: '"+ref+"'}\n", want)
	}
}

// wantProblem expects one problem with the Config of an entry, at the first of these keys, that shows no secret.
func wantProblem(t *testing.T, dir, keys, want string) {
	t.Helper()
	_, err := only(t, dir, keys).Config(t.Context(), apiclient.V2)
	var list problem.List
	if list.Collect(err) != nil || len(list) != 1 || !strings.Contains(list[0].Message, want) || list[0].Where.Line != 4 {
		t.Errorf("%s: %v, want one problem at line 4 with %q", keys, err, want)
	}
	if strings.Contains(fmt.Sprint(err), canary) {
		t.Errorf("%s: a secret shows: %v", keys, err)
	}
}

func TestConfigStopsWithItsContext(t *testing.T) {
	playProgram(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	keys := `    auth: {type: bearer, token: 'cmd:"` + filepath.ToSlash(os.Args[0]) + `" print a'}` + "\n"
	if _, err := only(t, t.TempDir(), keys).Config(ctx, apiclient.V2); err == nil || !strings.Contains(err.Error(), "was stopped") {
		t.Errorf("error %v, want one that says so", err)
	}
}

func TestConfigReportsEverythingAtOnce(t *testing.T) {
	keys := "    auth: {type: basic, username: me, password: env:NO_SUCH_VARIABLE}\n" +
		"    tls: {cert: absent.pem, key: absent.key, ca: absent.pem}\n" +
		"    headers: {X-Key: file:absent}\n"
	_, err := only(t, t.TempDir(), keys).Config(t.Context(), apiclient.V1)
	var codes []string
	var list problem.List
	_ = list.Collect(err)
	for _, p := range list {
		codes = append(codes, fmt.Sprintf("%d %s", p.Where.Line, p.Code))
	}
	want := []string{"2 no-case", "4 secret", "5 tls", "5 tls", "6 secret"}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Errorf("problems (-want +got):\n%s\n%v", diff, err)
	}
}

func TestLoadReadsEverySetting(t *testing.T) {
	e := must(must(environment.Load("testdata/ok/full.yaml"))(t).Choose(""))(t)
	type settings struct {
		PerSecond  float64
		InFlight   int
		Timeout    time.Duration
		Wire       apiclient.Wire
		NotFound   apiclient.NotFound
		Rules      []apiclient.Rule
		Repeatable []apiclient.Kind
	}
	want := settings{
		50, 16, 90 * time.Second,
		apiclient.Wire{
			ClientID: "/data/id", ContactID: "/data/0/id", ClaimID: "/claim~1id", RedirectURL: "/url",
			DataTypes: map[string]string{"Money": "Currency"}, Options: "/meta/options", LookupClientID: new("/client/id"), LookupContactID: new(""),
			LookupAgree: map[string]string{"email": "/email", "name.first": "/firstName"},
			LinkBody:    []byte(`{"z":1,"a":[true,null,"x",1.50],"m":{"d":"2020-01-01"}}`),
		},
		apiclient.NotFound{Stated: true, Rules: []apiclient.NotFoundRule{{Status: []int{404, 204}}}},
		[]apiclient.Rule{
			{Status: 409, Pointer: "/code", Matches: `^EXISTS\d$`, Means: "done", Hint: "It is there already"},
			{Matches: "maintenance", Means: "retry"},
		},
		[]apiclient.Kind{apiclient.CreateLink, apiclient.CreateClaim},
	}
	same(t, "settings", want, settings{e.RequestsPerSecond, e.Concurrency, e.Timeout, e.Wire, e.NotFound, e.Rules, e.Repeatable})
}

func TestConfigOfAPlainEntryHasTheDefaults(t *testing.T) {
	e := only(t, t.TempDir(), "    case_id: 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11\n    headers: {X-Tenant: acme, X-Number: 007}\n")
	c := must(e.Config(t.Context(), apiclient.V1))(t)
	want := apiclient.Config{
		BaseURL: "https://uat.example.com",
		Version: apiclient.V1, CaseID: "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11",
		Headers: http.Header{"X-Tenant": {"acme"}, "X-Number": {"007"}},
		Timeout: 120 * time.Second, Concurrency: 8,
		Wire: apiclient.DefaultWire(), NotFound: apiclient.DefaultNotFound(),
	}
	same(t, "Config", want, c)
	if e.Concurrency != 8 {
		t.Errorf("concurrency %d, want 8", e.Concurrency)
	}
}

// P-1 of docs/security.md.
func TestP1_ExposedFilesAreWarnedOf(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	dir := t.TempDir()
	for _, name := range []string{"open", "shut", "client.key"} {
		write(t, dir, name, canary)
	}
	for _, name := range []string{"open", "client.key"} {
		noError(t, os.Chmod(filepath.Join(dir, name), 0o644))
	}
	e := only(t, dir, "    auth: {type: bearer, token: file:open}\n    headers: {X-Key: file:shut, X-Other: file:absent}\n"+
		"    tls: {cert: client.pem, key: client.key}\n")
	var got []string
	for _, p := range e.Warnings() {
		got = append(got, fmt.Sprintf("%d %s %s", p.Where.Line, p.Code, p.Hint))
	}
	want := []string{
		"4 world-readable chmod o-r " + filepath.Join(dir, "open"),
		"6 world-readable chmod o-r " + filepath.Join(dir, "client.key"),
	}
	same(t, "warnings", want, got)
}

// A rule of not_found means what is written; a single one without a pointer keeps the default of
// what it leaves out.
func TestNotFoundIsReadAsWritten(t *testing.T) {
	for text, want := range map[string][]apiclient.NotFoundRule{
		"{status: [422]}":                {{Status: []int{422}, Empty: true}},
		"{empty: false}":                 {{Status: []int{404}}},
		"{}":                             {{Status: []int{404}, Empty: true}},
		"[{status: [422]}]":              {{Status: []int{422}}},
		"{pointer: /items, empty: true}": {{Place: new("/items"), Empty: true}},
		"{pointer: /code, equals: 7, status: [422]}":   {{Place: new("/code"), Equals: []byte("7"), Status: []int{422}}},
		"[{empty: true}, {pointer: /a, equals: null}]": {{Empty: true}, {Place: new("/a"), Equals: []byte("null")}},
	} {
		same(t, text, apiclient.NotFound{Stated: true, Rules: want}, only(t, t.TempDir(), "    not_found: "+text+"\n").NotFound)
	}
}
