package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"time"
)

// Definition is the definition that SetDefinition last stored for a mapping's
// name in an environment; ok is false when it never did.
func (l *Ledger) Definition(ctx context.Context, environment, mapping string) (definition string, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT definition FROM definitions WHERE environment = ? AND mapping = ?`,
		environment, mapping).Scan(&definition)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return definition, err == nil, err
}

// SetDefinition stores what the names of a mapping's steps are made from, as
// JSON, in place of what was stored before. It is durable when it returns.
func (l *Ledger) SetDefinition(environment, mapping, definition string) error {
	if l.write == nil {
		return ErrReadOnly
	}
	return l.write.submit(true, func(t *transaction) error {
		return t.exec(`INSERT OR REPLACE INTO definitions (environment, mapping, definition, at) VALUES (?, ?, ?, ?)`,
			environment, mapping, definition, time.Now().UnixMicro())
	})
}

// Definitions are what SetDefinition last stored for the mappings of an
// environment, by their names.
func (l *Ledger) Definitions(ctx context.Context, environment string) (map[string]string, error) {
	list, err := gather(stream(ctx, l.read, func(rows *sql.Rows) (d [2]string, err error) {
		err = rows.Scan(&d[0], &d[1])
		return d, err
	}, `SELECT mapping, definition FROM definitions WHERE environment = ? AND mapping NOT IN ('', ?)`, environment, movedTo))
	definitions := map[string]string{}
	for _, d := range list {
		definitions[d[0]] = d[1]
	}
	return definitions, err
}

// created are the states of steps that were created, or may have been.
const created = `('intent', 'done', 'uncertain', 'parked', 'given up')`

// ClaimedElsewhere tells whether any of these claim steps, named as under
// mapping, was or may have been created for the client under another mapping's
// name, and under which: the first in alphabetical order. One for which that is
// so under mapping's own name too will not be made again, whoever else has made
// one like it.
func (l *Ledger) ClaimedElsewhere(ctx context.Context, owner ClientKey, mapping string, steps []string) (otherMapping string, ok bool, err error) {
	names, err := json.Marshal(steps)
	if err != nil {
		return "", false, err
	}
	err = l.read.QueryRowContext(ctx, `
		SELECT s.mapping FROM owners o JOIN steps s ON s.owner = o.id
		WHERE o.environment = ? AND o.space = ? AND o.client = ?
			AND s.kind = 'claim' AND s.state IN `+created+` AND s.mapping <> ?
			AND s.step IN (SELECT value FROM json_each(?))
			AND NOT EXISTS (SELECT 1 FROM steps own
				WHERE own.owner = s.owner AND own.mapping = ? AND own.step = s.step AND own.state IN `+created+`)
		ORDER BY s.mapping LIMIT 1`,
		owner.Environment, owner.Space, owner.Client, mapping, string(names), mapping).Scan(&otherMapping)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return otherMapping, err == nil, err
}

// HasSteps reports whether a mapping has steps in an environment whose names begin
// with a text, for any client, but for those that were surely not created.
func (l *Ledger) HasSteps(ctx context.Context, environment, mapping, prefix string) (has bool, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM steps s JOIN owners o ON o.id = s.owner
			WHERE o.environment = ? AND s.mapping = ? AND s.state IN `+created+`
				AND substr(s.step, 1, length(?)) = ?)`,
		environment, mapping, prefix, prefix).Scan(&has)
	return has, err
}

// OtherMappings are the names of mappings other than this one that have, or may
// have, made claims in an environment, in alphabetical order. With none, ClaimedElsewhere
// finds nothing for any client.
func (l *Ledger) OtherMappings(ctx context.Context, environment, mapping string) ([]string, error) {
	return gather(stream(ctx, l.read, func(rows *sql.Rows) (name string, err error) {
		err = rows.Scan(&name)
		return name, err
	}, `SELECT DISTINCT s.mapping FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.kind = 'claim' AND s.state IN `+created+` AND s.mapping <> ? AND o.environment = ?
		ORDER BY s.mapping`, mapping, environment))
}

// Knows tells whether the ledger knows any step at all of an environment, but
// for those that failed before anything was sent: of a service that did not
// answer a look-up it has learnt nothing.
func (l *Ledger) Knows(ctx context.Context, environment string) (known bool, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM owners o JOIN steps s ON s.owner = o.id WHERE o.environment = ?
			AND (s.attempts > 0 OR s.state <> 'failed'))`,
		environment).Scan(&known)
	return known, err
}

// KnownClients is of how many clients of an environment the ledger knows more
// than that nothing was sent, counted no further than most.
func (l *Ledger) KnownClients(ctx context.Context, environment string, most int) (n int, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT COUNT(*) FROM (SELECT DISTINCT o.id FROM owners o JOIN steps s ON s.owner = o.id
			WHERE o.environment = ? AND (s.attempts > 0 OR s.state <> 'failed') LIMIT ?)`,
		environment, most).Scan(&n)
	return n, err
}

// trusted stands among the definitions, under no mapping's name, for an
// environment of which the ledger is known not to be a lost one's successor.
const trusted = "trusted"

// Trust remembers that the ledger is the one that belongs to an environment. It
// is durable when it returns.
func (l *Ledger) Trust(environment string) error { return l.SetDefinition(environment, "", trusted) }

// Trusted tells whether Trust was called for an environment.
func (l *Ledger) Trusted(ctx context.Context, environment string) (bool, error) {
	definition, _, err := l.Definition(ctx, environment, "")
	return definition == trusted, err
}

// gather is all that a stream yields.
func gather[T any](all iter.Seq2[T, error]) ([]T, error) {
	var list []T
	for v, err := range all {
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// movedTo stands among the definitions, under a name that no mapping can have,
// for an address of a service that the ledger knows under another one.
const movedTo = "\x00moved"

// SetMoved remembers that an address is that of the service whose entries stand
// under another one. They stay where they are: whom they are about is part of
// what erased clients are recognised by. It is durable when it returns.
func (l *Ledger) SetMoved(address, service string) error {
	return l.SetDefinition(address, movedTo, service)
}

// Moved is the address under which the entries stand of a service that SetMoved
// gave this one; ok is false for an address that it was never called for.
func (l *Ledger) Moved(ctx context.Context, address string) (service string, ok bool, err error) {
	return l.Definition(ctx, address, movedTo)
}

// LastEnvironment is the environment of the newest run of an environment's name,
// as Run.Environment; ok is false when there was none.
func (l *Ledger) LastEnvironment(ctx context.Context, name string) (environment string, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT environment FROM runs WHERE environment_name = ? ORDER BY started DESC, id LIMIT 1`, name).Scan(&environment)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return environment, err == nil, err
}
