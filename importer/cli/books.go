package cli

import (
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
	if dryRun {
		return b, b.openDry(path)
	}
	return b, b.openForRun(path)
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
