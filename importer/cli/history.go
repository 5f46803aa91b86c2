package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping/problem"
)

const historyHelp = `Without a key it lists the runs of the environment, the newest first. With a client's key it prints all that is known about
the client: steps, ids, attempts and your decisions. Redirect urls are not shown, because
each lets its holder act as the client: claimsheet report writes a workbook that has them.
A key is what the results workbook shows in the sheet Steps. When several kinds of key have the same text, email:KEY,
phone:KEY or NAME:KEY means one of them.

--purge removes from the state folder what is older than --older-than: kept copies of sheets, requests and answers, and
redirect urls. Client keys, step names, states and ids stay: without them
the next run would create everything again. --forget KEY erases one client for good: what is left are the ids of what was
created, and a keyed hash by which later runs recognise the client and leave its rows out; the kept copies of sheets go. Both ask first, unless --yes is given.

Examples:

    claimsheet history -e uat
    claimsheet history -e uat ann@example.com
    claimsheet history -e uat --purge --older-than 90d`

func (p *program) historyCommand() *cli.Command {
	var purge, yes bool
	var olderThan, forget string
	return newCommand("history", "[options] [CLIENT-KEY]\n--purge --older-than DAYS [options]\n--forget CLIENT-KEY [options]",
		"the runs, or all that is known about one client; --purge and --forget remove personal data", historyHelp,
		p.ledgerFlags(jsonFlag(),
			switchFlag(&purge, "purge", "remove personal data older than --older-than from the state folder"),
			textFlag(&olderThan, "older-than", "", "a number of `DAYS`, such as 90d"),
			textFlag(&forget, "forget", "", "erase the client with this `KEY`"),
			switchFlag(&yes, "yes", "do not ask before a purge or an erasure")),
		func(c *cli.Context) error {
			days, err := checkHistoryFlags(c, purge, forget != "", olderThan)
			if err != nil {
				return err
			}
			open := p.openForReading
			if purge || forget != "" {
				open = p.openAndReplay
			}
			err = p.openLedger(open)
			switch {
			case err != nil:
				return err
			case purge:
				return p.purge(c.Context, days, yes)
			case forget != "":
				return p.forget(c.Context, forget, yes)
			case c.Args().First() == "":
				return p.listRuns(c.Context)
			}
			return p.printClients(c.Context, c.Args().First())
		})
}

// checkHistoryFlags refuses what does not belong together, and returns the days of --older-than.
func checkHistoryFlags(c *cli.Context, purges, forgets bool, olderThan string) (days int, err error) {
	usage := func(text string) (int, error) {
		return 0, problem.New("usage", "%s", text).Hinted("claimsheet history --purge --older-than 90d; claimsheet history --forget CLIENT-KEY")
	}
	switch {
	case c.NArg() > 1:
		return 0, problem.New("usage", "one client at a time; %d are named", c.NArg()).Hinted("put a key that has spaces in quotes")
	case purges && forgets, (purges || forgets) && c.Args().First() != "":
		return usage("a CLIENT-KEY, --purge and --forget exclude each other")
	case purges != (olderThan != ""):
		return usage("--purge and --older-than belong together")
	case !purges:
		return 0, nil
	}
	number, isDays := strings.CutSuffix(olderThan, "d")
	const most = 100 * 366 // a hundred years
	if days, err = strconv.Atoi(number); err != nil || !isDays || days < 0 || days > most {
		return usage("--older-than takes a number of days such as 90d")
	}
	return days, nil
}

// historyJSON is the object of claimsheet history.
type historyJSON struct {
	Environment string       `json:"environment"`        // the environment's name
	Runs        []runJSON    `json:"runs,omitzero"`      // without a key: the runs, the newest first
	Clients     []clientJSON `json:"clients,omitzero"`   // with a key: the clients that it names
	Purged      *removedJSON `json:"purged,omitzero"`    // with --purge: how much was removed
	Forgotten   *removedJSON `json:"forgotten,omitzero"` // with --forget: how much was removed
}

