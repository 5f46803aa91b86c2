package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/apiclient/sandbox"
	"claimsheet/apiclient/sandbox/fault"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/statefolder"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// sandboxNotice is shown wherever results of the sandbox are, and sandboxLinks
// beside its links.
const (
	sandboxNotice = "This is the sandbox: nothing was sent to a real service."
	sandboxLinks  = "Its links open while “claimsheet sandbox” serves the state folder of the run."
)

func sandboxHelp() string {
	return `A run with -e sandbox needs no server. This one shows what such a run has left: with --state, redirect urls open the claims site, and
the address of the case handlers' dashboard is printed. docs/sandbox.md has pictures.

With --fault it fails on purpose: METHOD PATH:SHARE:KIND, as often as you like. A * in the path is any one segment, and the
path * is every path. The share is a percentage, or one request by its number, such as 3rd. The kinds:

` + faultKinds() + `

Which requests fail depends only on the rule, --seed and the order in which the rule's requests arrive, so a run with
--concurrency 1 can be repeated. docs/rehearsal.md goes through a night with faults.

With --workflow the claims site goes on: when a client completes an activity, the one that follows in the order becomes Open, on the same
claim or client. Only templates in the order are placed; other activities are those that a case handler assigns.

With --like it is the service of an environment: it demands what “auth” and “headers” of its entry add to requests, and answers 401 to
the others. The entry's base_url says where it listens. It grants no tokens of oauth2.

Examples:

    claimsheet sandbox
    claimsheet sandbox --state .claimsheet
    claimsheet sandbox --like rehearsal
    claimsheet sandbox --addr 127.0.0.1:0
    claimsheet sandbox --reset
    claimsheet sandbox --workflow 'WF-1 = Your details > Sign your claim'
    claimsheet sandbox --fault 'POST /funnel/v2/claims:5%:lose-answer'`
}

// faultKinds is a line for each kind of fault.
func faultKinds() string {
	var lines []string
	for _, k := range fault.Kinds() {
		word := string(k.Kind)
		if k.Usual > 0 {
			word += "=" + k.Usual.String()
		}
		lines = append(lines, fmt.Sprintf("    %-14s %s", word, k.About))
	}
	return strings.Join(lines, "\n")
}

func (p *program) sandboxCommand() *cli.Command {
	return &cli.Command{
		Name:        "sandbox",
		Usage:       "serve the embedded service, for trying things out; its url is the first line on stdout",
		UsageText:   "claimsheet sandbox [options]",
		Description: sandboxHelp(),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Value: sandbox.DefaultAddress, Usage: "the loopback `ADDRESS` to listen on; port 0 takes any free one; with --like, that of its base_url unless given"},
			textFlag("like", "", "demand the credentials of this `ENVIRONMENT`; default: none"),
			templatesFlag(),
			textFlag("state", "", "keep what it holds in `FOLDER`/sandbox; default: in memory only"),
			&cli.StringSliceFlag{Name: "workflow", Usage: "place the next activity when a client completes one, by an `ORDER` such as 'WF-1 = Your details > Sign your claim', and refuse other identifiers; without “WF-1 =” for version 1; may be given more than once"},
			&cli.StringSliceFlag{Name: "fault", Usage: "fail on purpose, by a `RULE` such as 'POST /funnel/v2/claims:5%:lose-answer'; may be given more than once"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "another `NUMBER` lets faults hit other requests"},
			switchFlag("reset", "empty the sandbox of --state, or of this folder's .claimsheet, and its ledger; then end"),
		},
		Action: func(c *cli.Context) error {
			if c.Bool("reset") {
				return p.resetSandbox(c)
			}
			return p.serve(c)
		},
	}
}

func (p *program) serve(c *cli.Context) error {
	templates, err := load.ReferenceData(c.String("templates"))
	if err != nil {
		return err
	}
	workflows, err := readWorkflows(c.StringSlice("workflow"))
	if err != nil {
		return err
	}
	like, err := openRehearsal(c)
	if err != nil {
		return err
	}
	l, err := sandbox.Listen(like.addr)
	if err != nil {
		return problem.New("address", "the sandbox cannot listen there: %v", err)
	}
	url := "http://" + l.Addr().String()
	options := sandbox.Options{Workflows: workflows, Templates: templates, BaseURL: url}
	if like.guard != nil {
		options.Authenticate, options.Challenge = like.guard.Check, like.guard.Challenge()
	}
	if state := c.String("state"); state != "" {
		options.Dir = statefolder.Sandbox(state)
	}
	service, err := sandbox.New(options)
	if err != nil {
		_ = l.Close()
		return problem.New("sandbox", "the sandbox cannot start: %v", err)
	}
	defer service.Close()
	rules, err := readFaults(c.StringSlice("fault"), service.Endpoints())
	if err != nil {
		_ = l.Close()
		return err
	}
	fmt.Fprintln(p.Out, url)
	fmt.Fprintln(p.Err, "serving the sandbox, case id "+sandbox.CaseID+"; stop it with Ctrl-C")
	fmt.Fprintln(p.Err, "what it holds, as case handlers see it: "+url+service.Dashboard())
	if like.guard != nil {
		fmt.Fprintf(p.Err, "requests must have the credentials of the environment “%s”\n", c.String("like"))
	}
	faults := fault.New(service, rules, c.Uint64("seed"), p.logFault())
	return sandbox.Serve(c.Context, l, faults)
}

