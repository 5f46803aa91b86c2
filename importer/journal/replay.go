package journal

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

	"claimsheet/importer/ledger"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// Replay records the outcomes in a journal, and removes it. Call it at the start of a command that
// writes the ledger. n is how many outcomes it recorded. A step that
// was decided or sent again since, although the journal says that the service has created it,
// becomes uncertain: conflicts says so of each.
//
// A journal that is damaged, that others could have written, or whose run the ledger does not know,
// is a problem.Problem.
func Replay(l *ledger.Ledger, path string) (n int, conflicts problem.List, err error) {
	outcomes, err := read(path)
	if err != nil || outcomes == nil {
		return 0, nil, err
	}
	for _, outcome := range outcomes {
		_, known, err := l.Run(context.Background(), outcome.Run)
		if err == nil && !known {
			err = problem.At(problem.Where{File: path}, "journal-run",
				"this journal is of a run that the ledger does not know: the ledger is older than the journal").
				Of(problem.Stopped).Hinted("restore the newest backup of the ledger; the journal holds ids of things that were created")
		}
		if err != nil {
			return 0, nil, err
		}
	}
	for _, outcome := range outcomes {
		via, err := record(l, outcome)
		if err != nil {
			return n, conflicts, err
		}
		switch via {
		case ledger.ViaJournal:
			n++
		case ledger.ViaConflict:
			conflicts = append(conflicts, problem.At(problem.Where{File: path}, "journal-conflict", "%s: %s", outcome.Kind, reasonTwice).
				Hinted("claimsheet settle lists it with both ids; find them in the service, and withdraw one there if there are two"))
		}
	}
	return n, conflicts, errors.Join(os.Remove(path), safefile.SyncFolder(filepath.Dir(path)))
}

// Pending returns how many outcomes are in a journal. It changes nothing.
func Pending(path string) (n int, err error) {
	outcomes, err := read(path)
	return len(outcomes), err
}

// record records an outcome, and returns the way by which: ledger.ViaJournal, or ledger.ViaConflict if its
// step becomes uncertain; "" if there is nothing to record. Where another process changes the step
// meanwhile, it compares them again.
func record(l *ledger.Ledger, outcome ledger.Event) (via string, err error) {
	for range 3 {
		events, failed := l.Events(context.Background(), outcome.StepID)
		if failed != nil {
			return "", failed
		}
		event := outcome
		switch event.Via = compare(events, outcome); event.Via {
		case "":
			return "", nil
		case ledger.ViaConflict:
			event = conflict(events, event)
		}
		if err = l.Append(event); errors.As(err, new(ledger.Taken)) { // another step has the id by now: this outcome proves nothing
			return "", nil
		}
		if !errors.Is(err, ledger.ErrTransition) {
			return event.Via, err
		}
	}
	return "", err
}

// compare returns the way by which an outcome is recorded whose step has these events. It is
// ledger.ViaJournal if the outcome belongs to the last request for the step and says more than the ledger
// knows. Else it is ledger.ViaConflict if the outcome says that something was created, or may have been, that
// the ledger does not know. A second link does no harm.
func compare(events []ledger.Event, outcome ledger.Event) (via string) {
	attempt := lastAttempt(events)
	if attempt == nil { // the client was erased
		return ""
	}
	last := attempt[len(attempt)-1]
	sameRun := attempt[0].Run == outcome.Run
	decides := outcome.State != ledger.Uncertain
	answered := slices.ContainsFunc(attempt, func(e ledger.Event) bool { return len(e.Answer) > 0 })
	says := decides || len(outcome.Answer) > 0 && !answered
	switch {
	case sameRun && (last.State == ledger.Sent || last.State == ledger.Uncertain && says && last.Via != ledger.ViaConflict):
		return ledger.ViaJournal
	case outcome.State == ledger.Done && outcome.ID == "" && sameRun && last.State == ledger.Done,
		outcome.State != ledger.Done && (decides || sameRun || len(outcome.Answer) == 0),
		outcome.Kind == ledger.KindLink,
		slices.ContainsFunc(events, func(e ledger.Event) bool { return has(e, outcome) }):
		return ""
	}
	return ledger.ViaConflict
}

// has reports whether an event of a step says what an outcome says.
func has(e, outcome ledger.Event) bool {
	switch {
	case outcome.ID != "":
		return e.ID == outcome.ID
	case outcome.State == ledger.Done:
		return e.State == ledger.Done && e.Run == outcome.Run
	}
	return bytes.Equal(e.Answer, outcome.Answer)
}

// reasonTwice begins the reason of a step in conflict.
const reasonTwice = "the service may have created it twice: the journal of an earlier run has an answer to a request that the ledger does not know, and the step was decided or sent again since"

// conflict is the event by which the step of an outcome becomes uncertain. It names both ids.
func conflict(events []ledger.Event, outcome ledger.Event) ledger.Event {
	id := ""
	for _, e := range events {
		if e.ID != "" {
			id = e.ID
		}
	}
	outcome.State = ledger.Uncertain
	outcome.Reason = fmt.Sprintf("%s; the journal has %s, the ledger has %s", reasonTwice, idInWords(outcome.ID), idInWords(id))
	outcome.ID, outcome.URL, outcome.Answer, outcome.Status = "", "", nil, 0
	return outcome
}

func idInWords(id string) string {
	if id == "" {
		return "no id"
	}
	return "the id " + id
}

// lastAttempt returns the events of a step from the last time it was sent; nil if it never was.
func lastAttempt(events []ledger.Event) []ledger.Event {
	for i, e := range slices.Backward(events) {
		if e.State == ledger.Sent {
			return events[i:]
		}
	}
	return nil
}

// read returns the outcomes of a journal; nil for no file.
func read(path string) (outcomes []ledger.Event, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	text, err := safefile.Read(path, 1<<30)
	if err != nil {
		p, _ := errors.AsType[problem.Problem](err)
		return nil, p.Of(problem.Stopped)
	}
	lines := bytes.Split(bytes.TrimRight(text, " "), []byte("\n"))
	outcomes = make([]ledger.Event, len(lines)-1)
	for i, line := range lines[:len(lines)-1] { // Keep has not returned for a last line without an end
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if d.Decode(&outcomes[i]) != nil { // its error would quote personal data
			return nil, problem.At(problem.Where{File: path, Line: i + 1, Column: 1}, "journal-damaged",
				"this journal of an earlier run is damaged: the line is not what this version of Claimsheet writes").
				Of(problem.Stopped).Hinted("restore it from a copy; else move it away, and settle the steps that the next run finds uncertain with the ids that can be read in it")
		}
	}
	return outcomes, nil
}
