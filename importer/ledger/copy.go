package ledger

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claimsheet/importer/ledger/pages"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// Copy makes a copy of the ledger at path in a new file, to (0600), and returns how
// many events the copy has. The ledger may be open in another process, which may write
// meanwhile: the copy is as the ledger was at one moment, when Copy began. It is
// written by SQLite's VACUUM INTO, checked as a whole, and durable when Copy returns;
// only then does it get its name. Its sums lie beside it (.sum), as beside a ledger that
// was closed, but no count: where it takes the place of another ledger, the .count of
// that one must stay, because it shows that the copy is older (Behind). Copy never
// replaces a file, and leaves nothing behind when it fails. When it is killed, it leaves a
// folder with half a copy; a later Copy into the same folder removes that, after an hour.
func Copy(ctx context.Context, path, to string) (events int64, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return 0, err
	}
	return intoNewFile(to, func(made string) error { return vacuumInto(ctx, path, made) })
}

// Save is Transfer into a new file, as Copy makes it.
func Save(ctx context.Context, from *Ledger, to string, progress Progress) (done Transferred, err error) {
	_, err = intoNewFile(to, func(made string) error {
		l, err := Open(made)
		if err != nil {
			return err
		}
		done, err = Transfer(ctx, from, l, progress)
		if err = errors.Join(err, l.Close()); err != nil {
			return err
		}
		return os.Remove(sumFile(made)) // finishCopy writes it
	})
	return done, err
}

// intoNewFile makes a ledger in a folder of its own, checks it, and gives it its name.
func intoNewFile(to string, fill func(made string) error) (events int64, err error) {
	if to, err = filepath.Abs(to); err != nil {
		return 0, err
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".count", ".sum"} {
		if _, err := os.Lstat(to + suffix); !errors.Is(err, fs.ErrNotExist) {
			return 0, taken(to + suffix)
		}
	}
	removeLeft(filepath.Dir(to))
	temp, err := os.MkdirTemp(filepath.Dir(to), copyFolder+"*") // 0700
	if err != nil {
		return 0, uncopied(to, err)
	}
	defer os.RemoveAll(temp)
	made := filepath.Join(temp, "ledger.db")
	if err := fill(made); err != nil {
		return 0, err
	}
	if events, err = finishCopy(made); err != nil {
		return 0, err
	}
	if err := placeCopy(made, to, os.Link); err != nil {
		return 0, err
	}
	return events, nil
}

// copied are the suffixes of the files of a copy. The ledger gets its name first:
// without its sums it is safe, and is checked again when it is opened.
var copied = [...]string{"", ".sum"}

// placeCopy gives the files of a finished copy their names, with link, which is os.Link.
// It replaces no file. When it fails, it takes back the names that it has given.
func placeCopy(made, to string, link func(from, to string) error) (err error) {
	var placed []string
	defer func() {
		if err != nil {
			for _, path := range placed {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	for _, suffix := range copied {
		err := link(made+suffix, to+suffix)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = moveToNew(made+suffix, to+suffix) // a file system without hard links
		}
		if errors.Is(err, fs.ErrExist) {
			return taken(to + suffix)
		}
		if err != nil {
			return uncopied(to, err)
		}
		placed = append(placed, to+suffix)
	}
	if err := safefile.SyncFolder(filepath.Dir(to)); err != nil {
		return uncopied(to, err)
	}
	return nil
}

// moveToNew moves a file to a name that no other file has. An empty file takes the name
// first, because a rename replaces what is there.
func moveToNew(from, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = f.Close(); err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(to))
	}
	return err
}

// copyFolder begins the name of the folder in which a copy is made.
const copyFolder = ".ledger-copy-"

// removeLeft removes what killed copies have left in a folder, because it is personal
// data: folders of this user in which nothing was written for an hour. A copy that
// works writes all the time, except that it reads its result once, within minutes.
// Only files that a copy makes are removed. What cannot be removed stays: that does
// not keep the next copy from being made.
func removeLeft(folder string) {
	found, _ := os.ReadDir(folder)
	for _, entry := range found {
		left := filepath.Join(folder, entry.Name())
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), copyFolder) || !untouched(left, time.Hour) {
			continue
		}
		for _, suffix := range append(copied[:], "-journal", "-wal", "-shm", ".count") {
			_ = os.Remove(filepath.Join(left, "ledger.db"+suffix))
		}
		_ = os.Remove(left) // stays when something else is in it
	}
}

// untouched reports whether a folder is this user's, and neither it nor a file in it
// has changed for so long.
func untouched(folder string, long time.Duration) bool {
	info, err := os.Lstat(folder)
	if err != nil || !safefile.Ours(info) || time.Since(info.ModTime()) < long {
		return false
	}
	files, err := os.ReadDir(folder)
	return err == nil && !slices.ContainsFunc(files, func(e fs.DirEntry) bool {
		info, err := e.Info()
		return err != nil || time.Since(info.ModTime()) < long
	})
}

// vacuumInto writes a copy of the ledger at path to a new file.
func vacuumInto(ctx context.Context, path, to string) error {
	found, err := inspectToRead(path)
	if err != nil {
		return err
	}
	if !found.exists {
		return unusable(path, "Name the state folder of earlier runs with --state.", fs.ErrNotExist, "there is no ledger here")
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // SQLite writes into an empty file, too
	if err != nil {
		return uncopied(to, err)
	}
	defer file.Close()
	sums, _ := found.asClosed(path)
	name, unguard, err := guarded(readingDSN(path), sums, false)
	if err != nil {
		return err
	}
	defer unguard()
	db, err := connect(name)
	if err != nil {
		return err
	}
	_, err = checkVersion(ctx, db, path)
	if err == nil {
		_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
		if ctx.Err() != nil {
			err = ctx.Err()
		} else if isDamage(err) {
			err = damaged(path, "the ledger cannot be read: %v", err)
		} else if err != nil {
			err = uncopied(to, err)
		}
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return file.Sync()
}

// finishCopy checks a copy, and writes its sums.
func finishCopy(path string) (events int64, err error) {
	l, err := openReadOnly(path, false)
	if err != nil {
		return 0, err
	}
	err = check(context.Background(), l.read, l.path, nil)
	if err == nil {
		events, err = l.LastEvent(context.Background())
	}
	if err = errors.Join(err, l.Close()); err != nil {
		return 0, err
	}
	sums, err := pages.Of(path)
	if err != nil {
		return 0, uncopied(path, err)
	}
	writeSums(path, sums)
	if _, err = os.Stat(sumFile(path)); err != nil {
		return 0, uncopied(path, err)
	}
	return events, nil
}

// taken reports that a file is in the place of a copy.
func taken(path string) error {
	return unusable(path, "Name a new file, or move this one away: a copy never replaces a file.", fs.ErrExist, "there is a file in the place of the copy already")
}

// uncopied reports that a copy cannot be written.
func uncopied(to string, cause error) error {
	return unusable(to, "Let this user write to the folder, and see that its disk has room.", cause, "the copy of the ledger cannot be written: %v", problem.Cause(cause))
}
