// Package studio serves the page on which a person makes a mapping with the sheet in
// view. The file stays the only truth: every change is made to its text, comments and
// order kept, and only Save writes it.
//
//	page ──▶ access ─▶ session: the text, its history, the file ──▶ analysis: parse, bind
//	                       │                                            │
//	                   /api/state ◀── verdict ◀── book: the rows in a spool
//
// The packages that a run uses judge: mapping reads and converts, importer groups and plans,
// mapping/draft suggests. After each change the whole sheet is judged in the background; a
// change cancels the judgement before. Cells are never all in memory.
package studio

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/serve"
	"claimsheet/importer"
	"claimsheet/mapping"
	"claimsheet/mapping/draft"
	"claimsheet/mapping/problem"
)

//go:embed page
var page embed.FS

// Options are what a session works with.
type Options struct {
	Mapping  string   // the mapping file, which need not exist
	Proposed []byte   // the text to begin with when it does not exist
	Propose  bool     // that text says only how the sheet is read; the rest is proposed from its rows
	Sheets   []string // paths; the page shows the first of them, and a job takes all
	Password string   // opens encrypted ones

	Service  *mapping.Service // what the environment has; nil when none was asked
	Routes   apiclient.Routes // of the environment; Version is the mapping's
	LinkBody json.RawMessage  // of the magic link's request

	// Autosave is the file that keeps what is not saved, for after a crash; "" keeps nothing.
	Autosave string

	// Suggest is what suggestions and a first mapping are made from, besides the rows; its name and settings are of the latter alone.
	Suggest draft.Request

	// Run runs claimsheet with arguments, for a job.
	Run func(ctx context.Context, args []string, out, err io.Writer) (exitCode int)
	// Job are the arguments of a job's command before the sheets, with mapping as the file: dry runs have the flags of the environment,
	// runs those of a sandbox whose state is in folder.
	Job func(isDryRun bool, mapping, folder string) []string

	Command string // that does the same as the page shows, to copy

	Idle time.Duration // how long the server waits for a page before it ends; 0 for 15 minutes
}

// Server is one session. Its methods may be called from any goroutine.
type Server struct {
	options Options
	access  *access
	mux     *http.ServeMux
	work    sync.WaitGroup                  // what runs in the background
	crash   atomic.Pointer[problem.Problem] // of what ran there
	ctx     context.Context
	stop    context.CancelFunc

	mu      sync.Mutex
	closed  bool
	session session
	books   map[reading]*book  // by how the sheet is read
	now     *analysis          // of the session's text
	judging context.CancelFunc // stops the judgement under way
	judged  *atomic.Int64      // rows, by the judgement under way
	verdict *verdict           // the last one that was finished; nil before the first
	job     *job
	folders []string // of jobs, the last one's too

	progress int // grows with everything that a page shows
}

// New opens a session and reads the sheet. It fails when the mapping file or the sheet cannot be read at all. Call Close at the end.
func New(ctx context.Context, o Options) (*Server, error) {
	s := &Server{options: o, books: map[reading]*book{}, judged: new(atomic.Int64)}
	s.options.Suggest.Service, s.options.Suggest.API = o.Service, cmp.Or(o.Suggest.API, string(apiclient.V2))
	s.options.Idle = cmp.Or(o.Idle, 15*time.Minute)
	if err := s.session.open(o); err != nil {
		return nil, err
	}
	s.ctx, s.stop = context.WithCancel(ctx)
	s.access = newAccess()
	s.routes()
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.read()
	if b.err != nil && (ctx.Err() != nil || !b.isOpen && len(b.sheet.First) == 0) { // else another sheet or header row can be chosen
		s.stop()
		return nil, b.err
	}
	if o.Propose && s.session.file == nil && b.proposed != nil {
		s.session.history[0].text = b.proposed
	}
	s.refresh()
	return s, nil
}

// Handler serves the page and its API. It answers only requests that name the address that it listens on.
func (s *Server) Handler() http.Handler { return s.access.protect(s.mux) }

// isIdle reports whether no page has asked for the time of Options.Idle, and no job runs.
func (s *Server) isIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.access.silence() > s.options.Idle && (s.job == nil || s.job.State != running)
}

// Close stops what runs and removes the temporary files.
func (s *Server) Close() (err error) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.books {
		b.close()
	}
	for _, folder := range s.folders {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	return err
}

// background runs work that Close waits for. A panic in it ends the session. The caller holds the lock.
func (s *Server) background(work func()) {
	if s.closed {
		return
	}
	s.work.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				caught := importer.Caught(v)
				s.crash.CompareAndSwap(nil, &caught)
				s.stop()
			}
		}()
		work()
	})
}

