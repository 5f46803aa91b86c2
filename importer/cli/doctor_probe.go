package cli

import (
	"context"
	"fmt"
	"net/mail"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/probe"
	"claimsheet/importer/result"
	"claimsheet/mapping/problem"
)

// probeOptions are the flags of claimsheet doctor --probe.
type probeOptions struct {
	where     load.Where
	send, yes bool
	email     string
}

func probeFlags() []cli.Flag {
	return []cli.Flag{
		switchFlag("probe", "find out how the service answers, and print the lines for the environment"),
		switchFlag("send", "with --probe: create one test client, with a claim, activities and a link"),
		textFlag("client", "", "with --probe: the test client's `E-MAIL`; without --send the client is only looked up"),
		switchFlag("yes", "with --send: do not ask"),
	}
}

// probeOptionsOf reads the flags; probes is false where nothing is to be probed.
func (p *program) probeOptionsOf(c *cli.Context) (o probeOptions, probes bool, err error) {
	o = probeOptions{where: p.where(c), send: c.Bool("send"), yes: c.Bool("yes"), email: c.String("client")}
	_, noAddress := mail.ParseAddress(o.email)
	usage := func(text, hint string) (probeOptions, bool, error) {
		return o, false, problem.New("usage", "%s", text).Hinted("%s", hint)
	}
	switch {
	case !c.Bool("probe") && (o.send || o.yes || c.IsSet("client")):
		return usage("--send, --client and --yes are for --probe", "claimsheet doctor --probe …")
	case c.IsSet("client") && noAddress != nil:
		return usage("--client is not an e-mail address", "the address of a test client, such as intake.test@example.com")
	case o.send && o.email == "":
		return usage("--send needs a test client", "--client E-MAIL: an address that is yours, and that the service does not know")
	case o.send && !o.yes && !console.IsTerminal(p.In):
		return usage("--send asks before it creates anything, and there is no terminal", "read what it creates in docs/environments.md, then add --yes")
	}
	return o, c.Bool("probe"), nil
}

// probe finds out how the service answers. Exit codes: 0 everything is known, 1 something is not, 2 the
// command or the configuration is wrong, 3 the service could not be used.
func (p *program) probe(ctx context.Context, o probeOptions) error {
	s, wrong, err := load.OpenConfiguration(o.where)
	if err != nil {
		return err
	}
	l := &ledgerSession{session: s, where: o.where, run: uuid.NewString(), shared: true}
	defer l.close()
	if err := wrong.Err(); err != nil {
		return err
	}
	version := s.Version("")
	s.Mapping.API.Text = string(version)
	options := probe.Options{Session: s, API: version, Connection: p.connection(l.run), Email: o.email}
	if o.send {
		if options.Sender, err = p.sender(ctx, l); err != nil {
			return err
		}
		options.Connection.Share = l.share
	}
	options.Confirm = func(ctx context.Context, creates string) error {
		if o.yes {
			fmt.Fprintln(p.Err, creates)
		}
		return p.agree(ctx, o.yes, "\n"+creates+"\nContinue?", "nothing was created", "without --send only GETs are sent")
	}
	report, failed := probe.Run(ctx, options)
	p.object = report
	if failed == nil || len(report.Asked) > 0 {
		fmt.Fprint(p.Out, report.Text())
	}
	p.summary = &result.Summary{}
	p.summary.Rows.Failed = len(report.Unknown) // exit code 1
	return failed
}

// sender opens the ledger, as a run does.
func (p *program) sender(ctx context.Context, l *ledgerSession) (*probe.Sender, error) {
	s := l.session
	if err := l.find(ctx); err != nil {
		return nil, err
	}
	if _, err := l.isThere(); err != nil {
		return nil, err
	}
	if err := p.takeLedger(l); err != nil {
		return nil, err
	}
	scope, then, err := scopeOf(ctx, l.ledger, s.Env, s.Scope())
	if err != nil {
		return nil, err
	}
	if now, _ := environment.ServiceOf(scope); then != "" {
		return nil, serviceChanged(s.Env.Name, then, now, movedHint)
	}
	return &probe.Sender{Ledger: l.ledger, Journal: p.openJournal(l), Scope: scope, Run: l.run, Folder: s.State}, nil
}
