package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// Append records events and returns when they are durable: after that an intent
// survives a power loss, and its request may be sent. The events of one call are
// recorded in order, all or none; calls that wait at the same time share one
// commit.
//
// An event that its step's state does not allow fails the call with
// ErrTransition, and one that would make a step done with the id or url of another
// step fails it with Taken; other callers are not affected. Any other error wraps
// ErrStopped: it is unknown whether the events were recorded, and no later call
// records anything.
func (l *Ledger) Append(events ...Event) error {
	if len(events) == 0 {
		return nil
	}
	return l.submit(func(t *transaction) error {
		for _, e := range events {
			if err := t.append(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// append records one event. When it rejects the event, it writes nothing of it; the
// client and names that it needs may have been added.
func (t *transaction) append(e Event) error {
	if err := t.rejectAddress(e); err != nil {
		return err
	}
	// First the row is tried as this process has left it, or as that of a new step for an intent. If the
	// ledger has another row, it is read and tried again, twice at most: another process may change it.
	was, open := t.open[e.StepID]
	assumed := open || e.State == Sent && e.Kind != "" && allows(row{}, e) == nil
	for range 3 {
		if !assumed {
			var err error
			if was, _, err = stepRow(context.Background(), t.database, e.StepID); err != nil {
				return err
			}
			if was.Version == 0 && e.Kind == "" {
				return reject(errors.New("a step's first event needs its kind"))
			}
		}
		if open && !assumed && (was.State == Done && e.ID != was.ID || was.Via == ViaConflict && e.State == Done) { // it may have been created twice
			return reject(fmt.Errorf("%w: another process has changed the step", ErrTransition))
		}
		if done, err := t.advance(was, e); done || err != nil {
			return err
		}
		delete(t.open, e.StepID)
		assumed = false
	}
	return reject(fmt.Errorf("%w: another process has changed the step", ErrTransition))
}

// advance stores the row that an event makes of was; done is false if the ledger has another row
// of the step by now.
func (t *transaction) advance(was row, e Event) (done bool, err error) {
	if err := allows(was, e); err != nil {
		return false, reject(err)
	}
	version, err := t.next()
	if err == nil && version <= was.Version { // a process that began later has changed the step meanwhile
		t.counted = t.version
		version, err = t.next()
	}
	if err != nil {
		return false, err
	}
	now := was.after(e, version)
	if err := t.rejectTaken(e, was, &now); err != nil {
		return false, err
	}
	if was.Version == 0 {
		done, err = t.insert(&now)
	} else {
		done, err = t.update(was, now)
	}
	if isTaken := isUnique(err) || t.server != nil && t.server.IsUnique(err); isTaken && !t.alone {
		return false, errAlone // rejectTaken names the step that has the id
	}
	if !done || err != nil {
		return false, err
	}
	t.wrote = true
	if was.keepsHistory(e) {
		if err := t.keep(was); err != nil {
			return false, err
		}
	}
	if delete(t.open, e.StepID); now.State == Sent && len(t.open) < maxKept {
		t.open[e.StepID] = now
	}
	// The addresses of a client who was not created with them, as an answer or look-ups say, and is now asked
	// for with others, are taken back. Else the service may have the client with them.
	isAbsent := was.State == Refused || was.State == Uncertain && was.NotFound
	if e.Step == KindClient && isAbsent && e.State == Sent && !bytes.Equal(was.Data, now.Data) {
		if _, err := t.exec(`DELETE FROM addresses WHERE client = ?`, now.client); err != nil {
			return false, err
		}
	}
	return true, t.takeAddresses(e)
}

// insert adds the row of a step; isNew is false when the ledger has one already.
func (t *transaction) insert(r *row) (isNew bool, err error) {
	client, err := t.client(r.ClientKey)
	if err != nil {
		return false, err
	}
	r.client = client
	environment, err1 := t.number(r.Environment)
	mapping, err2 := t.number(r.Mapping)
	values, err3 := t.values(*r)
	if err := errors.Join(err1, err2, err3); err != nil {
		return false, err
	}
	return t.add(&r.id, `INSERT INTO steps (client, environment, mapping, step, kind, `+stateColumns+`) VALUES (`+params(22)+`)
		ON CONFLICT (client, mapping, step) DO NOTHING`, append([]any{r.client, environment, mapping, r.StepID.Step, code(kinds, r.Kind)}, values...)...)
}

// update replaces the row of a step; done is false when the ledger has another one by now.
func (t *transaction) update(was, now row) (done bool, err error) {
	values, err := t.values(now)
	if err != nil {
		return false, err
	}
	n, err := t.exec(`UPDATE steps SET (`+stateColumns+`) = (`+params(17)+`) WHERE id = ? AND version = ?`, append(values, was.id, was.Version)...)
	return n == 1, err
}

// keep adds a row that was replaced to the history of its step.
func (t *transaction) keep(was row) error {
	values, err := t.values(was)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO history (step, `+stateColumns+`) VALUES (`+params(18)+`)`, append([]any{was.id}, values...)...)
	return err
}

// client returns the number of a client, and adds it when it is unknown.
func (t *transaction) client(key ClientKey) (n int64, err error) {
	if n, ok := t.clients[key]; ok {
		return n, nil
	}
	environment, err := t.number(key.Environment)
	if err != nil {
		return 0, err
	}
	isNew, err := t.add(&n, `INSERT INTO clients (environment, client, space) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, environment,
		key.Client, key.Space)
	if err == nil && !isNew {
		n, _, err = t.findClient(key)
	}
	if err == nil {
		if len(t.clients) >= maxKept {
			clear(t.clients)
		}
		t.clients[key] = n
	}
	return n, err
}

// findClient returns the number of a client; ok is false when it is unknown.
func (t *transaction) findClient(key ClientKey) (n int64, ok bool, err error) {
	ok, err = first(context.Background(), t.database, []any{&n},
		`SELECT id FROM clients WHERE environment = `+numberOf+` AND client = ? AND space = ?`, key.Environment, key.Client, key.Space)
	return n, ok, err
}

// Taken is wrapped by the error of an Append that would have made a step done
// with the id or the redirect url of another step, or a client's step an intent with an
// address of another client. An id belongs to one step of its kind, a UUID to one step of any; a url
// or an address belongs to one client.
type Taken struct {
	Step    StepID // the step of the event
	Holder  StepID // the one that has the id, url or address
	Kind    string // of the step that has the id
	URL     bool   // the url is taken, not the id
	Address bool   // the address is taken, not the id
}

func (t Taken) Error() string {
	switch {
	case t.URL:
		return "another client's step is done with the same redirect url"
	case t.Address:
		return "another client has the same address"
	}
	return "another step is done with the same id"
}

// hasID and hasURL are the conditions of the indexes steps_ids and steps_urls in schema.sql.
// SQLite uses such an index only for a query that repeats its condition.
const (
	hasID  = isDone + ` AND s.remote_id IS NOT NULL`
	hasURL = isDone + ` AND s.url <> ''`
)

// StepWithID finds another step that is done with the id of an event, or one of another client
// with its url. ok is false when no step has them. Append checks the same inside its transaction.
func (l *Ledger) StepWithID(ctx context.Context, e Event) (t Taken, ok bool, err error) {
	return stepWithID(ctx, l.read, e)
}

func stepWithID(ctx context.Context, db *database, e Event) (t Taken, ok bool, err error) {
	t.Step = e.StepID
	if e.ID != "" {
		found, err := collect(ctx, db, scanRow, selectSteps+`WHERE s.environment = `+numberOf+` AND s.remote_id = ? AND `+hasID, e.Environment,
			idBytes(e.ID))
		for _, r := range found {
			if r.StepID != e.StepID && (r.Kind == e.Kind || isUUID(e.ID)) {
				t.Holder, t.Kind = r.StepID, r.Kind
				return t, true, err
			}
		}
		if err != nil {
			return t, false, err
		}
	}
	if e.URL != "" {
		found, err := collect(ctx, db, scanRow, selectSteps+`WHERE s.url = ? AND `+hasURL+` ORDER BY s.id`, e.URL)
		for _, r := range found {
			if r.Environment == e.Environment && r.ClientKey != e.ClientKey {
				t.Holder, t.URL = r.StepID, true
				return t, true, err
			}
		}
		return t, false, err
	}
	return t, false, nil
}

// rejectTaken rejects a row with the id of another step or the url of another client. For ids it asks only if the index of ids
// has refused a batch: each of its jobs is then alone. A taken url that comes from an earlier answer and not from the event is
// dropped: the step is done without it.
func (t *transaction) rejectTaken(e Event, was row, now *row) error {
	if now.State != Done {
		return nil
	}
	wasDone, brought := was.State == Done, Event{StepID: now.StepID, Kind: now.Kind}
	if !wasDone || was.URL != now.URL {
		brought.URL = now.URL
	}
	if t.alone && (!wasDone || was.ID != now.ID) {
		brought.ID = now.ID
	}
	taken, ok, err := stepWithID(context.Background(), t.database, brought)
	switch {
	case !ok || err != nil:
		return err
	case taken.URL && e.URL == "":
		now.URL = ""
		return nil
	}
	return reject(taken)
}
