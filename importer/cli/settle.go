package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/settle"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

const settleHelp = `Without a decision it lists the steps that may or may not have been created, the longest waiting first, each with a
number, what to look for in the service, and the command lines that decide it. A decision is one of

    --created [ID|URL] STEP…  it exists: runs continue after it
    --not-created STEP…       it does not exist: the next run sends it
    --give-up STEP…           leave it: what depends on it is never sent
    --undo STEP…              undo a decision that nothing was built on:
                              the step is uncertain again; or withdraw a
                              wrong id that the sheet gave (known_id)

A STEP is the number in the list, the step's name when only one client has it uncertain, or CLIENT-KEY:NAME. After --created the
first word that is not a STEP is the ID that the service gave a client, claim or activity, or the redirect URL of a link. An
activity needs its id only if the environment's wire.activity_id says so. To correct a wrong id, undo it first, by the step's
name: a decided step has no number any more. Of several decisions either all are recorded or none.

Examples:

    claimsheet settle -e uat
    claimsheet settle -e uat --not-created 1 2
    claimsheet settle -e uat --created 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11 3`

func (p *program) settleCommand() *cli.Command {
	return newCommand("settle", "[options]\n[options] --created [ID|URL] STEP…\n[options] --not-created | --give-up | --undo STEP…",
		"decide what is uncertain; without a decision: list it with numbers", settleHelp,
		append([]cli.Flag{
			switchFlag(nil, "created", "it exists in the service"),
			switchFlag(nil, "not-created", "it does not exist"),
			switchFlag(nil, "give-up", "leave it"),
			switchFlag(nil, "undo", "undo a decision, or withdraw an id of the sheet"),
			switchFlag(nil, "yes", "as for the other commands; settle asks nothing"),
			jsonFlag(),
		}, p.ledgerFlags()...),
		func(c *cli.Context) error {
			var choices []settle.Choice
			for _, choice := range []settle.Choice{settle.WasCreated, settle.NotCreated, settle.GiveUp, settle.Undo} {
				if c.Bool(strings.ReplaceAll(string(choice), " ", "-")) {
					choices = append(choices, choice)
				}
			}
			switch {
			case len(choices) > 1:
				return problem.New("usage", "--created, --not-created, --give-up and --undo exclude each other").Hinted("decide with one of them at a time")
			case len(choices) == 0 && c.Args().Present():
				return problem.New("usage", "a step is named, but no decision").Hinted("put --created, --not-created, --give-up or --undo before it")
			case len(choices) == 1 && !c.Args().Present():
				return problem.New("usage", "no step is named").Hinted("claimsheet settle lists what is uncertain, with the lines that decide it")
			}
			return p.settle(c, append(choices, "")[0])
		})
}

// settle lists what is uncertain, or records what the user decides; "" is no decision.
func (p *program) settle(c *cli.Context, choice settle.Choice) error {
	ctx := c.Context
	if err := p.openLedger(p.openSharedAndReplay); err != nil {
		return err
	}
	scopes, _, err := p.session.AllScopes(ctx)
	if err != nil {
		return err
	}
	find := settle.Uncertain
	if choice == settle.Undo {
		find = settle.Decided
	}
	candidates, err := find(ctx, p.session.Ledger, scopes)
	if err != nil {
		return err
	}
	said := settleJSON{Environment: p.session.Env.Name, Decided: []decidedJSON{}}
	if choice == "" {
		p.listDoubts(candidates)
		p.object = said.with(candidates)
		return nil
	}
	about, value, err := p.namedSteps(ctx, choice, c.Args().Slice(), candidates)
	if err != nil {
		return err
	}
	var settlements []settle.Settlement
	for _, step := range about {
		settlements = append(settlements, settle.Settlement{Step: step.StepID, Decision: settle.Decision{Choice: choice, Value: value}})
	}
	settler := settle.Settler{Ledger: p.session.Ledger, Run: p.run, ActivityIDs: p.session.Env.Wire.ActivityID != ""}
	if err := settler.Settle(ctx, settlements...); err != nil {
		return err
	}
	for _, step := range about {
		said.Decided = append(said.Decided, decidedJSON{step.Client, step.StepID.Step, string(choice)})
		if step.State == ledger.Uncertain {
			fmt.Fprintf(p.Out, "%d  ", step.Number)
		}
		followUp := followUps[choice]
		if step.Via == ledger.ViaSheet {
			followUp = "the id of the sheet is withdrawn; empty or correct its cell, and the next run goes on from there"
		}
		fmt.Fprintf(p.Out, "%s: %s\n", problem.OneLine(step.StepID.Step), followUp)
		if choice != settle.Undo {
			fmt.Fprintf(p.Out, "   to undo it: %s\n", p.commandFor("settle", "--undo", problem.OneLine(step.Client+":"+step.StepID.Step)))
		}
	}
	left, err := settle.Uncertain(ctx, p.session.Ledger, scopes)
	if err != nil {
		return err
	}
	if p.object = said.with(left); len(left) > 0 {
		fmt.Fprintln(p.Out, stepsAre(len(left), "still uncertain"))
	}
	return nil
}

