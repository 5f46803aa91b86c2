package tracking

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"claimsheet/mapping/problem"
)

// ReadJSONL yields the events of an export with a JSON document on each line, with
// the line's number. A line that Format cannot read yields a problem with its place,
// and the next lines follow; empty lines are passed over. name is the file's name, for
// messages.
func (f Format) ReadJSONL(name string, from io.Reader, received time.Time) iter.Seq2[[]Event, error] {
	return func(yield func([]Event, error) bool) {
		lines := bufio.NewScanner(from)
		lines.Buffer(nil, MaxDocument+1)
		line := 0
		for lines.Scan() {
			line++
			text := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
			if len(text) == 0 {
				continue
			}
			events, err := f.Read(text, received)
			if !yield(events, unreadable(name, line, err)) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, unreadable(name, line+1, err))
		}
	}
}

// ReadCSV is ReadJSONL for an export with a row for each event below a row of headers, in cells
// separated by commas. A row is read as a JSON object of texts, by the headers: the pointer /Contact ID
// leads to the column Contact ID. Empty cells are as good as none.
func (f Format) ReadCSV(name string, from io.Reader, received time.Time) iter.Seq2[[]Event, error] {
	return func(yield func([]Event, error) bool) {
		buffered := bufio.NewReader(from)
		if mark, _ := buffered.Peek(3); string(mark) == "\ufeff" {
			_, _ = buffered.Discard(3)
		}
		rows := csv.NewReader(buffered)
		headers, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err = cmp.Or(err, f.checkHeaders(headers)); err != nil {
			yield(nil, problem.At(problem.Where{File: name, Line: 1, Column: 1}, "export-columns", "%v", err).
				Hinted("correct the pointers of “export” under “tracking” of the environment, or the file: headers above, commas between the cells"))
			return
		}
		for goesOn := true; goesOn; {
			row, err := rows.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			line, events := 0, []Event(nil)
			if parse, ok := errors.AsType[*csv.ParseError](err); ok {
				line, goesOn = parse.Line, errors.Is(err, csv.ErrFieldCount)
				err = parse.Err
			} else if goesOn = err == nil; goesOn {
				line, _ = rows.FieldPos(0)
				events, err = f.Read(objectOf(headers, row), received)
			}
			goesOn = yield(events, unreadable(name, line, err)) && goesOn
		}
	}
}

// checkHeaders fails when a column that the format names is missing or there twice.
func (f Format) checkHeaders(headers []string) error {
	for _, pointer := range []string{f.ID, f.Kind, f.Status, f.Client, f.Claim, f.Activity, f.Template, f.At} {
		if pointer == "" {
			continue
		}
		column, found := strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer[1:]), 0
		for _, header := range headers {
			if header == column {
				found++
			}
		}
		if found != 1 {
			return fmt.Errorf("the column “%s” is there %d times; it is expected once", problem.Shorten(column), found)
		}
	}
	return nil
}

// objectOf is a row as a JSON object.
func objectOf(headers, row []string) []byte {
	object := make(map[string]string, len(headers))
	for i, header := range headers {
		if row[i] != "" {
			object[header] = row[i]
		}
	}
	text, _ := json.Marshal(object) // texts always marshal
	return text
}

// unreadable is what is wrong with a line of an export; nil for nothing.
func unreadable(name string, line int, err error) error {
	if err == nil {
		return nil
	}
	return problem.At(problem.Where{File: name, Line: line, Column: 1}, "event-unreadable", "this event cannot be read: %v", err).
		Hinted("compare the line with “export” under “tracking” of the environment")
}
