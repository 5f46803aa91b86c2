package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func scanClientKey(rows *sql.Rows) (o ClientKey, err error) {
	err = rows.Scan(&o.Environment, &o.Space, &o.Client)
	return o, err
}

// Steps returns the steps of a client by their names: the step client, which all
// mappings share, and the steps of one mapping.
func (l *Ledger) Steps(ctx context.Context, owner ClientKey, mapping string) (map[string]Step, error) {
	all, err := l.StepsOfClients(ctx, owner.Environment, mapping, []ClientKey{owner})
	if err != nil {
		return nil, err
	}
	if all[0] == nil {
		all[0] = map[string]Step{}
	}
	return all[0], nil
}

// clientsAtOnce is for how many clients one query reads the steps.
const clientsAtOnce = 64

// StepsOfClients is Steps of many clients of an environment, in the order of owners,
// for much less than as many calls cost. Where the ledger has no steps of a client,
// the map is nil. The clients of one call are read at several moments.
func (l *Ledger) StepsOfClients(ctx context.Context, environment, mapping string, owners []ClientKey) ([]map[string]Step, error) {
	return l.stepsOfClients(ctx, selectSteps, scanRow, environment, mapping, owners)
}

// BriefStepsOfClients is StepsOfClients without the Data and Answer of the steps, for less.
func (l *Ledger) BriefStepsOfClients(ctx context.Context, environment, mapping string, owners []ClientKey) ([]map[string]Step, error) {
	return l.stepsOfClients(ctx, selectBriefSteps, func(rows *sql.Rows) (row, error) { return scanBrief(rows, mapping) }, environment, mapping, owners)
}

