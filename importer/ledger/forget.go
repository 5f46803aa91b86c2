package ledger

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// ErrUnsettled is returned by Forget for a client with a step that is uncertain
// or parked: whether it exists must be known before nobody can look for it any
// more.
var ErrUnsettled = errors.New("a step of the client is uncertain")

// Forgotten is what Forget has done.
type Forgotten struct {
	Steps int // that keep nothing but kind, state and id
	Rows  int // of runs
	// Runs are those whose inputs hold the client, or may: the client was in
	// them, they did not end, or they have rows whose client is not known. Their
	// Run is as it was before.
	Runs []Run
}

// Forget erases a client: the key is replaced by a keyed hash, which Erasures
// recognises, the names of the steps by hashes too, and everything else but
// kinds, states, ids and times is taken out. at is when. Nothing of the client
// is left in the ledger's files when it returns; the kept inputs of Runs are
// the caller's to remove. summary is as in Purge.
func (l *Ledger) Forget(owner ClientKey, at time.Time, summary func([]byte) []byte) (done Forgotten, err error) {
	if l.write == nil {
		return Forgotten{}, ErrReadOnly
	}
	err = l.write.submit(true, func(t *transaction) error {
		done = Forgotten{}
		return t.forget(owner, at, summary, &done)
	})
	if err == nil {
		err = l.compact()
	}
	return done, err
}

func (t *transaction) forget(owner ClientKey, at time.Time, summary func([]byte) []byte, done *Forgotten) error {
	if err := t.overwrite(); err != nil {
		return err
	}
	number, err := t.forgettable(owner)
	if err != nil {
		return err
	}
	secret, err := t.secret()
	if err != nil {
		return err
	}
	stone := owner
	stone.Client = tombstone{at, secret, hashOf(secret, owner)}.String()

	empty := func(e *Event) { e.Data, e.Digest, e.Answer, e.URL = nil, "", nil, "" }
	if _, err := t.changeEvents(empty, `s.owner = ?`, number); err != nil {
		return err
	}
	rename := func(id StepID) StepID {
		if id.Step != KindClient && id.Step != KindLink {
			id.Step = " erased " + hashed(secret, id.Environment, id.Space, id.Client, id.Mapping, id.Step)[:32]
		}
		id.ClientKey = stone
		return id
	}
	done.Steps, err = t.changeSteps(func(id StepID, c current) (StepID, current) { c.url = ""; return rename(id), c }, `s.owner = ?`, number)
	if err != nil {
		return err
	}
	if err := t.exec(`UPDATE owners SET client = ? WHERE id = ?`, stone.Client, number); err != nil {
		return err
	}
	return t.forgetRuns(owner, number, rename, summary, done)
}

// forgettable is the number of a client who can be erased.
func (t *transaction) forgettable(owner ClientKey) (number int64, err error) {
	ctx := context.Background()
	err = t.findOwner.QueryRowContext(ctx, owner.Environment, owner.Space, owner.Client).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, declined{errors.New("the ledger knows no such client")}
	}
	if err != nil {
		return 0, err
	}
	var open bool
	err = t.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM steps s WHERE owner = ? AND NOT `+settled+`)`, number).Scan(&open)
	if err == nil && open {
		err = declined{ErrUnsettled}
	}
	return number, err
}

// secret is that of the tombstones that there are, else a new one.
func (t *transaction) secret() ([]byte, error) {
	clients, err := gatherRows(t, scanText, `SELECT client FROM owners WHERE client >= ?1 AND client < ?1 || char(0x10FFFF)`, tombstonePrefix)
	for _, client := range clients {
		if stone, ok := readTombstone(client); ok {
			return stone.secret, err
		}
	}
	return newSecret(), err
}

// forgetRuns takes a client out of what runs have recorded.
func (t *transaction) forgetRuns(owner ClientKey, number int64, rename func(StepID) StepID, summary func([]byte) []byte, done *Forgotten) error {
	const holding = `finished IS NULL
		OR id IN (SELECT run FROM run_rows WHERE owner IS NULL OR owner = ?1)
		OR id IN (SELECT run FROM run_steps WHERE owner = ?1)`
	runs, err := gatherRows(t, scanRun, `SELECT `+runColumns+` FROM runs
		WHERE (`+holding+`) OR kept_input IN (SELECT kept_input FROM runs WHERE kept_input <> '' AND (`+holding+`))
		ORDER BY started, id`, number)
	if err != nil {
		return err
	}
	done.Runs = runs
	for _, r := range runs {
		if err := t.exec(`UPDATE runs SET kept_input = '', summary = ? WHERE id = ?`, blob(summary(r.Summary)), r.ID); err != nil {
			return err
		}
	}
	rows, err := t.changes(`UPDATE run_rows SET url = '', failed_step = '', error = '', advice = '' WHERE owner = ?`, number)
	if err != nil {
		return err
	}
	done.Rows = int(rows)
	type line struct {
		run    string
		number int64
		StepID
	}
	steps, err := gatherRows(t, func(rows *sql.Rows) (s line, err error) {
		s.ClientKey = owner
		return s, rows.Scan(&s.run, &s.number, &s.Mapping, &s.Step)
	}, `SELECT run, number, mapping, step FROM run_steps WHERE owner = ?`, number)
	if err != nil {
		return err
	}
	for _, s := range steps {
		if err := t.exec(`UPDATE run_steps SET step = ? WHERE run = ? AND number = ?`, rename(s.StepID).Step, s.run, s.number); err != nil {
			return err
		}
	}
	// Rows of others quote the key where the service has one client for both.
	quoted := "“" + owner.Client + "”"
	return t.exec(`UPDATE run_rows SET error = replace(error, ?1, '“erased”') WHERE instr(error, ?1) > 0`, quoted)
}
