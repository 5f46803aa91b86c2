package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File is the name of the file in Options.Dir that has everything the service holds.
const File = "service.jsonl"

// journal is the file of records, one line of JSON each.
//
// A record is written with a single write before its answer leaves, so everything
// in an answer is in the file, even when the process is killed. A kill during a
// write leaves a last line without its line end. That record was in no answer, and
// it is cut off before the next one is written.
type journal struct {
	file *os.File
	end  int64 // of the last whole line
	size int64 // of the file as we left it; more than end when the last line is unfinished
	err  error // why nothing can be written any more
}

// openJournal opens the folder's file, or creates it, and passes its records to
// apply.
func openJournal(dir string, apply func(record) error) (*journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, File), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	j, number := &journal{file: file, size: int64(len(text))}, 0
	for line := range bytes.Lines(text) {
		if number++; err != nil || !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var r record
		if json.Unmarshal(line, &r) != nil || apply(r) != nil { // the error itself would show the content of the line
			err = fmt.Errorf("%s:%d is damaged: it is not what the sandbox has written; move the file away to start with an empty service",
				file.Name(), number)
		}
		j.end += int64(len(line))
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return j, nil
}

// append writes one record. After a failure it refuses all further ones, because
// the file may end in half a record that only the next start may cut off.
func (j *journal) append(r record) error {
	if j.err == nil {
		j.err = j.write(r)
	}
	return j.err
}

func (j *journal) write(r record) error {
	var line bytes.Buffer
	encode := json.NewEncoder(&line)
	encode.SetEscapeHTML(false)
	if err := encode.Encode(r); err != nil {
		return err
	}
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != j.size {
		return fmt.Errorf("%s was changed by another program: expected one sandbox at a time in a folder", j.file.Name())
	}
	if err := j.file.Truncate(j.end); err != nil {
		return err
	}
	if _, err := j.file.WriteAt(line.Bytes(), j.end); err != nil {
		return err
	}
	j.end += int64(line.Len())
	j.size = j.end
	return nil
}

// close closes the file; nothing can be written any more.
func (j *journal) close() error {
	if errors.Is(j.err, os.ErrClosed) {
		return nil
	}
	j.err = os.ErrClosed
	return j.file.Close()
}
