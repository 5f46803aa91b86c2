package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/load"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/result"
	"claimsheet/importer/settle"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

const settleHelp = `Without a decision it lists the steps that may or may not have been created, the longest waiting first, each with a
number, what to look for in the service, and the command lines that decide it. A decision is one of

    --created [ID|URL] STEP…   it exists: runs continue after it
    --not-created STEP…        it does not exist: the next run sends it again
    --give-up STEP…            leave it: what depends on it is never sent
    --undo STEP…               undo a decision that nothing was built on: the
                               step is uncertain again; or withdraw a wrong
                               id that the sheet gave (known_id)

A STEP is the number in the list, the step's name when only one client has it uncertain, or CLIENT-KEY:NAME. Flags come
first. After --created the first word that is not a STEP is the ID that the service gave a client, claim or activity, or the
redirect URL of a link; an id or url belongs to one STEP. An activity needs its id only if the environment's wire.activity_id says so.
An id that does not look like one of its kind needs --yes; an id of something else is refused. To correct a wrong id, give
--created with the right one, as long as nothing was built on it. A decided step has no number any more: give its name.
A number keeps its meaning while other steps are decided. Of several decisions either all are recorded or none.

Examples:

    claimsheet settle -e uat
    claimsheet settle -e uat --not-created 1 2
    claimsheet settle -e uat --created 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11 3`

// settleOptions are the flags of claimsheet settle.
type settleOptions struct {
	where  load.Where
	choice settle.Choice // "" lists
	words  []string
	yes    bool // accept an id that does not look like one of its kind
}

func (p *program) settleCommand() *cli.Command {
	return &cli.Command{
		Name:        "settle",
		Usage:       "decide what is uncertain; without a decision: list it with numbers",
		UsageText:   "claimsheet settle [options]\nclaimsheet settle [options] --created [ID|URL] STEP…\nclaimsheet settle [options] --not-created | --give-up | --undo STEP…",
		Description: settleHelp,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "created", Usage: "it exists in the service"},
			&cli.BoolFlag{Name: "not-created", Usage: "it does not exist"},
			&cli.BoolFlag{Name: "give-up", Usage: "leave it"},
			switchFlag("undo", "undo a decision, or withdraw an id of the sheet"),
			switchFlag("yes", "with --created: accept an id that does not look like one of its kind"),
			jsonFlag(),
		}, ledgerFlags()...),
		Action: func(c *cli.Context) error {
			o := settleOptions{where: p.where(c), words: c.Args().Slice(), yes: c.Bool("yes")}
			var err error
			if o.choice, err = choiceOf(c); err != nil {
				return err
			}
			return p.settle(c.Context, o)
		},
	}
}

