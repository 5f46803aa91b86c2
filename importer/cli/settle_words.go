package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// settlements are what the words behind the flags ask for: decisions, and what
// they are about, which is what is uncertain, and where the decision is Undo or
// corrects an id what was decided. Problems name words by their place: they may be e-mail
// addresses or redirect urls.
func (o settleOptions) settlements(ctx context.Context, d *desk, doubts, decided []importer.Doubt) ([]importer.Settlement, []importer.Doubt, error) {
	decision := importer.Decision{Choice: o.choice}
	var found problem.List
	var about []importer.Doubt
	for i, word := range o.words {
		named := naming(doubts, word)
		if len(named) == 0 || o.choice == importer.Undo {
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
		}
		old, err := d.oldNumber(ctx, word)
		switch {
		case err != nil:
			return nil, nil, err
		case old:
			hint := d.where.command("settle") + " lists what is uncertain now"
			if o.choice == importer.Undo {
				hint = "a decided step has no number any more: write CLIENT-KEY:NAME, as the decision was printed"
			}
			found = append(found, problem.New("old-number", "the step with the number %s is no longer uncertain: it was decided, or sent again, since", word).
				Hinted("%s", hint))
		case o.choice == importer.WasCreated && decision.Value == "":
			decision.Value = word
		case o.choice == importer.Undo:
			found = append(found, problem.New("unknown-step", "%s is not a step of the environment “%s” that was decided, and not sent since", o.wordName(i), d.setup.env.Name).
				Hinted("write CLIENT-KEY:NAME, as the decision was printed; %s tells what happened", d.where.command("history", "CLIENT-KEY")))
		default:
			found = append(found, problem.New("unknown-step", "%s is not an uncertain step of the environment “%s”", o.wordName(i), d.setup.env.Name).
				Hinted("%s lists what is uncertain", d.where.command("settle")))
		}
	}
	switch {
	case len(found) > 0:
	case len(about) == 0:
		found = append(found, problem.New("unknown-step", "no uncertain step is named: %s is not one, and can only be an id or url", o.wordName(0)).
			Hinted("%s lists what is uncertain", d.where.command("settle")))
	case decision.Value != "" && len(about) > 1:
		found = append(found, problem.New("usage", "an id or url belongs to one step, and %d are named", len(about)).Hinted("decide one at a time"))
	}
	if err := found.Err(); err != nil {
		return nil, nil, err
	}
	settlements := make([]importer.Settlement, len(about))
	for i, doubt := range about {
		settlements[i] = importer.Settlement{Step: doubt.StepID, Decision: decision}
	}
	return settlements, about, nil
}

// naming are the doubts that a word names.
func naming(doubts []importer.Doubt, word string) []importer.Doubt {
	return slices.DeleteFunc(slices.Clone(doubts), func(d importer.Doubt) bool {
		return word != strconv.FormatInt(d.Number, 10) && word != d.StepID.Step && !isFullName(d.StepID, word)
	})
}

// isFullName tells whether word is CLIENT-KEY:NAME. The key of an e-mail
// address ignores case.
func isFullName(id ledger.StepID, word string) bool {
	key, ok := strings.CutSuffix(word, ":"+id.Step)
	return ok && (key == id.Client || id.Space == "email" && strings.EqualFold(key, id.Client))
}

// oldNumber tells whether a word is the number of a list that is out of date.
// Such a word is never taken for an id.
func (d *desk) oldNumber(ctx context.Context, word string) (bool, error) {
	number, err := strconv.ParseInt(word, 10, 64)
	if err != nil || d.known == nil {
		return false, nil
	}
	return d.known.WasUnsettled(ctx, number)
}

// wordName is what problems call a word: itself only if it is a number.
func (o settleOptions) wordName(i int) string {
	if _, err := strconv.ParseInt(o.words[i], 10, 64); err == nil {
		return "“" + o.words[i] + "”"
	}
	if len(o.words) == 1 {
		return "the word behind the flags"
	}
	return fmt.Sprintf("word %d behind the flags", i+1)
}

func numbersOf(doubts []importer.Doubt) string {
	numbers := make([]string, len(doubts))
	for i, d := range doubts {
		numbers[i] = strconv.FormatInt(d.Number, 10)
	}
	return strings.Join(numbers, ", ")
}
