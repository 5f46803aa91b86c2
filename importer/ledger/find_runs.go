package ledger

import (
	"context"
	"encoding/json"
	"iter"

	"claimsheet/importer/result"
)

// Runs are the runs in these environments, the newest first; otherwise it is
// as Rows.
func (l *Ledger) Runs(ctx context.Context, environments []string) iter.Seq2[Run, error] {
	return stream(ctx, l.read, scanRun, `
		SELECT `+runColumns+` FROM runs WHERE environment IN (SELECT value FROM json_each(?))
		ORDER BY started DESC, id`, list(environments))
}

// list is texts as SQL takes them for json_each.
func list(texts []string) string {
	data, err := json.Marshal(append([]string{}, texts...)) // [] rather than null
	if err != nil {
		panic("ledger: texts that do not marshal: " + err.Error())
	}
	return string(data)
}

// OutputOf is the run that last wrote a workbook to path; ok is false when none
// did. Paths are compared as they were given to FinishRun.
func (l *Ledger) OutputOf(ctx context.Context, path string) (run string, ok bool, err error) {
	runs, err := gather(stream(ctx, l.read, scanText, `SELECT run FROM outputs WHERE path = ?`, path))
	if err != nil || len(runs) == 0 {
		return "", false, err
	}
	return runs[0], true, nil
}

// NoteOutput records that a run's workbook was written once more, to path,
// durably. What FinishRun said of the run stays.
func (l *Ledger) NoteOutput(run, path, digest string) error {
	if l.write == nil {
		return ErrReadOnly
	}
	return l.write.submit(true, func(t *transaction) error {
		return t.exec(`INSERT OR REPLACE INTO outputs (path, run, digest) VALUES (?, ?, ?)`, path, run, digest)
	})
}

// LatestOutputs are the workbooks that the newest run of a mapping in an
// environment wrote, of those that wrote any.
func (l *Ledger) LatestOutputs(ctx context.Context, environment, mapping string) ([]string, error) {
	return gather(stream(ctx, l.read, scanText, `
		SELECT output FROM runs WHERE environment = ?1 AND mapping = ?2 AND output <> '' AND started = (
			SELECT max(started) FROM runs WHERE environment = ?1 AND mapping = ?2 AND output <> '')
		ORDER BY id`, environment, mapping))
}

// LastEvent is the number of the newest event, 0 without any: as of it, the
// ledger is as it is now.
func (l *Ledger) LastEvent(ctx context.Context) (number int64, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM events`).Scan(&number)
	return number, err
}

// RunStepsAsOf is RunSteps with each step as it was when an event was the
// newest, see LastEvent.
func (l *Ledger) RunStepsAsOf(ctx context.Context, run string, event int64) iter.Seq2[result.Step, error] {
	return inOrder(stream(ctx, l.read, scanRunStep, `
		SELECT r.number, o.client, r.step, r.kind, r.title, coalesce(l.state, ''),
			coalesce((SELECT created FROM events WHERE step = s.id AND id <= ?1 AND created <> ''
				AND id >= coalesce((SELECT max(id) FROM events WHERE step = s.id AND id <= ?1 AND state = 'intent'), 0)
				ORDER BY id DESC LIMIT 1), ''),
			(SELECT count(*) FROM events WHERE step = s.id AND id <= ?1 AND state = 'intent'), coalesce(l.status, 0), l.at
		FROM run_steps r
		JOIN owners o ON o.id = r.owner
		LEFT JOIN steps s ON s.owner = r.owner AND s.mapping = r.mapping AND s.step = r.step
		LEFT JOIN events l ON l.id = (SELECT max(id) FROM events WHERE step = s.id AND id <= ?1)
		WHERE r.run = ?2 ORDER BY r.number`, event, run))
}
