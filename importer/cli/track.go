package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/tracking"
	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/ledger"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

const trackHelp = `It records in the ledger what the service has said about activities that clients complete: the events that claimsheet listen has
received and, with --import, those of exports of the service's operator (.jsonl, one JSON document a line, or .csv), as “tracking” of
the environment describes them. Events that arrive again change nothing. Those with ids that the ledger does not know are kept, and
compared again the next time. claimsheet history shows the events of a client. Nothing that an event says makes a step done or
undone. Every run records the events of claimsheet listen too.

Examples:

    claimsheet track -e uat
    claimsheet track -e uat --import completed.csv`

func (p *program) trackCommand() *cli.Command {
	return newCommand("track", "[options]", "record what the service says about what clients complete, from webhooks and exports", trackHelp,
		p.ledgerFlags(&cli.StringSliceFlag{Name: "import", Usage: "an export, `FILE`.jsonl or FILE.csv; may be given more than once"}),
		p.track)
}

func (p *program) track(c *cli.Context) error {
	if err := p.openLedger(p.openSharedAndReplay); err != nil {
		return err
	}
	if p.session.Ledger.Path() == "" {
		return p.noRun()
	}
	if !p.session.Env.Tracks() {
		return problem.New("no-tracking", "the environment “%s” does not describe events", p.session.Env.Name).
			Hinted("add “tracking” to the environment; docs/tracking.md has examples")
	}
	// All problems of all exports first: then nothing of them is recorded.
	events, err := p.readExports(c.StringSlice("import"), time.Now())
	if err != nil {
		return err
	}
	n, err := p.takeEvents(c.Context, events)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.Out, trackedInWords(n))
	return nil
}

// trackedInWords says what was recorded.
func trackedInWords(n ledger.TrackedCounts) string {
	text := fmt.Sprintf("new events: %d", n.Found)
	for _, more := range []struct {
		count int
		words string
	}{
		{n.Repeated, "%d already recorded"}, {n.Unknown, "%d with ids that the ledger does not know are kept"},
		{n.Erased, "%d of erased clients are not kept"},
	} {
		if more.count > 0 {
			text += fmt.Sprintf("; "+more.words, more.count)
		}
	}
	return text
}

// maxUnreadable limits how many lines of exports are named.
const maxUnreadable = 50

// readExports reads the events of exports.
func (p *program) readExports(paths []string, received time.Time) (events []tracking.Event, err error) {
	format := p.session.Env.Tracking.Export
	if format == nil && len(paths) > 0 {
		return nil, problem.New("no-export", "the environment “%s” does not describe exports", p.session.Env.Name).
			Hinted("add “export” under “tracking” of the environment; docs/tracking.md has examples")
	}
	var wrong problem.List
	for _, path := range paths {
		f, err := safefile.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		read := format.ReadJSONL
		switch strings.ToLower(filepath.Ext(path)) {
		case ".jsonl", ".ndjson":
		case ".csv":
			read = format.ReadCSV
		default:
			return nil, problem.At(problem.Where{File: path}, "export-format", "is neither a .jsonl nor a .csv file").
				Hinted("name a file with one JSON document a line .jsonl, and one with rows below headers .csv")
		}
		for some, err := range read(path, f, received) {
			events = append(events, some...)
			if err := wrong.Collect(err); err != nil {
				return nil, err
			}
			if len(wrong) >= maxUnreadable {
				break
			}
		}
	}
	return events, wrong.Err()
}

// takeEvents records events, and those of the inbox, in the ledger.
func (p *program) takeEvents(ctx context.Context, events []tracking.Event) (n ledger.TrackedCounts, err error) {
	scopes, service, err := p.session.AllScopes(ctx)
	if err != nil {
		return n, err
	}
	repeated := 0
	record := func(events []tracking.Event) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		list := make([]ledger.Tracked, len(events))
		for i, e := range events {
			list[i] = ledger.Tracked{Key: e.Key, Kind: e.Kind, Status: e.Status, At: e.At, Received: e.Received,
				ClientID: e.Client, ClaimID: e.Claim, ActivityID: e.Activity, Activity: e.Template}
		}
		again, err := p.session.Ledger.AddTracked(service, list)
		repeated += again
		return err
	}
	if err = record(events); err == nil {
		err = p.inbox().Take(record)
	}
	n, matching := p.session.Ledger.MatchTracked(service, scopes, activityName) // also what was recorded before an error
	n.Repeated = repeated
	if err == nil {
		err = matching
	}
	return n, err
}

// activityName is the name of the activity that a step has created; after a purge the one in the step's key, usually the template's.
func activityName(s ledger.Step) string {
	_, id, _ := strings.Cut(s.Step, "/")
	id, _, _ = strings.Cut(id, "@")
	return cmp.Or(importer.SentTemplate(s.Data), id)
}

// takeTracked records in a run what the webhook has received. A run does not fail for it.
func (r *importRun) takeTracked(ctx context.Context) {
	if !r.session.Env.Tracks() {
		return
	}
	n, err := r.takeEvents(ctx, nil)
	if err != nil && ctx.Err() == nil {
		p, ok := err.(problem.Problem)
		if !ok {
			p = problem.New("tracking", "the events that the service has sent could not be recorded: %v", err)
		}
		console.PrintProblems(r.Err, problem.List{p})
	}
	if n.Found > 0 && !r.observer.Quiet {
		fmt.Fprintln(r.Err, "claimsheet:", trackedInWords(n))
	}
}
