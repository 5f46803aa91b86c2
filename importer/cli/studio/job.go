package studio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"claimsheet/importer/safefile"
)

// JobKind is what a job does.
type JobKind string

// The kinds. Neither sends anything to a real service.
const (
	DryRun  JobKind = "dry-run" // the dry run of the environment
	Sandbox JobKind = "sandbox" // a run into a sandbox of the session's own
)

// The states of a job.
const (
	running = "running"
	done    = "done"
	failed  = "failed"
)

// job is a command that runs, or has run, for the page.
type job struct {
	Kind     JobKind         `json:"kind"`
	State    string          `json:"state"`
	Version  int             `json:"version"` // of the mapping that it uses
	Phase    string          `json:"phase"`
	Done     int             `json:"done"` // clients
	Of       int             `json:"of"`
	ExitCode *int            `json:"exitCode"`
	Summary  json.RawMessage `json:"summary"`  // the object of claimsheet run --json; null while it runs
	Workbook *string         `json:"workbook"` // where the plan or the results are; null for none
	Pages    *string         `json:"pages"`    // where the sandbox shows what a run has left; null for none
	Problems []problemJSON   `json:"problems"`

	file   string // the workbook
	cancel context.CancelFunc
}

type jobIn struct {
	Kind JobKind `json:"kind"`
}

func (s *Server) startJob(in jobIn) error {
	switch {
	case in.Kind != DryRun && in.Kind != Sandbox:
		return failure{http.StatusBadRequest, "bad-request", "the kind must be dry-run or sandbox", ""}
	case s.job != nil && s.job.State == running:
		return cannot("busy", "another job is running", "wait for its end, or cancel it")
	case s.job != nil:
		s.job.cancel() // its sandbox's pages end
	}
	return s.start(in.Kind)
}

const (
	jobFolders = "claimsheet-studio-*"
	leftFor    = 7 * 24 * time.Hour
)

// removeLeft removes the folders of jobs whose sessions were killed long ago: they hold
// personal data.
func removeLeft() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), jobFolders))
	for _, folder := range folders {
		if info, err := os.Lstat(folder); err == nil && info.IsDir() && safefile.Ours(info) && time.Since(info.ModTime()) > leftFor {
			_ = os.RemoveAll(folder)
		}
	}
}

// start starts a job. The caller holds the lock.
func (s *Server) start(kind JobKind) error {
	if s.folder == "" {
		removeLeft()
		folder, err := os.MkdirTemp("", jobFolders) // 0700
		if err != nil {
			return err
		}
		s.folder = folder
	}
	folder, err := os.MkdirTemp(s.folder, "job-*")
	if err != nil {
		return err
	}
	path := filepath.Join(folder, filepath.Base(s.session.path)) // the text of now, whatever the file says
	if err := os.WriteFile(path, s.session.text(), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(s.ctx)
	j := &job{Kind: kind, State: running, Version: s.session.version, Phase: "reading the sheets", Problems: []problemJSON{}, cancel: cancel,
		file: filepath.Join(folder, "plan.xlsx")}
	if kind == Sandbox {
		j.file = filepath.Join(folder, "results.xlsx")
	}
	if len(s.options.Sheets) > 1 { // then -o names a folder
		j.file = folder
	}
	args := s.options.Job(kind, path, folder)
	args = append(args, "--json", "--log-format", "json", "-o", j.file)
	args = append(args, s.options.Sheets...)
	s.job = j
	s.background(func() { s.carryOut(ctx, j, args, folder) })
	return nil
}

// carryOut runs the command of a job and reports how it goes.
func (s *Server) carryOut(ctx context.Context, j *job, args []string, folder string) {
	var out bytes.Buffer
	reader, writer := io.Pipe()
	var follow = make(chan struct{})
	go func() {
		defer close(follow)
		s.follow(j, reader)
	}()
	code := s.options.Run(ctx, args, &out, writer)
	_ = writer.Close()
	<-follow
	var object struct {
		Errors []struct{ Code, Where, Message, Hint string } `json:"errors"`
	}
	isObject := json.Unmarshal(out.Bytes(), &object) == nil
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.bump()
	j.ExitCode, j.State, j.Phase = &code, done, ""
	if code != 0 && code != 1 && code != 4 {
		j.State = failed
	} else {
		j.Done = j.Of
	}
	if isObject {
		j.Summary = bytes.TrimSpace(out.Bytes())
		for _, e := range object.Errors {
			one := problemJSON{Code: e.Code, Where: e.Where, Message: inPageWords(e.Message), Hint: inPageWords(e.Hint)}
			if !slices.Contains(j.Problems, one) { // the log has it too
				j.Problems = append(j.Problems, one)
			}
		}
	}
	if j.file = workbookIn(j.file); j.file != "" {
		at := "/api/job/workbook"
		j.Workbook = &at
	}
	if j.State == done && j.Kind == Sandbox {
		j.Phase = "opening the sandbox"
		s.background(func() { s.servePages(ctx, j, folder) })
	}
}

// workbookIn returns the workbook that a job wrote, of several the first; "" for none.
func workbookIn(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		return path
	}
	if found, _ := filepath.Glob(filepath.Join(path, "*.xlsx")); len(found) > 0 {
		return found[0]
	}
	return ""
}

