package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// toldClient is what is known of a client, as --json tells it. Redirect urls
// are left out: they are for the workbook.
type toldClient struct {
	Key      string     `json:"key"`   // "" for a client who was erased
	Space    string     `json:"space"` // what the key is a key of
	Scope    string     `json:"scope"` // the environment as the ledger knows it
	ErasedAt *time.Time `json:"erasedAt,omitempty"`
	Steps    []toldStep `json:"steps"`
	Rows     []toldRow  `json:"rows"`

	owner ledger.Owner
}

type toldStep struct {
	Mapping  string      `json:"mapping"` // "" for the client itself, whom all mappings share
	Step     string      `json:"step"`
	Kind     string      `json:"kind"`
	State    string      `json:"state"`
	ID       string      `json:"id"`
	URL      bool        `json:"hasUrl"`
	Attempts int         `json:"attempts"`
	Events   []toldEvent `json:"events"`
}

type toldEvent struct {
	At     time.Time `json:"at"`
	State  string    `json:"state"`
	Run    string    `json:"run"` // "" for what no run did
	Via    string    `json:"via"`
	Status int       `json:"status"` // HTTP, 0 without an answer
	Reason string    `json:"reason"`
	ID     string    `json:"id"`
}

type toldRow struct {
	Run        string    `json:"run"`
	Started    time.Time `json:"started"`
	Input      string    `json:"input"`
	Row        int       `json:"row"`
	Status     string    `json:"status"`
	FailedStep string    `json:"failedStep"`
	Error      string    `json:"error"`
}

// tellClient prints all that is known of the clients that have a key.
func (p *program) tellClient(ctx context.Context, d *desk, o historyOptions) error {
	owners, err := d.everyOwner(ctx, o.key)
	if err != nil {
		return err
	}
	if len(owners) == 0 {
		return d.unknownClient()
	}
	runs, err := d.runsOf(ctx)
	if err != nil {
		return err
	}
	byID := map[string]ledger.Run{}
	for _, r := range runs {
		byID[r.ID] = r
	}
	clients := make([]toldClient, len(owners))
	for i, owner := range owners {
		if clients[i], err = d.gather(ctx, owner, byID); err != nil {
			return err
		}
	}
	if o.json {
		return writeObject(p.Out, struct {
			Environment string       `json:"environment"`
			Clients     []toldClient `json:"clients"`
		}{d.setup.env.Name, clients})
	}
	for i, c := range clients {
		if i > 0 {
			fmt.Fprintln(p.Out)
		}
		c.print(p.Out, d)
	}
	return nil
}

func (d *desk) unknownClient() error {
	return problem.New("unknown-key", "the key is that of no client in the environment “%s”", d.setup.env.Name).
		Hinted("write it as the results workbook shows it in the sheet Steps; -e names another environment, --state another state folder")
}

// everyOwner are the clients that a key names in every scope of the
// environment, those who were erased included.
func (d *desk) everyOwner(ctx context.Context, key string) ([]ledger.Owner, error) {
	if d.known == nil {
		return nil, nil
	}
	scopes, err := d.scopes(ctx)
	if err != nil {
		return nil, err
	}
	var all []ledger.Owner
	for _, scope := range scopes {
		owners, err := d.ownersNamed(ctx, scope, key)
		if err != nil {
			return nil, err
		}
		all = append(all, owners...)
		erased, err := d.erasedNamed(ctx, scope, key)
		if err != nil {
			return nil, err
		}
		all = append(all, erased...)
	}
	return all, nil
}

// erasedNamed is ownersNamed for clients who were erased.
func (d *desk) erasedNamed(ctx context.Context, scope, key string) ([]ledger.Owner, error) {
	key = strings.Join(strings.Fields(key), " ")
	erased, err := d.known.ErasedNamed(ctx, scope, key)
	if err != nil {
		return nil, err
	}
	if space, rest, ok := strings.Cut(key, ":"); ok {
		more, err := d.known.ErasedNamed(ctx, scope, rest)
		if err != nil {
			return nil, err
		}
		erased = append(erased, slices.DeleteFunc(more, func(o ledger.Owner) bool { return o.Space != space })...)
	}
	return erased, nil
}

// gather collects what the ledger has of a client.
func (d *desk) gather(ctx context.Context, owner ledger.Owner, runs map[string]ledger.Run) (toldClient, error) {
	c := toldClient{Key: owner.Client, Space: owner.Space, Scope: owner.Environment, Steps: []toldStep{}, Rows: []toldRow{}, owner: owner}
	if at, erased := ledger.Erased(owner.Client); erased {
		c.Key, c.ErasedAt = "", &at
	}
	steps, err := d.known.StepsOfClient(ctx, owner)
	if err != nil {
		return c, err
	}
	for _, s := range steps {
		told := toldStep{Mapping: s.Mapping, Step: s.Event.Step, Kind: s.Kind, State: string(s.To), ID: s.ID, URL: s.URL != "", Attempts: s.Attempts}
		events, err := d.known.Events(ctx, s.StepID)
		if err != nil {
			return c, err
		}
		for _, e := range events {
			run := e.Run
			if _, known := runs[run]; !known {
				run = "" // an operator's decision has a name of its own
			}
			told.Events = append(told.Events, toldEvent{e.At, string(e.To), run, e.Via, e.Status, e.Reason, e.ID})
		}
		c.Steps = append(c.Steps, told)
	}
	for r, err := range d.known.RowsOfClient(ctx, owner) {
		if err != nil {
			return c, err
		}
		run := runs[r.Run]
		c.Rows = append(c.Rows, toldRow{r.Run, run.Started, run.Input, r.Row, r.Status, r.FailedStep, r.Error})
	}
	return c, nil
}
