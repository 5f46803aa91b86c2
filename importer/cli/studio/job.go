package studio

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"claimsheet/importer/safefile"
)

// The kinds of jobs: the dry run of the environment, and a run into a sandbox of the session's own. Neither sends anything to a real
// service.
const dryRun, sandbox = "dry-run", "sandbox"

// The states of a job.
const running, done, failed = "running", "done", "failed"

// job is a command that runs, or has run, for the page.
type job struct {
	Kind     string          `json:"kind"`
	State    string          `json:"state"`
	Phase    string          `json:"phase"`
	Done     int             `json:"done"` // clients
	Of       int             `json:"of"`
	ExitCode int             `json:"exitCode"`
	Summary  json.RawMessage `json:"summary"`  // the object of claimsheet run --json; null while it runs
	Workbook string          `json:"workbook"` // where the plan or the results are; "" for none
	Pages    string          `json:"pages"`    // where the sandbox shows what a run has left; "" for none
	Problems []problemJSON   `json:"problems"`

	file        string // the workbook, or of several sheets a folder with theirs
	isOfSeveral bool   // sheets, of which the page shows one
	cancel      context.CancelFunc
}

// startJob starts a job with the text of now, whatever the file says.
func (s *Server) startJob(in changeIn) (err error) {
	switch {
	case s.job != nil && s.job.State == running:
		return cannot("busy", "another job is running", "wait for its end, or cancel it")
	case s.job != nil:
		s.job.cancel() // its sandbox's pages end
	}
	safefile.RemoveLeftovers(os.TempDir())
	folder, err := os.MkdirTemp("", safefile.Temporary) // 0700
	if err != nil {
		return err
	}
	s.folders = append(s.folders, folder)
	path := filepath.Join(folder, filepath.Base(s.session.path))
	if err := os.WriteFile(path, s.session.text(), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(s.ctx)
	j := &job{Kind: in.Kind, State: running, Phase: "reading the sheets", Problems: []problemJSON{}, cancel: cancel,
		file: filepath.Join(folder, "workbook.xlsx"), isOfSeveral: len(s.options.Sheets) > 1}
	if j.isOfSeveral {
		j.file = folder
	}
	args := append(s.options.Job(in.Kind == dryRun, path, folder), "--json", "--log-format", "json", "-o", j.file)
	s.job = j
	s.background(func() { s.carryOut(ctx, j, append(args, s.options.Sheets...), folder) })
	return nil
}

// run runs a command, and passes on each line of its log, with the lock held.
func (s *Server) run(ctx context.Context, args []string, out io.Writer, line func(text []byte)) (exitCode int) {
	reader, writer := io.Pipe()
	if out == nil {
		out = writer
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(reader)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			s.mu.Lock()
			line(lines.Bytes())
			s.progress++
			s.mu.Unlock()
		}
		_, _ = io.Copy(io.Discard, reader) // a line that is too long must not stop the job
	}()
	exitCode = s.options.Run(ctx, args, out, writer)
	_ = writer.Close()
	<-read
	return exitCode
}

// carryOut runs the command of a job and reports how it goes.
func (s *Server) carryOut(ctx context.Context, j *job, args []string, folder string) {
	var out bytes.Buffer
	code := s.run(ctx, args, &out, j.follow)
	var object struct {
		Errors []problemJSON `json:"errors"`
	}
	isObject := json.Unmarshal(out.Bytes(), &object) == nil
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress++
	j.ExitCode, j.State, j.Phase = code, done, ""
	if code != 0 && code != 1 && code != 4 {
		j.State = failed
	}
	if isObject {
		j.Summary = bytes.TrimSpace(out.Bytes())
		for _, e := range object.Errors {
			j.add(e)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(j.file, "*.xlsx")); len(found) > 0 { // of several the first
		j.file = found[0]
	}
	if info, err := os.Stat(j.file); err == nil && !info.IsDir() {
		j.Workbook = "/api/job/workbook"
	}
	if j.State == done && j.Kind == sandbox {
		j.Phase = "opening the sandbox"
		s.background(func() { s.servePages(ctx, j, folder) })
	}
}

// maxProblems bounds the problems of a job that the page gets; its workbook has all.
const maxProblems = 200

// follow reads a line of a job's log: how far it is, or what it found.
func (j *job) follow(text []byte) {
	var line struct {
		Message string          `json:"msg"`
		Clients json.RawMessage `json:"clients"` // a number, or counts at the end
		Of      int             `json:"of"`
		Code    string          `json:"code"`
		Where   string          `json:"where"`
		Hint    string          `json:"hint"`
	}
	if json.Unmarshal(text, &line) != nil {
		return
	}
	clients, _ := strconv.Atoi(string(line.Clients))
	switch {
	case line.Message == "first pass":
		j.Of, j.Phase = clients, "planning"
		if j.Kind == sandbox {
			j.Phase = "sending to the sandbox"
		}
	case line.Message == "progress":
		j.Done, j.Of = clients, max(j.Of, line.Of)
	case line.Code != "" && len(j.Problems) < maxProblems:
		j.add(problemJSON{Code: line.Code, Message: line.Message, Hint: line.Hint, Where: line.Where})
	}
}

// place matches the cell or the row at the end of a problem's place, of a results workbook with the row of the sheet.
var place = regexp.MustCompile(`!\$?([A-Z]*)\$?(\d+)(?: \(source row (\d+)\))?$`)

// add adds a problem, once: the log and the object may both have it.
func (j *job) add(p problemJSON) {
	p.Message, p.Hint = inPageWords(p.Message), inPageWords(p.Hint)
	if at := place.FindStringSubmatch(p.Where); at != nil && !j.isOfSeveral {
		p.Column = at[1]
		p.Row, _ = strconv.Atoi(cmp.Or(at[3], at[2]))
	}
	if !slices.Contains(j.Problems, p) {
		j.Problems = append(j.Problems, p)
	}
}

// servePages serves what a run into the sandbox has left, until the next job.
func (s *Server) servePages(ctx context.Context, j *job, folder string) {
	s.run(ctx, []string{"sandbox", "--state", folder, "--addr", "127.0.0.1:0"}, nil, func(line []byte) {
		url := string(line[max(0, bytes.LastIndex(line, []byte("http://"))):])
		if strings.Contains(url, "/dashboard/") { // the line before has the address of the service
			j.Pages, j.Phase = url, ""
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	j.Pages, j.Phase = "", ""
	s.progress++
}

func (s *Server) postCancel(*http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.job != nil {
		s.job.cancel()
	}
	return s.state(), nil
}

func (s *Server) getWorkbook(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	j := s.job
	s.mu.Unlock()
	if j == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
	w.Header().Set("Content-Disposition", `attachment; filename="`+j.Kind+`.xlsx"`)
	http.ServeFile(w, r, j.file)
}
