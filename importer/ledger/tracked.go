package ledger

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"
)

// Tracked is what the service has said about something that a run created, such as
// that a client has completed an activity. It stands beside the steps and changes
// none: what the service reports is no proof that a request was carried out.
type Tracked struct {
	Key      string // the same for an event that arrives again
	Kind     string
	Status   string
	At       time.Time
	Received time.Time
	// What the service named; "" for what it did not.
	ClientID   string
	ClaimID    string
	ActivityID string
	Activity   string // its name
}

// TrackedStep is an event with the step to which it belongs: the activity or, where that is unknown,
// the claim or the client.
type TrackedStep struct {
	Tracked
	Of Step
}

// TrackedCounts are the events that AddTracked (Repeated) and MatchTracked (the others) have looked at.
type TrackedCounts struct {
	Repeated int // known before
	Found    int // of a step
	Erased   int // of erased clients: removed
	Unknown  int // with ids that the ledger does not know; kept for the next MatchTracked
}

// AddTracked records events of a service; MatchTracked finds their steps. Those that were
// recorded before change nothing, and repeated is how many they are. Its errors are those of Append.
func (l *Ledger) AddTracked(service string, events []Tracked) (repeated int, err error) {
	err = l.submit(func(t *transaction) error {
		repeated = len(events)
		for _, e := range events {
			added, err := t.exec(`INSERT INTO tracked
				(service, client, step, key, kind, status, at, received, client_id, claim_id, activity_id, activity)
				VALUES (?, 0, 0, `+params(9)+`) ON CONFLICT (service, key) DO NOTHING`,
				service, e.Key, e.Kind, e.Status, e.At.UnixMicro(), e.Received.UnixMicro(),
				e.ClientID, e.ClaimID, e.ActivityID, e.Activity)
			if err != nil {
				return err
			}
			repeated -= int(added)
		}
		return nil
	})
	return repeated, err
}

// MatchTracked looks for the steps of a service's events that have none yet, in the environments of
// the service's clients. name returns the name of the activity that a step has created, "" when it is
// not known. It takes some microseconds for each event.
func (l *Ledger) MatchTracked(service string, environments []string, name func(Step) string) (n TrackedCounts, err error) {
	err = l.submit(func(t *transaction) error {
		n = TrackedCounts{}
		unknown, err := collect(context.Background(), t.database, scanTracked,
			trackedColumns+` FROM tracked t WHERE t.client = 0 AND t.service = ? ORDER BY t.id`, service)
		for _, e := range unknown {
			var of row
			var ok bool
			if of, ok, err = t.findTracked(e.Tracked, environments, name); err != nil {
				break
			}
			switch _, erased := Erased(of.Client); {
			case !ok:
				n.Unknown++
			case erased:
				n.Erased++
				_, err = t.exec(`DELETE FROM tracked WHERE id = ?`, e.id)
			default:
				n.Found++
				_, err = t.exec(`UPDATE tracked SET client = ?, step = ? WHERE id = ?`, of.client, of.id, e.id)
			}
			if err != nil {
				break
			}
		}
		return err
	})
	return n, err
}

// forgetTracked removes the events of a client, and those that a later match would
// find to be the client's.
func (t *transaction) forgetTracked(client int64) error {
	ids, err := collect(context.Background(), t.database, scanID, `SELECT remote_id FROM steps WHERE client = ? AND remote_id IS NOT NULL`, client)
	for _, id := range ids {
		_, one := t.exec(`DELETE FROM tracked WHERE client = 0 AND (client_id = ? OR claim_id = ? OR activity_id = ?)`, id, id, id)
		err = errors.Join(err, one)
	}
	_, one := t.exec(`DELETE FROM tracked WHERE client = ?`, client)
	return errors.Join(err, one)
}

// findTracked finds the step of an event by its ids, the narrowest first; its parameters are those of MatchTracked.
func (t *transaction) findTracked(e Tracked, environments []string, name func(Step) string) (of row, ok bool, err error) {
	if of, ok, err = t.doneWith(environments, KindActivity, e.ActivityID); ok || err != nil {
		return of, ok, err
	}
	end := "" // of the names of the activities among which it may be
	if of, ok, err = t.doneWith(environments, KindClaim, e.ClaimID); ok {
		_, claim, _ := strings.Cut(of.StepID.Step, "/")
		end = "@" + claim
	} else if err == nil {
		of, ok, err = t.doneWith(environments, KindClient, e.ClientID)
	}
	if !ok || err != nil {
		return of, false, err
	}
	if e.Activity == "" {
		return of, true, nil
	}
	activities, err := collect(context.Background(), t.database, scanRow, selectSteps+`WHERE s.client = ? AND s.kind = ?`, of.client,
		code(kinds, KindActivity))
	activities = slices.DeleteFunc(activities, func(r row) bool { return !strings.HasSuffix(r.StepID.Step, end) || name(r.step()) != e.Activity })
	if len(activities) == 1 { // else it may be any of several
		of = activities[0]
	}
	return of, err == nil, err
}

// doneWith returns the step of a kind that is done with an id in one of some environments.
func (t *transaction) doneWith(environments []string, kind, id string) (of row, ok bool, err error) {
	for _, environment := range environments {
		for _, spelling := range spellings(id) {
			found, err := collect(context.Background(), t.database, scanRow,
				selectSteps+`WHERE s.environment = `+numberOf+` AND s.remote_id = ? AND s.kind = ? AND `+hasID,
				environment, idBytes(spelling), code(kinds, kind))
			if err != nil {
				return of, false, err
			}
			if len(found) > 0 {
				return found[0], true, nil
			}
		}
	}
	return of, false, nil
}

// spellings are an id as it is and, where it is a UUID, in lower case and in upper case:
// in which case one is written says nothing.
func spellings(id string) []string {
	if !isUUID(strings.ToLower(id)) {
		return []string{id}
	}
	return slices.Compact([]string{id, strings.ToLower(id), strings.ToUpper(id)})
}

// storedTracked is a row of tracked.
type storedTracked struct {
	Tracked
	id int64
}

const trackedColumns = `SELECT t.id, t.key, t.kind, t.status, t.at, t.received, t.client_id, t.claim_id, t.activity_id, t.activity`

func (e *storedTracked) targets() []any {
	return []any{&e.id, &e.Key, &e.Kind, &e.Status, (*instant)(&e.At), (*instant)(&e.Received), &e.ClientID, &e.ClaimID, &e.ActivityID, &e.Activity}
}

func scanTracked(rows *sql.Rows) (e storedTracked, err error) {
	err = rows.Scan(e.targets()...)
	return e, err
}

// TrackedOfClient returns what the service has said about a client, the oldest first.
func (l *Ledger) TrackedOfClient(ctx context.Context, owner ClientKey) ([]TrackedStep, error) {
	return collect(ctx, l.read, func(rows *sql.Rows) (TrackedStep, error) {
		var e storedTracked
		r, err := scanBehind(rows, e.targets()...)
		return TrackedStep{Tracked: e.Tracked, Of: r.step()}, err
	}, trackedColumns+`, `+stepColumns+` FROM `+stepTables+` JOIN tracked t ON t.step = s.id WHERE t.client = (SELECT c.id FROM clients c
		WHERE c.environment = `+numberOf+` AND c.client = ? AND c.space = ?) ORDER BY t.client, t.at, t.id`,
		owner.Environment, owner.Client, owner.Space)
}
