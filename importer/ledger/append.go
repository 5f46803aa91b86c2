package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
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
	if l.write == nil {
		return ErrReadOnly
	}
	if len(events) == 0 {
		return nil
	}
	for _, e := range events {
		if err := checkEvent(e); err != nil {
			return err
		}
	}
	return l.submit(true, func(t *transaction) error { return t.appendAll(events) })
}

// checkEvent refuses an event that lacks a name or a time, or has an unknown kind.
func checkEvent(e Event) error {
	switch {
	case e.Environment == "" || e.Client == "" || e.Step == "":
		return errors.New("an event needs an environment, a client and a step")
	case e.At.IsZero():
		return errors.New("an event needs a time")
	case e.Kind != "" && (e.Kind == KindContact || !slices.Contains(kinds[1:], e.Kind)):
		return fmt.Errorf("%q is not a kind of step", e.Kind)
	}
	return nil
}

// appendAll records events inside a savepoint, so that when one is rejected those
// before it are rolled back, and other callers' events are not. The usual call is
// one intent or one outcome, which needs none: when it is rejected, only the client
// and names that it needs may have been added.
func (t *transaction) appendAll(events []Event) error {
	if len(events) == 1 {
		if _, open := t.open[events[0].StepID]; open || events[0].To == Intent {
			return t.append(events[0])
		}
	}
	if _, err := t.savepoint.exec(); err != nil {
		return err
	}
	before := t.event
	for _, e := range events {
		err := t.append(e)
		if _, ok := errors.AsType[rejected](err); ok {
			if undo := errors.Join(t.exec("ROLLBACK TO call"), t.exec("RELEASE call")); undo != nil {
				return undo
			}
			t.event = before
			t.forgetNumbers()
			for _, e := range events {
				t.forgetIntent(e.StepID)
			}
		}
		if err != nil {
			return err
		}
	}
	_, err := t.release.exec()
	return err
}

// append records one event. When it rejects the event, it writes nothing of it; the
// client and names that it needs may have been added.
func (t *transaction) append(e Event) error {
	if err := t.mayBegin(e); err != nil {
		return err
	}
	if err := t.rejectAddress(e); err != nil {
		return err
	}
	was, open := t.open[e.StepID]
	if !open && e.To == Intent && e.Kind != "" && allows(planned, e.Kind, e) == nil {
		if added, err := t.begun(e); added || err != nil {
			return err
		}
	}
	if open && (!was.isPlainIntent() || e.To == Intent || len(e.Data) > 0 || e.Digest != "") {
		open = false // the request is needed
	}
	if !open {
		var err error
		if was, err = t.step(e.StepID); err != nil {
			return err
		}
	}
	from, kind := was.state, was.kind
	if was.id == 0 {
		if e.Kind == "" {
			return rejected{errors.New("a step's first event needs its kind")}
		}
		from, kind = planned, e.Kind
	}
	if known, err := t.late(&e, was); known || err != nil {
		return err
	}
	if err := allows(from, kind, e); err != nil {
		return rejected{err}
	}
	now, past := was.after(e, t.event+1)
	if err := t.rejectURL(e, was, &now); err != nil {
		return err
	}
	if err := t.rejectID(e, was, now); err != nil {
		return err
	}
	if err := t.put(e, was, &now, open); err != nil {
		return err
	}
	for _, p := range past {
		if err := t.addPast(now.id, p); err != nil {
			return err
		}
	}
	t.event++
	t.noteIntent(now)
	return t.own(e.ClientKey, e.Addresses, e.LookedUp)
}

// begun adds the row of a new step that begins with an intent. added is false when
// the ledger has the step already.
func (t *transaction) begun(e Event) (added bool, err error) {
	now, _ := row{}.after(e, t.event+1)
	if added, err = t.addStep(&now); !added || err != nil {
		return false, err
	}
	t.event++
	t.noteIntent(now)
	return true, t.own(e.ClientKey, e.Addresses, e.LookedUp)
}

// put stores a row that an event has led to. usual says that only the outcome of an
// intent is new.
func (t *transaction) put(e Event, was row, now *row, usual bool) error {
	var err error
	switch {
	case was.id == 0:
		var added bool
		if added, err = t.addStep(now); err == nil && !added {
			err = errors.New("a step that the ledger does not find is in it")
		}
	case usual:
		err = t.addOutcome(*now)
	default:
		if err = t.noteClaims(*now); err == nil {
			err = t.changeRow(*now)
		}
	}
	if s, ok := errors.AsType[*sqlite.Error](err); ok && s.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE && now.state == Done && now.remoteID != "" {
		return t.idTaken(e.StepID, *now)
	}
	return err
}