// stepsOfClients reads the numbers of the clients first and then their steps. For a join of both, a server may keep a plan
// that it made while the tables were small, and that reads one of them whole.
func (l *Ledger) stepsOfClients(ctx context.Context, columns string, scan func(*sql.Rows) (row, error), environment, mapping string,
	owners []ClientKey) ([]map[string]Step, error) {
	all := make([]map[string]Step, len(owners))
	for i, chunk := range slices.Collect(slices.Chunk(owners, clientsAtOnce)) {
		var keys, numbers []any
		places := make(map[ClientKey]int, len(chunk))
		for at, owner := range chunk {
			keys, places[owner] = append(keys, owner.Client), i*clientsAtOnce+at
		}
		placeOf := make(map[int64]int, len(chunk))
		err := each(ctx, l.read, func(rows *sql.Rows) error {
			var number int64
			owner := ClientKey{Environment: environment}
			err := rows.Scan(&number, &owner.Client, &owner.Space)
			if at, asked := places[owner]; asked && err == nil {
				numbers, placeOf[number] = append(numbers, number), at
			}
			return errors.Join(err, ctx.Err())
		}, `SELECT id, client, space FROM clients WHERE environment = `+numberOf+` AND client IN (`+params(len(keys))+`)`, append([]any{environment}, keys...)...)
		if err == nil && len(numbers) > 0 {
			err = each(ctx, l.read, func(rows *sql.Rows) error {
				r, err := scan(rows)
				if at, asked := placeOf[r.client]; asked && err == nil {
					if all[at] == nil {
						all[at] = map[string]Step{}
					}
					r.ClientKey = owners[at]
					all[at][r.StepID.Step] = r.step()
				}
				return errors.Join(err, ctx.Err())
			}, columns+`WHERE s.client IN (`+params(len(numbers))+`) AND s.mapping IN (0, `+numberOf+`)`, append(numbers, mapping)...)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// clientIs is the condition for the client of a key.
const clientIs = `s.client = (SELECT id FROM clients WHERE environment = ` + numberOf + ` AND client = ? AND space = ?)`

// stepRow returns the row of a step; ok is false when it is unknown.
func stepRow(ctx context.Context, db *database, id StepID) (r row, ok bool, err error) {
	err = each(ctx, db, func(rows *sql.Rows) error {
		ok = true
		r, err = scanRow(rows)
		return err
	}, selectSteps+`WHERE `+clientIs+` AND s.step = ? AND coalesce(m.name, '') = ?`, id.Environment, id.Client, id.Space, id.Step, id.Mapping)
	return r, ok, err
}

// Events returns what happened to a step, the oldest event first; none for an
// unknown step.
func (l *Ledger) Events(ctx context.Context, id StepID) (list []Event, err error) {
	err = l.snapshot(ctx, func(db *database) error {
		now, ok, err := stepRow(ctx, db, id)
		if !ok || err != nil {
			return err
		}
		before, err := collect(ctx, db, func(rows *sql.Rows) (row, error) {
			r := row{id: now.id}
			r.StepID, r.Kind = now.StepID, now.Kind
			return r, scanState(rows, &r)
		}, `SELECT `+stateOf("h")+` FROM history h`+joinRuns("h")+`WHERE h.step = ? ORDER BY h.version`, now.id)
		list = events(append(before, now))
		return err
	})
	return list, err
}

// StepsOfClient returns all steps of a client: the step client first, then by
// mapping, the one with the oldest last event first.
func (l *Ledger) StepsOfClient(ctx context.Context, owner ClientKey) ([]Step, error) {
	steps, err := collect(ctx, l.read, scanStep, selectSteps+`WHERE `+clientIs+` ORDER BY s.version`, owner.Environment, owner.Client, owner.Space)
	slices.SortStableFunc(steps, func(a, b Step) int { return strings.Compare(a.Mapping, b.Mapping) })
	return steps, err
}

// stepsOf returns the steps of an environment that a condition selects.
func (l *Ledger) stepsOf(ctx context.Context, environment, condition string) ([]Step, error) {
	return collect(ctx, l.read, scanStep, selectSteps+`WHERE s.environment = `+numberOf+` `+condition, environment)
}

// Environments returns the environments of which the ledger has runs, uncertain steps, or steps that are
// done with an id, in alphabetical order.
func (l *Ledger) Environments(ctx context.Context) ([]string, error) {
	return collect(ctx, l.read, scanText, `SELECT name FROM names WHERE EXISTS (SELECT 1 FROM steps s WHERE s.environment = names.id AND `+hasID+`)
		OR EXISTS (SELECT 1 FROM steps s WHERE s.environment = names.id AND `+isUncertain+`) UNION SELECT environment FROM runs ORDER BY 1`)
}

// selectClients begins a query for the names of clients.
const selectClients = `SELECT e.name, c.space, c.client FROM names e JOIN clients c ON c.environment = e.id WHERE e.name = ? `

// spaceEmail is the key space whose keys ignore case: they are stored in lower
// case.
const spaceEmail = "email"

// ClientsNamed returns the clients of an environment that have the key, ordered by
// their key spaces, and behind them the erased ones who had it, by the keys that the ledger has
// instead. A key that is an e-mail address ignores case.
func (l *Ledger) ClientsNamed(ctx context.Context, environment, key string) ([]ClientKey, error) {
	found, err := collect(ctx, l.read, scanClientKey, selectClients+`
		AND c.client IN (?, ?) AND (c.client = ? OR c.space = ?) ORDER BY c.space`, environment, key, strings.ToLower(key), key, spaceEmail)
	if err != nil {
		return nil, err
	}
	erasures, err := l.Erasures(ctx, environment)
	for _, stone := range erasures.byHash {
		was := ClientKey{Environment: environment, Space: stone.Space, Client: key}
		if stone.Space == spaceEmail {
			was.Client = strings.ToLower(key)
		}
		if is, _, ok := erasures.Find(was); ok && is == stone {
			found = append(found, stone)
		}
	}
	return found, err
}

// UncertainSteps returns the steps of an environment that are uncertain, the
// longest waiting first. An intent of a request that another process is sending is among them.
func (l *Ledger) UncertainSteps(ctx context.Context, environment string) ([]Step, error) {
	return l.stepsOf(ctx, environment, `AND `+isUncertain+` ORDER BY s.at, s.version`)
}

// CountUncertain returns how many steps UncertainSteps returns of a mapping, and of the step client,
// which all mappings share.
func (l *Ledger) CountUncertain(ctx context.Context, environment, mapping string) (int, error) {
	steps, err := l.UncertainSteps(ctx, environment)
	return len(slices.DeleteFunc(steps, func(s Step) bool { return s.Mapping != "" && s.Mapping != mapping })), err
}

// SentIn returns how many steps were sent last in a run, by their kind.
func (l *Ledger) SentIn(ctx context.Context, run string) (map[string]int, error) {
	sent := map[string]int{}
	err := each(ctx, l.read, func(rows *sql.Rows) error {
		var kind int64
		var n int
		err := rows.Scan(&kind, &n)
		sent[word(kinds, kind)] = n
		return err
	}, `SELECT s.kind, count(*) FROM steps s WHERE s.sent_run = `+numberOf+` AND NOT `+notSent+` GROUP BY s.kind`, run)
	return sent, err
}

// Decided returns the steps of an environment whose latest event is a person's decision, and the
// clients and claims that are done with the id that a sheet gave (known_id), the latest first.
func (l *Ledger) Decided(ctx context.Context, environment string) ([]Step, error) {
	return l.stepsOf(ctx, environment, `AND `+isDecided+` ORDER BY s.version DESC`)
}

// WasUncertain reports whether a number is or was the Version of an uncertain step.
func (l *Ledger) WasUncertain(ctx context.Context, number int64) (was bool, err error) {
	var n int
	_, err = first(ctx, l.read, []any{&n}, `SELECT (SELECT count(*) FROM history s WHERE `+isUncertain+` AND s.version = ?)
		+ (SELECT count(*) FROM steps s WHERE `+isUncertain+` AND s.version = ?)`, number, number)
	return n > 0, err
}

// ChangeDefinition stores, as JSON, what the names of a mapping's steps are made from: what
// change makes of what was stored before, "" for nothing. Of two processes that change it in the same
// moment, one is lost. It is durable when it returns.
func (l *Ledger) ChangeDefinition(environment, mapping string, change func(stored string) string) error {
	return l.submit(func(t *transaction) error {
		var stored string
		_, err := first(context.Background(), t.database, []any{&stored},
			`SELECT definition FROM definitions WHERE environment = ? AND mapping = ?`, environment, mapping)
		if err == nil {
			_, err = t.exec(`INSERT INTO definitions (environment, mapping, definition) VALUES (?, ?, ?)
				ON CONFLICT (environment, mapping) DO UPDATE SET definition = excluded.definition`, environment, mapping, change(stored))
		}
		return err
	})
}

// Definitions returns what ChangeDefinition last stored for the mappings of an
// environment, by their names.
func (l *Ledger) Definitions(ctx context.Context, environment string) (map[string]string, error) {
	definitions := map[string]string{}
	err := each(ctx, l.read, func(rows *sql.Rows) error {
		var mapping, definition string
		err := rows.Scan(&mapping, &definition)
		definitions[mapping] = definition
		return err
	}, `SELECT mapping, definition FROM definitions WHERE environment = ?`, environment)
	return definitions, err
}

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
		own[s.StepID.Step] = own[s.StepID.Step] || s.Mapping == mapping && s.State != Refused
	}
	for _, s := range all { // by mapping
		if s.Mapping != mapping && s.Kind == KindClaim && s.State != Refused && slices.Contains(steps, s.StepID.Step) && !own[s.StepID.Step] {
			return s.Mapping, true, nil
		}
	}
	return "", false, nil
}

// HasSteps reports whether a mapping has steps in an environment whose names begin
// with prefix, for any client, and that were or may have been created.
func (l *Ledger) HasSteps(ctx context.Context, environment, mapping, prefix string) (has bool, err error) {
	var n int
	_, err = first(ctx, l.read, []any{&n}, `SELECT count(*) FROM (SELECT 1 FROM steps s
		WHERE s.environment = `+numberOf+` AND s.mapping = `+numberOf+`
			AND `+notRefused+` AND s.step >= ? AND s.step < ? LIMIT 1) found`, environment, mapping, prefix, prefix+string(unicode.MaxRune))
	return n > 0, err
}

// ClientsWithSteps returns the clients of an environment for whom steps of a mapping are
// done, by the steps' names.
func (l *Ledger) ClientsWithSteps(ctx context.Context, environment, mapping string, steps []string) (map[string][]ClientKey, error) {
	clients := map[string][]ClientKey{}
	for chunk := range slices.Chunk(steps, stepsAtOnce) {
		args := []any{environment, mapping}
		for _, step := range chunk {
			args = append(args, step)
		}
		err := each(ctx, l.read, func(rows *sql.Rows) error {
			id := StepID{ClientKey: ClientKey{Environment: environment}}
			err := rows.Scan(&id.Step, &id.Space, &id.Client)
			clients[id.Step] = append(clients[id.Step], id.ClientKey)
			return errors.Join(err, ctx.Err())
		}, `SELECT s.step, c.space, c.client FROM steps s JOIN clients c ON c.id = s.client
			WHERE s.environment = `+numberOf+` AND s.mapping = `+numberOf+` AND `+isDone+`
				AND s.step IN (`+params(len(chunk))+`)`, args...)
		if err != nil {
			return nil, err
		}
	}
	return clients, nil
}

// stepsAtOnce is for how many names of steps one query asks.
const stepsAtOnce = 1000

// KnownClients returns how many clients of an environment have a step other than one that
// failed before anything was sent, for example because a look-up was not answered; it counts
// up to most.
func (l *Ledger) KnownClients(ctx context.Context, environment string, most int) (n int, err error) {
	_, err = first(ctx, l.read, []any{&n}, `
		SELECT count(*) FROM (SELECT DISTINCT c.id FROM names e JOIN clients c ON c.environment = e.id JOIN steps s ON s.client = c.id
			WHERE e.name = ? AND (s.attempts > 0 OR `+notRefused+`) LIMIT ?) known`,
		environment, most)
	return n, err
}

// The names of settings: notes about an environment or, for moved, about the address of a service.
const (
	settingTrusted = "trusted" // its ledger is the right one, and not a new one in the place of a lost one
	settingMoved   = "moved"   // the address under which its entries are
	settingRules   = "answers" // the rules by which answers are read, and the number of the last event before
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

// AnswersReadBy returns the number of the last event whose answer may have been read by other rules; rules
// is the name of the present ones. If that name is new, it is stored with the number of the newest event. A
// ledger that is open for reading stores nothing.
func (l *Ledger) AnswersReadBy(ctx context.Context, environment, rules string) (before int64, err error) {
	value, _, err := l.setting(ctx, environment, settingRules)
	name, number, _ := strings.Cut(value, " ")
	if err == nil && name == rules {
		return strconv.ParseInt(number, 10, 64)
	}
	if err != nil || l.write == nil {
		return math.MaxInt64, err
	}
	if _, err = first(ctx, l.read, []any{&before}, `SELECT coalesce(max(version), 0) FROM steps`); err != nil {
		return 0, err
	}
	return before, l.set(environment, settingRules, fmt.Sprintf("%s %d", rules, before))
}

func (l *Ledger) set(environment, name, value string) error {
	return l.submit(func(t *transaction) error {
		_, err := t.exec(`INSERT INTO settings (environment, name, value) VALUES (?, ?, ?)
			ON CONFLICT (environment, name) DO UPDATE SET value = excluded.value`, environment, name, value)
		return err
	})
}

func (l *Ledger) setting(ctx context.Context, environment, name string) (value string, ok bool, err error) {
	ok, err = first(ctx, l.read, []any{&value}, `SELECT value FROM settings WHERE environment = ? AND name = ?`, environment, name)
	return value, ok, err
}

// LastEnvironment returns the Run.Environment of the newest run with an
// EnvironmentName; ok is false when no run has it.
func (l *Ledger) LastEnvironment(ctx context.Context, name string) (environment string, ok bool, err error) {
	ok, err = first(ctx, l.read, []any{&environment}, `SELECT environment FROM runs WHERE environment_name = ? ORDER BY started DESC, id LIMIT 1`, name)
	return environment, ok, err
}
