package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// target is the workbook's place and what may be done with a file that is
// there.
type target struct {
	path   string
	format string
	dryRun bool
	ledger *ledger.Ledger
}

// check refuses a place that cannot be written to, before anything is sent.
func (t target) check(ctx context.Context, now time.Time) error {
	if _, err := t.placement(ctx, now); err != nil {
		return err
	}
	folder := filepath.Dir(t.path)
	trial, err := os.MkdirTemp(folder, ".claimsheet-*") // as the writing of the workbook begins
	if err != nil {
		return problem.At(problem.Where{File: t.path}, "output-no-access", "the folder %s cannot be written to: %v", folder, errors.Unwrap(err)).
			Hinted("let this user write to it, or choose another folder with -o")
	}
	return os.Remove(trial)
}

func (t target) placement(ctx context.Context, now time.Time) (reports.Placement, error) {
	digest, _, err := t.ledger.LastOutput(ctx, absolute(t.path))
	if err != nil {
		return reports.Placement{}, err
	}
	if t.format == formatCSV {
		return reports.TargetCSV(t.path, digest, now)
	}
	return reports.Target(t.path, t.dryRun, digest, now)
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
