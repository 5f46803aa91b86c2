package tracking

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// Inbox is a folder with the events that were received and that the ledger does not
// have yet, a file for each call of Add. Several processes may use it at once: one
// adds while another takes.
type Inbox string

const inboxSuffix = ".events.json"

// Add makes events durable: when it returns nil they survive a kill and a power loss.
func (i Inbox) Add(events []Event) error {
	if len(events) == 0 {
		return nil
	}
	folder := string(i)
	if _, err := os.Stat(folder); err != nil {
		above := filepath.Dir(folder)
		made := os.MkdirAll(folder, 0o700)
		if err := errors.Join(made, safefile.SyncFolder(above), safefile.SyncFolder(filepath.Dir(above))); err != nil {
			return err
		}
	}
	data, err := json.Marshal(events)
	if err != nil {
		return err
	}
	// The names sort in the order of arrival, as far as the clock goes.
	name := fmt.Sprintf("%020d-%s%s", events[0].Received.UnixMicro(), rand.Text(), inboxSuffix)
	if err := safefile.Replace(filepath.Join(folder, name), data, 0o600); err != nil {
		return err
	}
	return safefile.SyncFolder(folder)
}

// takenAtOnce is of how many calls of Add the events are recorded together.
const takenAtOnce = 200

// Take calls record with the events of some calls of Add at a time, the oldest first,
// and removes them when it returns nil. A kill in between makes record see them again.
func (i Inbox) Take(record func([]Event) error) error {
	names, err := i.names()
	if err != nil {
		return err
	}
	for some := range slices.Chunk(names, takenAtOnce) {
		var all []Event
		for _, name := range some {
			events, err := readInbox(filepath.Join(string(i), name))
			if err != nil {
				return err
			}
			all = append(all, events...)
		}
		if err := record(all); err != nil {
			return err
		}
		for _, name := range some {
			if err := os.Remove(filepath.Join(string(i), name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// names are the names of the files with events, sorted.
func (i Inbox) names() ([]string, error) {
	entries, err := os.ReadDir(string(i))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), inboxSuffix) {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

func readInbox(path string) (events []Event, err error) {
	data, err := safefile.Read(path, 16*MaxDocument)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &events); err != nil {
		return nil, problem.At(problem.Where{File: path}, "inbox-damaged", "the events in this file cannot be read: the disk has changed it").
			Hinted("move the file away; ask the service's operator for an export, and take that in with claimsheet track --import FILE")
	}
	return events, nil
}
