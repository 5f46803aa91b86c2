package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

const settleHelp = `Without a decision it lists the steps that may or may not have been created, the longest waiting first, each with a
number, what to look for in the service, and the command lines that decide it. A decision is one of

   --created [ID|URL] STEP…   it exists: runs go on behind it
   --not-created STEP…        it does not: the next run sends it once more
   --give-up STEP…            leave it: what depends on it is never sent
   --undo STEP…               take a decision back, while nothing was built on it: the step is uncertain again

A STEP is the number of the list, the step's name where only one client has it uncertain, or CLIENT-KEY:NAME. Flags come
first. After --created the first word that is not a STEP is the ID that the service gave a client, claim or activity, or the
redirect URL of a link; an id or url belongs to one STEP. An activity needs its id only if the environment's wire.activity_id says so.
An id that looks like none of its kind needs --yes; one that belongs to something else is refused. A wrong id is corrected by
--created with the right one, while nothing was built on it. A decided step is named, it has no number any more.
A number keeps its meaning while other steps are decided. Of several decisions all are taken, or none.`

// settleOptions are the flags of claimsheet settle.
type settleOptions struct {
	place
	choice importer.Choice // "" lists
	words  []string
	yes    bool // take an id that looks like none of its kind
}

func (p *program) settleCommand() *cli.Command {
	return &cli.Command{
		Name:        "settle",
		Usage:       "decide what is uncertain; without a decision: list it, numbered",
		ArgsUsage:   "[ID|URL] [STEP…]",
		Description: settleHelp,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "created", Usage: "it exists in the service"},
			&cli.BoolFlag{Name: "not-created", Usage: "it does not exist"},
			&cli.BoolFlag{Name: "give-up", Usage: "leave it"},
			switchFlag("undo", "take a decision back"),
			switchFlag("yes", "with --created: take the id although it looks like none of its kind"),
		}, deskFlags()...),
		Action: func(c *cli.Context) error {
			o := settleOptions{place: p.placeOf(c), words: c.Args().Slice(), yes: c.Bool("yes")}
			var err error
			if o.choice, err = choiceOf(c); err != nil {
				return err
			}
			return p.settle(c.Context, o)
		},
	}
}

// choiceOf is the decision that the flags name, "" for none.
func choiceOf(c *cli.Context) (importer.Choice, error) {
	var given []importer.Choice
	for _, f := range []struct {
		name   string
		choice importer.Choice
	}{{"created", importer.WasCreated}, {"not-created", importer.NotCreated}, {"give-up", importer.GiveUp}, {"undo", importer.Undo}} {
		if c.Bool(f.name) {
			given = append(given, f.choice)
		}
	}
	switch {
	case len(given) > 1:
		return "", problem.New("usage", "--created, --not-created, --give-up and --undo exclude each other").Hinted("decide with one of them at a time")
	case len(given) == 0 && c.Args().Present():
		return "", problem.New("usage", "a step is named, but no decision").Hinted("put --created, --not-created, --give-up or --undo before it")
	case len(given) == 0:
		return "", nil
	case !c.Args().Present():
		return "", problem.New("usage", "no step is named").Hinted("claimsheet settle lists what is uncertain, with the lines that decide it")
	}
	return given[0], nil
}

// settle lists what is uncertain, or records what the operator found out.
func (p *program) settle(ctx context.Context, o settleOptions) error {
	d, err := p.openDesk(o.place)
	defer d.close()
	if err != nil {
		return err
	}
	var doubts []importer.Doubt
	var scopes []string
	if d.known != nil {
		if scopes, err = d.scopes(ctx); err != nil {
			return err
		}
		if doubts, err = importer.Doubts(ctx, d.known, scopes); err != nil {
			return err
		}
	}
	if o.choice == "" {
		p.listDoubts(d, doubts)
		return nil
	}
	var decided []importer.Doubt
	if d.known != nil && (o.choice == importer.Undo || o.choice == importer.WasCreated) {
		if decided, err = importer.Decided(ctx, d.known, scopes); err != nil {
			return err
		}
	}
	settlements, about, err := o.settlements(ctx, d, doubts, decided)
	if err != nil {
		return err
	}
	settler := importer.Settler{Ledger: d.known, Run: d.run, ActivityIDs: d.needsActivityIDs(), AnyID: o.yes}
	if err := settler.Settle(ctx, settlements...); err != nil {
		return err
	}
	left := len(doubts)
	for _, doubt := range about {
		if isUndecided(doubt) {
			left--
			fmt.Fprintf(p.Out, "%d  ", doubt.Number)
		}
		fmt.Fprintf(p.Out, "%s: %s\n", oneLine(doubt.StepID.Step), followUps[o.choice])
		if o.choice != importer.Undo {
			fmt.Fprintf(p.Out, "   to take it back: %s\n", d.where.command("settle", "--undo", oneLine(doubt.Client+":"+doubt.StepID.Step)))
		}
	}
	if o.choice == importer.Undo {
		left += len(about)
	}
	if left > 0 {
		fmt.Fprintln(p.Out, stepsAre(left, "still uncertain"))
	}
	return nil
}

// followUps say what comes of a decision.
var followUps = map[importer.Choice]string{
	importer.WasCreated: "created; the next run goes on with what comes behind it",
	importer.NotCreated: "not created; the next run sends it once more",
	importer.GiveUp:     "given up; what depends on it is not sent",
	importer.Undo:       "taken back; it is uncertain again, and claimsheet settle lists it",
}

// isUndecided reports whether a step has a number in the list.
func isUndecided(d importer.Doubt) bool { return d.To == ledger.Uncertain || d.To == ledger.Parked }

func (d *desk) needsActivityIDs() bool { return d.setup.env.Wire.ActivityID != "" }

func stepsAre(n int, what string) string {
	if n == 1 {
		return "1 step is " + what
	}
	return fmt.Sprintf("%d steps are %s", n, what)
}
