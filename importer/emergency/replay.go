package emergency

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// Ledger is what Replay and Pending need of the ledger; *ledger.Ledger has it.
type Ledger interface {
	Path() string
	Append(events ...ledger.Event) error
	Events(ctx context.Context, id ledger.StepID) ([]ledger.Event, error)
	Run(ctx context.Context, id string) (r ledger.Run, ok bool, err error)
	Lease(at time.Time, groups []ledger.LeaseGroup) (leased []bool, err error)
	Release(group ledger.LeaseGroup) error
}

// Replay enters the outcomes of earlier runs' emergency files into the ledger
// and returns how many it entered. Call it at the start of a run, with the lock
// held and before Ledger.MarkInterrupted. It enters only what is newer than the
// ledger's state of the step: a step that was settled or sent again since then
// stays as it is. A file that was entered is renamed to end in .taken.
//
// An outcome that the ledger cannot take although it has no record of what it says is
// returned as a Conflict, and its file stays. The file also stays while another process works
// on the client of a newer outcome.
//
// Replay ignores files of other ledgers, and of runs that go on. A damaged file, a file that
// others could have written, and a file of a run that this ledger should know but does not
// are problem.Problems; nothing is entered then.
func Replay(l Ledger, places []string) (n int, found []Conflict, err error) {
	files, err := find(l, places)
	if err != nil {
		return 0, nil, err
	}
	for _, f := range files {
		if len(f.outcomes) == 0 { // only reserved room, of a run that was killed
			if err := os.Remove(f.path); err != nil {
				return n, found, err
			}
			continue
		}
		entered, more, stays, err := f.enter(l)
		n, found = n+entered, append(found, more...)
		if err == nil && !stays {
			err = os.Rename(f.path, strings.TrimSuffix(f.path, suffix)+replayed)
		}
		if err == nil {
			err = safefile.SyncFolder(filepath.Dir(f.path))
		}
		if err != nil {
			return n, found, err
		}
	}
	return n, found, nil
}

// Pending returns how many outcomes Replay would enter, and the conflicts. It changes nothing.
func Pending(l Ledger, places []string) (n int, found []Conflict, err error) {
	files, err := find(l, places)
	if err != nil {
		return 0, nil, err
	}
	for _, f := range files {
		for _, outcome := range f.outcomes {
			events, err := l.Events(context.Background(), outcome.StepID)
			switch {
			case err != nil:
				return n, found, err
			case isNewer(events, outcome):
				n++
			case conflicts(events, outcome):
				found = append(found, conflictOf(f.path, outcome, events))
			}
		}
	}
	return n, found, nil
}

// RemoveReplayed removes the files of a ledger that were replayed and that
// selected accepts by their run and the time of their last change. It looks in
// the ledger's folder, in the folders of the workbooks and in the private place,
// and returns how many files it removed and their size.
func RemoveReplayed(ledgerPath string, workbooks []string, selected func(run string, at time.Time) bool) (files int, size int64, err error) {
	places := []string{filepath.Dir(ledgerPath), privatePlace(ledgerPath)}
	for _, w := range workbooks {
		if w != "" {
			places = append(places, filepath.Dir(w))
		}
	}
	slices.Sort(places)
	for _, place := range slices.Compact(places) {
		paths, _ := list(place, replayed) // none in a folder that this user cannot read
		for _, path := range paths {
			info, err := os.Lstat(path)
			if err != nil || !info.Mode().IsRegular() || !selected(runOf(path, replayed), info.ModTime()) {
				continue
			}
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return files, size, err
			}
			files++
			size += info.Size()
		}
	}
	return files, size, nil
}

// foundFile is a file of this ledger with its outcomes.
type foundFile struct {
	path     string
	info     fs.FileInfo
	outcomes []ledger.Event
}

// find reads the ledger's files in all places, each once even if two places are
// the same folder.
func find(l Ledger, places []string) ([]foundFile, error) {
	var files []foundFile
	for _, place := range places {
		if isPrivate(place) {
			if _, err := os.Lstat(place); err != nil || ensurePrivate(place) != nil {
				continue // no file of ours can be in it
			}
		}
		paths, err := list(place, suffix)
		if err != nil {
			return nil, problem.At(problem.Where{File: place}, "emergency-place", "the folder cannot be searched for emergency files: %v", problem.Cause(err)).
				Hinted("make the folder readable for this user")
		}
		for _, path := range paths {
			info, err := os.Lstat(path)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(files, func(f foundFile) bool { return os.SameFile(f.info, info) }) {
				continue
			}
			if inUse(path) {
				continue
			}
			outcomes, ours, err := read(l, path)
			if err != nil {
				return nil, err
			}
			if ours {
				files = append(files, foundFile{path, info, outcomes})
			}
		}
	}
	return files, nil
}

// inUse reports whether the run of a file goes on: several runs may share a ledger.
func inUse(path string) bool {
	lock := safefile.LockOf(path)
	free, err := lock.TryLock()
	_ = lock.Close()
	return err == nil && !free
}

// list returns the emergency files of a folder with a suffix, by name; none when
// the folder does not exist.
func list(folder, suffix string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), suffix) {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	return paths, nil
}