// runJSON is a run in the output of --json.
type runJSON struct {
	Run       string           `json:"run"`       // the run's id
	Started   time.Time        `json:"started"`   // when it began
	Finished  *time.Time       `json:"finished"`  // null when it did not end
	Mapping   string           `json:"mapping"`   // the mapping's name
	Input     string           `json:"input"`     // the sheet's path
	KeptInput bool             `json:"keptInput"` // claimsheet report can write its workbook again
	Results   string           `json:"results"`   // the workbook's path
	Rows      *result.Counts   `json:"rows"`      // null when it did not end
	Clients   *result.Counts   `json:"clients"`   // null when it did not end
	Requests  *result.Requests `json:"requests"`  // null when it did not end
	Version   string           `json:"version"`   // of Claimsheet
}

func (p *program) listRuns(ctx context.Context) error {
	runs, err := p.runs(ctx)
	if err != nil {
		return err
	}
	listed := []runJSON{}
	if p.object = (historyJSON{Environment: p.session.Env.Name, Runs: listed}); len(runs) == 0 {
		fmt.Fprintf(p.Out, "nothing was ever run in the environment “%s”\n", p.session.Env.Name)
		return nil
	}
	fmt.Fprintf(p.Out, "Runs in the environment “%s”, the newest first:\n\n", p.session.Env.Name)
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RUN\tSTARTED\tTOOK\tMAPPING\tSHEET\tROWS")
	for _, r := range runs {
		one := runJSON{Run: r.ID, Started: r.Started, Mapping: r.Mapping, Input: r.Input, KeptInput: r.KeptInput != "", Results: r.Output,
			Version: r.Version}
		took, rows := "–", "did not end: it is still running, or was stopped from outside"
		if !r.Finished.IsZero() {
			s, err := readSummary(r.Summary)
			if err != nil {
				return err
			}
			one.Finished, one.Rows, one.Clients, one.Requests = &r.Finished, &s.Rows, &s.Clients, &s.Requests
			took, rows = r.Finished.Sub(r.Started).Round(time.Second).String(), rowsInWords(s.Rows)
		}
		listed = append(listed, one)
		fmt.Fprintf(table, "%.8s\t%s\t%s\t%s\t%s\t%s\n", r.ID, moment(r.Started), took, problem.OneLine(r.Mapping), problem.OneLine(r.Input), rows)
	}
	p.object = historyJSON{Environment: p.session.Env.Name, Runs: listed}
	return table.Flush()
}

// rowsInWords says how a run's rows ended, the worst first.
func rowsInWords(c result.Counts) string {
	words := []string{}
	for _, status := range result.Statuses {
		if n := c.Of(status); n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, status))
		}
	}
	return cmp.Or(strings.Join(words, ", "), "0")
}

// clientJSON is what the ledger knows about a client, in the output of --json. Redirect urls are left out: they are only in workbooks.
type clientJSON struct {
	Key      string     `json:"key"`                // "" when the client was erased
	Space    string     `json:"space"`              // the kind of key
	Scope    string     `json:"scope"`              // the ledger's name for the environment
	ErasedAt *time.Time `json:"erasedAt,omitempty"` // when the client was erased
	Steps    []stepJSON `json:"steps"`              // all steps
}

type stepJSON struct {
	Mapping  string        `json:"mapping"`           // empty for the client itself, which all mappings share
	Step     string        `json:"step"`              // the step's name
	Kind     string        `json:"kind"`              // client, claim, activity or link
	State    string        `json:"state"`             // as in the sheet Steps: done, uncertain …
	ID       string        `json:"id"`                // what the service calls it
	URL      bool          `json:"hasUrl"`            // the ledger has its redirect url
	Attempts int           `json:"attempts"`          // how often it was sent
	Events   []eventJSON   `json:"events"`            // what happened to it
	Tracked  []trackedJSON `json:"tracked,omitempty"` // what the service has said about it since
}

type trackedJSON struct {
	At        time.Time `json:"at"`                 // when it happened
	Kind      string    `json:"kind"`               // the event's kind
	Status    string    `json:"status"`             // the event's status
	Activity  string    `json:"activity,omitempty"` // the name of the activity
	Completed bool      `json:"completed"`          // the event means that it is completed
}

type eventJSON struct {
	At     time.Time `json:"at"`     // when it happened
	State  string    `json:"state"`  // the state that it led to
	Run    string    `json:"run"`    // empty when no run did it
	Via    string    `json:"via"`    // how it became so: an answer, a look-up, a workbook, your decision
	Status int       `json:"status"` // HTTP; 0 without an answer
	Reason string    `json:"reason"` // why
	ID     string    `json:"id"`     // the id that it brought
}

