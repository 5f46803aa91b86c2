package ledger

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"
)

// OldRun is a run that is not among the newest and still has its rows.
type OldRun struct {
	Run
	Rows  int
	Stays Stay
}

// Stay is why the rows of an old run are kept.
type Stay string

// Why the rows of an old run are kept; "" when they can be dropped.
const (
	StaysLatest Stay = "latest" // the latest finished run of its mapping, or of a sheet that was imported more than once
	StaysOpen   Stay = "open"   // a row is uncertain, and so is a step of its client
)

// OldRuns returns the runs of each environment that still have their rows and are
// not among its newest keep, the oldest first. The sheets of one command, which
// started at the same time, count as one run.
func (l *Ledger) OldRuns(ctx context.Context, environments []string, keep int) ([]OldRun, error) {
	pruned := map[string]bool{}
	for run, err := range stream(ctx, l.read, scanText, `SELECT run FROM pruned_runs`) {
		if err != nil {
			return nil, err
		}
		pruned[run] = true
	}
	runs, err := gather(l.Runs(ctx, environments))
	if err != nil {
		return nil, err
	}
	var old []OldRun
	latest, newer, started := latestRuns(runs), map[string]int{}, map[string]time.Time{}
	for _, r := range runs {
		if newer[r.Environment] == 0 || !r.Started.Equal(started[r.Environment]) {
			newer[r.Environment]++
			started[r.Environment] = r.Started
		}
		if newer[r.Environment] <= keep || pruned[r.ID] {
			continue
		}
		o := OldRun{Run: r}
		if o.Rows, err = l.countRows(ctx, r.ID); err != nil {
			return nil, err
		}
		if latest[r.ID] {
			o.Stays = StaysLatest
		} else if open, err := l.hasOpenRows(ctx, r.ID); err != nil {
			return nil, err
		} else if open {
			o.Stays = StaysOpen
		}
		old = append(old, o)
	}
	slices.Reverse(old)
	return old, nil
}

// latestRuns returns the latest finished run of each mapping, and of each sheet that
// a mapping imported more than once. runs are the newest first.
func latestRuns(runs []Run) map[string]bool {
	type key struct{ environment, mapping, input string }
	first, times := map[key]string{}, map[key]int{}
	for _, r := range runs {
		if r.Finished.IsZero() {
			continue
		}
		for _, k := range []key{{r.Environment, r.Mapping, ""}, {r.Environment, r.Mapping, "sheet " + r.Input}} {
			if times[k]++; times[k] == 1 {
				first[k] = r.ID
			}
		}
	}
	latest := map[string]bool{}
	for k, id := range first {
		if k.input == "" || times[k] > 1 {
			latest[id] = true
		}
	}
	return latest
}

// countRows returns how many rows of a run the ledger has.
func (l *Ledger) countRows(ctx context.Context, run string) (n int, err error) {
	if err := l.read.QueryRowContext(ctx, `SELECT count(*) FROM run_rows WHERE run = (SELECT id FROM names WHERE name = ?)`, run).Scan(&n); err != nil {
		return 0, err
	}
	list, err := l.unchangedOf(ctx, run)
	if err != nil {
		return 0, err
	}
	return n + len(list.rows), nil
}

// hasOpenRows reports whether a row of a run is uncertain because of a step that is
// still undecided.
func (l *Ledger) hasOpenRows(ctx context.Context, run string) (open bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT EXISTS (
		SELECT 1 FROM run_rows r JOIN steps s ON s.client = r.client
		WHERE r.run = (SELECT id FROM names WHERE name = ?) AND r.status = 'uncertain' AND s.state IN (?, ?, ?))`,
		run, code(states, Intent), code(states, Uncertain), code(states, Parked)).Scan(&open)
	return open, err
}

// Pruned reports whether a run's rows were dropped, and when.
func (l *Ledger) Pruned(ctx context.Context, run string) (at time.Time, ok bool, err error) {
	var micro int64
	ok, err = found(l.read.QueryRowContext(ctx, `SELECT at FROM pruned_runs WHERE run = ?`, run).Scan(&micro))
	return time.UnixMicro(micro).UTC(), ok, err
}

// PruneRun drops a run's rows and its list of steps, never a step, and the name of
// its kept input, whose file the caller removes. What stays is the run itself, what
// summary returns of its summary, and the plans that PlanOfClient needs, with their
// rows: of clients whose link is not done and for whom no later run has a plan. It is
// durable when it returns. An unknown run is an error that changes nothing.
func (l *Ledger) PruneRun(run string, at time.Time, summary func([]byte) []byte) error {
	return l.submit(true, func(t *transaction) error {
		var was []byte
		known, err := found(t.conn.QueryRowContext(context.Background(), `SELECT summary FROM runs WHERE id = ?`, run).Scan(&was))
		if err != nil {
			return err
		}
		if !known {
			return rejected{errors.New("there is no such run in the ledger")}
		}
		number, err := t.name(run)
		if err != nil {
			return err
		}
		plans, err := t.openPlans(run, number)
		if err != nil {
			return err
		}
		for _, s := range []struct {
			text string
			args []any
		}{
			{`DELETE FROM run_rows WHERE run = ? AND (client IS NULL OR client NOT IN (SELECT value FROM json_each(?)))`, []any{number, numbers(plans)}},
			{`DELETE FROM run_unchanged WHERE run = ?`, []any{run}},
			{`DELETE FROM run_steps WHERE run = ? AND client NOT IN (SELECT value FROM json_each(?))`, []any{number, numbers(plans)}},
			{`UPDATE runs SET kept_input = '', summary = ? WHERE id = ?`, []any{blob(summary(was)), run}},
			{`INSERT OR REPLACE INTO pruned_runs (run, at) VALUES (?, ?)`, []any{run, at.UnixMicro()}},
		} {
			if err := t.exec(s.text, s.args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// openPlans returns the clients whose plan in a run has a link that is not done, and
// for whom no later run has a plan.
func (t *transaction) openPlans(run string, number int64) ([]int64, error) {
	ctx, link := context.Background(), code(kinds, KindLink)
	open, err := gather(stream(ctx, t.conn, scanID, `
		SELECT DISTINCT r.client FROM run_steps r
		WHERE r.run = ?1 AND r.kind = ?2 AND NOT EXISTS (
			SELECT 1 FROM steps s WHERE s.client = r.client AND s.mapping = r.mapping AND s.kind = ?2 AND s.state = ?3)
		ORDER BY r.client`, number, link, code(states, Done)))
	if err != nil || len(open) == 0 {
		return open, err
	}
	later, err := gather(stream(ctx, t.conn, scanID, `
		SELECT DISTINCT p.client FROM runs w
		JOIN runs u ON u.environment = w.environment AND u.mapping = w.mapping AND u.started > w.started
		JOIN names n ON n.name = u.id
		JOIN run_steps p ON p.run = n.id
		WHERE w.id = ? AND p.kind = ? AND p.client IN (SELECT value FROM json_each(?))`, run, link, numbers(open)))
	return slices.DeleteFunc(open, func(client int64) bool { return slices.Contains(later, client) }), err
}

func scanID(rows *sql.Rows) (id int64, err error) {
	err = rows.Scan(&id)
	return id, err
}

// Compact gives the room of what was removed back to the disk: it rewrites the whole
// file. Nothing else may write at the same time.
func (l *Ledger) Compact() error {
	if l.write == nil {
		return ErrReadOnly
	}
	return l.compact()
}
