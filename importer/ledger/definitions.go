package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"
)

// Definition returns what SetDefinition last stored for a mapping's name in an
// environment; ok is false when it stored nothing.
func (l *Ledger) Definition(ctx context.Context, environment, mapping string) (definition string, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT definition FROM definitions WHERE environment = ? AND mapping = ?`,
		environment, mapping).Scan(&definition)
	ok, err = found(err)
	return definition, ok, err
}

// SetDefinition stores, as JSON, what the names of a mapping's steps are made from.
// It replaces what was stored before, and is durable when it returns.
func (l *Ledger) SetDefinition(environment, mapping, definition string) error {
	return l.submit(true, func(t *transaction) error {
		return t.exec(`INSERT OR REPLACE INTO definitions (environment, mapping, definition, at) VALUES (?, ?, ?, ?)`,
			environment, mapping, definition, time.Now().UnixMicro())
	})
}

// Definitions returns what SetDefinition last stored for the mappings of an
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

// ClaimedElsewhere reports whether any of these claim steps was or may have been
// created for the client under another mapping's name, and returns the first such
// name in alphabetical order. It leaves out the steps that were or may have been
// created under mapping's own name: they are not created again in any case.
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
	ok, err = found(err)
	return otherMapping, ok, err
}

// HasSteps reports whether a mapping has steps in an environment whose names begin
// with prefix, for any client, and that were or may have been created.
func (l *Ledger) HasSteps(ctx context.Context, environment, mapping, prefix string) (has bool, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM steps s JOIN owners o ON o.id = s.owner
			WHERE o.environment = ? AND s.mapping = ? AND s.state IN `+created+`
				AND substr(s.step, 1, length(?)) = ?)`,
		environment, mapping, prefix, prefix).Scan(&has)
	return has, err
}

// OtherMappings returns the names of the other mappings that have or may have
// created claims in an environment, in alphabetical order. Without any,
// ClaimedElsewhere finds nothing for any client.
func (l *Ledger) OtherMappings(ctx context.Context, environment, mapping string) ([]string, error) {
	return gather(stream(ctx, l.read, scanText, `SELECT DISTINCT s.mapping FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.kind = 'claim' AND s.state IN `+created+` AND s.mapping <> ? AND o.environment = ?
		ORDER BY s.mapping`, mapping, environment))
}

// Knows reports whether the ledger has any step of an environment other than those
// that failed before anything was sent, for example because a look-up was not
// answered.
func (l *Ledger) Knows(ctx context.Context, environment string) (bool, error) {
	n, err := l.KnownClients(ctx, environment, 1)
	return n > 0, err
}

// KnownClients returns how many clients of an environment have such a step; it
// counts up to most.
func (l *Ledger) KnownClients(ctx context.Context, environment string, most int) (n int, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT COUNT(*) FROM (SELECT DISTINCT o.id FROM owners o JOIN steps s ON s.owner = o.id
			WHERE o.environment = ? AND (s.attempts > 0 OR s.state <> 'failed') LIMIT ?)`,
		environment, most).Scan(&n)
	return n, err
}

// trusted is stored among the definitions, without a mapping's name, for an
// environment whose ledger is known to be the right one, and not a new one in the
// place of a lost one.
const trusted = "trusted"

// Trust records that the ledger is the right one for an environment. It is durable
// when it returns.
func (l *Ledger) Trust(environment string) error { return l.SetDefinition(environment, "", trusted) }

// Trusted reports whether Trust was called for an environment.
func (l *Ledger) Trusted(ctx context.Context, environment string) (bool, error) {
	definition, _, err := l.Definition(ctx, environment, "")
	return definition == trusted, err
}

// movedTo is stored among the definitions, under a name that no mapping can have,
// for an address of a service whose entries are under another address.
const movedTo = "\x00moved"

// SetMoved records that an address belongs to the service whose entries are under
// another one. The entries are not changed: the address is part of the hash by
// which erased clients are recognised. It is durable when it returns.
func (l *Ledger) SetMoved(address, service string) error {
	return l.SetDefinition(address, movedTo, service)
}

// Moved returns the address that SetMoved recorded for an address: that of the
// service's entries. ok is false when it was never called for the address.
func (l *Ledger) Moved(ctx context.Context, address string) (service string, ok bool, err error) {
	return l.Definition(ctx, address, movedTo)
}

// LastEnvironment returns the Run.Environment of the newest run with an
// EnvironmentName; ok is false when there is none.
func (l *Ledger) LastEnvironment(ctx context.Context, name string) (environment string, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT environment FROM runs WHERE environment_name = ? ORDER BY started DESC, id LIMIT 1`, name).Scan(&environment)
	ok, err = found(err)
	return environment, ok, err
}
