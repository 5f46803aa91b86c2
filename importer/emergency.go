package importer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"claimsheet/importer/ledger"
)

// Emergency keeps the outcomes of calls that were in flight when the ledger
// could not be written any more, in a file of JSON lines (0600) that the next
// run takes up with TakeUp. Room for it is put aside when it is opened, because
// a full disk is the likeliest reason for needing it. A nil Emergency keeps
// nothing. It may be used from any goroutine.
type Emergency struct {
	run    string
	ledger string
	say    func(Salvaged)

	mu     sync.Mutex
	places []string // where the file may still go; the first is in use
	file   *emergencyFile
	kept   int
}

// Salvaged is what may be shown of an outcome that went to an emergency file:
// no key and no link.
type Salvaged struct {
	Kind string // client, claim, activity or link
	ID   string // as the service gave it; "" for a link
	File string // where the rest stands; "" when no place took it
}

// emergencyRoom is how much is put aside: some hundred outcomes.
const emergencyRoom = 1 << 20

// EmergencyPlaces are the folders for emergency files, the best first: the
// ledger's own, the results workbook's, and a private one in the system's folder
// for temporary files, named after the ledger. workbook is "" where none is
// written. Paths are made absolute.
func EmergencyPlaces(ledgerPath, workbook string) ([]string, error) {
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

// OpenEmergency prepares for a run's emergency. say is told once of every thing
// that was created and could not be recorded in the ledger. Where no room can
// be put aside the run may go on: Keep then tries as best it can.
func OpenEmergency(run, ledgerPath string, places []string, say func(Salvaged)) *Emergency {
	e := &Emergency{run: run, ledger: ledgerPath, places: places, say: say}
	if len(places) > 0 {
		e.file, _ = createEmergencyFile(places[0], e.header(), emergencyRoom)
	}
	return e
}

// Keep writes outcomes down, durably, in the first place that takes them.
// Intents are left out: their requests were not sent. The error tells that no
// place took them; say has been told of the ids even then.
func (e *Emergency) Keep(events ...ledger.Event) error {
	if e == nil {
		return nil
	}
	var outcomes []ledger.Event
	for _, event := range events {
		if event.To == ledger.Intent {
			continue
		}
		if event.Boot == "" {
			now := ledger.Now()
			event.Boot, event.Uptime = now.Boot, now.Uptime
		}
		outcomes = append(outcomes, event)
	}
	if len(outcomes) == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	path, err := e.write(outcomes)
	for _, o := range outcomes {
		if o.To == ledger.Done {
			e.say(Salvaged{Kind: o.Kind, ID: o.ID, File: path})
		}
	}
	return err
}

// write tries one place after the other. A place that has failed is not used
// again: half a line may stand at the end of its file.
func (e *Emergency) write(outcomes []ledger.Event) (path string, err error) {
	var failures []error
	for len(e.places) > 0 {
		if e.file == nil {
			e.file, err = createEmergencyFile(e.places[0], e.header(), 0)
		}
		if e.file != nil {
			if err = e.file.add(outcomes); err == nil {
				e.kept++
				return e.file.path, nil
			}
			_ = e.file.Close()
			e.file = nil
		}
		failures = append(failures, fmt.Errorf("place %d: %w", len(failures)+1, bareError(err)))
		e.places = e.places[1:]
	}
	return "", fmt.Errorf("no place took what the ledger could not: %w", errors.Join(failures...))
}

// Close ends the emergency: a file in which nothing was kept is removed.
func (e *Emergency) Close() error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file == nil {
		return nil
	}
	err := e.file.Close()
	if e.kept == 0 {
		err = errors.Join(err, os.Remove(e.file.path))
	}
	e.file = nil
	return err
}

func (e *Emergency) header() emergencyHeader {
	return emergencyHeader{Version: emergencyVersion, Run: e.run, Ledger: e.ledger}
}

// bareError is err without the path, which may name a person's folder.
func bareError(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}
