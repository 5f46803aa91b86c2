package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/safefile"
	"claimsheet/importer/settle"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

const linkHelp = `It prints one line for each client: the key, a tab, and the redirect url, which lets its holder act as the client.
A key is what the mapping's client.key makes of the sheet's cells, as the results workbook shows it. When several kinds of
key have the same text, write the kind before it: email:KEY, phone:KEY or, for other columns, the mapping's client.key_space or name.
A client that has a link keeps it until there is a fresh one, even if the request fails. A client without a link gets one when
every step before it is done; a run sends what is missing.
When several mappings have made links for a client, -m says whose results show the new link.

Examples:

    claimsheet link -e uat L-1001`

func (p *program) linkCommand() *cli.Command {
	return &cli.Command{
		Name:        "link",
		Usage:       "ask for a fresh magic link (version 2) for clients whose link has expired",
		ArgsUsage:   "CLIENT-KEY…",
		Description: linkHelp,
		Flags:       append(ledgerFlags(), traceFlag()),
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return problem.New("usage", "no client is named").Hinted("claimsheet link -m mapping.yaml CLIENT-KEY")
			}
			if err := p.openTrace(c); err != nil {
				return err
			}
			return p.link(c.Context, p.where(c), c.Args().Slice())
		},
	}
}

// link asks for a link for each client, one after the other. Nothing is sent unless
// every key is good.
func (p *program) link(ctx context.Context, where load.Where, keys []string) error {
	l, err := p.openLedger(where, nil)
	defer l.close()
	if err != nil {
		return err
	}
	only, err := mappingName(where.Mapping)
	if err != nil {
		return err
	}
	links, err := l.findLinks(ctx, only, keys)
	if err != nil {
		return err
	}
	connection := p.connection(l.run)
	connection.Share = func(_ context.Context, s *load.Session) (load.Limiter, error) { return l.place.limiter(s.Env), nil }
	if err := l.session.Connect(ctx, apiclient.V2, connection); err != nil {
		return err
	}
	requests := settle.Links{Ledger: l.ledger, Service: l.session.Client, Run: l.run}
	p.summary = &result.Summary{}
	for i, link := range links {
		if ctx.Err() != nil && i > 0 {
			return &interrupted{fmt.Sprintf("stopped by a signal after %d of %d links; no link was asked for from key %d on", i, len(links), i+1)}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		o, err := requests.Request(ctx, link.step, link.clientID)
		if err != nil {
			if i > 0 {
				fmt.Fprintf(p.Err, "claimsheet: %d of %d links were asked for before this\n", i, len(links))
			}
			return err
		}
		p.summary.Rows.Add(o.Status)
		if o.Status == result.Done {
			fmt.Fprintf(p.Out, "%s\t%s\n", problem.OneLine(link.step.Client), o.URL)
			continue
		}
		console.PrintProblems(p.Err, problem.List{noLink(i+1, o, link.step.To == ledger.Done, where)})
	}
	return nil
}

// noLink says why a client has no fresh link; had reports whether there is an earlier
// one.
func noLink(number int, o settle.Link, had bool, where load.Where) problem.Problem {
	const kept = "the client keeps the earlier link; to ask again: claimsheet link"
	switch {
	case o.Status == result.Uncertain && had:
		return problem.New("link-uncertain", "a fresh link of key %d may or may not have been made: %s", number, o.Error).Hinted("%s", kept)
	case o.Status == result.Uncertain:
		return problem.New("link-uncertain", "the link of key %d may or may not have been made: %s", number, o.Error).
			Hinted("%s records your decision; a link that nobody has may be called not created", commandLine(where, "settle"))
	case had && o.Advice == "":
		o.Advice = kept
	}
	return problem.New("link-failed", "the link of key %d was not made: %s", number, o.Error).Hinted("%s", o.Advice)
}

// mappingName returns the name of the mapping in a file; "" without a file.
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
			Hinted("the results workbook and the ledger have it")
	}
	return m.Name.Text, nil
}

// wantedLink is the link step of a client that exists in the service.
type wantedLink struct {
	step     ledger.Step
	clientID string
}

// findLinks returns the link steps of the clients with these keys, or the problems of
// all keys. Problems name a key by its number, because its text is personal data. only
// is the mapping whose links are meant, "" for any.
func (l *ledgerSession) findLinks(ctx context.Context, only string, keys []string) ([]wantedLink, error) {
	var found problem.List
	var links []wantedLink
	seen := map[ledger.StepID]int{}
	for i, key := range keys {
		link, p, err := l.findLink(ctx, only, i+1, key)
		switch {
		case err != nil:
			return nil, err
		case p.Code != "":
			found = append(found, p)
			continue
		case seen[link.step.StepID] > 0:
			found = append(found, problem.New("same-client", "key %d is the client of key %d", i+1, seen[link.step.StepID]).
				Hinted("name each client once"))
		}
		seen[link.step.StepID] = i + 1
		links = append(links, link)
	}
	return links, found.Err()
}