// addStep inserts a row and sets its number; isNew is false when the ledger has the
// step already.
func (t *transaction) addStep(r *row) (isNew bool, err error) {
	client, err := t.client(r.ClientKey)
	if err != nil {
		return false, err
	}
	r.client, r.environment = client.client, client.environment
	mapping, err := t.name(r.Mapping)
	if err := errors.Join(err, t.noteClaims(*r)); err != nil {
		return false, err
	}
	name := []any{client.client, mapping, r.Step, client.environment, code(kinds, r.kind)}
	var id int64
	if r.id == 0 && r.attempts == 1 && r.isPlainIntent() {
		run, err1 := t.name(r.last.run)
		if err1 != nil {
			return false, err1
		}
		id, isNew, err = t.insert(t.addIntent, append(name, r.last.event, r.last.at, run, blob(r.request), asDigest(r.digest))...)
	} else {
		facts, err1 := t.facts(*r)
		if err1 != nil {
			return false, err1
		}
		id, isNew, err = t.insert(t.addRow, append(append(name, facts...), blob(r.request), asDigest(r.digest), number(r.id))...)
	}
	if isNew {
		r.id = id
	}
	return isNew, err
}

// insert executes a statement that inserts a row, and returns the row's number; isNew is
// false when the row is there already. On a server the statement returns the number. For a
// file it does not: that would cost a tenth of a step's processor time.
func (t *transaction) insert(s *statement, values ...any) (id int64, isNew bool, err error) {
	if t.server != nil {
		added, ok, err := s.first(values...)
		if !ok || err != nil {
			return 0, false, err
		}
		return added.number(), true, added.err
	}
	result, err := s.exec(values...)
	if err != nil {
		return 0, false, err
	}
	n, err := result.RowsAffected()
	if err != nil || n == 0 {
		return 0, false, err
	}
	id, err = result.LastInsertId()
	return id, true, err
}

// changeRow stores what an event may have changed of a row.
func (t *transaction) changeRow(r row) error {
	facts, err := t.facts(r)
	if err != nil {
		return err
	}
	_, err = t.setStep.exec(append(facts, blob(r.request), asDigest(r.digest), r.id)...)
	return err
}

// addOutcome stores the outcome of a plain intent, which is the last event of the row
// as it is stored.
func (t *transaction) addOutcome(r row) error {
	run, err := t.name(r.last.run)
	if err != nil {
		return err
	}
	changed, err := t.setOutcome.exec(code(states, r.state), int64(r.inherited), r.last.event, r.last.at, run,
		code(vias, r.via), int64(r.status), r.reason, blob(r.answer), asID(r.remoteID), r.url, r.id, r.sent.event)
	if err == nil && t.shared {
		t.outcomes = append(t.outcomes, changed)
	}
	return err
}

// checkOutcomes fails where a step was not any more as this process has left it: another
// one has concluded something about it, which must not be overwritten.
func (t *transaction) checkOutcomes() error {
	defer func() { t.outcomes = t.outcomes[:0] }()
	for _, changed := range t.outcomes {
		n, err := changed.RowsAffected()
		if err != nil {
			return err
		}
		if n != 1 {
			return errors.New("another process has changed a step that this one was sending")
		}
	}
	return nil
}

// factColumns are the columns that facts gives values for.
const factColumns = `state, attempts, history, inherited, sent_event, sent_at, sent_run,
	event, at, run, via, status, reason, response, remote_id, url`

// facts are the values of a row that may change with every event.
func (t *transaction) facts(r row) ([]any, error) {
	sentRun, err1 := t.name(r.sent.run)
	run, err2 := t.name(r.last.run)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return append(make([]any, 0, 32), code(states, r.state), int64(r.attempts), int64(r.history), int64(r.inherited), r.sent.event, r.sent.at, sentRun,
		r.last.event, r.last.at, run, code(vias, r.via), int64(r.status), r.reason, blob(r.answer), asID(r.remoteID), r.url), nil
}

// droppedURL is added to the way of an event in history that has dropped a url.
const droppedURL = 16

// addPast inserts an event into the history of a step.
func (t *transaction) addPast(step int64, e numbered) error {
	run, err := t.name(e.Run)
	if err != nil {
		return err
	}
	via := code(vias, e.Via)
	if e.dropped {
		via += droppedURL
	}
	_, err = t.addHistory.exec(e.number, step, code(states, e.To), e.At.UnixMicro(), run,
		via, int64(e.Status), e.Reason, blob(e.Data), asDigest(e.Digest), blob(e.Answer), asID(e.ID), e.URL)
	return err
}

