package studio

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"claimsheet/apiclient"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/yamlpatch"
)

// The state as the page gets it.

type stateJSON struct {
	Version     int              `json:"version"`
	Progress    int              `json:"progress"`
	Mapping     mappingJSON      `json:"mapping"`
	Campaign    campaignJSON     `json:"campaign"`
	Sheets      []sheetJSON      `json:"sheets"`
	Columns     []columnJSON     `json:"columns"`
	Targets     []targetJSON     `json:"targets"`
	Suggestions []suggestionJSON `json:"suggestions"`
	Judgement   judgementJSON    `json:"judgement"`
	Commands    Commands         `json:"commands"`
	Job         *job             `json:"job"`
}

type mappingJSON struct {
	Path     string        `json:"path"`
	Exists   bool          `json:"exists"`
	Dirty    bool          `json:"dirty"`
	OnDisk   string        `json:"onDisk"`   // same, changed or gone
	DiskNote string        `json:"diskNote"` // what has happened to the file; "" for nothing
	Text     string        `json:"text"`
	Problems []problemJSON `json:"problems"`
	Warnings []problemJSON `json:"warnings"`
	History  []string      `json:"history"` // what was done, the beginning first
	At       int           `json:"at"`

	Questions []questionJSON `json:"questions"` // of a first mapping, not answered yet
	Draft     bool           `json:"draft"`     // an earlier session left something unsaved
	DraftOld  bool           `json:"draftOld"`  // and the file has changed since that was begun
}

// questionJSON is a comment that asks for a decision, and the rule that it is about.
type questionJSON struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Path string `json:"path"`
}

type problemJSON struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Hint    string  `json:"hint"`
	Where   string  `json:"where"`
	Line    int     `json:"line,omitempty"`
	Column  int     `json:"column,omitempty"`
	Row     int     `json:"row,omitempty"`
	Cell    string  `json:"cell,omitempty"`
	Path    *string `json:"path"`
}

type campaignJSON struct {
	Name        string     `json:"name"`
	API         string     `json:"api"`
	Environment string     `json:"environment"`
	Templates   string     `json:"templates"` // service, cache or none
	TemplatesAt *time.Time `json:"templatesAt"`
}

type sheetJSON struct {
	Path            string        `json:"path"`
	Names           []string      `json:"names"`
	Name            string        `json:"name"`
	HeaderRow       int           `json:"headerRow"`
	LikelyHeaderRow int           `json:"likelyHeaderRow"`
	First           [][]string    `json:"first"`
	Problems        []problemJSON `json:"problems"` // why it cannot be read
}

type columnJSON struct {
	Letter       string      `json:"letter"`
	Header       string      `json:"header"`
	Shared       bool        `json:"shared"`
	Filled       int         `json:"filled"`
	Distinct     int         `json:"distinct"`
	DistinctMore bool        `json:"distinctMore,omitempty"`
	Samples      []string    `json:"samples"`
	Kind         string      `json:"kind"`
	Targets      []string    `json:"targets"`
	Ignored      bool        `json:"ignored"`
	Usable       int         `json:"usable"`
	Errors       int         `json:"errors"`
	Empty        int         `json:"empty"`
	Problems     []errorJSON `json:"problems"`
	Warnings     []errorJSON `json:"warnings"` // of cells that are sent all the same
}

type errorJSON struct {
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	Count   int    `json:"count"`
	Example string `json:"example,omitempty"`
	Row     int    `json:"row,omitempty"`
}

type targetJSON struct {
	Path     string          `json:"path"`
	Group    string          `json:"group"`
	Title    string          `json:"title"`
	Of       string          `json:"of"`
	Status   string          `json:"status"`
	On       string          `json:"on"`
	Type     string          `json:"type"`
	TypeFrom string          `json:"typeFrom"`
	Required bool            `json:"required"`
	Options  []string        `json:"options"`
	Rule     json.RawMessage `json:"rule"`
	Columns  []string        `json:"columns"`
	Usable   int             `json:"usable"`
	Errors   int             `json:"errors"`
	Empty    int             `json:"empty"`
	Problems []errorJSON     `json:"problems"`
	Warnings []errorJSON     `json:"warnings"`
	Line     *int            `json:"line"`
}