// mostProblems bounds the problems of a job that the page gets; its workbook has all.
const mostProblems = 200

// follow reads the log of a job: how far it is, and what it found.
func (s *Server) follow(j *job, log io.Reader) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Level   string          `json:"level"`
			Message string          `json:"msg"`
			Clients json.RawMessage `json:"clients"` // a number, or counts at the end
			Of      int             `json:"of"`
			Code    string          `json:"code"`
			Where   string          `json:"where"`
			Hint    string          `json:"hint"`
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		clients, _ := strconv.Atoi(string(line.Clients))
		s.mu.Lock()
		switch {
		case line.Message == "first pass":
			j.Of, j.Phase = clients, "planning"
			if j.Kind == Sandbox {
				j.Phase = "sending to the sandbox"
			}
		case line.Message == "progress":
			j.Done, j.Of = clients, max(j.Of, line.Of)
		case line.Code != "" && len(j.Problems) < mostProblems:
			j.Problems = append(j.Problems,
				problemJSON{Code: line.Code, Message: inPageWords(line.Message), Hint: inPageWords(line.Hint), Where: line.Where})
		}
		s.bump()
		s.mu.Unlock()
	}
	_, _ = io.Copy(io.Discard, log) // a line that is too long must not stop the job
}

// servePages serves what a run into the sandbox has left, until the next job.
func (s *Server) servePages(ctx context.Context, j *job, folder string) {
	reader, writer := io.Pipe()
	go func() {
		lines := bufio.NewScanner(reader)
		for lines.Scan() {
			url := lines.Text()[max(0, strings.LastIndex(lines.Text(), "http://")):]
			if strings.Contains(url, "/dashboard/") { // the line before has the address of the service
				s.mu.Lock()
				j.Pages, j.Phase = &url, ""
				s.bump()
				s.mu.Unlock()
			}
		}
		_, _ = io.Copy(io.Discard, reader)
	}()
	s.options.Run(ctx, []string{"sandbox", "--state", folder, "--addr", "127.0.0.1:0"}, writer, writer)
	_ = writer.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	j.Pages, j.Phase = nil, ""
	s.bump()
}

// postCancel stops the job under way, or closes the pages of the last one.
func (s *Server) postCancel(*http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.job == nil {
		return nil, failure{http.StatusUnprocessableEntity, "no-job", "nothing is running", ""}
	}
	s.job.cancel()
	return s.state(), nil
}

// getWorkbook sends the workbook of the last job.
func (s *Server) getWorkbook(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	path, name := "", "plan.xlsx"
	if s.job != nil && s.job.Workbook != nil {
		path = s.job.file
		if name = "dry run.xlsx"; s.job.Kind == Sandbox {
			name = "sandbox results.xlsx"
		}
	}
	s.mu.Unlock()
	file, err := os.Open(path)
	if path == "" || errors.Is(err, os.ErrNotExist) {
		refuse(w, failure{http.StatusNotFound, "no-workbook", "there is no workbook", "start a dry run"}, nil)
		return
	}
	if err != nil {
		refuse(w, failure{http.StatusInternalServerError, "", err.Error(), ""}, nil)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	http.ServeContent(w, r, "", time.Time{}, file)
}
