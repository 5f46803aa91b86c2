package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/sandbox"
	"claimsheet/apiclient/sandbox/fault"
	"claimsheet/apiclient/serve"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// sandboxNotice is shown wherever results of the sandbox are, and sandboxLinks beside its links.
const (
	sandboxNotice = "This is the sandbox: nothing was sent to a real service."
	sandboxLinks  = "Its links open while “claimsheet sandbox” serves the state folder of the run."
)

func sandboxHelp() string {
	var kinds strings.Builder // a line for each kind of fault
	for _, k := range fault.Kinds {
		word := string(k.Kind)
		if k.Usual > 0 {
			word += "=" + k.Usual.String()
		}
		fmt.Fprintf(&kinds, "    %-14s %s\n", word, k.About)
	}
	return `A run with -e sandbox needs no server. This one shows what such a run has left: with --state, redirect urls open the claims site, and
the address of the case handlers' dashboard is printed. docs/sandbox.md has pictures.

With --fault it fails on purpose: METHOD PATH:SHARE:KIND, as often as you like. A * in the path is any one segment, and the
path * is every path. The share is a percentage, or one request by its number, such as 3rd. The kinds:

` + kinds.String() + `
Which requests fail depends only on the rule, --seed and the order in which the rule's requests arrive, so a run with
--concurrency 1 can be repeated. docs/rehearsal.md goes through a night with faults.

With --workflow the claims site places the activity that follows when a client completes one. With --like it demands the credentials of an
environment, and listens at its base_url.

Examples:

    claimsheet sandbox --state .claimsheet
    claimsheet sandbox --like rehearsal
    claimsheet sandbox --workflow 'WF-1 = Your details > Sign your claim'
    claimsheet sandbox --fault 'POST /funnel/v2/claims:5%:lose-answer'`
}

func (p *program) sandboxCommand() *cli.Command {
	like := ""
	return newCommand("sandbox", "[options]",
		"serve the embedded service, for trying things out; its url is the first line on stdout", sandboxHelp(),
		[]cli.Flag{
			&cli.StringFlag{Name: "addr", Value: sandbox.DefaultAddress,
				Usage: "the loopback `ADDRESS` to listen on; port 0 takes any free one; with --like, that of its base_url unless given"},
			textFlag(&like, "like", "", "demand the credentials of this `ENVIRONMENT`; default: none"),
			p.templatesFlag(),
			textFlag(&p.where.State, "state", "", "keep what it holds in `FOLDER`/sandbox; default: in memory only"),
			&cli.StringSliceFlag{Name: "workflow",
				Usage: "place the next activity when a client completes one, by an `ORDER` such as 'WF-1 = Your details > Sign your claim', and refuse other identifiers; without “WF-1 =” for version 1; may be given more than once"},
			&cli.StringSliceFlag{Name: "fault",
				Usage: "fail on purpose, by a `RULE` such as 'POST /funnel/v2/claims:5%:lose-answer'; may be given more than once"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "another `NUMBER` lets faults hit other requests"},
			switchFlag(nil, "reset", "empty the sandbox of --state, or of this folder's .claimsheet, and its ledger; then end"),
		},
		func(c *cli.Context) error {
			if c.Bool("reset") {
				return p.resetSandbox()
			}
			return p.serve(c, like)
		})
}

// serve serves the sandbox with the credentials of the environment like, "" for none.
func (p *program) serve(c *cli.Context, like string) error {
	options := sandbox.Options{}
	var err error
	if options.Templates, err = load.ReferenceData(p.where.Templates); err != nil {
		return err
	}
	for _, text := range c.StringSlice("workflow") {
		w, err := sandbox.ParseWorkflow(text)
		if err != nil {
			return problem.New("usage", "--workflow: %v", err)
		}
		options.Workflows = append(options.Workflows, w)
	}
	addr := c.String("addr")
	if like != "" {
		session, err := load.OpenEnvironment(withUsualMapping(load.Where{Env: like}))
		if err != nil {
			return err
		}
		rehearsed, err := session.Env.RehearsalAddress()
		if err != nil {
			return err
		}
		if !c.IsSet("addr") {
			addr = rehearsed
		}
		if options.Authenticate, err = session.Env.Guard(c.Context); err != nil {
			return err
		}
	}
	l, err := serve.Loopback("tcp", addr)
	if err != nil {
		return problem.New("address", "the sandbox cannot listen there: %v", err)
	}
	defer l.Close()
	options.BaseURL = "http://" + l.Addr().String()
	if p.where.State != "" {
		options.Dir = load.SandboxFolder(p.where.State)
	}
	service, err := sandbox.New(options)
	if err != nil {
		return problem.New("sandbox", "the sandbox cannot start: %v", err)
	}
	defer service.Close()
	var rules []fault.Rule
	var found problem.List
	for _, text := range c.StringSlice("fault") {
		rule, err := fault.Parse(text, service.Endpoints())
		if err := found.Collect(err); err != nil {
			return err
		}
		rules = append(rules, rule)
	}
	if err := found.Err(); err != nil {
		return err
	}
	fmt.Fprintln(p.Out, options.BaseURL)
	fmt.Fprintln(p.Err, "serving the sandbox, case id "+sandbox.CaseID+"; stop it with Ctrl-C")
	fmt.Fprintln(p.Err, "what it holds, as case handlers see it: "+options.BaseURL+service.Dashboard())
	if like != "" {
		fmt.Fprintf(p.Err, "requests must have the credentials of the environment “%s”\n", like)
	}
	// the rule's path stands for the request's, which may hold an address
	faults := fault.New(service, rules, c.Uint64("seed"), func(rule fault.Rule, request int) {
		fmt.Fprintf(p.Err, "fault at request %d of %s: %s\n", request, rule.Target(), rule.Kind)
	})
	return serve.Until(c.Context, l, sandbox.Guard(faults, l.Addr()))
}

// resetSandbox empties the folder in which -e sandbox, or claimsheet sandbox --state, keeps the service and the ledger, of which one
// without the other would be wrong. Only what Claimsheet has put there is removed, except for the ledger's lock.
func (p *program) resetSandbox() error {
	where := withUsualMapping(load.Where{State: p.where.State})
	folder := where.StateDir(true)
	if folder == "" {
		return problem.New("no-state", "there is neither environments.yaml nor mapping.yaml here, so nothing says where the state folder is").
			Hinted("name it with --state")
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(p.Out, "%s: there is nothing to empty\n", problem.OneLine(folder))
		return nil
	}
	if err := load.CheckState(folder); err != nil {
		return err
	}
	file, data := load.LedgerFile(folder), filepath.Join(folder, sandbox.File)
	release, err := ledger.Lock(file)
	if err != nil {
		return err
	}
	defer release()
	for _, path := range []string{data, load.InputsFolder(folder), file, file + "-wal", file + "-shm"} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.Out, "%s: the sandbox is empty, and its ledger too\n", problem.OneLine(folder))
	return nil
}
