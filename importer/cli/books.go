package cli

import (
	"context"
	"path/filepath"
	"time"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// books are what is known and where a run's results go: both are the ledger,
// which a run holds alone. A dry run only reads it, and drafts its results.
type books struct {
	known   *ledger.Ledger
	drafts  []*importer.Draft // for each of the run's sheets; none but in a dry run
	dryRun  bool
	closers []func()
}

func openBooks(s *setup, dryRun bool) (*books, error) {
	b := &books{dryRun: dryRun}
	path := ledgerFile(s.state)
	open := b.openForRun
	if dryRun {
		open = b.openDry
	}
	if err := open(path); err != nil {
		return b, err
	}
	return b, b.checkWhole(s, path)
}

// checkWhole refuses a ledger that has lost what was committed to it. A new one is
// left to a rerun, which asks before it takes the ids from its workbooks.
func (b *books) checkWhole(s *setup, path string) error {
	have, committed, err := b.known.Behind(context.Background())
	switch {
	case err != nil || have >= committed || s.env.Sandbox:
		return err
	case !s.olderLedger && (have > 0 || !s.fromWorkbooks()):
		return &incomplete{problem.At(problem.Where{File: path}, "ledger-cut",
			"%d records were written to the ledger, and it has %d: its log was cut, or an older ledger was put in its place; what is missing would be done again", committed, have).
			Hinted("bring the whole ledger back, with the files beside it; or restore a backup and have the newer results workbooks taken over by " +
				"claimsheet rerun --yes --new-ledger RESULTS.xlsx…")}
	case b.dryRun:
		return nil
	}
	return b.known.AcceptOlder()
}

func (b *books) openForRun(path string) error {
	release, err := ledger.Lock(path)
	if err != nil {
		return err
	}
	b.closers = append(b.closers, release)
	if b.known, err = ledger.Open(path); err != nil {
		b.close()
		return err
	}
	b.closers = append(b.closers, func() { _ = b.known.Close() }) // every Append was durable before
	return nil
}

func (b *books) openDry(path string) (err error) {
	if b.known, err = ledger.OpenReadOnly(path); err != nil {
		return err
	}
	b.closers = append(b.closers, func() { _ = b.known.Close() })
	return nil
}

func (b *books) close() {
	for i := len(b.closers) - 1; i >= 0; i-- {
		b.closers[i]()
	}
	b.closers = nil
}

// start enters the run. What a killed run left in flight becomes uncertain.
func (b *books) start(parts []*part) error {
	if b.dryRun {
		return nil
	}
	for _, part := range parts {
		if err := b.known.StartRun(part.record); err != nil {
			return err
		}
	}
	_, err := b.known.Interrupted(parts[0].record.ID, time.Now().UTC())
	return err
}

// keepIn is the folder that a run keeps its inputs in; a dry run keeps none.
func (o runOptions) keepIn(s *setup) string {
	if o.dryRun || s.state == "" {
		return ""
	}
	return filepath.Join(s.state, "inputs")
}

func tooFewRows(p *part, least int) error {
	return &incomplete{problem.At(problem.Where{File: p.source.book}, "min-rows", "rows in the sheet: %d, fewer than --min-rows %d: the export is broken", p.rows, least).
		Hinted("nothing was sent; look at the export")}
}

// incomplete is a problem, or a list of them, by which the run could not be made (exit code 3),
// though nothing is wrong with how it was asked for.
type incomplete struct{ error }

// Unwrap lets the problems be shown with their hints.
func (i *incomplete) Unwrap() error { return i.error }
