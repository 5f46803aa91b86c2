package cli

import (
	"context"
	"slices"
	"strings"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// wantedLink is the link step of a client who is known to the service.
type wantedLink struct {
	step     ledger.Step
	clientID string
}

// findLinks finds the link steps of the clients with these keys, with every
// problem of every key. Problems name keys by their place and not by their
// text, which is personal data. only is the mapping whose links are meant, ""
// for any.
func (d *desk) findLinks(ctx context.Context, only string, keys []string) ([]wantedLink, error) {
	var found problem.List
	var links []wantedLink
	seen := map[ledger.StepID]int{}
	for i, key := range keys {
		link, p, err := d.findLink(ctx, only, i+1, key)
		switch {
		case err != nil:
			return nil, err
		case p.Code != "":
			found = append(found, p)
			continue
		case seen[link.step.StepID] > 0:
			found = append(found, problem.New("same-client", "key %d is the client of key %d", i+1, seen[link.step.StepID]).
				Hinted("name each client once"))
		}
		seen[link.step.StepID] = i + 1
		links = append(links, link)
	}
	return links, found.Err()
}

func (d *desk) findLink(ctx context.Context, only string, number int, key string) (wantedLink, problem.Problem, error) {
	clients, err := d.clientsNamed(ctx, key)
	if err != nil {
		return wantedLink{}, problem.Problem{}, err
	}
	switch len(clients) {
	case 0:
		if v1, err := d.isV1(ctx, key); err != nil || v1 {
			return wantedLink{}, problem.New("no-links", "key %d is a client of version 1, which has no magic links: its redirect url comes with the creation of a client", number).
				Hinted("the results workbook has the one that the client got"), err
		}
		return wantedLink{}, problem.New("unknown-key", "key %d is no client that was made or found in the environment “%s”", number, d.setup.env.Name).
			Hinted("write it as in the results workbook; what a run has not created yet has no link"), nil
	case 1:
	default:
		return wantedLink{}, problem.New("ambiguous-key", "key %d is that of %d clients, by different kinds of key", number, len(clients)).
			Hinted("write the kind and a colon before it: %s", strings.Join(spacesOf(clients), ", ")), nil
	}
	step, p, err := d.linkStep(ctx, only, number, clients[0].Owner)
	if err == nil && p.Code == "" && step.To != ledger.Done {
		p, err = d.linkWaits(ctx, number, step.StepID)
	}
	return wantedLink{step, clients[0].ID}, p, err
}

// clientsNamed are the client steps, done, that a key names: by itself, or
// behind its key space and a colon.
func (d *desk) clientsNamed(ctx context.Context, key string) ([]ledger.Step, error) {
	if d.known == nil {
		return nil, nil
	}
	scope, err := d.scope(ctx)
	if err != nil {
		return nil, err
	}
	owners, err := d.ownersNamed(ctx, scope, key)
	if err != nil {
		return nil, err
	}
	var clients []ledger.Step
	for _, owner := range owners {
		known, err := d.known.Steps(ctx, owner, "")
		if err != nil {
			return nil, err
		}
		if client := known["client"]; client.To == ledger.Done && client.ID != "" {
			clients = append(clients, client)
		}
	}
	return clients, nil
}

// isV1 tells that a key names a client of one of the environment's cases.
func (d *desk) isV1(ctx context.Context, key string) (bool, error) {
	owners, err := d.everyOwner(ctx, key)
	return slices.ContainsFunc(owners, func(o ledger.Owner) bool {
		_, erased := ledger.Erased(o.Client)
		_, inCase := environment.ServiceOf(o.Environment)
		return !erased && inCase != ""
	}), err
}

// ownersNamed are the clients that a key names, by itself, or behind its key
// space and a colon.
func (d *desk) ownersNamed(ctx context.Context, scope, key string) ([]ledger.Owner, error) {
	key = strings.Join(strings.Fields(key), " ")
	owners, err := d.known.OwnersNamed(ctx, scope, key)
	if err != nil {
		return nil, err
	}
	if space, rest, ok := strings.Cut(key, ":"); ok {
		more, err := d.known.OwnersNamed(ctx, scope, rest)
		if err != nil {
			return nil, err
		}
		owners = append(owners, slices.DeleteFunc(more, func(o ledger.Owner) bool { return o.Space != space })...)
	}
	return owners, nil
}

func spacesOf(clients []ledger.Step) []string {
	spaces := make([]string, len(clients))
	for i, c := range clients {
		spaces[i] = c.Space
	}
	return spaces
}

// linkStep is the client's link step, of the mapping that is meant; one that
// the ledger does not know has its name only.
func (d *desk) linkStep(ctx context.Context, only string, number int, owner ledger.Owner) (ledger.Step, problem.Problem, error) {
	steps, err := d.known.StepsNamed(ctx, owner, "link")
	if err != nil {
		return ledger.Step{}, problem.Problem{}, err
	}
	mappings := make([]string, len(steps))
	for i, s := range steps {
		mappings[i] = s.Mapping
	}
	if len(steps) == 0 {
		if mappings, err = d.known.MappingsOf(ctx, owner); err != nil {
			return ledger.Step{}, problem.Problem{}, err
		}
	}
	switch {
	case only != "":
		mappings = []string{only}
	case len(mappings) > 1:
		return ledger.Step{}, problem.New("ambiguous-mapping", "several mappings have steps of key %d: %s", number, strings.Join(mappings, ", ")).
			Hinted("name one of them with -m: its results will show the link"), nil
	case len(mappings) == 0:
		return ledger.Step{}, problem.New("no-mapping", "no mapping has steps of key %d, whose client was only made or found", number).
			Hinted("name the mapping with -m: its results will show the link"), nil
	}
	step := ledger.Step{Event: ledger.Event{StepID: ledger.StepID{Owner: owner, Mapping: mappings[0], Step: "link"}}}
	if i := slices.IndexFunc(steps, func(s ledger.Step) bool { return s.Mapping == mappings[0] }); i >= 0 {
		step = steps[i]
	}
	switch step.To {
	case ledger.Uncertain, ledger.GivenUp:
		return step, problem.New("link-undecided", "the link of key %d is %s", number, step.To).
			Hinted("%s decides what is uncertain; what was given up is not asked for again", d.where.command("settle")), nil
	}
	return step, problem.Problem{}, nil
}
