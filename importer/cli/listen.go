package cli

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/serve"
	"claimsheet/apiclient/tracking"
	"claimsheet/importer/cli/load"
	"claimsheet/mapping/problem"
)

const listenHelp = `It receives what the service posts about activities that clients complete, as “tracking” of the environment describes it, and answers
204 when the events are safe on the disk. The next run, or claimsheet track, records them in the ledger; what they say changes no step.
It speaks HTTP without TLS: put it behind a web server that has a certificate. Requests without the token or the signature of the
environment are refused. It runs until Ctrl-C or SIGTERM, beside runs and other commands. docs/tracking.md shows how to set it up.

Examples:

    claimsheet listen -e uat --addr 127.0.0.1:8090`

func (p *program) listenCommand() *cli.Command {
	addr := ""
	return newCommand("listen", "[-e ENVIRONMENT] [options]",
		"receive the service's webhooks about what clients complete; its url is the first line on stdout", listenHelp,
		p.ledgerFlags(&cli.StringFlag{Name: "addr", Value: "127.0.0.1:8090", Usage: "the `ADDRESS` to listen on; port 0 takes any free one",
			Destination: &addr}),
		func(c *cli.Context) error { return p.listen(c.Context, addr) })
}

func (p *program) listen(ctx context.Context, addr string) error {
	if err := p.openEnvironment(); err != nil {
		return err
	}
	hook, err := p.session.Env.Webhook(ctx)
	if err != nil {
		return err
	}
	if hook == nil {
		return problem.New("no-webhook", "the environment “%s” does not describe a webhook", p.session.Env.Name).
			Hinted("add “webhook” under “tracking” of the environment; docs/tracking.md has examples")
	}
	hook.Keep = p.inbox().Add
	hook.Log = func(status, events int, refused string) { // what became of a request, without what it says
		text := fmt.Sprintf("events received: %d", events)
		if refused != "" {
			text = fmt.Sprintf("refused with HTTP %d: %s", status, refused)
		}
		fmt.Fprintln(p.Err, moment(time.Now()), problem.OneLine(text))
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return problem.New("address", "claimsheet cannot listen there: %v", problem.Cause(err)).
			Hinted("choose another address with --addr, such as 127.0.0.1:8090")
	}
	fmt.Fprintln(p.Out, "http://"+listener.Addr().String()+hook.Path)
	if at, ok := listener.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
		fmt.Fprintln(p.Err, "claimsheet: other machines can reach this address, and requests are not encrypted: put a web server with TLS before it")
	}
	fmt.Fprintf(p.Err, "receiving events for the environment “%s”; stop it with Ctrl-C\n", p.session.Env.Name)
	return serve.Until(ctx, listener, hook)
}

// inbox is where events wait for the ledger.
func (p *program) inbox() tracking.Inbox {
	return tracking.Inbox(load.TrackingFolder(p.session.State, p.session.Env.Name))
}
