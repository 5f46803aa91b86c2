package ledger

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"claimsheet/mapping/problem"
)

// Progress is called from time to time while the whole ledger is read, or while another
// program keeps it from being opened or closed: what is being done, in few words, and
// how many of how many steps are behind it. total is Uncounted for what is not done step
// by step. nil is allowed.
type Progress func(what string, done, total int64)

// Uncounted is the total of Progress for a wait.
const Uncounted = -1

func (p Progress) report(what string, done, total int64) {
	if p != nil {
		p(what, done, total)
	}
}

// Check reads the whole ledger at path and returns ErrDamaged when it is not sound:
// the structure of the file, every row with its checksum, and that each step has its
// history. Open does this by itself when the ledger is not as its last close left it:
// its process was killed, the power was lost, or the file was restored or damaged.
// Another process may write the ledger meanwhile.
func Check(path string, progress Progress) error {
	l, err := openReadOnly(path, false)
	if err != nil {
		return err
	}
	err = check(context.Background(), l.read, l.path, progress)
	return errors.Join(err, l.Close())
}

// check is Check of an open ledger. It reads everything as it is at one moment.
func check(ctx context.Context, db *sql.DB, path string, progress Progress) error {
	if path == "" {
		return nil
	}
	err := snapshot(ctx, db, func(tx querier) error {
		if err := checkStructure(ctx, tx, path); err != nil {
			return err
		}
		if err := checkRecords(ctx, tx, rowReader{newNames(tx), path}, progress); err != nil {
			return err
		}
		return checkTracked(ctx, tx, path)
	})
	if err != nil && !errors.As(err, new(refusal)) {
		err = unreadable(path, err)
	}
	return err
}

// checkStructure refuses a file whose structure SQLite finds damaged.
func checkStructure(ctx context.Context, db querier, path string) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		// The verdict may span lines and names tables and pages, no contents.
		return damaged(path, "the ledger is damaged: %q", verdict)
	}
	return nil
}

// checkRecords checks the steps and their history.
func checkRecords(ctx context.Context, db querier, reader rowReader, progress Progress) error {
	var total int64
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM steps`).Scan(&total); err != nil {
		return err
	}
	progress.report("checking", 0, total)
	return reader.checkRows(ctx, db, total, progress)
}

// reportEvery is after how many steps Progress is called.
const reportEvery = 10_000

// checkRows reads every step and every event of the history, which checks their
// sums, and compares the history with what the steps say of it.
func (rr rowReader) checkRows(ctx context.Context, db querier, total int64, progress Progress) error {
	var newest, done, past int64
	if err := db.QueryRowContext(ctx, `SELECT event FROM counter`).Scan(&newest); err != nil {
		return err
	}
	for r, err := range rr.all(ctx, db) {
		if err != nil {
			return err
		}
		if r.last.event > newest || r.last.event <= r.sent.event {
			return damaged(rr.path, "the ledger contradicts itself: a step has an event that was never counted")
		}
		past += int64(r.history)
		if r.history > 0 {
			if err := rr.checkHistory(ctx, db, r); err != nil {
				return err
			}
		}
		if done++; done%reportEvery == 0 {
			progress.report("checking", done, total)
		}
	}
	var events int64
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM history`).Scan(&events); err != nil {
		return err
	}
	if done != total || past != events {
		return damaged(rr.path, "the ledger contradicts itself: %d steps have clients and %d are there; %d events are in the history, and the steps have %d",
			done, total, events, past)
	}
	return nil
}

// all yields every step with its client. It reads some at a time, so that the caller may
// ask for more of each.
func (rr rowReader) all(ctx context.Context, db querier) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		for last := int64(0); ; {
			steps, err := gather(stream(ctx, db, rr.scan, stepsOf+`WHERE s.id > ? ORDER BY s.id LIMIT ?`, last, atOnce))
			if err != nil {
				yield(row{}, err)
				return
			}
			for _, r := range steps {
				if last = r.id; !yield(r, nil) {
					return
				}
			}
			if len(steps) < atOnce {
				return
			}
		}
	}
}

// checkHistory refuses a step that does not follow from its events.
func (rr rowReader) checkHistory(ctx context.Context, db querier, r row) error {
	events, err := rr.events(ctx, db, r)
	if err != nil {
		return err
	}
	then, _ := replay(r, events)
	if then.sum() != r.sum() {
		return damaged(rr.path, "the ledger contradicts itself: a step does not follow from its events")
	}
	return nil
}

// Check reads the whole ledger and returns ErrDamaged when it is not sound: every row
// with its checksum, and that each step follows from its events. Another process may
// write the ledger meanwhile. It does not look at the structure of a file; the function
// Check does.
func (l *Ledger) Check(ctx context.Context, progress Progress) error {
	err := snapshot(ctx, l.read, func(tx querier) error {
		if err := checkRecords(ctx, tx, l.rows, progress); err != nil {
			return err
		}
		return checkTracked(ctx, tx, l.path)
	})
	if err != nil && !errors.As(err, new(refusal)) {
		err = problem.At(problem.Where{File: l.path}, "ledger-server", "the ledger cannot be read: %v", problem.Cause(err)).Hinted("See that the server answers, and run again.")
	}
	return err
}
