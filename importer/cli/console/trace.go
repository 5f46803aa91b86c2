package console

import (
	"encoding/json"
	"errors"
	"os"
	"sync"

	"claimsheet/apiclient"
	"claimsheet/mapping/problem"
)

// Trace is a file with a JSON line for each request of a command. A nil Trace records nothing. It is safe for concurrent use.
type Trace struct {
	path string
	warn func(problem.Problem)

	mu      sync.Mutex
	file    *os.File
	written bool
	failed  bool // nothing more is written
}

// OpenTrace makes a new file, which only its owner can read; nil for no path. What goes wrong later is given to warn, once.
func OpenTrace(path string, warn func(problem.Problem)) (*Trace, error) {
	if path == "" {
		return nil, nil
	}
	if err := refuseStateFolder(path, "trace-file", "the trace"); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, problem.At(problem.Where{File: path}, "trace-file", "the trace cannot be written there: %v", problem.Cause(err)).
			Hinted("name a new file in a folder that exists and that this user may write to")
	}
	return &Trace{path: path, warn: warn, file: file}, nil
}

// Of returns what records the requests of a run, for apiclient.Config.Trace; nil for a nil Trace. run may be empty.
func (t *Trace) Of(run string) func(apiclient.Exchange) {
	if t == nil {
		return nil
	}
	return func(e apiclient.Exchange) {
		line, err := json.Marshal(struct {
			Run string `json:"run,omitempty"`
			apiclient.Exchange
		}{run, e})
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.failed {
			return
		}
		if err == nil {
			_, err = t.file.Write(append(line, '\n'))
		}
		t.written = true
		t.check(err)
	}
}

// check warns of an error, after which nothing more is written.
func (t *Trace) check(err error) {
	if err != nil && !t.failed {
		t.failed = true
		t.warn(problem.At(problem.Where{File: t.path}, "trace-file", "the trace is not complete: %v", problem.Cause(err)).
			Hinted("the command is not affected"))
	}
}

// Close closes the file, and removes it when no request was made.
func (t *Trace) Close() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.file.Close()
	if !t.written {
		err = errors.Join(err, os.Remove(t.path))
	}
	t.check(err)
}
