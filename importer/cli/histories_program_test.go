package cli_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"claimsheet/importer/cli"
	"claimsheet/importer/result"
)

// command is a command line of a history, and how it is carried out.
type commandLine struct {
	words   []string
	process bool // as a process of its own; else inside this one
	binary  string
	env     []string
	kill    func(kill func()) // given, with what kills the process, before it starts
}

// ended is what a command came to.
type ended struct {
	code     int // -1: killed
	out, err string
	summary  *result.Summary
}

// carryOut carries a command out.
func (c commandLine) carryOut() (ended, error) {
	var e ended
	if c.process || c.binary != "" {
		if err := c.spawn(&e); err != nil {
			return e, err
		}
	} else {
		var out, diagnostics bytes.Buffer
		stdio := cli.IO{In: strings.NewReader(""), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }}
		pace := cli.QuickPace()
		pace.Believable = belief
		e.code = cli.MainAt(context.Background(), c.words, stdio, pace)
		e.out, e.err = out.String(), diagnostics.String()
	}
	if strings.HasPrefix(e.out, `{"run":`) && e.code != -1 { // not one that was refused
		e.summary = new(result.Summary)
		if err := json.Unmarshal([]byte(e.out), e.summary); err != nil {
			return e, fmt.Errorf("stdout is not the summary: %w\n%s", err, e.out)
		}
	}
	return e, nil
}

// spawn runs the command in a process of its own.
func (c commandLine) spawn(e *ended) error {
	cmd := exec.Command(cmp.Or(c.binary, programName), c.words...)
	cmd.Env = append(append(os.Environ(), "CLAIMSHEET_ENV=", "TRIAL_BELIEVE="+belief.String()), c.env...)
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	started := make(chan *os.Process, 1)
	if c.kill != nil {
		c.kill(func() {
			process := <-started
			started <- process
			_ = process.Kill()
		})
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	started <- cmd.Process
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return err
	}
	e.code, e.out, e.err = cmd.ProcessState.ExitCode(), out.String(), diagnostics.String()
	return nil
}

// book is a results workbook.
type book struct {
	results, steps []record
}

func readBook(path string) (b book, err error) {
	if _, err := os.Stat(path); err != nil {
		return b, err
	}
	if b.results, err = records(path, "Results"); err == nil {
		b.steps, err = records(path, "Steps")
	}
	return b, err
}

// doubt is a step of settle's list.
type doubt struct {
	number, key, step string
}

var doubtLine = regexp.MustCompile(`(?m)^(\d+)  (\S.*) of the client (.+)$`)

// doubts are those of settle's list.
func doubtsIn(list string) (all []doubt) {
	for _, m := range doubtLine.FindAllStringSubmatch(list, -1) {
		all = append(all, doubt{m[1], m[3], m[2]})
	}
	return all
}

// later is a moment from which all attempts so far are old enough.
func later() time.Time { return time.Now().Add(belief + 20*time.Millisecond) }
