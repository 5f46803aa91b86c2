package cli

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// parseDays reads a number of days, such as 90d.
func parseDays(text string) (days int, ok bool) {
	number, isDays := strings.CutSuffix(text, "d")
	days, err := strconv.Atoi(number)
	const most = 100 * 366 // a hundred years
	return days, isDays && err == nil && days >= 0 && days <= most
}

// purge takes out of the state folder what is older than so many days.
func (p *program) purge(ctx context.Context, o historyOptions) error {
	d, err := p.openDesk(o.place)
	defer d.close()
	if err != nil {
		return err
	}
	if d.known == nil {
		fmt.Fprintf(p.Out, "nothing to purge: nothing was ever run here (there is no ledger in %s)\n", d.setup.state)
		return nil
	}
	before := time.Now().AddDate(0, 0, -o.days)
	question := fmt.Sprintf("Purge what is older than %s in the environment “%s”? Kept copies of sheets, requests, answers and redirect urls\n"+
		"go for good; keys, states and ids stay.", moment(before), d.setup.env.Name)
	if err := p.agree(o, question, "nothing was purged"); err != nil {
		return err
	}
	scopes, err := d.scopes(ctx)
	if err != nil {
		return err
	}
	kept, err := d.keptInputs(ctx)
	if err != nil {
		return err
	}
	done, err := d.known.Purge(ledger.Purge{Environments: scopes, Before: before, Summary: withoutMemo})
	if err != nil {
		return err
	}
	inputs, err := kept.removeUnused(ctx, before)
	if err != nil {
		return err
	}
	taken, err := d.removeTaken(ctx, func(_ ledger.Run, at time.Time) bool { return at.Before(before) })
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "purged in the environment “%s” what is older than %s:\n", d.setup.env.Name, moment(before))
	fmt.Fprintf(p.Out, "  kept copies of sheets      %d (%d bytes)\n", inputs.files, inputs.bytes)
	fmt.Fprintf(p.Out, "  runs' problems and links   %d\n", done.Runs)
	fmt.Fprintf(p.Out, "  requests and answers       %d\n", done.Bodies)
	fmt.Fprintf(p.Out, "  redirect urls              %d\n", done.URLs)
	fmt.Fprintf(p.Out, "  emergency files            %d\n", taken.files)
	if done.Unsettled > 0 {
		fmt.Fprintf(p.Out, "%s and kept: an answer may tell an id; decide with %s, then purge again\n",
			stepsAre(done.Unsettled, "uncertain"), d.where.command("settle"))
	}
	fmt.Fprintln(p.Out, "Results workbooks are not in the state folder: remove those that are no longer needed.")
	return nil
}

// agree asks a person, unless --yes was given. Only a typed yes will do.
func (p *program) agree(o historyOptions, question, otherwise string) error {
	if o.yes {
		return nil
	}
	fmt.Fprintf(p.Err, "%s\nType yes: ", question)
	answer := ""
	if p.In != nil {
		answer, _ = bufio.NewReader(p.In).ReadString('\n') // no answer is an answer
	}
	fmt.Fprintln(p.Err)
	if strings.EqualFold(strings.TrimSpace(answer), "yes") {
		return nil
	}
	return &incomplete{problem.New("not-confirmed", "%s: it was not confirmed", otherwise).Hinted("type yes, or give --yes")}
}

// removeTaken removes the emergency files that were taken up and that which
// tells: of runs of this ledger, wherever they stand.
func (d *desk) removeTaken(ctx context.Context, which func(run ledger.Run, at time.Time) bool) (removed, error) {
	runs, err := d.everyRun(ctx)
	if err != nil {
		return removed{}, err
	}
	byID := map[string]ledger.Run{}
	outputs := []string{}
	for _, r := range runs {
		byID[r.ID] = r
		outputs = append(outputs, r.Output)
	}
	files, bytes, err := importer.RemoveTaken(d.known.Path(), outputs, func(run string, at time.Time) bool {
		r, ours := byID[run]
		return ours && which(r, at)
	})
	return removed{files, bytes}, err
}