type suggestionJSON struct {
	Path       string                `json:"path"`
	Value      json.RawMessage       `json:"value"`
	Operations []yamlpatch.Operation `json:"operations"`
	Column     string                `json:"column"` // its letter; "" for several
	Certainty  string                `json:"certainty"`
	Reason     string                `json:"reason"`
	Ask        string                `json:"ask"`
	Sure       bool                  `json:"sure"`
}

type judgementJSON struct {
	Rows     int         `json:"rows"`
	Done     int         `json:"done"`
	Complete bool        `json:"complete"` // the clients are judged too
	Reading  bool        `json:"reading"`  // the sheets are being read for the first time; done counts their rows
	Stale    bool        `json:"stale"`    // the mapping has a mistake that keeps it from being judged; the numbers are of before
	Partial  bool        `json:"partial"`  // rules with mistakes are left out
	Skipped  int         `json:"skipped"`
	Usable   int         `json:"usable"`
	Errors   int         `json:"errors"`
	Clients  int         `json:"clients"`
	Disagree int         `json:"disagree"`
	Codes    []errorJSON `json:"codes"`
	Warnings []errorJSON `json:"warnings"`
	Error    string      `json:"error"` // why the rows could not be judged
	Seconds  float64     `json:"seconds"`
}

// getState answers with the state, at once when it is another than that of “since”, else
// when something is new, or with nothing after a while.
func (s *Server) getState(r *http.Request) (any, error) {
	const patience = 20 * time.Second
	since := r.URL.Query().Get("since")
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		s.mu.Lock()
		if since != fmt.Sprintf("%d.%d", s.session.version, s.progress) {
			defer s.mu.Unlock()
			return s.state(), nil
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-timeout.C:
			return nil, nil
		case <-r.Context().Done():
			return nil, nil
		case <-s.ctx.Done():
			return nil, nil
		}
	}
}

// state is what the page shows. The caller holds the lock.
func (s *Server) state() stateJSON {
	a := s.now
	onDisk, note := s.session.onDisk()
	st := stateJSON{
		Version: s.session.version, Progress: s.progress, Commands: s.options.Commands,
		Mapping: mappingJSON{
			Path: s.session.path, Exists: s.session.file.text != nil, Dirty: s.session.dirty(), OnDisk: onDisk, DiskNote: note,
			Text: string(s.session.text()), Problems: a.show(a.problems), Warnings: a.show(a.warnings), History: []string{},
			At: s.session.at, Draft: s.session.unsavedBefore != nil,
		},
		Campaign: campaignJSON{Name: a.mapping.Name.Text, API: a.mapping.API.Text, Templates: "none"},
		Sheets:   s.sheets(),
	}
	if draft := s.session.unsavedBefore; draft != nil {
		st.Mapping.DraftOld = s.session.isBehind(draft)
	}
	st.Mapping.Questions = questions(a.doc, a.text)
	for _, m := range s.session.history {
		st.Mapping.History = append(st.Mapping.History, m.label)
	}
	if service := s.options.Service; service != nil {
		st.Campaign.Environment, st.Campaign.Templates = service.Environment, "service"
		if !s.options.Cached.IsZero() {
			st.Campaign.Templates, st.Campaign.TemplatesAt = "cache", &s.options.Cached
		}
	}
	if s.first { // what a mapping without rules lacks is no news
		st.Mapping.Problems, st.Mapping.Warnings = []problemJSON{}, []problemJSON{}
	}
	v := s.verdict
	if v != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.of == a {
			st.Mapping.Problems = append(st.Mapping.Problems, a.show(v.found)...)
			st.Mapping.Warnings = append(st.Mapping.Warnings, a.show(v.warnings)...)
		}
	}
	st.Mapping.Warnings = append(st.Mapping.Warnings, a.book.stale(s.options.Sheets)...)
	if err := s.session.notKept; err != nil {
		st.Mapping.Warnings = append(st.Mapping.Warnings, problemJSON{Code: "not-kept", Message: "what is not saved cannot be kept for the next time: " + whyNot(err), Hint: "save before the page is closed", Where: s.session.autosave})
	}
	st.Targets = a.targets(s.options.Service, v)
	st.Columns = a.columns(st.Targets, v)
	st.Suggestions = s.suggestions(st.Targets)
	st.Judgement = s.judgement()
	if s.job != nil {
		copied := *s.job
		copied.Problems = slices.Clone(copied.Problems)
		st.Job = &copied
	}
	return st
}

