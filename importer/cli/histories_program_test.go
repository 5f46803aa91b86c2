package cli_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
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
	if strings.HasPrefix(e.out, "{") && e.code != -1 {
		e.summary = new(result.Summary)
		if err := json.Unmarshal([]byte(e.out), e.summary); err != nil {
			return e, fmt.Errorf("stdout is not the summary: %w\n%s", err, e.out)
		}
	}
	return e, nil
}

// spawn runs the command in a process of its own: this test's program, which is
// claimsheet under that name, or the binary.
func (c commandLine) spawn(e *ended) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, c.words...)
	cmd.Args[0] = "claimsheet"
	if c.binary != "" {
		cmd = exec.Command(c.binary, c.words...)
	}
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

// book is a results workbook, read without a library: the texts of a sheet's
// cells by row and header.
type book struct {
	results, steps []map[string]string
}

var (
	sheetTag  = regexp.MustCompile(`<sheet [^>]*name="([^"]*)"`)
	cellTag   = regexp.MustCompile(`<c r="([A-Z]+)(\d+)"([^>]*?)(/>|>(.*?)</c>)`)
	stringTag = regexp.MustCompile(`(?s)<si>.*?</si>|<si/>`)
	textTag   = regexp.MustCompile(`(?s)<t(?: [^>]*)?>(.*?)</t>`)
	valueTag  = regexp.MustCompile(`<v>(.*?)</v>`)
)

func readBook(path string) (b book, err error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return b, err
	}
	defer archive.Close()
	workbook, err := readPart(archive, "xl/workbook.xml")
	if err != nil {
		return b, err
	}
	list, err := readPart(archive, "xl/sharedStrings.xml")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	var shared []string
	for _, item := range stringTag.FindAllString(list, -1) {
		shared = append(shared, texts(item))
	}
	for i, sheet := range sheetTag.FindAllStringSubmatch(workbook, -1) {
		into := map[string]*[]map[string]string{"Results": &b.results, "Steps": &b.steps}[sheet[1]]
		if into == nil {
			continue
		}
		cells, err := readPart(archive, fmt.Sprintf("xl/worksheets/sheet%d.xml", i+1))
		if err != nil {
			return b, err
		}
		*into = rowsOf(cells, shared)
	}
	return b, nil
}

func readPart(archive *zip.ReadCloser, name string) (string, error) {
	data, err := fs.ReadFile(archive, name)
	return string(data), err
}

// texts is what the <t> elements of a piece of XML say.
func texts(xml string) string {
	var b strings.Builder
	for _, t := range textTag.FindAllStringSubmatch(xml, -1) {
		b.WriteString(html.UnescapeString(t[1]))
	}
	return b.String()
}

func rowsOf(cells string, shared []string) (rows []map[string]string) {
	headers := map[string]string{}
	for _, c := range cellTag.FindAllStringSubmatch(cells, -1) {
		text := texts(c[5])
		if value := valueTag.FindStringSubmatch(c[5]); value != nil {
			text = html.UnescapeString(value[1])
			if n, err := strconv.Atoi(text); err == nil && strings.Contains(c[3], `t="s"`) {
				text = shared[n]
			}
		}
		number, _ := strconv.Atoi(c[2])
		if number == 1 {
			headers[c[1]] = text
			continue
		}
		for len(rows) < number-1 {
			rows = append(rows, map[string]string{})
		}
		rows[number-2][headers[c[1]]] = text
	}
	return rows
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