func (l *ledgerSession) findLink(ctx context.Context, only string, number int, key string) (wantedLink, problem.Problem, error) {
	clients, v1, err := l.clientsNamed(ctx, key)
	if err != nil {
		return wantedLink{}, problem.Problem{}, err
	}
	switch len(clients) {
	case 0:
		if v1 {
			return wantedLink{}, problem.New("no-links", "key %d is a client of version 1, which has no magic links: its redirect url comes with the creation of a client", number).
				Hinted("the results workbook has it"), nil
		}
		return wantedLink{}, problem.New("unknown-client", "key %d: no client with this key was created or found in the environment “%s”", number, l.session.Env.Name).
			Hinted("write it as in the results workbook; a client that no run has created has no link"), nil
	case 1:
	default:
		return wantedLink{}, problem.New("ambiguous-key", "key %d: %d clients have this key, with different kinds of key", number, len(clients)).
			Hinted("write the kind and a colon before it: %s", strings.Join(spacesOf(clients), ", ")), nil
	}
	step, p, err := l.linkStep(ctx, only, number, clients[0].ClientKey)
	if err == nil && p.Code == "" && step.To != ledger.Done {
		p, err = l.linkWaits(ctx, number, step.StepID)
	}
	return wantedLink{step, clients[0].ID}, p, err
}

// clientsNamed returns the client steps that are done and that a key names. v1 reports whether it
// names a client of one of the environment's cases.
func (l *ledgerSession) clientsNamed(ctx context.Context, key string) (clients []ledger.Step, v1 bool, err error) {
	owners, err := l.everyOwner(ctx, key)
	if err != nil {
		return nil, false, err
	}
	for _, owner := range owners {
		_, erased := ledger.Erased(owner.Client)
		_, inCase := environment.ServiceOf(owner.Environment)
		if v1 = v1 || !erased && inCase != ""; erased || inCase != "" {
			continue
		}
		known, err := l.ledger.Steps(ctx, owner, "")
		if err != nil {
			return nil, false, err
		}
		if client := known["client"]; client.To == ledger.Done && client.ID != "" {
			clients = append(clients, client)
		}
	}
	return clients, v1, nil
}

func spacesOf(clients []ledger.Step) []string {
	spaces := make([]string, len(clients))
	for i, c := range clients {
		spaces[i] = c.Space
	}
	return spaces
}

// linkStep returns the client's link step of the mapping that is meant.
func (l *ledgerSession) linkStep(ctx context.Context, only string, number int, owner ledger.ClientKey) (ledger.Step, problem.Problem, error) {
	steps, err := l.linksOf(ctx, owner)
	if err != nil {
		return ledger.Step{}, problem.Problem{}, err
	}
	mappings := slices.Sorted(maps.Keys(steps))
	if only != "" {
		mappings = slices.DeleteFunc(mappings, func(name string) bool { return name != only })
	}
	switch len(mappings) {
	case 0:
		p, err := l.linkWaits(ctx, number, ledger.StepID{ClientKey: owner, Mapping: only})
		if err == nil && p.Code == "" {
			p = problem.New("link-waits", "no run has asked for the link of key %d yet: the first link is the last step of a client's plan; nothing was sent", number).
				Hinted("run the sheet again: it sends what is missing, and then the link")
		}
		return ledger.Step{}, p, err
	case 1:
	default:
		return ledger.Step{}, problem.New("ambiguous-mapping", "several mappings have steps of key %d: %s", number, strings.Join(mappings, ", ")).
			Hinted("name one of them with -m: its results will show the link"), nil
	}
	step := steps[mappings[0]]
	switch step.To {
	case ledger.Uncertain, ledger.Closed:
		return step, problem.New("link-undecided", "the link of key %d is %s", number, step.To).
			Hinted("%s decides what is uncertain; what was given up is not asked for again", l.command("settle")), nil
	}
	return step, problem.Problem{}, nil
}

// linksOf returns the link step of a client for each mapping that has one. Of several
// it is the one that is done, else one that is in doubt, else one that may be sent
// again; and of several of these the newest.
func (l *ledgerSession) linksOf(ctx context.Context, owner ledger.ClientKey) (map[string]ledger.Step, error) {
	rank := []ledger.State{ledger.Closed, ledger.Refused, ledger.Sent, ledger.Uncertain, ledger.Done}
	all, err := l.ledger.StepsOfClient(ctx, owner)
	links := map[string]ledger.Step{}
	for _, s := range all {
		if s.Kind != ledger.KindLink {
			continue
		}
		best, ok := links[s.Mapping]
		if !ok || cmp.Or(slices.Index(rank, s.To)-slices.Index(rank, best.To), int(s.Ref.Last-best.Ref.Last)) > 0 {
			links[s.Mapping] = s
		}
	}
	return links, err
}

// linkWaits refuses a first link while a step before it is not done, as a run does. Without
// a mapping, link stands for that of any.
func (l *ledgerSession) linkWaits(ctx context.Context, number int, link ledger.StepID) (problem.Problem, error) {
	steps, err := l.ledger.StepsOfClient(ctx, link.ClientKey)
	if err != nil {
		return problem.Problem{}, err
	}
	for _, s := range steps {
		if s.Kind == ledger.KindLink || s.To == ledger.Done || s.Mapping != "" && link.Mapping != "" && s.Mapping != link.Mapping {
			continue
		}
		hint := "run the sheet again: it sends what is missing, and then the link"
		switch s.To {
		case ledger.Uncertain:
			hint = l.command("settle") + " decides what is uncertain; then run the sheet again"
		case ledger.Closed:
			hint = "what depends on a step that was given up is not sent"
		case ledger.Refused:
			hint = "correct the row, if that was the cause, and run again, which makes the link too; " + l.command("history", "CLIENT-KEY") + " shows more"
		}
		return problem.New("link-waits", "the link of key %d waits for a step of the kind %s, which is %s; nothing was sent", number, s.Kind, s.To).Hinted("%s", hint), nil
	}
	return problem.Problem{}, nil
}