// questions returns the questions of a first mapping. One that has a line of its own is
// about the next line.
func questions(doc *yamlpatch.Document, text []byte) []questionJSON {
	list := []questionJSON{}
	all := lines(string(text))
	for i, line := range all {
		found := question.FindStringSubmatchIndex(line)
		if found == nil {
			continue
		}
		one := questionJSON{Line: i + 1, Text: inPageWords(line[found[2]:found[3]])}
		about := i
		if isComment(line) {
			about = min(i+1, len(all)-1)
		}
		if doc != nil && !isComment(all[about]) { // else it is about a line that is a comment
			one.Path = yamlpatch.Pointer(doc.At(about+1, len(all[about])-len(strings.TrimLeft(all[about], " -"))+1)...)
		}
		list = append(list, one)
	}
	return list
}

func isComment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

// show returns problems as the page gets them, with the path of the rule in the mapping.
func (a *analysis) show(list problem.List) []problemJSON {
	shown := []problemJSON{}
	for _, p := range list {
		one := problemJSON{Code: p.Code, Message: inPageWords(p.Message), Hint: inPageWords(p.Hint), Where: p.Where.String(),
			Line: p.Where.Line, Column: p.Where.Column, Row: p.Where.Row}
		if p.Where.Cell != "" {
			one.Cell = p.Where.String()
		}
		if a.doc != nil && p.Where.Line > 0 {
			path := yamlpatch.Pointer(a.doc.At(p.Where.Line, p.Where.Column)...)
			one.Path = &path
		}
		if p.Code == "no-workflow" && a.doc != nil { // reported at each activity, mended once
			path := "/workflow/name"
			if _, ok := a.doc.Value("workflow", "name"); ok {
				path = "/workflow/template_identifier"
			}
			one.Path = &path
		}
		shown = append(shown, one)
	}
	return shown
}

func (s *Server) sheets() []sheetJSON {
	b := s.now.book
	list := []sheetJSON{}
	for i, l := range b.looks {
		one := sheetJSON{Path: l.path, Names: l.names, Name: l.name, HeaderRow: max(b.options.HeaderRow, 1), LikelyHeaderRow: l.likely,
			First: l.first, Problems: []problemJSON{}}
		if at := slices.IndexFunc(b.tables, func(t cell.Sheet) bool { return t.Table == i }); at >= 0 {
			one.Name, one.HeaderRow = b.tables[at].Name, b.tables[at].HeaderRow
		}
		list = append(list, one)
	}
	err := b.err
	if err == nil && !b.reading() {
		err = b.failed
	}
	if err != nil && len(list) > 0 {
		var found problem.List
		if other := found.Collect(err); other != nil {
			found = problem.List{problem.New("", "%s", other.Error())}
		}
		list[0].Problems = s.now.show(found)
	}
	return list
}

// stale warns of files that are not what they were when they were read.
func (b *book) stale(paths []string) (list []problemJSON) {
	for i, was := range b.stamps {
		one := problemJSON{Code: "sheet-changed", Where: paths[i], Hint: "stop claimsheet studio and start it again to see the sheet as it is now"}
		switch now := stampOf(paths[i]); now {
		case was:
			continue
		case stamp{}:
			one.Message = "the sheet is not there any more; what is shown is of before"
		default:
			one.Message = "the sheet has changed since it was read; what is shown is of before, and a dry run takes it as it is now"
		}
		list = append(list, one)
	}
	return list
}

