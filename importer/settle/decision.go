package settle

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// Choice is what you found out about an uncertain step.
type Choice string

// The choices.
const (
	WasCreated Choice = "created"     // it exists: the next run continues after it
	NotCreated Choice = "not created" // it does not exist: the next run sends it again
	GiveUp     Choice = "give up"     // leave it: the steps that depend on it are never sent
	Undo       Choice = "undo"        // take the decision back: the step is uncertain again
)

// Decision is a choice about an uncertain step.
type Decision struct {
	Choice Choice
	// Value belongs to WasCreated: the id that the service gave, or the redirect
	// url of a link. "" when the step needs none.
	Value string
}

// ParseDecision reads a cell of the column Settle: “created”, “created ID”,
// “created URL”, “not created” or “give up”, ignoring case and runs of white
// space. The error is a problem.Problem without a place; it does not repeat the
// text, which may be a redirect url.
func ParseDecision(text string) (Decision, error) {
	words := strings.Fields(text)
	switch phrase := strings.ToLower(strings.Join(words, " ")); {
	case phrase == string(NotCreated):
		return Decision{Choice: NotCreated}, nil
	case phrase == string(GiveUp):
		return Decision{Choice: GiveUp}, nil
	case len(words) == 1 && phrase == string(WasCreated):
		return Decision{Choice: WasCreated}, nil
	case len(words) == 2 && strings.EqualFold(words[0], string(WasCreated)):
		return Decision{Choice: WasCreated, Value: words[1]}, nil
	}
	return Decision{}, problem.New("unknown-decision", "this is not a decision about an uncertain step").
		Hinted("write “created”, “created” with the id or redirect url behind it, “not created” or “give up”")
}

// Check returns what is wrong with a decision about a step of a kind, a problem.Problem without a
// place. activityIDs is Settler.ActivityIDs.
func (d Decision) Check(kind string, activityIDs bool) error {
	switch {
	case d.Choice != WasCreated && d.Value != "":
		return problem.New("unknown-decision", "an id or url goes with “created” only")
	case d.Choice != WasCreated:
		return nil
	case kind == ledger.KindLink && isURL(d.Value):
		return nil
	case kind == ledger.KindLink:
		return problem.New("no-url", "a created link needs its redirect url, which begins with https:// or http://").
			Hinted("a url that was lost is of no use: decide “not created”, and the next run asks for a fresh one")
	case d.Value == "" && kind == ledger.KindActivity && !activityIDs:
		return nil
	case d.Value == "":
		return problem.New("no-id", "a created %s needs the id that the service gave it", kind).Hinted("look it up in the service")
	case isURL(d.Value):
		return problem.New("not-an-id", "this is a url, and a created %s needs its id", kind).Hinted("look the id up in the service")
	case d.Value == ".", d.Value == "..", !utf8.ValidString(d.Value), strings.ContainsFunc(d.Value, isNotOfIDs):
		return problem.New("not-an-id", "the id is a dot segment, or holds white space, a control character, or one of / \\ ? #").
			Hinted("copy the id as the service shows it")
	}
	return nil
}

// isNotOfIDs reports whether a character cannot be in a segment of a request's path.
func isNotOfIDs(r rune) bool {
	return strings.ContainsRune(`/\?#`, r) || unicode.IsControl(r) || unicode.IsSpace(r)
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && !strings.ContainsFunc(s, unicode.IsSpace)
}

// KindOf returns the kind of the step with a key: client, also for a further
// contact, claim, activity or link; "" for a text that is no step's key.
func KindOf(key string) string {
	switch {
	case key == ledger.KindClient, key == ledger.KindLink:
		return key
	case strings.HasPrefix(key, "contact/"): // the step client of somebody else
		return ledger.KindClient
	case strings.HasPrefix(key, "link/"):
		return ledger.KindLink
	case strings.HasPrefix(key, "claim/"):
		return ledger.KindClaim
	case strings.HasPrefix(key, "activity/"):
		return ledger.KindActivity
	}
	return ""
}