func (s *Server) routes() {
	files, _ := fs.Sub(page, "page") // it is embedded
	s.mux = http.NewServeMux()
	s.mux.Handle("/", http.FileServerFS(files))
	handle := func(pattern string, answer func(*http.Request) (any, error)) {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, answer) })
	}
	handle("GET /api/state", s.getState)
	handle("POST /api/patch", s.changing(s.patch))
	handle("POST /api/decide", s.changing(s.decide))
	handle("POST /api/text", s.changing(s.replaceText))
	handle("POST /api/history", s.changing(s.goTo))
	handle("POST /api/save", s.changing(func(in changeIn) error { return s.session.save(in.Overwrite) }))
	handle("POST /api/reload", s.changing(s.reload))
	handle("POST /api/ignore", s.changing(s.ignore))
	handle("GET /api/column", s.looking(getColumn))
	handle("GET /api/rows", s.looking(getRows))
	handle("GET /api/client", s.looking(getClient))
	handle("POST /api/preview", s.looking(getPreview))
	handle("GET /api/diff", s.getDiff)
	handle("POST /api/job", s.changing(s.startJob))
	handle("POST /api/job/cancel", s.postCancel)
	s.mux.HandleFunc("GET /api/job/workbook", s.getWorkbook)
	s.mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, cannot("no-such-path", "there is nothing here", ""), nil)
	})
}

// Link is the address that opens the page, once.
func (s *Server) Link(l net.Listener) string {
	return fmt.Sprintf("http://%s/?token=%s", l.Addr(), s.access.token)
}

// Serve serves the session on l until ctx ends or no page has asked for long enough. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer context.AfterFunc(ctx, s.stop)()
	go func() {
		for s.ctx.Err() == nil && !s.isIdle() {
			select {
			case <-s.ctx.Done():
			case <-time.After(min(time.Second, s.options.Idle)):
			}
		}
		s.stop()
	}()
	err := serve.Until(s.ctx, l, s.Handler())
	if crash := s.crash.Load(); crash != nil {
		return *crash
	}
	return err
}

// cannot is the problem of a request that is not done. The codes of such problems are for the page alone.
func cannot(code, message, hint string) problem.Problem {
	return problem.Problem{Code: code, Message: message, Hint: hint}
}

// statusOf returns the HTTP status of a problem with a code; "" is that of other errors.
func statusOf(code string) int {
	return cmp.Or(map[string]int{
		"":            http.StatusInternalServerError,
		"bad-request": http.StatusBadRequest, "request-too-large": http.StatusRequestEntityTooLarge,
		"no-session": http.StatusUnauthorized, "foreign": http.StatusForbidden, "token": http.StatusForbidden,
		"no-such-path": http.StatusNotFound, "no-such-row": http.StatusNotFound, "no-such-client": http.StatusNotFound,
		"changed-on-disk": http.StatusConflict, "stale": http.StatusConflict,
		"not-ready": http.StatusServiceUnavailable,
	}[code], http.StatusUnprocessableEntity)
}

// answer writes what a handler returns as JSON. nil is “nothing new”.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, handle func(*http.Request) (any, error)) {
	body, err := handle(r)
	if err != nil {
		p, isProblem := errors.AsType[problem.Problem](err)
		if !isProblem {
			p.Message = err.Error()
		}
		var state any
		if statusOf(p.Code) == http.StatusConflict {
			s.mu.Lock()
			state = s.state()
			s.mu.Unlock()
		}
		refuse(w, p, state)
		return
	}
	if body == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	write(w, http.StatusOK, body)
}

// refuse writes a problem, with the present state if the page needs it.
func refuse(w http.ResponseWriter, p problem.Problem, state any) {
	code := p.Code
	p.Code = "" // it stands beside the message
	body := map[string]any{"error": map[string]string{"code": code, "message": problem.OneLine(p.Error()), "hint": p.Hint}}
	if state != nil {
		body["state"] = state
	}
	write(w, statusOf(code), body)
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a page that is gone needs no answer
}

func read(r *http.Request, into any) error {
	body, err := io.ReadAll(r.Body)
	if err != nil { // or the page is gone
		return cannot("request-too-large", "the request is larger than 4 MiB", "")
	}
	if err := json.Unmarshal(body, into); err != nil {
		return cannot("bad-request", fmt.Sprintf("the request is not what this address takes: %v", err), "")
	}
	return nil
}
