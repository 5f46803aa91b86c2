// Package emergency saves outcomes that the ledger could not record, so that no
// id is lost when the ledger's disk is full or gone.
//
// A run opens a File before it sends anything. When the ledger cannot be
// written, the run keeps the outcomes of its calls in flight there, and sends
// nothing more. The next run enters them into the ledger with Replay before it
// does anything else; Pending counts them without changing anything.
//
// What is kept is durable when Keep returns. The file is tried in several
// folders in turn (Places), and the first has room reserved from the start,
// because a full disk is the likeliest reason for needing it. Every line has a
// checksum: Replay refuses a damaged file and never guesses. Errors and problems
// contain no personal data.
package emergency

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"claimsheet/importer/ledger"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// File is where a run keeps outcomes that its ledger cannot record. A nil File
// keeps nothing. It may be used from any goroutine.
type File struct {
	header header
	report func(Created)

	mu      sync.Mutex
	folders []string       // that may still take the file; the first is in use
	file    *os.File       // nil until it is created
	lock    *safefile.Lock // of the file: other runs leave it alone meanwhile
	end     int64          // of the last line
	kept    bool           // the file holds an outcome
}

// Created is something that the service created and the ledger could not
// record. It may be shown: it has no client key and no url.
type Created struct {
	Kind string // client, claim, activity or link
	ID   string // as the service gave it; "" for a link
	File string // the file that has all of it; "" when no folder took it

	Twice bool // another process has done the same step, or sent it, so that the service may have two
}

// reserved is the room that Open reserves in bytes: some hundred outcomes.
const reserved = 1 << 20

// Places are the folders for emergency files, the best first: the ledger's own,
// the results workbook's, and a private one in the system's folder for temporary
// files. workbook is "" when the command writes none. The paths are absolute.
func Places(ledgerPath, workbook string) ([]string, error) {
	ledgerPath, err := filepath.Abs(ledgerPath)
	if err != nil {
		return nil, err
	}
	places := []string{filepath.Dir(ledgerPath)}
	if workbook != "" {
		if workbook, err = filepath.Abs(workbook); err != nil {
			return nil, err
		}
		places = append(places, filepath.Dir(workbook))
	}
	return append(places, privatePlace(ledgerPath)), nil
}

// Open creates the file of a run in the first place and reserves room in it.
// When that fails the run may go on: Keep then tries the places again. report is
// called once for everything that was created and that the ledger could not
// record.
func Open(run, ledgerPath string, places []string, report func(Created)) *File {
	f := &File{header: header{Version: version, Run: run, Ledger: ledgerPath}, report: report, folders: places}
	if len(places) > 0 {
		_ = f.create(reserved)
	}
	return f
}

// Keep writes outcomes to the first folder that takes them, durably. It leaves
// out intents, whose requests were not sent. The error means that no folder took
// the outcomes; their ids were reported even then.
func (f *File) Keep(events ...ledger.Event) error { return f.keep(false, events) }

// KeepOther is Keep for outcomes that the ledger refuses because another process has done
// their steps, or sent them.
func (f *File) KeepOther(events ...ledger.Event) error { return f.keep(true, events) }

func (f *File) keep(twice bool, events []ledger.Event) error {
	if f == nil {
		return nil
	}
	var outcomes []ledger.Event
	for _, e := range events {
		if e.To == ledger.Intent {
			continue
		}
		outcomes = append(outcomes, e)
	}
	if len(outcomes) == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	path, err := f.write(outcomes)
	for _, o := range outcomes {
		if o.To == ledger.Done {
			f.report(Created{Kind: o.Kind, ID: o.ID, File: path, Twice: twice})
		}
	}
	return err
}

// write tries one folder after the other. It does not use a folder again that
// has failed: the file there may end in half a line.
func (f *File) write(outcomes []ledger.Event) (path string, err error) {
	var failures []error
	for len(f.folders) > 0 {
		if f.file == nil {
			err = f.create(0)
		}
		if f.file != nil {
			if err = f.add(outcomes); err == nil {
				f.kept = true
				return f.file.Name(), nil
			}
			_ = errors.Join(f.lock.Close(), f.file.Close())
			f.file = nil
		}
		failures = append(failures, fmt.Errorf("place %d: %w", len(failures)+1, problem.Cause(err))) // without the path, which may name a person
		f.folders = f.folders[1:]
	}
	return "", fmt.Errorf("no place took what the ledger could not: %w", errors.Join(failures...))
}

// create creates the file in the first folder, durably, with a header and some
// room behind it. It does not touch a file that exists.
func (f *File) create(room int) error {
	folder := f.folders[0]
	if err := ensurePrivate(folder); err != nil {
		return err
	}
	text, err := encode(f.header)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, prefix+f.header.Run+suffix)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // O_EXCL follows no link
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, bytes.Repeat([]byte(" "), room)...))
	if err = errors.Join(err, file.Sync(), safefile.SyncFolder(folder)); err != nil {
		return errors.Join(err, file.Close(), os.Remove(path))
	}
	f.file, f.end, f.lock = file, int64(len(text)), safefile.LockOf(path)
	_, _ = f.lock.TryLock() // where locks do not work, runs do not share a ledger either
	return nil
}

// add writes one line and syncs it.
func (f *File) add(outcomes []ledger.Event) error {
	text, err := encode(outcomes)
	if err != nil {
		return err
	}
	if _, err := f.file.WriteAt(text, f.end); err != nil {
		return err
	}
	f.end += int64(len(text))
	if err := f.file.Sync(); err != nil {
		return err
	}
	// A file that somebody has removed meanwhile still takes what is written to it.
	there, err := os.Lstat(f.file.Name())
	if err != nil {
		return err
	}
	if open, err := f.file.Stat(); err != nil || !os.SameFile(there, open) {
		return errors.Join(errors.New("the emergency file was replaced"), err)
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

// An emergency file is named after its run. It has a line with a header and
// then a line for each call of Keep, and may end in spaces: the rest of the
// reserved room.
const (
	prefix   = "emergency-"
	suffix   = ".jsonl"
	replayed = suffix + ".taken" // the suffix of a file that Replay has entered
	version  = 1
)

// header says whose outcomes follow.
type header struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
	Ledger  string `json:"ledger"` // the absolute path
}

// line is a header or a list of outcomes with its checksum.
type line struct {
	Sum  string          `json:"sum"` // CRC-32C of Body, in hex
	Body json.RawMessage `json:"body"`
}

func checksum(body []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
}

func encode(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(line{Sum: checksum(body), Body: body})
	return append(text, '\n'), err
}

const privatePrefix = "claimsheet-"

// privatePlace is the ledger's own folder in the system's folder for temporary
// files, where everybody may write.
func privatePlace(ledgerPath string) string {
	hash := sha256.Sum256([]byte(ledgerPath))
	return filepath.Join(os.TempDir(), privatePrefix+hex.EncodeToString(hash[:8]))
}

func isPrivate(folder string) bool {
	return filepath.Dir(folder) == filepath.Clean(os.TempDir()) && strings.HasPrefix(filepath.Base(folder), privatePrefix)
}

// ensurePrivate creates a private place when it is missing, and refuses one that
// other users can enter. It creates no other folder: if the state folder is
// gone, an empty one would look like a new ledger's.
func ensurePrivate(folder string) error {
	if !isPrivate(folder) {
		return nil
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if !info.IsDir() || !safefile.Ours(info) || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return errors.New("other users have access to the folder")
	}
	return nil
}