// rehearsal is what the sandbox has of the environment of --like.
type rehearsal struct {
	addr  string             // where to listen
	guard *environment.Guard // nil: requests need no credentials
}

// openRehearsal reads the environment of --like, if there is one.
func openRehearsal(c *cli.Context) (rehearsal, error) {
	r := rehearsal{addr: c.String("addr")}
	if c.String("like") == "" {
		return r, nil
	}
	session, err := load.OpenEnvironment(withUsualMapping(load.Where{Env: c.String("like")}))
	if err != nil {
		return r, err
	}
	addr, err := session.Env.RehearsalAddress()
	if err != nil {
		return r, err
	}
	if !c.IsSet("addr") {
		r.addr = addr
	}
	r.guard, err = session.Env.Guard(c.Context)
	return r, err
}

// resetSandbox empties the folder in which -e sandbox, or claimsheet sandbox --state, keeps
// the service and the ledger: without the one, the other would be wrong. Only what
// Claimsheet has put there is removed.
func (p *program) resetSandbox(c *cli.Context) error {
	for _, flag := range c.LocalFlagNames() {
		if flag != "reset" && flag != "state" {
			return problem.New("usage", "--reset empties the sandbox and ends, so --%s has no meaning with it", flag).
				Hinted("claimsheet sandbox --reset first; then claimsheet sandbox with the other flags")
		}
	}
	where := withUsualMapping(load.Where{State: c.String("state")})
	folder := where.StateDir(true)
	if folder == "" {
		return problem.New("no-state", "there is neither environments.yaml nor mapping.yaml here, so nothing says where the state folder is").
			Hinted("name it with --state")
	}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(p.Out, "%s: there is nothing to empty\n", problem.OneLine(folder))
		return nil
	}
	if err != nil {
		return err
	}
	if err := statefolder.Check(folder); err != nil {
		return err
	}
	release, err := ledger.Lock(statefolder.Ledger(folder))
	if err != nil {
		return err
	}
	defer release()
	if err := removeSandbox(folder, entries); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s: the sandbox is empty, and its ledger too\n", problem.OneLine(folder))
	return nil
}

// removeSandbox removes what is ours of a sandbox's folder, except for the files of the
// ledger's lock.
func removeSandbox(folder string, entries []fs.DirEntry) error {
	ledgerName := filepath.Base(statefolder.Ledger(folder))
	ours := []string{sandbox.File, filepath.Base(statefolder.Inputs(folder))}
	for _, e := range entries {
		name := e.Name()
		isLedger := strings.HasPrefix(name, ledgerName) && name != ledgerName+".lock" && name != ledgerName+".holder"
		if !isLedger && !slices.Contains(ours, name) {
			continue
		}
		path := filepath.Join(folder, name)
		if name == sandbox.File && e.Type().IsRegular() {
			if err := os.Truncate(path, 0); err != nil { // a sandbox that is still served then refuses to create anything
				return err
			}
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// readWorkflows reads the orders of --workflow.
func readWorkflows(texts []string) ([]sandbox.Workflow, error) {
	var list []sandbox.Workflow
	for _, text := range texts {
		w, err := sandbox.ParseWorkflow(text)
		if err != nil {
			return nil, problem.New("usage", "--workflow: %v", err)
		}
		list = append(list, w)
	}
	return list, nil
}

// readFaults reads the rules of --fault, and reports every mistake in them.
func readFaults(texts, endpoints []string) ([]fault.Rule, error) {
	var rules []fault.Rule
	var found problem.List
	for _, text := range texts {
		rule, err := fault.Parse(text, endpoints)
		if err := found.Collect(err); err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return rules, found.Err()
}

// logFault prints which rule hit which request. The rule's path stands for the
// request's, which may hold an address.
func (p *program) logFault() func(rule fault.Rule, request int) {
	var mu sync.Mutex
	return func(rule fault.Rule, request int) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(p.Err, "fault at request %d of %s: %s\n", request, rule.Target(), rule.Kind)
	}
}
