// Package journal keeps outcomes that the ledger could not record, so that no id is lost when
// the ledger's disk is full, or its server gone.
//
// A run opens a File in the state folder before it sends anything. When the ledger cannot be
// written, the run keeps the outcomes of its requests in flight there, and sends nothing more. The
// next command that writes the ledger records them with Replay before it does anything else. One
// process at a time has the file: the one that has locked the ledger in that folder.
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

// Path is where the journal of a ledger is, by the path at which the ledger is locked. SQLite has a
// ledger.db-journal of its own, which may lie beside it.
func Path(lockedAt string) string { return lockedAt + ".outcomes" }

// File is an open journal. A nil File keeps nothing. It may be used from any goroutine.
type File struct {
	path   string
	report func(kind, id string)

	mu     sync.Mutex
	file   *os.File
	end    int64 // of the last line; behind it are spaces, the rest of the reserved room
	failed error // of the first line that may not be on the disk: nothing is written behind it
}

// reserved is the room in bytes that Open reserves: some hundred outcomes.
const reserved = 1 << 20

// Open creates the journal at a path with room in it, because a full disk is the likeliest reason
// for needing it. It does not touch a file that exists, and makes no folder: an empty state folder would
// look like that of a new ledger. Its error is a problem.Problem: nothing may be sent. report is called once
// for everything that was created and that could not be written either; a link has no id.
func Open(path string, report func(kind, id string)) (*File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // O_EXCL follows no link
	if err == nil {
		_, err = file.Write(bytes.Repeat([]byte(" "), reserved))
		if err = errors.Join(err, file.Sync(), safefile.SyncFolder(filepath.Dir(path))); err != nil {
			err = errors.Join(err, file.Close(), os.Remove(path))
		}
	}
	if err != nil {
		return nil, problem.At(problem.Where{File: path}, "ledger-file", "no room can be kept for outcomes that the ledger may not take: %v",
			problem.Cause(err)).
			Of(problem.Stopped).Hinted("let this user write to the folder, and see that its disk has at least 2 MB of room; nothing was sent, so run again then")
	}
	return &File{path: path, report: report, file: file}, nil
}

// Keep writes outcomes, and returns when they are on the disk. It leaves out intents, whose
// requests were not sent. What was created and cannot be written is reported.
func (f *File) Keep(events ...ledger.Event) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, e := range events {
		if e.State == ledger.Sent {
			continue
		}
		err := f.add(e)
		if err == nil {
			continue
		}
		errs = append(errs, fmt.Errorf("the journal cannot be written: %w", problem.Cause(err))) // without the path, which may name a person
		if e.State == ledger.Done {
			f.report(e.Kind, e.ID)
		}
	}
	return errors.Join(errs...)
}

// add writes a line, and returns when it is on the disk.
func (f *File) add(e ledger.Event) error {
	line, err := json.Marshal(e)
	if err == nil {
		err = f.failed
	}
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if _, err = f.file.WriteAt(line, f.end); err == nil {
		f.end += int64(len(line))
		_, err = os.Lstat(f.path) // a file that was removed still takes what is written to it
		err = errors.Join(f.file.Sync(), err)
	}
	f.failed = err
	return err
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
	unused := f.end == 0 && f.failed == nil
	err := f.file.Close()
	if f.file = nil; unused {
		err = errors.Join(err, os.Remove(f.path))
	}
	return err
}