func (p *program) printClients(ctx context.Context, key string) error {
	owners, err := p.everyOwner(ctx, key)
	if err != nil {
		return err
	}
	clients := make([]clientJSON, len(owners))
	for i, owner := range owners {
		if clients[i], err = p.gather(ctx, owner); err != nil {
			return err
		}
	}
	p.object = historyJSON{Environment: p.session.Env.Name, Clients: clients}
	for i, c := range clients {
		if i > 0 {
			fmt.Fprintln(p.Out)
		}
		c.print(p)
	}
	return nil
}

// everyOwner returns the clients that a key names, alone or as SPACE:KEY, in every scope of the environment, erased ones included. It fails
// when there is no such client.
func (p *program) everyOwner(ctx context.Context, key string) (all []ledger.ClientKey, err error) {
	scopes, _, err := p.session.AllScopes(ctx)
	if err != nil {
		return nil, err
	}
	text := strings.Join(strings.Fields(key), " ")
	space, rest, _ := strings.Cut(text, ":")
	for _, scope := range scopes {
		owners, err := p.session.Ledger.ClientsNamed(ctx, scope, text)
		if err != nil {
			return nil, err
		}
		inSpace, err := p.session.Ledger.ClientsNamed(ctx, scope, rest)
		if err != nil {
			return nil, err
		}
		all = slices.Concat(all, owners, slices.DeleteFunc(inSpace, func(o ledger.ClientKey) bool { return o.Space != space }))
	}
	if len(all) == 0 {
		return nil, p.unknownClient()
	}
	return all, nil
}

func (p *program) unknownClient() problem.Problem {
	return problem.New("unknown-client", "no client in the environment “%s” has this key", p.session.Env.Name).
		Hinted("write it as the results workbook shows it in the sheet Steps; -e names another environment, --state another state folder")
}

// oneClient returns the entries of the one client that a key names: one for each case under version 1. An erased client is unknown.
func (p *program) oneClient(ctx context.Context, key string) ([]ledger.ClientKey, error) {
	owners, err := p.everyOwner(ctx, key)
	if err != nil {
		return nil, err
	}
	owners = slices.DeleteFunc(owners, func(owner ledger.ClientKey) bool {
		_, erased := ledger.Erased(owner.Client)
		return erased
	})
	spaces := map[string]bool{}
	for _, owner := range owners {
		spaces[owner.Space] = true
	}
	switch {
	case len(owners) == 0:
		return nil, p.unknownClient()
	case len(spaces) > 1:
		return nil, problem.New("ambiguous-key", "%d clients have this key, with different kinds of key", len(spaces)).
			Hinted("write the kind and a colon before it: %s", strings.Join(slices.Sorted(maps.Keys(spaces)), ", "))
	}
	return owners, nil
}

func (p *program) gather(ctx context.Context, owner ledger.ClientKey) (clientJSON, error) {
	c := clientJSON{Key: owner.Client, Space: owner.Space, Scope: owner.Environment, Steps: []stepJSON{}}
	if at, erased := ledger.Erased(owner.Client); erased {
		c.Key, c.ErasedAt = "", &at
	}
	steps, err := p.session.Ledger.StepsOfClient(ctx, owner)
	if err != nil {
		return c, err
	}
	tracked, err := p.session.Ledger.TrackedOfClient(ctx, owner)
	if err != nil {
		return c, err
	}
	for _, s := range steps {
		step := stepJSON{Mapping: s.Mapping, Step: s.Event.Step, Kind: s.Kind, State: string(s.State), ID: s.ID, URL: s.URL != "", Attempts: s.Attempts}
		events, err := p.session.Ledger.Events(ctx, s.StepID)
		if err != nil {
			return c, err
		}
		for _, e := range events {
			run := e.Run
			if e.Via == ledger.ViaByHand {
				run = "" // a decision of the user has a name of its own
			}
			step.Events = append(step.Events, eventJSON{e.At, string(e.State), run, e.Via, e.Status, e.Reason, e.ID})
		}
		for _, e := range tracked {
			if e.Of.StepID == s.StepID {
				step.Tracked = append(step.Tracked, trackedJSON{e.At, e.Kind, e.Status, e.Tracked.Activity,
					p.session.Env.Tracking.Completed.Means(e.Kind, e.Status)})
			}
		}
		c.Steps = append(c.Steps, step)
	}
	return c, nil
}

