package importer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// TakeUp enters into the ledger what earlier runs could only keep in emergency
// files, and tells how many outcomes that were. Call it at the start of a run,
// with the lock held and before Ledger.MarkInterrupted. Only what is newer than the
// ledger's state of its step is entered: a step that has been settled or sent
// again since stays as it is. A file that has been taken up is renamed, to end
// in .taken.
//
// Files of other ledgers are left alone. A damaged file, one that others may
// have written, and one of a run that this ledger should know and does not, are
// problem.Problems.
func TakeUp(l *ledger.Ledger, places []string) (n int, err error) { return eachFile(l, places, takeUp) }

// ToTakeUp tells how many outcomes TakeUp would enter, and changes nothing.
func ToTakeUp(l *ledger.Ledger, places []string) (n int, err error) {
	return eachFile(l, places, func(l *ledger.Ledger, path string) (n int, err error) {
		outcomes, _, err := outcomesIn(l, path)
		for _, outcome := range outcomes {
			fresh, err := isFreshOutcome(l, outcome)
			if err != nil {
				return n, err
			}
			if fresh {
				n++
			}
		}
		return n, err
	})
}

func eachFile(l *ledger.Ledger, places []string, do func(*ledger.Ledger, string) (int, error)) (n int, err error) {
	for _, place := range places {
		paths, err := emergencyFiles(place)
		if err != nil {
			return n, err
		}
		for _, path := range paths {
			taken, err := do(l, path)
			n += taken
			if err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// emergencyFiles are those in a place, in the order of their names; none where
// there is no such folder, or where a private one is not ours.
func emergencyFiles(place string) ([]string, error) {
	entries, err := os.ReadDir(place)
	if errors.Is(err, fs.ErrNotExist) || isPrivatePlace(place) && (err != nil || readyPlace(place) != nil) {
		return nil, nil
	}
	if err != nil {
		return nil, problem.At(problem.Where{File: place}, "emergency-place", "the folder cannot be looked at for emergency files: %v", bareError(err)).
			Hinted("make the folder readable for this user")
	}
	var paths []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), emergencyPrefix) && strings.HasSuffix(entry.Name(), emergencySuffix) {
			paths = append(paths, filepath.Join(place, entry.Name()))
		}
	}
	return paths, nil
}

// takeUp enters one file.
func takeUp(l *ledger.Ledger, path string) (n int, err error) {
	outcomes, is, err := outcomesIn(l, path)
	switch {
	case err != nil || is == foreignFile:
		return 0, err
	case is == emptyFile:
		return 0, os.Remove(path) // room put aside by a run that was killed
	}
	for _, outcome := range outcomes {
		fresh, err := isFreshOutcome(l, outcome)
		if err == nil && fresh {
			outcome.Via = ledger.ViaEmergency
			err = l.Append(outcome)
			n++
		}
		if errors.As(err, new(ledger.Taken)) { // what another step has by now says nothing of this one
			err = nil
			n--
		}
		if err != nil {
			return n, err
		}
	}
	if err := os.Rename(path, strings.TrimSuffix(path, emergencySuffix)+takenSuffix); err != nil {
		return n, err
	}
	return n, syncPlace(filepath.Dir(path))
}

// What a file among the emergency files is to a ledger.
type emergencyUse int

const (
	ownFile     emergencyUse = iota
	foreignFile              // another ledger's
	emptyFile                // it holds no outcome
)

// outcomesIn are the outcomes of one file.
func outcomesIn(l *ledger.Ledger, path string) (outcomes []ledger.Event, is emergencyUse, err error) {
	name := filepath.Base(path)
	_, ours, err := l.Run(context.Background(), name[len(emergencyPrefix):len(name)-len(emergencySuffix)])
	if err != nil {
		return nil, ownFile, err
	}
	text, err := readOwn(path)
	if err != nil {
		if !ours {
			return nil, foreignFile, nil
		}
		return nil, ownFile, problem.At(problem.Where{File: path}, "emergency-file", "this emergency file of an earlier run cannot be used: %v", bareError(err)).
			Hinted("make it a plain file of this user (mode 0600) if you know where it comes from; it holds ids of things that were created")
	}
	header, outcomes, whole, line, err := readEmergency(text)
	switch {
	case !ours && header.Ledger != l.Path():
		return nil, foreignFile, nil
	case err != nil:
		return nil, ownFile, problem.At(problem.Where{File: path, Line: line, Column: 1}, "emergency-damaged",
			"this emergency file of an earlier run is damaged: %v", err).
			Hinted("restore it from a copy; else move it away, and settle the steps that the next run finds uncertain with the ids that can be read in it")
	case !ours:
		return nil, ownFile, problem.At(problem.Where{File: path}, "emergency-run", "this emergency file is of a run that the ledger does not know: the ledger is older than the file").
			Hinted("restore the newest backup of the ledger; the file tells of things that were created")
	case !whole || len(outcomes) == 0:
		return nil, emptyFile, nil
	}
	return outcomes, ownFile, nil
}

// undecided are the states in which the truth may still come, and the outcomes
// after them: what stands later is newer than what stands before.
var undecided = []ledger.State{ledger.Intent, ledger.Uncertain, ledger.Parked}

// isFreshOutcome tells whether an outcome says more than the ledger knows. It
// must belong to the last attempt: an outcome of an earlier one settles nothing
// once the step has been sent again.
func isFreshOutcome(l *ledger.Ledger, outcome ledger.Event) (bool, error) {
	events, err := l.Events(context.Background(), outcome.StepID)
	if err != nil || len(events) == 0 {
		return false, err
	}
	was := slices.Index(undecided, events[len(events)-1].To)
	is := slices.Index(undecided, outcome.To)
	if was < 0 || is >= 0 && is <= was {
		return false, nil
	}
	for _, event := range slices.Backward(events) {
		if event.To == ledger.Intent {
			return event.Run == outcome.Run, nil
		}
	}
	return false, nil
}
