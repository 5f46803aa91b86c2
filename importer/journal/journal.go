// Package journal keeps outcomes that the ledger could not record, so that no id is lost when
// the ledger's disk is full, or its server gone.
//
// A run opens a File before it sends anything. When the ledger cannot be written, the run keeps
// the outcomes of its requests in flight there, and sends nothing more. The next command that
// writes the ledger records them with Replay before it does anything else.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"claimsheet/importer/ledger"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// File is the journal of a run. A nil File keeps nothing. It may be used from any goroutine.
type File struct {
	run, ledger string
	report      func(Created)

	mu      sync.Mutex
	folders []string       // that may still take the file; the first is in use
	file    *os.File       // nil until it is created
	lock    *safefile.Lock // of the file: other runs leave it alone meanwhile
	end     int64          // of the last line
	kept    bool           // the file holds an outcome
}

// Created is something that the service created and the ledger could not record. It may be
// shown: it has no client key and no url.
type Created struct {
	Kind string // client, claim, activity or link
	ID   string // as the service gave it; "" for a link
	File string // the file that has all of it; "" when no folder took it
}

// entry is a line of a journal. Behind the last line may stand spaces: the rest of the reserved
// room.
type entry struct {
	Ledger  string       `json:"ledger"` // ledger.Ledger.Path
	Outcome ledger.Event `json:"outcome"`
}

// The name of a journal has its run between these.
const (
	prefix = "journal-"
	suffix = ".jsonl"
)

// reserved is the room in bytes that Open reserves: some hundred outcomes.
const reserved = 1 << 20

// Folders are where journals may be: the ledger's folder, and that of the results workbook, which
// is "" when the command writes none.
func Folders(ledgerFile, workbook string) (folders []string, err error) {
	for _, path := range []string{ledgerFile, workbook} {
		if path == "" {
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		folders = append(folders, filepath.Dir(path))
	}
	return folders, nil
}

// Open creates the journal of a run in the first folder, with room in it, because a full disk is
// the likeliest reason for needing it. When that fails the run may go on: Keep then tries all
// folders. report is called once for everything that was created and that the ledger could not
// record.
func Open(run, ledgerPath string, folders []string, report func(Created)) *File {
	f := &File{run: run, ledger: ledgerPath, report: report, folders: folders}
	if len(folders) > 0 {
		_ = f.create(reserved)
	}
	return f
}

// Keep writes outcomes to the first folder that takes them, and returns when they are on the
// disk. It leaves out intents, whose requests were not sent. The error means that no folder took
// the outcomes; their ids were reported even then.
func (f *File) Keep(events ...ledger.Event) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, e := range events {
		if e.To == ledger.Sent {
			continue
		}
		path, err := f.write(entry{f.ledger, e})
		errs = append(errs, err)
		if e.To == ledger.Done {
			f.report(Created{Kind: e.Kind, ID: e.ID, File: path})
		}
	}
	return errors.Join(errs...)
}

// write tries one folder after the other. It does not use a folder again that has failed: the
// file there may end in half a line.
func (f *File) write(e entry) (path string, err error) {
	text, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	var failures []error
	for len(f.folders) > 0 {
		if f.file == nil {
			err = f.create(0)
		}
		if f.file != nil {
			if err = f.add(append(text, '\n')); err == nil {
				f.kept = true
				return f.file.Name(), nil
			}
			_ = errors.Join(f.lock.Close(), f.file.Close())
			f.file = nil
		}
		failures = append(failures, problem.Cause(err)) // without the path, which may name a person
		f.folders = f.folders[1:]
	}
	return "", fmt.Errorf("no folder took what the ledger could not: %w", errors.Join(failures...))
}

// create creates the file in the first folder, with some room in it. It does not touch a file
// that exists, and makes no folder: an empty state folder would look like that of a new ledger.
func (f *File) create(room int) error {
	path := filepath.Join(f.folders[0], prefix+f.run+suffix)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // O_EXCL follows no link
	if err != nil {
		return err
	}
	_, err = file.Write(bytes.Repeat([]byte(" "), room))
	if err = errors.Join(err, file.Sync(), safefile.SyncFolder(f.folders[0])); err != nil {
		return errors.Join(err, file.Close(), os.Remove(path))
	}
	f.file, f.end, f.lock = file, 0, safefile.LockOf(path)
	_, _ = f.lock.TryLock() // where locks do not work, runs do not share a ledger either
	return nil
}

// add writes a line, and returns when it is on the disk.
func (f *File) add(line []byte) error {
	if _, err := f.file.WriteAt(line, f.end); err != nil {
		return err
	}
	f.end += int64(len(line))
	if err := f.file.Sync(); err != nil {
		return err
	}
	there, err := os.Lstat(f.file.Name()) // a file that was removed still takes what is written to it
	if err != nil {
		return err
	}
	if open, err := f.file.Stat(); err != nil || !os.SameFile(there, open) {
		return errors.Join(errors.New("the journal was replaced"), err)
	}
	return nil
}

// Close closes the file, and removes it when nothing was kept in it.
func (f *File) Close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := errors.Join(f.lock.Close(), f.file.Close())
	if !f.kept {
		err = errors.Join(err, os.Remove(f.file.Name()))
	}
	f.file = nil
	return err
}
