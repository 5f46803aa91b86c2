package ledger

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// transaction is the writing connection with its statements. Only the writer's
// goroutine uses it, and no caller's context reaches it: the record of a call
// that happened must not be cancelled.
type transaction struct {
	conn  *sql.Conn
	event int64 // the number of the last event

	findOwner, addOwner             *sql.Stmt
	findStep, addStep, setStep      *sql.Stmt
	findID, findURL                 *sql.Stmt
	addEvent, addRow, addRunStep    *sql.Stmt
	lastEvent, beginning, finishing *sql.Stmt
}

func prepare(ctx context.Context, conn *sql.Conn) (*transaction, error) {
	t := &transaction{conn: conn}
	for _, s := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&t.beginning, `BEGIN IMMEDIATE`},
		{&t.finishing, `COMMIT`},
		{&t.lastEvent, `SELECT coalesce(max(id), 0) FROM events`},
		{&t.findOwner, `SELECT id FROM owners WHERE environment = ? AND space = ? AND client = ?`},
		{&t.addOwner, `INSERT INTO owners (environment, space, client) VALUES (?, ?, ?)`},
		{&t.findStep, `SELECT id, kind, state, attempts, last, coalesce(asked, 0), coalesce(answered, 0), created, url
			FROM steps WHERE owner = ? AND mapping = ? AND step = ?`},
		{&t.findID, holderOfID},
		{&t.findURL, holderOfURL},
		{&t.addStep, `INSERT INTO steps (owner, mapping, step, kind, state, attempts, last, asked, answered, created, url, sum)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&t.setStep, `UPDATE steps SET state = ?, attempts = ?, last = ?, asked = ?, answered = ?, created = ?, url = ?, sum = ? WHERE id = ?`},
		{&t.addEvent, `INSERT INTO events (id, step, state, at, boot, uptime, run, via, status, reason, data, digest, answer, created, url, sum)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&t.addRow, `INSERT OR REPLACE INTO run_rows
			(run, source_row, status, owner, number, client_id, claim_ids, url, failed_step, error, advice)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&t.addRunStep, `INSERT OR REPLACE INTO run_steps (run, number, owner, mapping, step, kind, title)
			VALUES (?, ?, ?, ?, ?, ?, ?)`},
	} {
		var err error
		if *s.to, err = conn.PrepareContext(ctx, s.text); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return t, nil
}

// begin takes SQLite's write lock at once, so that what is read afterwards
// cannot change before it is written, not even by another process.
func (t *transaction) begin() error {
	if _, err := t.beginning.ExecContext(context.Background()); err != nil {
		return err
	}
	return t.lastEvent.QueryRowContext(context.Background()).Scan(&t.event)
}

// commit returns when the transaction is on the disk.
func (t *transaction) commit() error {
	_, err := t.finishing.ExecContext(context.Background())
	return err
}

// rollback gives the write lock back after an error. SQLite may have rolled
// back already, and nothing is written afterwards in any case.
func (t *transaction) rollback() { _ = t.exec("ROLLBACK") }

// exec runs a statement that is not worth preparing.
func (t *transaction) exec(text string, args ...any) error {
	_, err := t.conn.ExecContext(context.Background(), text, args...)
	return err
}

// changes runs one and tells how many rows it changed.
func (t *transaction) changes(text string, args ...any) (int64, error) {
	r, err := t.conn.ExecContext(context.Background(), text, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (t *transaction) close() error { return t.conn.Close() }

// owner is the number of an owner, who is added when unknown.
func (t *transaction) owner(o ClientKey) (int64, error) {
	var id int64
	err := t.findOwner.QueryRowContext(context.Background(), o.Environment, o.Space, o.Client).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	r, err := t.addOwner.ExecContext(context.Background(), o.Environment, o.Space, o.Client)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// stamp is a time as it is stored: microseconds since 1970, nil for none.
func stamp(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UnixMicro()
}

// number is a reference as it is stored: NULL for 0.
func number(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// blob is bytes as they are stored: NULL for none.
func blob(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}
