package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// StartRun records the start of a run. It is durable when it returns.
func (l *Ledger) StartRun(r Run) error {
	return l.submit(func(t *transaction) error {
		_, err := t.exec(`INSERT INTO runs (`+runColumns+`) VALUES (`+params(15)+`)`,
			r.ID, r.Environment, r.EnvironmentName, r.Mapping, r.MappingFile, r.MappingDigest,
			r.Input, r.InputDigest, r.KeptInput, r.Version, r.Started.UnixMicro(), stamp(r.Finished), r.Output, r.OutputDigest, blob(r.Summary))
		return err
	})
}

// FinishRun records a run's end, its summary and the workbook that it wrote. It is
// durable when it returns. It may be called again for the same run, when its
// workbook is written again. It uses only ID, Finished, Summary, Output and
// OutputDigest of r.
func (l *Ledger) FinishRun(r Run) error {
	return l.submit(func(t *transaction) error {
		_, err := t.exec(`UPDATE runs SET finished = ?, output = ?, output_digest = ?, summary = ? WHERE id = ?`,
			stamp(r.Finished), r.Output, r.OutputDigest, blob(r.Summary), r.ID)
		if err != nil || r.Output == "" {
			return err
		}
		_, err = t.exec(noteOutput, r.Output, r.ID, r.OutputDigest)
		return err
	})
}

// noteOutput stores the workbook that is at a path now.
const noteOutput = `INSERT INTO outputs (path, run, digest) VALUES (?, ?, ?)
	ON CONFLICT (path) DO UPDATE SET run = excluded.run, digest = excluded.digest`

// runColumns are the columns of runs for runTargets.
const runColumns = `id, environment, environment_name, mapping, mapping_file, mapping_digest,
	input, input_digest, kept_input, version, started, finished, output, output_digest, summary`

func runTargets(r *Run) []any {
	return []any{&r.ID, &r.Environment, &r.EnvironmentName, &r.Mapping, &r.MappingFile, &r.MappingDigest,
		&r.Input, &r.InputDigest, &r.KeptInput, &r.Version, (*instant)(&r.Started), (*instant)(&r.Finished),
		&r.Output, &r.OutputDigest, &r.Summary}
}

func scanRun(rows *sql.Rows) (r Run, err error) {
	err = rows.Scan(runTargets(&r)...)
	return r, err
}

// DropInputs forgets the copies of the sheets of all runs of an environment but the newest,
// and returns when that is durable. The caller removes the files.
func (l *Ledger) DropInputs(environment string, newest int) error {
	return l.submit(func(t *transaction) error {
		_, err := t.exec(`UPDATE runs SET kept_input = '' WHERE environment = ? AND kept_input <> '' AND started <
			(SELECT min(started) FROM (SELECT started FROM runs WHERE environment = ? ORDER BY started DESC LIMIT ?) n)`, environment, environment, newest)
		return err
	})
}

// KeptInputs returns the names that runs of any environment have of the copies of
// their sheets, as in Run.KeptInput, each once.
func (l *Ledger) KeptInputs(ctx context.Context) ([]string, error) {
	return collect(ctx, l.read, scanText, `SELECT DISTINCT kept_input FROM runs WHERE kept_input <> '' ORDER BY 1`)
}

// Run returns the run with an id; ok is false when the ledger does not have it.
func (l *Ledger) Run(ctx context.Context, id string) (r Run, ok bool, err error) {
	ok, err = first(ctx, l.read, runTargets(&r), `SELECT `+runColumns+` FROM runs WHERE id = ?`, id)
	return r, ok, err
}

// Flush returns when everything that was queued before it is durable.
func (l *Ledger) Flush() error {
	return l.submit(func(*transaction) error { return nil })
}

// Runs returns the runs in these environments, the newest first.
func (l *Ledger) Runs(ctx context.Context, environments []string) ([]Run, error) {
	args := []any{""}
	for _, environment := range environments {
		args = append(args, environment)
	}
	return collect(ctx, l.read, scanRun,
		`SELECT `+runColumns+` FROM runs WHERE environment IN (`+params(len(args))+`) ORDER BY started DESC, id`, args...)
}

// OutputOf returns the run that last wrote a workbook to path, and the workbook's digest, by
// which an edited one is recognised. ok is false when no run did. Paths are compared as they were
// given to FinishRun.
func (l *Ledger) OutputOf(ctx context.Context, path string) (run, digest string, ok bool, err error) {
	ok, err = first(ctx, l.read, []any{&run, &digest}, `SELECT run, digest FROM outputs WHERE path = ?`, path)
	return run, digest, ok, err
}

// NoteOutput records that a run's workbook was written again, to path. It is
// durable when it returns, and changes nothing that FinishRun recorded.
func (l *Ledger) NoteOutput(run, path, digest string) error {
	return l.submit(func(t *transaction) error {
		_, err := t.exec(noteOutput, path, run, digest)
		return err
	})
}

// LatestOutputs returns every path at which a workbook of the newest run of a mapping
// in an environment was last written, by the run itself or by NoteOutput. A run that
// wrote none does not count.
func (l *Ledger) LatestOutputs(ctx context.Context, environment, mapping string) ([]string, error) {
	const written = `FROM outputs o JOIN runs r ON r.id = o.run WHERE r.environment = ? AND r.mapping = ?`
	return collect(ctx, l.read, scanText,
		`SELECT o.path `+written+` AND r.started = (SELECT max(r.started) `+written+`) ORDER BY o.path`, environment, mapping, environment, mapping)
}

// RunAfter returns the run of the same mapping and environment that began first after
// r; ok is false when none did.
func (l *Ledger) RunAfter(ctx context.Context, r Run) (next Run, ok bool, err error) {
	ok, err = first(ctx, l.read, runTargets(&next), `SELECT `+runColumns+` FROM runs WHERE environment = ? AND mapping = ? AND started > ?
		ORDER BY started, id LIMIT 1`, r.Environment, r.Mapping, r.Started.UnixMicro())
	return next, ok, err
}

// instant reads a stored time; NULL is the zero time.
type instant time.Time

// Scan implements sql.Scanner.
func (m *instant) Scan(stored any) error {
	switch v := stored.(type) {
	case nil:
		*m = instant{}
	case int64:
		*m = instant(micro(v))
	default:
		return fmt.Errorf("a time is stored as %T", stored)
	}
	return nil
}
