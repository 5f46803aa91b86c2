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
	ID      string
	Started time.Time
	Input   string // the sheet's path as given
	Stays   Stay
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
// started at the same time, count as one run. Every run asks for them at its end, so
// it reads neither the rows of runs nor their summaries: of each run it reads when it
// began and what it read, and the rows of clients with a step that is undecided.
func (l *Ledger) OldRuns(ctx context.Context, environments []string, keep int) ([]OldRun, error) {
	in := list(environments)
	runs, err := gather(stream(ctx, l.read, scanDated, `
		SELECT r.environment, r.mapping, r.finished IS NOT NULL, p.run IS NOT NULL, r.id, r.started, r.input
		FROM runs r LEFT JOIN pruned_runs p ON p.run = r.id
		WHERE r.environment IN (SELECT value FROM json_each(?)) ORDER BY r.started DESC, r.id`, in))
	if err != nil {
		return nil, err
	}
	open := map[string]bool{}
	for run, err := range stream(ctx, l.read, scanText, `
		SELECT DISTINCT n.name FROM environments e
		JOIN steps s INDEXED BY steps_undecided ON s.environment = e.id AND `+isUndecided+`
		JOIN run_rows r ON r.client = s.client AND r.status = 'uncertain'
		JOIN names n ON n.id = r.run
		WHERE e.name IN (SELECT value FROM json_each(?))`, in) {
		if err != nil {
			return nil, err
		}
		open[run] = true
	}
	var old []OldRun
	latest, newer, started := latestRuns(runs), map[string]int{}, map[string]time.Time{}
	for _, r := range runs {
		if newer[r.environment] == 0 || !r.Started.Equal(started[r.environment]) {
			newer[r.environment]++
			started[r.environment] = r.Started
		}
		if newer[r.environment] <= keep || r.pruned {
			continue
		}
		switch {
		case latest[r.ID]:
			r.Stays = StaysLatest
		case open[r.ID]:
			r.Stays = StaysOpen
		}
		old = append(old, r.OldRun)
	}
	slices.Reverse(old)
	return old, nil
}

// datedRun is a run with what OldRuns needs of it.
type datedRun struct {
	environment, mapping string
	finished, pruned     bool
	OldRun
}

func scanDated(rows *sql.Rows) (r datedRun, err error) {
	err = rows.Scan(&r.environment, &r.mapping, &r.finished, &r.pruned, &r.ID, (*instant)(&r.Started), &r.Input)
	return r, err
}

// latestRuns returns the latest finished run of each mapping, and of each sheet that
// a mapping imported more than once. runs are the newest first.
func latestRuns(runs []datedRun) map[string]bool {
	type key struct{ environment, mapping, input string }
	first, times := map[key]string{}, map[key]int{}
	for _, r := range runs {
		if !r.finished {
			continue
		}
		for _, k := range []key{{r.environment, r.mapping, ""}, {r.environment, r.mapping, "sheet " + r.Input}} {
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

// CountRows returns how many rows of a run the ledger has. Rows that are damaged are
// not among them.
func (l *Ledger) CountRows(ctx context.Context, run string) (n int, err error) {
	if err := l.read.QueryRowContext(ctx, `SELECT count(*) FROM run_rows WHERE run = (SELECT id FROM names WHERE name = ?)`, run).Scan(&n); err != nil {
		return 0, err
	}
	for p, err := range unchangedParts(ctx, l.read, run) {
		if err != nil {
			return 0, err
		}
		if p.bad {
			continue
		}
		for _, e := range p.entries() {
			n += len(e.rows)
		}
	}
	return n, nil
}

// KeptInputs returns the names that runs of any environment have of the copies of
// their sheets, as in Run.KeptInput, each once.
func (l *Ledger) KeptInputs(ctx context.Context) ([]string, error) {
	return gather(stream(ctx, l.read, scanText, `SELECT DISTINCT kept_input FROM runs WHERE kept_input <> '' ORDER BY 1`))
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
			{`DELETE FROM run_rows WHERE run = ? AND (client IS NULL OR client NOT IN (SELECT CAST(value AS BIGINT) FROM json_each(?)))`, []any{number, numbers(plans)}},
			{`DELETE FROM run_unchanged WHERE run = ?`, []any{run}},
			{`DELETE FROM run_steps WHERE run = ? AND client NOT IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`, []any{number, numbers(plans)}},
			{`UPDATE runs SET kept_input = '', summary = ? WHERE id = ?`, []any{blob(summary(was)), run}},
			{`INSERT INTO pruned_runs (run, at) VALUES (?, ?) ON CONFLICT (run) DO UPDATE SET at = excluded.at`, []any{run, at.UnixMicro()}},
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
		WHERE w.id = ? AND p.kind = ? AND p.client IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`, run, link, numbers(open)))
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
