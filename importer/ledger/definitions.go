package ledger

import (
	"context"
	"database/sql"
	"slices"
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
		return t.exec(`INSERT INTO definitions (environment, mapping, definition) VALUES (?, ?, ?)
			ON CONFLICT (environment, mapping) DO UPDATE SET definition = excluded.definition`, environment, mapping, definition)
	})
}

// Definitions returns what SetDefinition last stored for the mappings of an
// environment, by their names.
func (l *Ledger) Definitions(ctx context.Context, environment string) (map[string]string, error) {
	list, err := gather(stream(ctx, l.read, func(rows *sql.Rows) (d [2]string, err error) {
		err = rows.Scan(&d[0], &d[1])
		return d, err
	}, `SELECT mapping, definition FROM definitions WHERE environment = ?`, environment))
	definitions := map[string]string{}
	for _, d := range list {
		definitions[d[0]] = d[1]
	}
	return definitions, err
}

// createdStates are the states of steps that were created, or may have been.
var createdStates = []State{Intent, Done, Uncertain, Parked, GivenUp}

// created is the condition of such steps s.
const created = `s.state IN (1, 2, 5, 6, 7)`

// ClaimedElsewhere reports whether any of these claim steps was or may have been
// created for the client under another mapping's name, and returns the first such
// name in alphabetical order. It leaves out the steps that were or may have been
// created under mapping's own name: they are not created again in any case.
func (l *Ledger) ClaimedElsewhere(ctx context.Context, owner ClientKey, mapping string, steps []string) (otherMapping string, ok bool, err error) {
	all, err := l.StepsOfClient(ctx, owner)
	if err != nil {
		return "", false, err
	}
	own := map[string]bool{}
	for _, s := range all {
		own[s.StepID.Step] = own[s.StepID.Step] || s.Mapping == mapping && slices.Contains(createdStates, s.To)
	}
	for _, s := range all { // by mapping
		if s.Mapping != mapping && s.Kind == KindClaim && slices.Contains(createdStates, s.To) && slices.Contains(steps, s.StepID.Step) && !own[s.StepID.Step] {
			return s.Mapping, true, nil
		}
	}
	return "", false, nil
}

// HasSteps reports whether a mapping has steps in an environment whose names begin
// with prefix, for any client, and that were or may have been created.
func (l *Ledger) HasSteps(ctx context.Context, environment, mapping, prefix string) (has bool, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM steps s
			WHERE `+ofEnvironment+` AND s.mapping = (SELECT id FROM names WHERE name = ?) AND `+created+`
				AND substr(s.step, 1, length(CAST(? AS TEXT))) = ?)`,
		environment, mapping, prefix, prefix).Scan(&has)
	return has, err
}

// OtherMappings returns the names of the other mappings that have sent claims in an
// environment, in alphabetical order. Without any, ClaimedElsewhere finds nothing
// for any client.
func (l *Ledger) OtherMappings(ctx context.Context, environment, mapping string) ([]string, error) {
	return gather(stream(ctx, l.read, scanText, `
		SELECT n.name FROM environments e JOIN claim_mappings m ON m.environment = e.id JOIN names n ON n.id = m.mapping
		WHERE e.name = ? AND n.name <> ? ORDER BY n.name`, environment, mapping))
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
		SELECT count(*) FROM (SELECT DISTINCT c.id FROM environments e JOIN clients c ON c.environment = e.id JOIN steps s ON s.client = c.id
			WHERE e.name = ? AND (s.attempts > 0 OR s.state <> 3) LIMIT ?) known`,
		environment, most).Scan(&n)
	return n, err
}

// The names of settings, what users have said about an environment.
const (
	settingTrusted = "trusted" // its ledger is the right one, and not a new one in the place of a lost one
	settingMoved   = "moved"   // the address under which its entries are
)

// Trust records that the ledger is the right one for an environment. It is durable
// when it returns.
func (l *Ledger) Trust(environment string) error { return l.set(environment, settingTrusted, "yes") }

// Trusted reports whether Trust was called for an environment.
func (l *Ledger) Trusted(ctx context.Context, environment string) (bool, error) {
	_, ok, err := l.setting(ctx, environment, settingTrusted)
	return ok, err
}

// SetMoved records that an address belongs to the service whose entries are under
// another one. The entries are not changed: the address is part of the hash by
// which erased clients are recognised. It is durable when it returns.
func (l *Ledger) SetMoved(address, service string) error {
	return l.set(address, settingMoved, service)
}

// Moved returns the address that SetMoved recorded for an address: that of the
// service's entries. ok is false when it was never called for the address.
func (l *Ledger) Moved(ctx context.Context, address string) (service string, ok bool, err error) {
	return l.setting(ctx, address, settingMoved)
}

func (l *Ledger) set(environment, name, value string) error {
	return l.submit(true, func(t *transaction) error {
		return t.exec(`INSERT INTO settings (environment, name, value) VALUES (?, ?, ?)
			ON CONFLICT (environment, name) DO UPDATE SET value = excluded.value`, environment, name, value)
	})
}

func (l *Ledger) setting(ctx context.Context, environment, name string) (value string, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT value FROM settings WHERE environment = ? AND name = ?`, environment, name).Scan(&value)
	ok, err = found(err)
	return value, ok, err
}

// LastEnvironment returns the Run.Environment of the newest run with an
// EnvironmentName; ok is false when there is none.
func (l *Ledger) LastEnvironment(ctx context.Context, name string) (environment string, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT environment FROM runs WHERE environment_name = ? ORDER BY started DESC, id LIMIT 1`, name).Scan(&environment)
	ok, err = found(err)
	return environment, ok, err
}
