package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// forget erases one client.
func (p *program) forget(ctx context.Context, o historyOptions) error {
	d, err := p.openDesk(o.place)
	defer d.close()
	if err != nil {
		return err
	}
	owners, err := d.toForget(ctx, o.forget)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Erase this client from the ledger of the environment “%s” for good? Later runs will recognise the client\n"+
		"and leave the rows out. The service is not told: it keeps what it has.", d.setup.env.Name)
	if err := p.agree(o, question, "nobody was erased"); err != nil {
		return err
	}
	kept, err := d.keptInputs(ctx)
	if err != nil {
		return err
	}
	var ids []string
	var runs []ledger.Run
	steps, rows := 0, 0
	for _, owner := range owners {
		known, err := d.known.StepsOfClient(ctx, owner)
		if err != nil {
			return err
		}
		done, err := d.known.Forget(owner, time.Now(), withoutMemo)
		if err != nil {
			return d.notForgotten(err)
		}
		steps, rows = steps+done.Steps, rows+done.Rows
		runs = append(runs, done.Runs...)
		for _, s := range known {
			if s.ID != "" {
				ids = append(ids, s.Kind+" "+s.ID)
			}
		}
	}
	inputs, err := kept.removeUnused(ctx, time.Now())
	if err != nil {
		return err
	}
	mine := map[string]bool{}
	for _, r := range runs {
		mine[r.ID] = true
	}
	taken, err := d.removeTaken(ctx, func(r ledger.Run, _ time.Time) bool { return mine[r.ID] })
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "erased: steps: %d, rows of runs: %d, kept copies of sheets: %d (%d bytes), emergency files: %d\n",
		steps, rows, inputs.files, inputs.bytes, taken.files)
	p.sayLeft(ids, runs)
	return nil
}

// toForget are the client's entries: one for each case under version 1.
func (d *desk) toForget(ctx context.Context, key string) ([]ledger.Owner, error) {
	found, err := d.everyOwner(ctx, key)
	if err != nil {
		return nil, err
	}
	var owners []ledger.Owner
	spaces := map[string]bool{}
	var erased time.Time
	for _, owner := range found {
		if at, gone := ledger.Erased(owner.Client); gone {
			erased = at
			continue
		}
		owners = append(owners, owner)
		spaces[owner.Space] = true
	}
	switch {
	case len(owners) == 0 && !erased.IsZero():
		return nil, problem.New("erased-before", "this client was erased before, on %s", moment(erased)).
			Hinted("what runs have kept of their sheets since goes with %s", d.where.command("history", "--purge", "--older-than", "0d"))
	case len(owners) == 0:
		return nil, d.unknownClient()
	case len(spaces) > 1:
		return nil, problem.New("ambiguous-key", "the key is that of %d clients, by different kinds of key", len(spaces)).
			Hinted("write the kind and a colon before it: %s", strings.Join(slices.Sorted(maps.Keys(spaces)), ", "))
	}
	return owners, nil
}

// notForgotten says what stands in the way.
func (d *desk) notForgotten(err error) error {
	if errors.Is(err, ledger.ErrUnsettled) {
		return problem.New("client-undecided", "the client has a step that may or may not have been created; once the client is erased nobody can look for it").
			Hinted("decide it first: %s", d.where.command("settle"))
	}
	return err
}

// sayLeft says what is left and is not the program's to remove.
func (p *program) sayLeft(ids []string, runs []ledger.Run) {
	if len(ids) > 0 {
		fmt.Fprintf(p.Out, "The service still has: %s\n", oneLine(strings.Join(ids, ", ")))
	}
	seen := map[string]bool{}
	for _, r := range runs {
		if _, err := os.Stat(r.Output); err == nil && !seen[r.Output] {
			seen[r.Output] = true
			fmt.Fprintf(p.Out, "A workbook that may hold the client: %s\n", oneLine(r.Output))
		}
	}
	fmt.Fprintln(p.Out, "Take the client out of the export too: each run keeps a copy of its sheet until that is purged.")
}
