package cli

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli/load"
	"claimsheet/mapping/problem"
)

// sandboxNotice is shown wherever results of the sandbox are.
const sandboxNotice = "This is the sandbox: nothing was sent to a real service, and its links lead nowhere."

const sandboxHelp = `The service's document leaves the shape of answers open. With these flags the sandbox answers in other shapes, to try the keys
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

Examples:

    claimsheet sandbox
    claimsheet sandbox --addr 127.0.0.1:0 --wire nested`

func (p *program) sandboxCommand() *cli.Command {
	return &cli.Command{
		Name:        "sandbox",
		Usage:       "serve the embedded service, for trying things out; its url is the first line on stdout",
		UsageText:   "claimsheet sandbox [options]",
		Description: sandboxHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:8080", Usage: "the loopback `ADDRESS` to listen on; port 0 takes any free one"},
			templatesFlag(),
			textFlag("state", "", "keep what it holds in `FOLDER`/sandbox; default: in memory only"),
			oneOf(textFlag("wire", "", "the `SHAPE` of answers: "+problem.OrList(sandbox.Wires())+"; default: the document's names, with redirectUrl"), sandbox.Wires()...),
			oneOf(textFlag("not-found", "", "the `ANSWER` of a look-up that finds nobody: "+problem.OrList(sandbox.NotFounds())+"; default: HTTP 404"), sandbox.NotFounds()...),
			switchFlag("untyped", "do not report the data types of attributes"),
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
		options.Dir = filepath.Join(state, "sandbox")
	}
	service, err := sandbox.New(options)
	if err != nil {
		_ = l.Close()
		return problem.New("sandbox", "the sandbox cannot start: %v", err)
	}
	defer service.Close()
	fmt.Fprintln(p.Out, url)
	fmt.Fprintln(p.Err, "serving the sandbox, case id "+sandbox.CaseID+"; stop it with Ctrl-C")
	return service.Serve(c.Context, l)
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
