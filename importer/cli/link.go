package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping/problem"
)

const linkHelp = `It prints one line for each client: the key, a tab, and the redirect url, which lets its holder act as the client.
A key is what the mapping's client.key makes of the sheet's cells, as the results workbook shows it. When several kinds of
key have the same text, write the kind before it: email:KEY, phone:KEY or, for other columns, the mapping's client.key_space or name.
Of the links of several mappings, the newest is replaced. A client keeps the link that it has until there is a fresh one, even if the request fails. The first link of a client is made by a run.

Examples:

    claimsheet link -e uat L-1001`

func (p *program) linkCommand() *cli.Command {
	return newCommand("link", "[options] CLIENT-KEY…", "ask for a fresh magic link (version 2) for clients whose link has expired", linkHelp,
		p.ledgerFlags(p.traceFlag()), p.link)
}

// link asks for a link for each client, one after the other. Nothing is sent unless every key is good.
func (p *program) link(c *cli.Context) error {
	ctx := c.Context
	if !c.Args().Present() {
		return problem.New("usage", "no client is named").Hinted("claimsheet link -m mapping.yaml CLIENT-KEY")
	}
	if err := p.openLedger(p.openAndReplay); err != nil {
		return err
	}
	if _, _, err := p.session.AllScopes(ctx); err != nil { // a base url that has changed is about the command, not about a key
		return err
	}
	var found problem.List
	var links []wantedLink
	for i, key := range c.Args().Slice() {
		link, err := p.findLink(ctx, i+1, key)
		if err := found.Collect(err); err != nil {
			return err
		}
		links = append(links, link)
	}
	if err := found.Err(); err != nil {
		return err
	}
	connection := p.connection(p.run)
	connection.Shared = true
	if err := p.session.Connect(ctx, apiclient.V2, connection); err != nil {
		return err
	}
	for i, link := range links {
		err := ctx.Err()
		if err == nil {
			err = p.freshLink(ctx, i+1, link)
		}
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			err = errors.New("stopped by a signal")
		}
		return fmt.Errorf("%w after %d of %d links; none was asked for from key %d on", err, i, len(links), i+1)
	}
	return nil
}

// wantedLink is the link step of a client that exists in the service.
type wantedLink struct {
	step     ledger.StepID
	clientID string
}

// findLink returns the newest link of the client with a key. Problems name the key by its number, because its text is personal data.
func (p *program) findLink(ctx context.Context, number int, key string) (link wantedLink, err error) {
	owners, err := p.oneClient(ctx, key)
	if err != nil {
		if p, ok := err.(problem.Problem); ok {
			p.Message = fmt.Sprintf("key %d: %s", number, p.Message)
			err = p
		}
		return link, err
	}
	var newest int64
	for _, owner := range owners {
		if _, inCase := environment.ServiceOf(owner.Environment); inCase != "" {
			return link, problem.New("no-links",
				"key %d is a client of version 1, which has no magic links: its redirect url comes with the creation of a client", number).
				Hinted("the results workbook has it")
		}
		steps, err := p.session.Ledger.StepsOfClient(ctx, owner)
		if err != nil {
			return link, err
		}
		for _, s := range steps {
			switch {
			case s.State != ledger.Done:
			case s.Kind == ledger.KindClient:
				link.clientID = s.ID
			case s.Kind == ledger.KindLink && s.Version >= newest:
				newest, link.step = s.Version, s.StepID
			}
		}
	}
	if link.clientID == "" || link.step.Step == "" {
		return link, problem.New("link-waits",
			"the client of key %d has no link yet: the first link is the last step of a client's plan; nothing was sent", number).
			Hinted("%s decides what is uncertain; then run the sheet again: it sends what is missing, and then the link", p.commandFor("settle"))
	}
	return link, nil
}

// freshLink asks for a link once, without a retry, and prints it when its outcome is recorded. The step stays done, and keeps its url until
// there is a new one. An error means that no other request can succeed either.
func (p *program) freshLink(ctx context.Context, number int, link wantedLink) error {
	event := ledger.Event{StepID: link.step, State: ledger.Done, At: time.Now().UTC(), Run: p.run, Kind: ledger.KindLink,
		Via: ledger.ViaByHand, Reason: "you asked for a fresh link"}
	if err := p.session.Ledger.Append(event); err != nil {
		return err
	}
	service := p.session.Client
	v := service.Create(ctx, service.Routes().CreateLink(link.clientID, service.LinkBody()))
	created := v.Effect == apiclient.Created
	var unread error
	if created { // checked even when the command is being stopped: a url of another client must not be handed out
		var taken bool
		_, taken, unread = p.session.Ledger.StepWithID(context.Background(), ledger.Event{StepID: link.step, Kind: ledger.KindLink, ID: v.ID, URL: v.URL})
		if created = !taken && unread == nil; taken {
			v.Reason = "the service gave it a link that another client has"
			v.Hint = "If a wire pointer of the environment leads to the wrong place, correct it and run again: the answers are kept, and read again."
		}
	}
	outcome, reason := result.Failed, "no fresh link was made: "+v.Reason
	failure := problem.New("link-failed", "the fresh link of key %d was not made: %s", number, v.Reason)
	switch {
	case created:
		outcome, reason = result.Done, v.Reason
		event.ID, event.URL = v.ID, v.URL
	case v.Effect != apiclient.NotSent && v.Effect != apiclient.Refused:
		outcome, reason = result.Uncertain, "a fresh link may or may not have been made: "+v.Reason
		failure = problem.New("link-uncertain", "the fresh link of key %d may or may not have been made: %s", number, v.Reason)
	}
	event.At, event.Reason = time.Now().UTC(), reason
	if created || v.Status/100 == 2 { // the whole answer is kept, to be read again after a pointer is corrected; else the earlier one stays
		event.Via, event.Status, event.Answer = ledger.ViaAnswer, v.Status, v.Answer
	}
	if err := errors.Join(unread, p.session.Ledger.Append(event)); err != nil {
		return err
	}
	p.counts.Add(outcome)
	if created {
		fmt.Fprintf(p.Out, "%s\t%s\n", problem.OneLine(link.step.Client), v.URL)
		return nil
	}
	if v.Stop {
		return errors.New(failure.Message)
	}
	console.PrintProblems(p.Err,
		problem.List{failure.Hinted("%s", strings.TrimSpace(v.Hint+" The client keeps the earlier link; to ask again: claimsheet link"))})
	return nil
}