// noteClaims records that a mapping has sent a claim, if a row says so.
func (t *transaction) noteClaims(r row) error {
	key := claimMapping{r.environment, r.Mapping}
	if r.kind != KindClaim || r.state == Failed || r.state == NotSent || t.interned.claims[key] {
		return nil
	}
	mapping, err := t.name(r.Mapping)
	if err == nil {
		err = t.exec(`INSERT INTO claim_mappings (environment, mapping) VALUES (?, ?) ON CONFLICT DO NOTHING`, r.environment, mapping)
	}
	t.interned.claims[key] = err == nil
	return err
}

// step returns a step's row; the zero row when it is unknown.
func (t *transaction) step(id StepID) (row, error) {
	client, ok, err := t.findClient(id.ClientKey)
	if !ok || err != nil {
		return row{}, err
	}
	mapping, err := t.name(id.Mapping)
	if err != nil {
		return row{}, err
	}
	record, ok, err := t.getStep.first(client.client, mapping, id.Step)
	if !ok || err != nil {
		return row{}, err
	}
	return t.rows.read(record)
}

// mostOpen bounds the intents that the writer keeps in memory.
const mostOpen = 10_000

// noteIntent keeps the row of an intent, without the request, until its outcome
// comes: a step usually has no other events, and need not be read for it.
func (t *transaction) noteIntent(r row) {
	switch {
	case r.state != Intent:
		delete(t.open, r.StepID)
	case len(t.open) < mostOpen:
		r.request = nil
		t.open[r.StepID] = r
	default:
		t.unnoted = true
	}
}

// forgetIntent drops what noteIntent has kept of a step whose events were rolled back.
func (t *transaction) forgetIntent(id StepID) {
	delete(t.open, id)
	t.unnoted = true // it may be an intent all the same
}

// MarkInterrupted makes every step in Intent Uncertain, in every environment and
// in one transaction, and returns how many there were. It is called with the lock
// held, at the start of a run or of a decision: then no request is on its way, and
// such a step belongs to a process that was killed. On a server, those of clients that
// another process has leased stay as they are.
func (l *Ledger) MarkInterrupted(run string, at time.Time) (int, error) {
	var n int
	err := l.submit(true, func(t *transaction) (err error) {
		n, err = t.interruptAbandoned(run, at)
		return err
	})
	return n, err
}

// interruptAbandoned is MarkInterrupted in a transaction. Without a run, each step becomes
// uncertain in the name of the run that was sending it.
func (t *transaction) interruptAbandoned(run string, at time.Time) (n int, err error) {
	open, err := t.intents()
	if err != nil {
		return 0, err
	}
	all := len(open)
	if open, err = t.abandoned(open); err != nil {
		return 0, err
	}
	for _, r := range open {
		if err := t.interrupt(r, cmp.Or(run, r.last.run), at); err != nil {
			return 0, err
		}
	}
	t.unnoted = t.shared || len(open) < all // another process may have some
	return len(open), nil
}

// interrupt makes a step uncertain that was an intent of a process that is gone.
func (t *transaction) interrupt(r row, run string, at time.Time) error {
	return t.append(Event{StepID: r.StepID, To: Uncertain, At: at, Run: run,
		Reason: "the run that was sending it ended before it could record the answer"})
}

// abandoned are those of the steps whose clients no other process has leased.
func (t *transaction) abandoned(steps []row) ([]row, error) {
	if t.leases == nil || len(steps) == 0 {
		return steps, nil
	}
	var names []LeaseName
	for _, r := range steps {
		names = append(names, r.ClientKey.leaseName())
	}
	slices.SortFunc(names, compareNames)
	names = slices.Compact(names)
	others, _, err := t.leases.Away(names)
	if err != nil {
		return nil, err
	}
	kept := func(n LeaseName) bool { return others[n] || t.leases.held[n] > 0 }
	names = slices.DeleteFunc(names, kept)
	// Taken for a moment, so that a process that goes on after all learns that it has lost them.
	_, err = t.leases.Take(names)
	return slices.DeleteFunc(steps, func(r row) bool { return kept(r.ClientKey.leaseName()) }), errors.Join(err, t.leases.Release(names))
}

// intents are the steps in Intent, the oldest first. They are all in memory, unless
// the ledger was not closed, or there were too many, or other processes write it too.
func (t *transaction) intents() (open []row, err error) {
	if t.unnoted || t.shared {
		open, err = gather(stream(context.Background(), t.conn, t.rows.scan, `SELECT `+stepColumns+` FROM steps s JOIN clients c ON c.id = s.client WHERE s.state = 1`))
	} else {
		for _, r := range t.open {
			open = append(open, r)
		}
	}
	slices.SortFunc(open, func(a, b row) int { return int(a.last.event - b.last.event) })
	return open, err
}