// choiceOf returns the decision that the flags name, "" for none.
func choiceOf(c *cli.Context) (settle.Choice, error) {
	var given []settle.Choice
	for _, f := range []struct {
		name   string
		choice settle.Choice
	}{{"created", settle.WasCreated}, {"not-created", settle.NotCreated}, {"give-up", settle.GiveUp}, {"undo", settle.Undo}} {
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

// settle lists what is uncertain, or records what the user decides.
func (p *program) settle(ctx context.Context, o settleOptions) error {
	l, err := p.openLedger(o.where, hooks.Sharing(&postgres.Sharing{}))
	defer l.close()
	if err != nil {
		return err
	}
	var doubts []settle.UncertainStep
	var scopes []string
	if l.ledger != nil {
		if scopes, err = l.scopes(ctx); err != nil {
			return err
		}
		if doubts, err = settle.Uncertain(ctx, l.ledger, scopes); err != nil {
			return err
		}
	}
	said := settleJSON{Environment: l.session.Env.Name, Decided: []decidedJSON{}}
	if o.choice == "" {
		p.listDoubts(l, doubts)
		p.object = said.with(doubts)
		return nil
	}
	var decided []settle.UncertainStep
	if l.ledger != nil && (o.choice == settle.Undo || o.choice == settle.WasCreated) {
		if decided, err = settle.Decided(ctx, l.ledger, scopes); err != nil {
			return err
		}
	}
	if l.ledger != nil && o.choice == settle.Undo {
		ofSheet, err := settle.OfSheet(ctx, l.ledger, scopes)
		if err != nil {
			return err
		}
		decided = append(decided, ofSheet...)
	}
	settlements, about, err := o.settlements(ctx, l, doubts, decided)
	if err != nil {
		return err
	}
	settler := settle.Settler{Ledger: l.ledger, Run: l.run, ActivityIDs: l.needsActivityIDs(), AnyID: o.yes}
	if err := settler.Settle(ctx, settlements...); err != nil {
		return l.toType(err, o.words[len(o.words)-1])
	}
	for _, doubt := range about {
		said.Decided = append(said.Decided, decidedJSON{doubt.Client, doubt.StepID.Step, string(o.choice)})
		if isUndecided(doubt) {
			fmt.Fprintf(p.Out, "%d  ", doubt.Number)
		}
		followUp := followUps[o.choice]
		if doubt.IsOfSheet() {
			followUp = "the id of the sheet is withdrawn; empty or correct its cell, and the next run goes on from there"
		}
		fmt.Fprintf(p.Out, "%s: %s\n", problem.OneLine(doubt.StepID.Step), followUp)
		if o.choice != settle.Undo {
			fmt.Fprintf(p.Out, "   to undo it: %s\n", l.command("settle", "--undo", problem.OneLine(doubt.Client+":"+doubt.StepID.Step)))
		}
	}
	left, err := settle.Uncertain(ctx, l.ledger, scopes)
	if err != nil {
		return err
	}
	if p.object = said.with(left); len(left) > 0 {
		fmt.Fprintln(p.Out, stepsAre(len(left), "still uncertain"))
	}
	return nil
}

// toType ends hints about an id with the command as it is to be typed here. step is what
// names the step; only a number of the list is repeated, because keys are personal data.
func (l *ledgerSession) toType(err error, step string) error {
	var list problem.List
	if !errors.As(err, &list) {
		return err
	}
	if _, err := strconv.ParseUint(step, 10, 63); err != nil {
		step = "STEP"
	}
	list = slices.Clone(list)
	for i, one := range list {
		switch one.Code {
		case "no-id":
			list[i].Hint = "look it up in the service: " + l.command("settle", "--created", "ID", step)
		case "unlike-id":
			list[i].Hint = "copy the id from the service again; if it is right: " + l.command("settle", "--yes", "--created", "ID", step)
		}
	}
	return list
}

// settleJSON is the object of claimsheet settle.
type settleJSON struct {
	Environment string        `json:"environment" doc:"the environment's name"`
	Uncertain   []doubtJSON   `json:"uncertain" doc:"the steps that wait for a decision now, the longest waiting first"`
	Decided     []decidedJSON `json:"decided" doc:"the decisions that this command recorded"`
}

type doubtJSON struct {
	Number    int64     `json:"number" doc:"how settle calls it"`
	ClientKey string    `json:"clientKey" doc:"the client's key: personal data"`
	Step      string    `json:"step" doc:"the step's name"`
	Kind      string    `json:"kind" doc:"client, claim, activity or link"`
	Mapping   string    `json:"mapping" doc:"the mapping's name; empty for the client, which all mappings share"`
	State     string    `json:"state" doc:"uncertain"`
	Since     time.Time `json:"since" doc:"when it became so"`
	Reason    string    `json:"reason" doc:"why nobody knows"`
	LookFor   string    `json:"lookFor" doc:"what to look for in the service"`
}

type decidedJSON struct {
	ClientKey string `json:"clientKey" doc:"the client's key: personal data"`
	Step      string `json:"step" doc:"the step's name"`
	Decision  string `json:"decision" doc:"created, not created, give up or undo"`
}

// with returns the object with the steps that are uncertain.
func (s settleJSON) with(doubts []settle.UncertainStep) settleJSON {
	s.Uncertain = []doubtJSON{}
	for _, d := range doubts {
		s.Uncertain = append(s.Uncertain, doubtJSON{d.Number, d.Client, d.StepID.Step, d.Kind, d.Mapping, string(d.To), d.At.UTC(), whyUncertain(d), whatToLookFor(d)})
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

// isUndecided reports whether a step has a number in the list.
func isUndecided(d settle.UncertainStep) bool {
	return d.To == ledger.Uncertain
}

func (l *ledgerSession) needsActivityIDs() bool { return l.session.Env.Wire.ActivityID != "" }

func stepsAre(n int, what string) string {
	if n == 1 {
		return "1 step is " + what
	}
	return fmt.Sprintf("%d steps are %s", n, what)
}

// listDoubts prints what is uncertain, which also sets the exit code.
func (p *program) listDoubts(l *ledgerSession, doubts []settle.UncertainStep) {
	switch {
	case l.ledger == nil:
		fmt.Fprintf(p.Out, "nothing is uncertain: nothing was ever run here (there is no ledger in %s)\n", l.session.State)
		return
	case len(doubts) == 0:
		fmt.Fprintln(p.Out, "nothing is uncertain")
		return
	}
	who, look := "they", "each"
	if len(doubts) == 1 {
		who, look = "it", "it"
	}
	fmt.Fprintf(p.Out, "%s in the environment “%s”: %s may or may not have been created.\n", stepsAre(len(doubts), "uncertain"), l.session.Env.Name, who)
	fmt.Fprintf(p.Out, "Look for %s in the service, then decide it with one of its command lines.\n", look)
	p.summary = &result.Summary{}
	for _, doubt := range doubts {
		p.summary.Rows.Add(result.Uncertain)
		fmt.Fprintln(p.Out)
		l.describe(p.Out, doubt)
	}
}

// describe prints one uncertain step. The keys of clients are the only personal data in
// it: without them the client to look for is not known.
func (l *ledgerSession) describe(w io.Writer, doubt settle.UncertainStep) {
	as := ""
	if doubt.Entry != "" {
		as = ", a contact “" + doubt.Entry + "”"
	}
	fmt.Fprintf(w, "%d  %s of the client %s%s\n", doubt.Number, problem.OneLine(doubt.StepID.Step), problem.OneLine(doubt.Client), problem.OneLine(as))
	from := ""
	if doubt.Mapping != "" {
		from = "mapping " + doubt.Mapping + ", "
	}
	if _, caseID, v1 := strings.Cut(doubt.Environment, " case "); v1 {
		from += "case " + caseID + ", "
	}
	fmt.Fprintf(w, "   %ssince %s: %s\n", problem.OneLine(from), doubt.At.Local().Format(time.DateTime), problem.OneLine(whyUncertain(doubt)))
	fmt.Fprintf(w, "   %s\n", problem.OneLine(whatToLookFor(doubt)))
	number := fmt.Sprint(doubt.Number)
	created := []string{"settle", "--created", "ID", number}
	switch {
	case doubt.Kind == ledger.KindLink:
		created[2] = "URL"
	case doubt.Kind == ledger.KindActivity && !l.needsActivityIDs():
		created = []string{"settle", "--created", number}
	}
	for _, words := range [][]string{created, {"settle", "--not-created", number}, {"settle", "--give-up", number}} {
		fmt.Fprintf(w, "   %s\n", l.command(words...))
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

// settlements reads the words after the flags: the decisions, and the steps that they
// are about. These are uncertain, or were decided when the decision is Undo or corrects
// an id. Problems name words by their number, because they may be e-mail addresses or
// redirect urls.
func (o settleOptions) settlements(ctx context.Context, l *ledgerSession, doubts, decided []settle.UncertainStep) ([]settle.Settlement, []settle.UncertainStep, error) {
	decision := settle.Decision{Choice: o.choice}
	var found problem.List
	var about []settle.UncertainStep
	for i, word := range o.words {
		named := naming(doubts, word)
		if len(named) == 0 || o.choice == settle.Undo {
			named = naming(decided, word)
		}
		switch {
		case len(named) == 1:
			about = append(about, named[0])
			continue
		case len(named) > 1:
			hint := "use the number of the list: " + numbersOf(named)
			if !isUndecided(named[0]) {
				hint = "write CLIENT-KEY:NAME"
			}
			found = append(found, problem.New("ambiguous-step", "%s names %d steps", o.wordName(i), len(named)).Hinted("%s", hint))
			continue
		case o.choice == settle.Undo && len(naming(doubts, word)) > 0:
			found = append(found, problem.New("not-decided", "%s is uncertain, and there is no decision to undo", o.wordName(i)).
				Hinted("%s lists it with the command lines that decide it", l.command("settle")))
			continue
		}
		old, err := l.oldNumber(ctx, word)
		switch {
		case err != nil:
			return nil, nil, err
		case old:
			hint := l.command("settle") + " lists what is uncertain now"
			if o.choice == settle.Undo {
				hint = "a decided step has no number any more: write CLIENT-KEY:NAME, as the decision was printed"
			}
			found = append(found, problem.New("old-number", "the step with the number %s is no longer uncertain: it was decided or sent again since", word).
				Hinted("%s", hint))
		case o.choice == settle.WasCreated && decision.Value == "":
			decision.Value = word
		case o.choice == settle.Undo:
			found = append(found, problem.New("unknown-step", "%s is neither a decided step nor one with an id of the sheet in the environment “%s”, or it was sent since", o.wordName(i), l.session.Env.Name).
				Hinted("write CLIENT-KEY:NAME, as the decision was printed; %s shows what happened", l.command("history", "CLIENT-KEY")))
		default:
			found = append(found, problem.New("unknown-step", "%s is not an uncertain step of the environment “%s”", o.wordName(i), l.session.Env.Name).
				Hinted("%s lists what is uncertain", l.command("settle")))
		}
	}
	switch {
	case len(found) > 0:
	case len(about) == 0:
		found = append(found, problem.New("unknown-step", "no uncertain step is named: %s is not one; it can only be an id or url", o.wordName(0)).
			Hinted("%s lists what is uncertain", l.command("settle")))
	case decision.Value != "" && len(about) > 1:
		found = append(found, problem.New("usage", "an id or url belongs to one step, and %d are named", len(about)).Hinted("decide one at a time"))
	}
	if err := found.Err(); err != nil {
		return nil, nil, err
	}
	settlements := make([]settle.Settlement, len(about))
	for i, doubt := range about {
		settlements[i] = settle.Settlement{Step: doubt.StepID, Decision: decision}
	}
	return settlements, about, nil
}

// naming returns the steps that a word names.
func naming(doubts []settle.UncertainStep, word string) []settle.UncertainStep {
	return slices.DeleteFunc(slices.Clone(doubts), func(d settle.UncertainStep) bool {
		isNumber := d.Number > 0 && word == strconv.FormatInt(d.Number, 10)
		return !isNumber && word != d.StepID.Step && !isFullName(d.StepID, word)
	})
}

// isFullName reports whether word is CLIENT-KEY:NAME, or names the creation of a contact, or an activity on it,
// as the rows of other clients do, with or without the key of such a client. Keys that
// are e-mail addresses ignore case.
func isFullName(id ledger.StepID, word string) bool {
	if activity, isOn := strings.CutSuffix(id.Step, "contact"); isOn || id.Step == ledger.KindClient {
		contact := mapping.ContactStepKey(mapping.Identity{Space: id.Space, Key: id.Client})
		if !isOn {
			activity = ""
		}
		for _, spelling := range []string{activity + contact, result.ShownStep(activity + contact), activity + "contact/" + id.Space + "/" + id.Client} {
			name := word[max(0, len(word)-len(spelling)):]
			before := word[:len(word)-len(name)]
			isSame := name == spelling || id.Space == mapping.EmailSpace && strings.EqualFold(name, spelling)
			if isSame && (before == "" || strings.HasSuffix(before, ":")) {
				return true
			}
		}
	}
	key, ok := strings.CutSuffix(word, ":"+id.Step)
	return ok && (key == id.Client || id.Space == "email" && strings.EqualFold(key, id.Client))
}

// oldNumber reports whether a word is a number of an earlier list. Such a word is
// never taken for an id.
func (l *ledgerSession) oldNumber(ctx context.Context, word string) (bool, error) {
	number, err := strconv.ParseInt(word, 10, 64)
	if err != nil || l.ledger == nil {
		return false, nil
	}
	return l.ledger.WasUnsettled(ctx, number)
}

// wordName returns what problems call a word: a number itself, other words by place.
func (o settleOptions) wordName(i int) string {
	if _, err := strconv.ParseInt(o.words[i], 10, 64); err == nil {
		return "“" + o.words[i] + "”"
	}
	if len(o.words) == 1 {
		return "the word after the flags"
	}
	return fmt.Sprintf("word %d after the flags", i+1)
}

func numbersOf(doubts []settle.UncertainStep) string {
	numbers := make([]string, len(doubts))
	for i, d := range doubts {
		numbers[i] = strconv.FormatInt(d.Number, 10)
	}
	return strings.Join(numbers, ", ")
}