func (c clientJSON) print(p *program) {
	w := p.Out
	who, url := "The client "+problem.OneLine(c.Key), false
	if c.ErasedAt != nil {
		who = "A client who was erased on " + moment(*c.ErasedAt)
	}
	_, in := environment.ServiceOf(c.Scope)
	if in != "" {
		in = "," + in
	}
	fmt.Fprintf(w, "%s (kind of key: %s%s) in the environment “%s”\n", who, problem.OneLine(c.Space), in, p.session.Env.Name)
	for _, s := range c.Steps {
		s.print(w)
		url = url || s.URL
	}
	if url {
		fmt.Fprintf(w, "\nThe redirect url is not shown; the results workbook has it: %s\n", p.commandFor("report"))
	}
}

func (s stepJSON) print(w io.Writer) {
	what, of := s.Step, ""
	if strings.HasPrefix(what, " ") { // a hash in place of a name
		what = s.Kind
	}
	if s.ID != "" {
		what += "  id " + s.ID
	}
	if s.URL {
		what += "  (with a redirect url)"
	}
	if s.Mapping != "" {
		of = " of the mapping " + s.Mapping
	}
	fmt.Fprintf(w, "\n%s: %s%s\n", s.State, problem.OneLine(what), problem.OneLine(of))
	for _, e := range s.Events {
		fmt.Fprintf(w, "  %s  %-9s  %s\n", moment(e.At), e.State, e.cause())
	}
	for _, e := range s.Tracked {
		what := "reported"
		if e.Completed {
			what = "completed"
		}
		fmt.Fprintf(w, "  %s  %-9s  %s\n", moment(e.At), what, joined("by the service", e.Activity, e.Kind, e.Status))
	}
}

// cause says what caused the event, and why. The reason of a decision names you.
func (e eventJSON) cause() string {
	who, status, via := fmt.Sprintf("run %.8s", e.Run), "", e.Via
	if e.Run == "" {
		who, via = "", ""
	}
	if e.Status != 0 && !strings.Contains(e.Reason, fmt.Sprint("HTTP ", e.Status)) {
		status = fmt.Sprintf("HTTP %d", e.Status)
	}
	return joined(who, status, via, e.Reason)
}

// joined joins the texts that are not empty.
func joined(texts ...string) string {
	return problem.OneLine(strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ", "))
}

// purge removes personal data that is older than some days from the state folder.
func (p *program) purge(ctx context.Context, days int, yes bool) error {
	if p.session.Ledger.Path() == "" {
		p.object = historyJSON{Environment: p.session.Env.Name, Purged: &removedJSON{}}
		fmt.Fprintln(p.Out, "nothing to purge: nothing was ever run here")
		return nil
	}
	before := time.Now().AddDate(0, 0, -days)
	question := fmt.Sprintf("Purge what is older than %s in the environment “%s”? Kept copies of sheets, requests, answers and redirect urls\n"+
		"go for good; keys, states and ids stay.", moment(before), p.session.Env.Name)
	if err := p.agree(ctx, yes, question, "nothing was purged: it was not confirmed", "type yes, or give --yes"); err != nil {
		return err
	}
	scopes, service, err := p.session.AllScopes(ctx)
	if err != nil {
		return err
	}
	steps, unsettled := 0, 0
	removed, err := p.removeInputs(ctx, func() (err error) {
		steps, unsettled, err = p.session.Ledger.Purge(scopes, service, before)
		return err
	})
	if err != nil {
		return err
	}
	removed.Steps = steps
	p.object = historyJSON{Environment: p.session.Env.Name, Purged: &removed}
	fmt.Fprintf(p.Out, "purged in the environment “%s” what is older than %s:\n", p.session.Env.Name, moment(before))
	fmt.Fprintf(p.Out, "  kept copies of sheets                          %d (%d bytes)\n", removed.Copies, removed.CopyBytes)
	fmt.Fprintf(p.Out, "  requests, answers and redirect urls, of steps  %d\n", removed.Steps)
	if unsettled > 0 {
		fmt.Fprintf(p.Out, "%s and kept, because an answer may have an id; decide with %s, then purge again\n",
			stepsAre(unsettled, "uncertain"), p.commandFor("settle"))
	}
	fmt.Fprintln(p.Out, "Results workbooks are not in the state folder: remove those that are no longer needed.")
	return nil
}

