package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"claimsheet/importer/ledger"
)

// An emergency file is a line with a header and then one line for each call
// of Keep, every line with its sum. Spaces behind them are room put aside.
const (
	emergencyPrefix  = "emergency-"
	emergencySuffix  = ".jsonl"
	emergencyVersion = 1
)

// emergencyHeader says whose outcomes follow.
type emergencyHeader struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
	Ledger  string `json:"ledger"` // absolute
}

// emergencyLine is a line: a header, or a list of outcomes.
type emergencyLine struct {
	Sum  string          `json:"sum"` // CRC-32C of Body as it stands, in hex
	Body json.RawMessage `json:"body"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sumOf(body []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli)) }

func emergencyText(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(emergencyLine{Sum: sumOf(body), Body: body})
	return append(line, '\n'), err
}

// emergencyFile is one that is being written.
type emergencyFile struct {
	*os.File
	path string
	end  int64 // of the last line
}

// createEmergencyFile makes the file in a place, durably, with room put aside
// behind its header. A file that is there already is not touched.
func createEmergencyFile(place string, header emergencyHeader, room int) (*emergencyFile, error) {
	if err := readyPlace(place); err != nil {
		return nil, err
	}
	text, err := emergencyText(header)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(place, emergencyPrefix+header.Run+emergencySuffix)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // O_EXCL follows no link
	if err != nil {
		return nil, err
	}
	_, err = f.Write(append(text, bytes.Repeat([]byte(" "), room)...))
	if err = errors.Join(err, f.Sync(), syncPlace(place)); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return &emergencyFile{File: f, path: path, end: int64(len(text))}, nil
}

// add writes one line and syncs it.
func (f *emergencyFile) add(outcomes []ledger.Event) error {
	text, err := emergencyText(outcomes)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(text, f.end); err != nil {
		return err
	}
	f.end += int64(len(text))
	if err := f.Sync(); err != nil {
		return err
	}
	// Room in a file that somebody has removed meanwhile is room nowhere.
	if is, err := os.Lstat(f.path); err != nil {
		return err
	} else if was, err := f.Stat(); err != nil || !os.SameFile(is, was) {
		return errors.Join(errors.New("the emergency file was replaced"), err)
	}
	return nil
}

// readEmergency reads a file's text. A last line that is torn, without an end,
// was never promised to be there; any other damage is an error, with the number
// of its line. ok is false when not even the header is whole.
func readEmergency(text []byte) (header emergencyHeader, outcomes []ledger.Event, ok bool, line int, err error) {
	lines := bytes.Split(bytes.TrimRight(text, " "), []byte("\n"))
	whole := lines[:len(lines)-1] // behind the last end of line stands nothing, or what is torn
	for i, l := range whole {
		var v any = &header
		var call []ledger.Event
		if i > 0 {
			v = &call
		}
		if err := readEmergencyLine(l, v); err != nil {
			return header, nil, false, i + 1, err
		}
		outcomes = append(outcomes, call...)
	}
	if len(whole) > 0 && header.Version != emergencyVersion {
		return header, nil, false, 1, fmt.Errorf("it has version %d; %d is expected", header.Version, emergencyVersion)
	}
	return header, outcomes, len(whole) > 0, 0, nil
}

// readEmergencyLine names no contents in its errors: they are personal data.
func readEmergencyLine(text []byte, v any) error {
	var line emergencyLine
	if json.Unmarshal(text, &line) != nil {
		return errors.New("it is not JSON as it was written")
	}
	if sumOf(line.Body) != line.Sum {
		return errors.New("it is not what its sum says")
	}
	d := json.NewDecoder(bytes.NewReader(line.Body))
	d.DisallowUnknownFields()
	if d.Decode(v) != nil {
		return errors.New("it does not hold what this version of Claimsheet writes")
	}
	return nil
}