// runOf is the run that a file is named after.
func runOf(path, suffix string) string {
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), prefix), suffix)
}

// read returns the outcomes of a file; ours is false for a file of another
// ledger.
func read(l Ledger, path string) (outcomes []ledger.Event, ours bool, err error) {
	_, known, err := l.Run(context.Background(), runOf(path, suffix))
	if err != nil {
		return nil, false, err
	}
	text, err := readFile(path)
	if err != nil {
		if !known {
			return nil, false, nil
		}
		return nil, false, problem.At(problem.Where{File: path}, "emergency-file", "this emergency file of an earlier run cannot be used: %v", problem.Cause(err)).
			Hinted("make it a plain file of this user (mode 0600) if you know where it comes from; it holds ids of things that were created")
	}
	head, outcomes, damaged, err := decode(text)
	switch {
	case !known && head.Ledger != l.Path():
		return nil, false, nil
	case err != nil:
		return nil, false, problem.At(problem.Where{File: path, Line: damaged, Column: 1}, "emergency-damaged",
			"this emergency file of an earlier run is damaged: %v", err).
			Hinted("restore it from a copy; else move it away, and settle the steps that the next run finds uncertain with the ids that can be read in it")
	case !known:
		return nil, false, problem.At(problem.Where{File: path}, "emergency-run", "this emergency file is of a run that the ledger does not know: the ledger is older than the file").
			Hinted("restore the newest backup of the ledger; the file holds ids of things that were created")
	}
	return outcomes, true, nil
}

// readFile reads a regular file that nobody else can have written. It follows no
// link.
func readFile(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is %s, not a file", safefile.Kind(info))
	}
	text, err := safefile.Read(path, 1<<30)
	if p, ok := errors.AsType[problem.Problem](err); ok {
		err = errors.New(p.Message) // the caller's problem names the path
	}
	return text, err
}

// decode reads a file's text. A last line without an end is ignored: Keep has
// not returned for it. Any other damage is an error, with the number of its
// line.
func decode(text []byte) (head header, outcomes []ledger.Event, damaged int, err error) {
	lines := bytes.Split(bytes.TrimRight(text, " "), []byte("\n"))
	for i, text := range lines[:len(lines)-1] {
		var kept []ledger.Event
		var body any = &kept
		if i == 0 {
			body = &head
		}
		err := decodeLine(text, body)
		if err == nil && head.Version != version {
			err = fmt.Errorf("it has version %d; %d is expected", head.Version, version)
		}
		if err != nil {
			return head, nil, i + 1, err
		}
		outcomes = append(outcomes, kept...)
	}
	return head, outcomes, 0, nil
}

// decodeLine returns errors without the line's text, which is personal data.
func decodeLine(text []byte, body any) error {
	var l line
	if json.Unmarshal(text, &l) != nil {
		return errors.New("the line is not JSON")
	}
	if checksum(l.Body) != l.Sum {
		return errors.New("the line does not match its checksum")
	}
	d := json.NewDecoder(bytes.NewReader(l.Body))
	d.DisallowUnknownFields()
	if d.Decode(body) != nil {
		return errors.New("the line does not hold what this version of Claimsheet writes")
	}
	return nil
}

// enter enters the outcomes of a file that are newer than what the ledger has. stays says
// that the file is still needed: for a conflict, or while another process has a client.
func (f foundFile) enter(l Ledger) (n int, found []Conflict, stays bool, err error) {
	for _, outcome := range f.outcomes {
		entered, more, kept, err := f.enterOne(l, outcome)
		if err != nil {
			return n, found, true, err
		}
		if entered {
			n++
		}
		found, stays = append(found, more...), stays || kept || len(more) > 0
	}
	return n, found, stays, nil
}

// enterOne enters one outcome; kept says that it has to stay in its file. In a ledger that
// processes share it leases the client first, so that nobody works on it meanwhile. Where
// another process has the client, only a step that nobody has touched since may change: it is
// still the intent of the file's run.
func (f foundFile) enterOne(l Ledger, outcome ledger.Event) (entered bool, found []Conflict, kept bool, err error) {
	group := ledger.LeaseGroup{{ClientKey: outcome.ClientKey}}
	leased, err := l.Lease(time.Now().UTC(), []ledger.LeaseGroup{group})
	if err != nil {
		return false, nil, true, err
	}
	if leased[0] {
		defer func() { err = errors.Join(err, l.Release(group)) }()
	}
	events, err := l.Events(context.Background(), outcome.StepID)
	switch {
	case err != nil:
		return false, nil, true, err
	case !isNewer(events, outcome) && conflicts(events, outcome):
		return false, []Conflict{conflictOf(f.path, outcome, events)}, true, nil
	case !isNewer(events, outcome):
		return false, nil, false, nil
	case !leased[0] && events[len(events)-1].To != ledger.Intent:
		return false, nil, true, nil
	}
	outcome.Via = ledger.ViaEmergency
	err = l.Append(outcome)
	if errors.As(err, new(ledger.Taken)) { // another step has the id by now: this outcome proves nothing
		return false, nil, false, nil
	}
	return err == nil, nil, false, err
}
