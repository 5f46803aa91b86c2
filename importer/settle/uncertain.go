package settle

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"claimsheet/importer/ledger"
)

// UncertainStep is a step that may or may not have been created, with what helps
// to find it in the service.
type UncertainStep struct {
	ledger.Unsettled
	ClientID string // of the step's client; "" while the client is uncertain itself
	ClaimID  string // of the activity's claim; "" for other steps
	Template string // the name of the activity's template; "" when the request is no longer kept
	Status   string // the status that an activity was sent with
	As       Role   // of the step client of a further contact
}

// Role is what a further contact is to other clients; the zero value is none.
type Role struct {
	Entry   string             // of the mapping's contacts
	Clients []ledger.ClientKey // who have the contact
}

// String returns “contact “ENTRY” of KEY, KEY”, with a few of the clients' keys.
func (r Role) String() string {
	const most = 3
	var keys []string
	for _, c := range r.Clients[:min(most, len(r.Clients))] {
		keys = append(keys, c.Client)
	}
	text := "contact “" + r.Entry + "” of " + strings.Join(keys, ", ")
	if more := len(r.Clients) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Roles finds the roles of further contacts in what runs have recorded. The zero value
// with a Ledger is ready. It reads each run once.
type Roles struct {
	Ledger interface {
		ContactsOf(ctx context.Context, run string) iter.Seq2[ledger.RunContact, error]
	}
	runs map[string]map[ledger.ClientKey]Role
}

// Of returns the role in which a run has recorded somebody; the zero Role when it has
// not, or when its rows were pruned.
func (r *Roles) Of(ctx context.Context, who ledger.ClientKey, run string) (Role, error) {
	if r.runs == nil {
		r.runs = map[string]map[ledger.ClientKey]Role{}
	}
	if r.runs[run] == nil {
		people := map[ledger.ClientKey]Role{}
		for c, err := range r.Ledger.ContactsOf(ctx, run) {
			if err != nil {
				return Role{}, err
			}
			if _, erased := ledger.Erased(c.Client.Client); erased {
				continue
			}
			as := people[c.Contact]
			as.Entry, as.Clients = c.Entry, append(as.Clients, c.Client)
			people[c.Contact] = as
		}
		r.runs[run] = people
	}
	return r.runs[run][who], nil
}

// openLedger is what Uncertain and Decided need of the ledger; *ledger.Ledger has it.
type openLedger interface {
	Unsettled(ctx context.Context, environment string) iter.Seq2[ledger.Unsettled, error]
	Decided(ctx context.Context, environment string) iter.Seq2[ledger.Unsettled, error]
	OfSheet(ctx context.Context, environment string) iter.Seq2[ledger.Step, error]
	Steps(ctx context.Context, owner ledger.ClientKey, mapping string) (map[string]ledger.Step, error)
	ContactsOf(ctx context.Context, run string) iter.Seq2[ledger.RunContact, error]
}

// Uncertain are the steps of environments that are uncertain or parked, those
// that have waited longest first.
func Uncertain(ctx context.Context, l openLedger, environments []string) ([]UncertainStep, error) {
	var steps []UncertainStep
	roles := Roles{Ledger: l}
	for _, environment := range environments {
		for u, err := range l.Unsettled(ctx, environment) {
			if err != nil {
				return nil, err
			}
			step := UncertainStep{Unsettled: u}
			if err := step.gather(ctx, l, &roles); err != nil {
				return nil, err
			}
			steps = append(steps, step)
		}
	}
	slices.SortStableFunc(steps, func(a, b UncertainStep) int { return a.At.Compare(b.At) })
	return steps, nil
}

// gather fills in the ids that lead to the step, and what it asked for.
func (d *UncertainStep) gather(ctx context.Context, l openLedger, roles *Roles) error {
	known, err := l.Steps(ctx, d.ClientKey, d.Mapping)
	if err != nil {
		return err
	}
	d.ClientID = known["client"].ID
	if claim := ledger.ClaimOf(d.StepID.Step); claim != "" {
		d.ClaimID = known[claim].ID
	}
	var was struct{ Template, Status string } // of the request, as the ledger keeps it
	if d.Kind == ledger.KindActivity && json.Unmarshal(d.Data, &was) == nil {
		d.Template, d.Status = was.Template, was.Status
	}
	if d.Kind == ledger.KindClient {
		d.As, err = roles.Of(ctx, d.ClientKey, d.Run)
	}
	return err
}

// Decided are the steps of environments whose last event is a decision, the
// latest first.
func Decided(ctx context.Context, l openLedger, environments []string) ([]UncertainStep, error) {
	var decided []UncertainStep
	for _, environment := range environments {
		for u, err := range l.Decided(ctx, environment) {
			if err != nil {
				return nil, err
			}
			if isDecision(u.Step) {
				decided = append(decided, UncertainStep{Unsettled: u})
			}
		}
	}
	return decided, nil
}

// OfSheet are the clients and claims of environments that are done with an id that a
// sheet gave (known_id), which Undo withdraws. They have no numbers.
func OfSheet(ctx context.Context, l openLedger, environments []string) ([]UncertainStep, error) {
	var given []UncertainStep
	for _, environment := range environments {
		for step, err := range l.OfSheet(ctx, environment) {
			if err != nil {
				return nil, err
			}
			given = append(given, UncertainStep{Unsettled: ledger.Unsettled{Step: step}})
		}
	}
	return given, nil
}