// Taken is wrapped by the error of an Append that would have made a step done
// with the id or the redirect url of another step, or a client's step an intent with an
// address of another client. An id belongs to one step of its kind; a url or an address
// belongs to one client.
type Taken struct {
	Step    StepID // the step of the event
	Holder  StepID // the one that has the id, url or address
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

// StepWithID finds another step that is done with the id or url of an event. ok is
// false when there is none. Append checks the same inside its transaction.
func (l *Ledger) StepWithID(ctx context.Context, e Event) (t Taken, ok bool, err error) {
	t.Step = e.StepID
	if some, err := l.hasSome(e); err != nil || !some {
		return t, false, err
	}
	if t.Holder, ok, err = holderOfID(ctx, l.read, l.rows, e); ok || err != nil {
		return t, ok, err
	}
	t.Holder, t.URL, err = holderOfURL(ctx, l.read, l.rows, e)
	return t, t.URL, err
}

// hasSome reports whether any step at all is done with the id or url of an event.
func (l *Ledger) hasSome(e Event) (some bool, err error) {
	if e.ID == "" && e.URL == "" {
		return false, nil
	}
	err = l.readers.use(func(r *reader) error {
		return r.each(someWithID, func(c record) error {
			some = c.number() != 0
			return c.err
		}, e.Environment, code(kinds, e.Kind), asID(e.ID), e.URL)
	})
	return some, err
}

// holderOfID returns the first other step that is done with the id of an event.
func holderOfID(ctx context.Context, db querier, rows rowReader, e Event) (StepID, bool, error) {
	if e.ID == "" {
		return StepID{}, false, nil
	}
	return firstOther(stream(ctx, db, rows.scan, `
		SELECT `+stepColumns+` FROM steps s INDEXED BY steps_ids JOIN clients c ON c.id = s.client
		WHERE s.environment = (SELECT id FROM environments WHERE name = ?1) AND s.kind = ?2 AND s.remote_id = ?3
			AND `+hasID,
		e.Environment, code(kinds, e.Kind), asID(e.ID)), func(r row) bool { return r.StepID != e.StepID })
}

// holderOfURL returns the first step of another client that is done with the url of
// an event.
func holderOfURL(ctx context.Context, db querier, rows rowReader, e Event) (StepID, bool, error) {
	if e.URL == "" {
		return StepID{}, false, nil
	}
	return firstOther(stream(ctx, db, rows.scan, `
		SELECT `+stepColumns+` FROM steps s JOIN clients c ON c.id = s.client
		WHERE s.url = ? AND s.url <> '' AND s.state = 2 ORDER BY s.id`,
		e.URL), func(r row) bool { return r.Environment == e.Environment && r.ClientKey != e.ClientKey })
}

// firstOther returns the first row that is another's.
func firstOther(all func(func(row, error) bool), other func(row) bool) (StepID, bool, error) {
	for r, err := range all {
		if err != nil {
			return StepID{}, false, err
		}
		if other(r) {
			return r.StepID, true, nil
		}
	}
	return StepID{}, false, nil
}

// idTaken is the error of a step of a file that may not become done, because another
// has its id.
func (t *transaction) idTaken(id StepID, now row) error {
	holder, ok, err := holderOfID(context.Background(), t.conn, t.rows, Event{StepID: id, Kind: now.kind, ID: now.remoteID})
	if err == nil && !ok {
		err = errors.New("an id is taken that no step has")
	}
	if err != nil {
		return err
	}
	return rejected{Taken{Step: id, Holder: holder}}
}

// rejectURL rejects an event that would make a step done with the url of another
// client. A url that the step has already, from a version that did not check, stays.
// A taken url that comes from an earlier answer and not from the event is dropped:
// the step is done without it. The index of ids does the same for ids.
func (t *transaction) rejectURL(event Event, was row, now *row) error {
	if now.state != Done || now.url == "" || was.state == Done && was.url == now.url {
		return nil
	}
	if _, some, err := t.someURL.first(now.url); err != nil || !some {
		return err
	}
	holder, taken, err := holderOfURL(context.Background(), t.conn, t.rows, Event{StepID: event.StepID, URL: now.url})
	switch {
	case err != nil || !taken:
		return err
	case event.URL != "":
		return rejected{Taken{Step: event.StepID, Holder: holder, URL: true}}
	}
	*now = now.withoutURL()
	return nil
}

// rejectID rejects an event that would make a step done with the id of another, on a
// server: there the error of the index would end the transaction, and with it the other
// calls'. In a file the index does it.
func (t *transaction) rejectID(event Event, was row, now row) error {
	if t.server == nil || now.state != Done || now.remoteID == "" || was.state == Done && now.remoteID == was.remoteID {
		return nil
	}
	holder, taken, err := holderOfID(context.Background(), t.conn, t.rows, Event{StepID: event.StepID, Kind: now.kind, ID: now.remoteID})
	if err == nil && taken {
		err = rejected{Taken{Step: event.StepID, Holder: holder}}
	}
	return err
}
