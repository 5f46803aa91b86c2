package ledger

import (
	"context"
	"database/sql"
	"errors"
)

// Taken is wrapped by the error of an Append that would have made a step done
// with an id or a redirect url that another step has. An id is one step's
// among those of its kind; a url is one client's.
type Taken struct {
	Step   StepID // the step that was to become done
	Holder StepID // the one that has the id or url
	URL    bool   // it is the url that is taken, not the id
}

func (t Taken) Error() string {
	if t.URL {
		return "another client's step is done with the same redirect url"
	}
	return "another step is done with the same id"
}

// StepWithID finds the step that has the id or url of an event by which another
// step is to become done. ok is false when there is none. Append asks the same
// inside its transaction.
func (l *Ledger) StepWithID(ctx context.Context, e Event) (t Taken, ok bool, err error) {
	return findHolder(e, func(query string, args ...any) *sql.Row { return l.read.QueryRowContext(ctx, query, args...) })
}

const (
	// holderOfID and holderOfURL repeat the conditions of their indexes, which
	// SQLite otherwise would not use.
	holderOfID = `
		SELECT o.environment, o.space, o.client, s.mapping, s.step FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.created = ? AND s.created <> '' AND s.kind = ? AND s.state = 'done' AND o.environment = ?
			AND NOT (o.space = ? AND o.client = ? AND s.mapping = ? AND s.step = ?)
		ORDER BY s.id LIMIT 1`
	holderOfURL = `
		SELECT o.environment, o.space, o.client, s.mapping, s.step FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.url = ? AND s.url <> '' AND s.state = 'done' AND o.environment = ?
			AND NOT (o.space = ? AND o.client = ?)
		ORDER BY s.id LIMIT 1`
)

// findHolder asks for the id first, then for the url.
func findHolder(e Event, query func(string, ...any) *sql.Row) (t Taken, ok bool, err error) {
	t.Step = e.StepID
	scan := func(row *sql.Row) (bool, error) {
		h := &t.Holder
		err := row.Scan(&h.Environment, &h.Space, &h.Client, &h.Mapping, &h.Step)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		return err == nil, err
	}
	if e.ID != "" {
		if ok, err = scan(query(holderOfID, e.ID, e.Kind, e.Environment, e.Space, e.Client, e.Mapping, e.Step)); ok || err != nil {
			return t, ok, err
		}
	}
	if e.URL != "" {
		t.URL = true
		ok, err = scan(query(holderOfURL, e.URL, e.Environment, e.Space, e.Client))
	}
	return t, ok, err
}

// refuseTaken declines what would make a step done with the id or url of
// another. One that the step has already, from before this was refused, stays.
// A url that the event does not bring, but an earlier answer did, declines
// nothing: the step is done without it.
func (t *transaction) refuseTaken(event Event, was, now current) (current, error) {
	if now.state != Done {
		return now, nil
	}
	e := Event{StepID: event.StepID, Kind: now.kind}
	if was.state != Done || was.created != now.created {
		e.ID = now.created
	}
	if was.state != Done || was.url != now.url {
		e.URL = now.url
	}
	taken, ok, err := findHolder(e, func(query string, args ...any) *sql.Row {
		if query == holderOfURL {
			return t.findURL.QueryRowContext(context.Background(), args...)
		}
		return t.findID.QueryRowContext(context.Background(), args...)
	})
	switch {
	case ok && taken.URL && event.URL == "":
		now.url = ""
	case ok:
		return now, declined{taken}
	}
	return now, err
}

// SharedIDs are the ids of an environment that several clients' steps are done
// with, each with the client who was known first. A ledger may hold them from
// before they were refused.
func (l *Ledger) SharedIDs(ctx context.Context, environment string) (map[string]ClientKey, error) {
	shared := map[string]ClientKey{}
	type one struct {
		id string
		ClientKey
	}
	for s, err := range stream(ctx, l.read, func(rows *sql.Rows) (s one, err error) {
		err = rows.Scan(&s.id, &s.Environment, &s.Space, &s.Client)
		return s, err
	}, `
		SELECT s.created, o.environment, o.space, o.client FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.kind = 'client' AND s.state = 'done' AND s.created <> '' AND o.environment = ? AND s.created IN (
			SELECT created FROM steps WHERE kind = 'client' AND state = 'done' AND created <> ''
			GROUP BY created HAVING count(*) > 1)
		ORDER BY s.id`, environment) {
		if err != nil {
			return nil, err
		}
		if _, known := shared[s.id]; !known {
			shared[s.id] = s.ClientKey
		}
	}
	return shared, nil
}