// settleJSON is the object of claimsheet settle.
type settleJSON struct {
	Environment string        `json:"environment"` // the environment's name
	Uncertain   []doubtJSON   `json:"uncertain"`   // the steps that wait for a decision now, the longest waiting first
	Decided     []decidedJSON `json:"decided"`     // the decisions that this command recorded
}

type doubtJSON struct {
	Number    int64     `json:"number"`    // how settle calls it
	ClientKey string    `json:"clientKey"` // the client's key: personal data
	Step      string    `json:"step"`      // the step's name
	Kind      string    `json:"kind"`      // client, claim, activity or link
	Mapping   string    `json:"mapping"`   // the mapping's name; empty for the client, which all mappings share
	State     string    `json:"state"`     // uncertain
	Since     time.Time `json:"since"`     // when it became so
	Reason    string    `json:"reason"`    // why that is not known
	LookFor   string    `json:"lookFor"`   // what to look for in the service
}

type decidedJSON struct {
	ClientKey string `json:"clientKey"` // the client's key: personal data
	Step      string `json:"step"`      // the step's name
	Decision  string `json:"decision"`  // created, not created, give up or undo
}

// with returns the object with the steps that are uncertain.
func (s settleJSON) with(doubts []settle.UncertainStep) settleJSON {
	s.Uncertain = []doubtJSON{}
	for _, d := range doubts {
		s.Uncertain = append(s.Uncertain, doubtJSON{d.Number, d.Client, d.StepID.Step, d.Kind, d.Mapping, string(d.State), d.At.UTC(),
			whyUncertain(d), whatToLookFor(d)})
	}
	return s
}

// followUps say what a decision leads to.
var followUps = map[settle.Choice]string{
	settle.WasCreated: "created; the next run continues after it",
	settle.NotCreated: "not created; the next run sends it again",
	settle.GiveUp:     "given up; what depends on it is not sent",
	settle.Undo:       "undone; it is uncertain again, and claimsheet settle lists it",
}

func stepsAre(n int, what string) string {
	if n == 1 {
		return "1 step is " + what
	}
	return fmt.Sprintf("%d steps are %s", n, what)
}

// listDoubts prints what is uncertain, which also sets the exit code.
func (p *program) listDoubts(doubts []settle.UncertainStep) {
	if len(doubts) == 0 {
		fmt.Fprintln(p.Out, "nothing is uncertain")
		return
	}
	who, look := "they", "each"
	if len(doubts) == 1 {
		who, look = "it", "it"
	}
	fmt.Fprintf(p.Out, "%s in the environment “%s”: %s may or may not have been created.\n", stepsAre(len(doubts), "uncertain"), p.session.Env.Name, who)
	fmt.Fprintf(p.Out, "Look for %s in the service, then decide it with one of its command lines.\n", look)
	for _, doubt := range doubts {
		p.counts.Add(result.Uncertain)
		fmt.Fprintln(p.Out)
		p.describe(doubt)
	}
}

// describe prints one uncertain step. Keys are the only personal data in it: without them the client to look for is not known.
func (p *program) describe(doubt settle.UncertainStep) {
	as := ""
	if doubt.Entry != "" {
		as = ", a contact “" + doubt.Entry + "”"
	}
	fmt.Fprintf(p.Out, "%d  %s of the client %s%s\n", doubt.Number, problem.OneLine(doubt.StepID.Step), problem.OneLine(doubt.Client),
		problem.OneLine(as))
	from := ""
	if doubt.Mapping != "" {
		from = "mapping " + doubt.Mapping + ", "
	}
	if _, in := environment.ServiceOf(doubt.Environment); in != "" {
		from += strings.TrimPrefix(in, " ") + ", "
	}
	fmt.Fprintf(p.Out, "   %ssince %s: %s\n", problem.OneLine(from), moment(doubt.At), problem.OneLine(whyUncertain(doubt)))
	fmt.Fprintf(p.Out, "   %s\n", problem.OneLine(whatToLookFor(doubt)))
	number := fmt.Sprint(doubt.Number)
	created := []string{"settle", "--created", "ID", number}
	switch {
	case doubt.Kind == ledger.KindLink:
		created[2] = "URL"
	case doubt.Kind == ledger.KindActivity && p.session.Env.Wire.ActivityID == "":
		created = []string{"settle", "--created", number}
	}
	for _, words := range [][]string{created, {"settle", "--not-created", number}, {"settle", "--give-up", number}} {
		fmt.Fprintf(p.Out, "   %s\n", p.commandFor(words...))
	}
}

