package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"claimsheet/importer/ledger"
)

// removed counts files.
type removed struct {
	files int
	bytes int64
}

func (r *removed) file(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return err
	}
	r.files++
	r.bytes += info.Size()
	return nil
}

// everyRun are the runs of all environments of the state folder.
func (d *desk) everyRun(ctx context.Context) ([]ledger.Run, error) {
	all, err := d.known.Environments(ctx)
	if err != nil {
		return nil, err
	}
	var runs []ledger.Run
	for r, err := range d.known.Runs(ctx, all) {
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// keptInputs are the copies of sheets in the state folder.
type keptInputs struct {
	desk *desk
	used map[string]bool // by the file's name: a run had it when this was asked
}

func (d *desk) keptInputs(ctx context.Context) (keptInputs, error) {
	runs, err := d.everyRun(ctx)
	return keptInputs{d, namesOf(runs)}, err
}

// namesOf are the names of the runs' copies.
func namesOf(runs []ledger.Run) map[string]bool {
	names := map[string]bool{}
	for _, r := range runs {
		if r.KeptInput != "" {
			names[filepath.Base(r.KeptInput)] = true
		}
	}
	return names
}

// settling is how old a copy must be that no run has to be nobody's: a run
// copies its sheet before it takes the lock.
const settling = time.Hour

// removeUnused removes the copies that a run had and none has any more, and
// those older than before that none ever had: of runs that were killed early,
// or of a purge that was.
func (k keptInputs) removeUnused(ctx context.Context, before time.Time) (removed, error) {
	var gone removed
	runs, err := k.desk.everyRun(ctx)
	if err != nil {
		return gone, err
	}
	still := namesOf(runs)
	folder := filepath.Join(k.desk.setup.state, "inputs")
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return gone, nil
	}
	if err != nil {
		return gone, err
	}
	if settled := time.Now().Add(-settling); before.After(settled) {
		before = settled
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return gone, err
		}
		name := entry.Name()
		if still[name] || !info.Mode().IsRegular() || !k.used[name] && !info.ModTime().Before(before) {
			continue
		}
		if err := gone.file(filepath.Join(folder, name)); err != nil {
			return gone, err
		}
	}
	return gone, nil
}
