package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/importer/safefile"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

const linkHelp = `It prints one line for each client: the key, a tab, and the redirect url, which lets whoever has it act as the client.
A key is what the mapping's client.key made of the sheet's cells, as the results workbook shows it. Where several kinds of
key have the same text, write the kind before it: email:KEY, phone:KEY or, for other columns, the mapping's client.key_space or name.
A client who has a link keeps it until there is a fresh one, whatever becomes of the request. One who has none yet gets it once
every step before it is done: what is missing is for a run to send.
Clients that several mappings have made links for need -m, which says whose results show the new link.`

func (p *program) linkCommand() *cli.Command {
	return &cli.Command{
		Name:        "link",
		Usage:       "ask for a fresh magic link (version 2) for clients whose link has expired",
		ArgsUsage:   "CLIENT-KEY…",
		Description: linkHelp,
		Flags:       deskFlags(),
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return problem.New("usage", "no client is named").Hinted("claimsheet link -m mapping.yaml CLIENT-KEY")
			}
			return p.link(c.Context, p.placeOf(c), c.Args().Slice())
		},
	}
}

// link asks for a link for each client, one after the other. Nothing is sent
// before every key is known to be good.
func (p *program) link(ctx context.Context, where place, keys []string) error {
	d, err := p.openDesk(where)
	defer d.close()
	if err != nil {
		return err
	}
	only, err := mappingName(where.mapping)
	if err != nil {
		return err
	}
	links, err := d.findLinks(ctx, only, keys)
	if err != nil {
		return err
	}
	service, err := d.connect(ctx)
	if err != nil {
		return err
	}
	relinker := importer.Relinker{Ledger: d.known, Service: service, Run: d.run}
	p.summary = &importer.Summary{}
	for i, link := range links {
		if ctx.Err() != nil && i > 0 {
			return &interrupted{fmt.Sprintf("stopped by a signal after %d of %d links; no link was asked for from key %d on", i, len(links), i+1)}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		o, err := relinker.Relink(ctx, link.step, link.clientID)
		if err != nil {
			if i > 0 {
				fmt.Fprintf(p.Err, "claimsheet: %d of %d links were asked for before this\n", i, len(links))
			}
			return err
		}
		p.summary.Rows.Add(o.Status)
		if o.Status == importer.DoneRow {
			fmt.Fprintf(p.Out, "%s\t%s\n", oneLine(link.step.Client), o.URL)
			continue
		}
		sayProblems(p.Err, problem.List{noLink(i+1, o, link.step.To == ledger.Done, where)})
	}
	return nil
}

// noLink says why a client has no fresh link; had tells that there is an earlier
// one.
func noLink(number int, o importer.StepOutcome, had bool, where place) problem.Problem {
	const kept = "the client keeps the link that was made before; to ask once more: claimsheet link"
	switch {
	case o.Status == importer.Uncertain && had:
		return problem.New("link-uncertain", "a fresh link of key %d may or may not have been made: %s", number, o.Error).Hinted("%s", kept)
	case o.Status == importer.Uncertain:
		return problem.New("link-uncertain", "the link of key %d may or may not have been made: %s", number, o.Error).
			Hinted("%s takes your answer; what nobody has got may be called not created", where.command("settle"))
	case had && o.Advice == "":
		o.Advice = kept
	}
	return problem.New("link-failed", "the link of key %d was not made: %s", number, o.Error).Hinted("%s", o.Advice)
}

// mappingName is the name of the mapping in a file; "" without one.
func mappingName(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := safefile.Read(path, mapping.MaxSize)
	if err != nil {
		return "", err
	}
	m, found := mapping.Parse(path, data)
	if err := found.Err(); err != nil {
		return "", err
	}
	if m.V1() {
		return "", problem.At(m.At(m.API.At), "no-links", "version 1 has no magic links: its redirect url comes with the creation of a client").
			Hinted("the results workbook and the ledger have the one that the client got")
	}
	return m.Name.Text, nil
}

// connect makes a client of the environment's version 2.
func (d *desk) connect(ctx context.Context) (*apiclient.Client, error) {
	cfg, err := d.setup.env.Config(ctx, apiclient.V2)
	if err != nil {
		return nil, err
	}
	if d.setup.env.Sandbox {
		service, err := d.setup.startSandbox(settings{place: d.where})
		if err != nil {
			return nil, err
		}
		cfg.Transport = apiclient.InProcess(service)
	}
	cfg.UserAgent = "claimsheet/" + Version + " run/" + d.run
	return apiclient.New(cfg)
}