// removedJSON counts what a purge or an erasure removed.
type removedJSON struct {
	Copies    int      `json:"copies"`       // kept copies of sheets
	CopyBytes int64    `json:"copyBytes"`    // how many bytes those had
	Steps     int      `json:"steps"`        // steps that have lost their request, answer and redirect url
	IDs       []string `json:"ids,omitzero"` // of an erasure: what the service still has, the kind and the id of each thing
}

func (p *program) forget(ctx context.Context, key string, yes bool) error {
	owners, err := p.oneClient(ctx, key)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Erase this client from the ledger of the environment “%s” for good? Later runs will recognise the client\n"+
		"and leave the rows out. Nothing is sent to the service: it keeps what it has.", p.session.Env.Name)
	if err := p.agree(ctx, yes, question, "nobody was erased: it was not confirmed", "type yes, or give --yes"); err != nil {
		return err
	}
	steps, ids := 0, []string{}
	removed, err := p.removeInputs(ctx, func() error {
		for _, owner := range owners {
			known, err := p.session.Ledger.StepsOfClient(ctx, owner)
			if err != nil {
				return err
			}
			n, err := p.session.Ledger.Forget(owner, time.Now())
			if err != nil {
				return err
			}
			steps += n
			for _, s := range known {
				if s.ID != "" {
					ids = append(ids, s.Kind+" "+s.ID)
				}
			}
		}
		return nil
	})
	if errors.Is(err, ledger.ErrUncertain) {
		return problem.New("client-undecided",
			"the client has a step that may or may not have been created; once the client is erased, nobody can look for it").
			Hinted("decide it first: %s", p.commandFor("settle"))
	}
	if err != nil {
		return err
	}
	removed.Steps, removed.IDs = steps, ids
	p.object = historyJSON{Environment: p.session.Env.Name, Forgotten: &removed}
	fmt.Fprintf(p.Out, "erased: steps: %d, kept copies of sheets: %d (%d bytes)\n", steps, removed.Copies, removed.CopyBytes)
	if len(ids) > 0 {
		fmt.Fprintf(p.Out, "The service still has: %s\n", problem.OneLine(strings.Join(ids, ", ")))
	}
	fmt.Fprintln(p.Out, "Remove the client from results workbooks and from the export too: each run keeps a copy of its sheet.")
	return nil
}

// keptInputs returns the file names of the copies of sheets that runs have.
func (p *program) keptInputs(ctx context.Context) (map[string]bool, error) {
	kept, err := p.session.Ledger.KeptInputs(ctx)
	names := map[string]bool{}
	for _, path := range kept {
		names[filepath.Base(path)] = true
	}
	return names, err
}

// minOrphanAge: a copy without a run is deleted only when older than this, because a run copies its sheet before it takes the lock.
const minOrphanAge = time.Hour

// removeInputs calls drop, which changes the ledger, and removes the copies of sheets that no run has any more after it. It also removes
// those that no run ever had, because a run, or a purge, was killed; but not where the state folder has another ledger too: they may be of
// its runs.
func (p *program) removeInputs(ctx context.Context, drop func() error) (gone removedJSON, err error) {
	shared, err := p.session.Place.SharesFolder()
	if err != nil {
		return gone, err
	}
	kept, err := p.keptInputs(ctx)
	if err == nil {
		err = drop()
	}
	if err != nil {
		return gone, err
	}
	still, err := p.keptInputs(ctx)
	if err != nil {
		return gone, err
	}
	folder := load.InputsFolder(p.session.State)
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return gone, err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || still[entry.Name()] || !kept[entry.Name()] && (shared || time.Since(info.ModTime()) < minOrphanAge) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, entry.Name())); err != nil {
			return gone, err
		}
		gone.Copies++
		gone.CopyBytes += info.Size()
	}
	return gone, nil
}