// whyUncertain returns the reason, with the HTTP status unless the reason has it.
func whyUncertain(doubt settle.UncertainStep) string {
	status := fmt.Sprintf("HTTP %d", doubt.Event.Status)
	if doubt.Event.Status == 0 || strings.Contains(doubt.Reason, status) {
		return doubt.Reason
	}
	return status + ", " + doubt.Reason
}

// whatToLookFor says where in the service the thing would be.
func whatToLookFor(doubt settle.UncertainStep) string {
	client := "of the client"
	if doubt.ClientID != "" {
		client += " " + doubt.ClientID
	}
	switch doubt.Kind {
	case ledger.KindClaim:
		return "look for this claim among those " + client
	case ledger.KindLink:
		return "a link cannot be looked up; unless you have its url, decide --not-created, and the next run asks for a fresh link"
	case ledger.KindActivity:
		what := "look for the activity"
		if doubt.Template != "" {
			what += " “" + doubt.Template + "” (" + doubt.Status + ")"
		}
		if doubt.ClaimID != "" {
			return what + " on the claim " + doubt.ClaimID + " " + client
		}
		return what + " " + client
	}
	if doubt.NotFound {
		return "look for the client; or run again after ten minutes: the run looks the client up and decides"
	}
	return "look for the client, by this key or by name"
}

// namedSteps reads the steps that a decision is about, and the id or url of what was created. Problems name words by their place, because
// they may be e-mail addresses or redirect urls.
func (p *program) namedSteps(ctx context.Context, choice settle.Choice, words []string, candidates []settle.UncertainStep) (
	about []settle.UncertainStep, value string, err error) {
	var found problem.List
	for i, word := range words {
		name := fmt.Sprintf("word %d after the flags", i+1)
		old := false // the number of an earlier list, which is never taken for an id
		if number, err := strconv.ParseInt(word, 10, 64); err == nil {
			name = "“" + word + "”"
			if old, err = p.session.Ledger.WasUncertain(ctx, number); err != nil {
				return nil, "", err
			}
		}
		switch named := naming(candidates, word); {
		case len(named) == 1:
			about = append(about, named[0])
		case len(named) > 1:
			found = append(found, problem.New("ambiguous-step", "%s names %d steps", name, len(named)).
				Hinted("use the number that %s shows, or write CLIENT-KEY:NAME", p.commandFor("settle")))
		case choice == settle.Undo:
			found = append(found, problem.New("not-decided",
				"there is no decision to undo: %s is no decided step of the environment “%s”, or was sent since", name, p.session.Env.Name).
				Hinted("write CLIENT-KEY:NAME, as the decision was printed; %s shows what happened", p.commandFor("history", "CLIENT-KEY")))
		case old:
			found = append(found, problem.New("old-number", "the step with the number %s is no longer uncertain: it was decided or sent again since", word).
				Hinted("%s lists what is uncertain now", p.commandFor("settle")))
		case choice == settle.WasCreated && value == "":
			value = word
		default:
			found = append(found, problem.New("unknown-step", "%s is not an uncertain step of the environment “%s”", name, p.session.Env.Name).
				Hinted("%s lists what is uncertain", p.commandFor("settle")))
		}
	}
	switch {
	case len(found) > 0:
	case len(about) == 0:
		found = append(found, problem.New("unknown-step", "no uncertain step is named: the word after the flags is not one; it can only be an id or url").
			Hinted("%s lists what is uncertain", p.commandFor("settle")))
	case value != "" && len(about) > 1:
		found = append(found, problem.New("usage", "an id or url belongs to one step, and %d are named", len(about)).Hinted("decide one at a time"))
	}
	return about, value, found.Err()
}

// naming returns the steps that a word names: by number, name or CLIENT-KEY:NAME, where a key that is an e-mail address ignores case.
func naming(steps []settle.UncertainStep, word string) (named []settle.UncertainStep) {
	for _, s := range steps {
		full := s.Client + ":" + s.StepID.Step
		if s.Number > 0 && word == fmt.Sprint(s.Number) || word == s.StepID.Step || word == full || s.Space == mapping.EmailSpace &&
			strings.EqualFold(word, full) {
			named = append(named, s)
		}
	}
	return named
}
