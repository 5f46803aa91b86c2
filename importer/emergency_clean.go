package importer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// takenSuffix ends the name of a file that TakeUp has entered.
const takenSuffix = emergencySuffix + ".taken"

// RemoveTaken removes emergency files of a ledger that were taken up and that
// which tells, by the run that left the file and the time of its last change.
// They are sought in the ledger's folder, beside the workbooks and in the
// private place.
func RemoveTaken(ledgerPath string, workbooks []string, which func(run string, at time.Time) bool) (files int, bytes int64, err error) {
	places := []string{filepath.Dir(ledgerPath), privatePlace(ledgerPath)}
	for _, w := range workbooks {
		if place := filepath.Dir(w); w != "" && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	for _, place := range places {
		entries, err := os.ReadDir(place)
		if err != nil {
			continue // it is gone, or not ours to read: then no run of this user's left a file there
		}
		for _, entry := range entries {
			name, ok := strings.CutPrefix(entry.Name(), emergencyPrefix)
			run, taken := strings.CutSuffix(name, takenSuffix)
			info, err := entry.Info()
			if !ok || !taken || err != nil || !info.Mode().IsRegular() || !which(run, info.ModTime()) {
				continue
			}
			if err := os.Remove(filepath.Join(place, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return files, bytes, err
			}
			files++
			bytes += info.Size()
		}
	}
	return files, bytes, nil
}