// columns returns the columns of the first sheet. The caller holds the verdict's lock.
func (a *analysis) columns(targets []targetJSON, v *verdict) []columnJSON {
	b := a.book
	ready := b.isReady()
	list := make([]columnJSON, 0, len(b.columns))
	for _, c := range b.columns {
		one := columnJSON{Letter: cell.ColumnName(c.index), Header: c.header, Shared: c.shared, Samples: []string{}, Targets: []string{}, Problems: []errorJSON{}, Warnings: []errorJSON{},
			Ignored: a.ignores(c.index)}
		if ready {
			one.Filled, one.Distinct, one.DistinctMore, one.Samples, one.Kind = c.filled, c.distinct, c.more, append(one.Samples, c.samples...), c.kind()
			one.Empty = len(b.records) - c.filled
		}
		for _, t := range targets {
			if t.Rule != nil && slices.Contains(t.Columns, one.Letter) {
				one.Targets = append(one.Targets, t.Path)
			}
		}
		list = append(list, one)
	}
	if v == nil || v.of.book != b {
		return list
	}
	for i := range list {
		one := &list[i]
		one.Problems, one.Warnings = v.kinds.list(i), v.warned.list(i)
		var all, filled bitmap // records with an error in the column, and those of them whose cell is filled
		for of, e := range v.kinds {
			if of.at != i {
				continue
			}
			all.add(e.rows)
			if of.code != "required" && of.code != "empty-key" {
				filled.add(e.rows)
			}
		}
		one.Errors = all.count()
		one.Usable = max(0, v.filled[i]-filled.count())
		one.Empty = v.done - v.skipped - v.filled[i]
	}
	return list
}

// judgement sums up. The caller holds both locks.
func (s *Server) judgement() judgementJSON {
	b, v := s.now.book, s.verdict
	j := judgementJSON{Codes: []errorJSON{}, Warnings: []errorJSON{}, Stale: s.stale && !s.first}
	if b.reading() || s.first {
		j.Reading, j.Done = true, int(b.seen.Load())
		return j
	}
	j.Rows = len(b.records)
	if v == nil || v.of.book != b {
		return j
	}
	j.Done, j.Complete, j.Skipped, j.Partial = v.done, v.complete, v.skipped, v.of.bound.Partial
	j.Errors = v.wrong.count()
	j.Usable = max(0, v.done-v.skipped-j.Errors)
	j.Clients, j.Disagree, j.Seconds = v.clients, v.disagree, v.took.Round(time.Millisecond).Seconds()
	if v.failed != nil {
		j.Error = v.failed.Error()
	}
	j.Codes, j.Warnings = v.kinds.list(everywhere), v.warned.list(everywhere)
	return j
}

// suggestions returns what is proposed for what is not filled yet.
func (s *Server) suggestions(targets []targetJSON) []suggestionJSON {
	list := []suggestionJSON{}
	for _, g := range s.now.book.suggestions {
		one := suggestionJSON{Path: yamlpatch.Pointer(g.Path...), Value: g.Value, Certainty: string(g.Certainty), Reason: g.Reason, Ask: g.Ask, Sure: g.Ask == ""}
		if c := s.now.book.find(g.Column); c >= 0 {
			one.Column = cell.ColumnName(c)
		}
		at := slices.IndexFunc(targets, func(t targetJSON) bool {
			if g.Path != nil {
				return t.Path == one.Path
			}
			return t.Group == "activity" && t.Of == g.Template && t.Title == g.Attribute
		})
		if at < 0 && g.Path == nil || at >= 0 && (targets[at].Rule != nil || targets[at].Status == string(mapping.Open)) {
			continue
		}
		if at >= 0 {
			one.Path = targets[at].Path
		}
		if slices.ContainsFunc(s.now.columnsOf(g.Value, tokens(one.Path)), s.now.ignores) {
			continue
		}
		one.Operations = []yamlpatch.Operation{{Op: "add", Path: one.Path, Value: g.Value}}
		list = append(list, one)
	}
	return list
}

// ignores reports whether a column is left out on purpose.
func (a *analysis) ignores(column int) bool {
	return a.mapping.Ignores(mapping.IgnoredName(a.book.tables[0], column))
}

// version of the interface that the mapping is for.
func (a *analysis) version() apiclient.Version { return apiclient.Version(a.mapping.API.Text) }
