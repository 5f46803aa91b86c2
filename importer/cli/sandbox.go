package cli

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/sandbox"
	"claimsheet/apiclient/sandbox/fault"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/statefolder"
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

The service's document leaves the shape of answers open. With these flags the sandbox answers in other shapes, to try the keys
wire and not_found of an environment:

    --wire nested    {"data": {"contactId": …}}
                     look-ups {"items": [{"contactId": …}]}
    --wire header    no body: ids end the url in Location (look-ups:
                     Content-Location), redirect urls are in X-Redirect-Url
    --wire text      the id or redirect url as plain text; beside a
                     redirect url, the id ends the url in Location
    --wire relative  redirect urls without scheme and host

    --not-found no-content  HTTP 204
    --not-found null        null
    --not-found null-id     {"contactId": null}
    --not-found no-items    {"items": []}
    --not-found false       {"found": false}

With --fault it fails on purpose: METHOD PATH:SHARE:KIND, as often as you like. A * in the path is any one segment, and the
path * is every path. The share is a percentage, or one request by its number, such as 3rd. The kinds:

` + faultKinds() + `

Which requests fail depends only on the rule, --seed and the order in which the rule's requests arrive, so a run with
--concurrency 1 can be repeated. docs/rehearsal.md goes through a night with faults.

Examples:

    claimsheet sandbox
    claimsheet sandbox --state .claimsheet
    claimsheet sandbox --addr 127.0.0.1:0 --wire nested
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
			&cli.StringFlag{Name: "addr", Value: sandbox.DefaultAddress, Usage: "the loopback `ADDRESS` to listen on; port 0 takes any free one"},
			templatesFlag(),
			textFlag("state", "", "keep what it holds in `FOLDER`/sandbox; default: in memory only"),
			oneOf(textFlag("wire", "", "the `SHAPE` of answers: "+problem.OrList(sandbox.Wires())+"; default: the document's names, with redirectUrl"), sandbox.Wires()...),
			oneOf(textFlag("not-found", "", "the `ANSWER` of a look-up that finds nobody: "+problem.OrList(sandbox.NotFounds())+"; default: HTTP 404"), sandbox.NotFounds()...),
			switchFlag("untyped", "do not report the data types of attributes"),
			&cli.StringSliceFlag{Name: "fault", Usage: "fail on purpose, by a `RULE` such as 'POST /funnel/v2/claims:5%:lose-answer'; may be given more than once"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "another `NUMBER` lets faults hit other requests"},
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return problem.New("usage", "claimsheet sandbox takes no arguments").Hinted("claimsheet sandbox --help lists the flags")
			}
			return p.serve(c)
		},
	}
}

func (p *program) serve(c *cli.Context) error {
	for flag, words := range map[string][]string{"wire": sandbox.Wires(), "not-found": sandbox.NotFounds()} {
		if err := checkShape(c, flag, words); err != nil {
			return err
		}
	}
	templates, err := load.ReferenceData(c.String("templates"))
	if err != nil {
		return err
	}
	l, err := sandbox.Listen(c.String("addr"))
	if err != nil {
		return problem.New("address", "the sandbox cannot listen there: %v", err)
	}
	url := "http://" + l.Addr().String()
	options := sandbox.Options{Templates: templates, BaseURL: url,
		Wire: sandbox.Wire(c.String("wire")), NotFound: sandbox.NotFound(c.String("not-found")), Untyped: c.Bool("untyped")}
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
	return sandbox.Serve(c.Context, l, fault.New(service, rules, c.Uint64("seed"), p.logFault()))
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
		fmt.Fprintf(p.Err, "fault at request %d of %s %s: %s\n", request, rule.Method, rule.Path, rule.Kind)
	}
}

// checkShape refuses a word that is not one of a flag's.
func checkShape(c *cli.Context, flag string, words []string) error {
	word := c.String(flag)
	if !c.IsSet(flag) || slices.Contains(words, word) {
		return nil
	}
	p := problem.New("usage", "--%s cannot be “%s”; expected %s", flag, problem.Shorten(word), problem.OrList(words)).
		Hinted("leave the flag out for the default")
	if meant, ok := problem.Nearest(problem.Shorten(word), words); ok {
		p = p.Hinted("did you mean --%s %s?", flag, meant)
	}
	return p
}
