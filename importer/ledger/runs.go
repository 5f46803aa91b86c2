package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// StartRun records a run's beginning, durably. An id that is known already is
// an error.
func (l *Ledger) StartRun(r Run) error {
	if l.write == nil {
		return ErrReadOnly
	}
	return l.write.submit(true, func(t *transaction) error {
		n, err := t.changes(`INSERT OR IGNORE INTO runs (id, environment, environment_name, mapping, mapping_file, mapping_digest,
				input, input_digest, kept_input, version, started, finished, output, output_digest, summary)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.ID, r.Environment, r.EnvironmentName, r.Mapping, r.MappingFile, r.MappingDigest,
			r.Input, r.InputDigest, r.KeptInput, r.Version, r.Started.UnixMicro(), stamp(r.Finished), r.Output, r.OutputDigest, blob(r.Summary))
		if err == nil && n == 0 {
			err = declined{fmt.Errorf("run %s is in the ledger already", r.ID)}
		}
		return err
	})
}

// FinishRun records a run's end, its summary and the workbook that it wrote,
// durably. It may be called again for the same run, when its workbook is
// written once more. Only Finished, Summary, Output and OutputDigest of r are
// used.
func (l *Ledger) FinishRun(r Run) error {
	if l.write == nil {
		return ErrReadOnly
	}
	return l.write.submit(true, func(t *transaction) error {
		n, err := t.changes(`UPDATE runs SET finished = ?, output = ?, output_digest = ?, summary = ? WHERE id = ?`,
			stamp(r.Finished), r.Output, r.OutputDigest, blob(r.Summary), r.ID)
		if err == nil && n == 0 {
			err = declined{fmt.Errorf("run %s is not in the ledger", r.ID)}
		}
		if err != nil || r.Output == "" {
			return err
		}
		return t.exec(`INSERT OR REPLACE INTO outputs (path, run, digest) VALUES (?, ?, ?)`, r.Output, r.ID, r.OutputDigest)
	})
}

// runColumns are the columns of runs that runTargets takes.
const runColumns = `id, environment, environment_name, mapping, mapping_file, mapping_digest,
	input, input_digest, kept_input, version, started, finished, output, output_digest, summary`

func runTargets(r *Run) []any {
	return []any{&r.ID, &r.Environment, &r.EnvironmentName, &r.Mapping, &r.MappingFile, &r.MappingDigest,
		&r.Input, &r.InputDigest, &r.KeptInput, &r.Version, (*moment)(&r.Started), (*moment)(&r.Finished),
		&r.Output, &r.OutputDigest, &r.Summary}
}

func scanRun(rows *sql.Rows) (r Run, err error) {
	err = rows.Scan(runTargets(&r)...)
	return r, err
}

// Run is the run with an id; ok is false when there is none.
func (l *Ledger) Run(ctx context.Context, id string) (r Run, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs WHERE id = ?`, id).Scan(runTargets(&r)...)
	if errors.Is(err, sql.ErrNoRows) {
		return Run{}, false, nil
	}
	return r, err == nil, err
}

// LastOutput is the digest of the workbook that a run last wrote to path, to
// tell it from one edited since. ok is false when none did. Paths are compared
// as they were given to FinishRun.
func (l *Ledger) LastOutput(ctx context.Context, path string) (digest string, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT digest FROM outputs WHERE path = ?`, path).Scan(&digest)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return digest, err == nil, err
}
