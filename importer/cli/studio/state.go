package studio

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/yamlpatch"
)

type stateJSON struct {
	Version     int              `json:"version"`
	Progress    int              `json:"progress"`
	Mapping     mappingJSON      `json:"mapping"`
	Environment string           `json:"environment"` // "" for none
	Sheet       sheetJSON        `json:"sheet"`
	Columns     []columnJSON     `json:"columns"`
	Targets     []targetJSON     `json:"targets"`
	Suggestions []suggestionJSON `json:"suggestions"`
	Judgement   judgementJSON    `json:"judgement"`
	Command     string           `json:"command"`
	Job         *job             `json:"job"`
}

type mappingJSON struct {
	Path     string        `json:"path"`
	Exists   bool          `json:"exists"`
	Dirty    bool          `json:"dirty"`
	DiskNote string        `json:"diskNote"` // what has happened to the file; "" for nothing
	Text     string        `json:"text"`
	Problems []problemJSON `json:"problems"`
	Warnings []problemJSON `json:"warnings"`
	History  []string      `json:"history"` // what was done, the beginning first
	At       int           `json:"at"`

	Questions []questionJSON `json:"questions"` // of a first mapping, not answered yet
	Draft     bool           `json:"draft"`     // the text is what an earlier session left unsaved
}

// questionJSON is a comment that asks for a decision, and the rule that it is about.
type questionJSON struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Path string `json:"path"`
}

type problemJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Where   string `json:"where,omitempty"`
	Line    int    `json:"line,omitempty"`
	Row     int    `json:"row,omitempty"`
	Path    string `json:"path,omitempty"`   // of the rule in the mapping
	Column  string `json:"column,omitempty"` // of a problem of a cell
}

type sheetJSON struct {
	Path      string        `json:"path"`
	Others    int           `json:"others"` // sheets that are not shown
	Names     []string      `json:"names"`
	Name      string        `json:"name"`
	HeaderRow int           `json:"headerRow"`
	First     [][]string    `json:"first"`
	Problems  []problemJSON `json:"problems"` // why it cannot be read
}

// tallyJSON is the verdict over the cells of a column or a target.
type tallyJSON struct {
	Usable   int         `json:"usable"`
	Errors   int         `json:"errors"`
	Empty    int         `json:"empty"`
	Problems []errorJSON `json:"problems"`
}

type columnJSON struct {
	Letter       string   `json:"letter"`
	Header       string   `json:"header"`
	Shared       bool     `json:"shared"`
	Filled       int      `json:"filled"`
	Distinct     int      `json:"distinct"`
	DistinctMore bool     `json:"distinctMore,omitempty"`
	Samples      []string `json:"samples"`
	Targets      []string `json:"targets"`
	Ignored      bool     `json:"ignored"`
	tallyJSON
}

type errorJSON struct {
	Code    string   `json:"code"`
	Message string   `json:"message,omitempty"`
	Count   int      `json:"count"`
	Example string   `json:"example,omitempty"`
	at      cell.Row // of the example
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
	Line     int             `json:"line,omitempty"`
	tallyJSON
}

type suggestionJSON struct {
	Path       string                `json:"path"`
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
	Complete bool        `json:"complete"`
	Stale    bool        `json:"stale"`   // the mapping has a mistake that keeps it from being judged
	Partial  bool        `json:"partial"` // rules with mistakes are left out
	Skipped  int         `json:"skipped"`
	Usable   int         `json:"usable"`
	Errors   int         `json:"errors"`
	Clients  int         `json:"clients"`
	Disagree int         `json:"disagree"`
	Codes    []errorJSON `json:"codes"`
	Error    string      `json:"error"` // why the rows could not be judged
}

// getState answers with the state, or with nothing when the page has that already.
func (s *Server) getState(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Query().Get("since") == fmt.Sprintf("%d.%d", s.session.version, s.news()) {
		return nil, nil
	}
	return s.state(), nil
}

// news grows with everything that a page shows. The caller holds the lock.
func (s *Server) news() int { return s.progress + int(s.judged.Load()) }

// judgedBy returns the verdict by the text of now; nil for none. The caller holds the lock.
func (s *Server) judgedBy() *verdict {
	if v := s.verdict; v != nil && v.of == s.now {
		return v
	}
	return nil
}

// state is what the page shows. The caller holds the lock.
func (s *Server) state() stateJSON {
	a, v := s.now, s.judgedBy()
	st := stateJSON{
		Version: s.session.version, Progress: s.news(), Command: s.options.Command, Mapping: s.mapping(),
		Sheet: a.book.sheet, Targets: a.targets(s.options.Service, v), Judgement: s.judgement(v),
	}
	st.Sheet.Others = len(s.options.Sheets) - 1
	if service := s.options.Service; service != nil {
		st.Environment = service.Environment
	}
	st.Columns, st.Suggestions = a.columnList(st.Targets, v), s.suggestions(st.Targets)
	if s.job != nil {
		copied := *s.job
		copied.Problems = slices.Clone(copied.Problems)
		st.Job = &copied
	}
	return st
}

func (s *Server) mapping() mappingJSON {
	a := s.now
	problems, warnings := a.problems, a.warnings
	if v := s.judgedBy(); v != nil {
		problems, warnings = slices.Concat(problems, v.found), slices.Concat(warnings, v.warnings)
	}
	m := mappingJSON{
		Path: s.session.path, Exists: s.session.file != nil, DiskNote: s.session.onDisk(), Dirty: s.session.dirty(), Text: string(s.session.text()),
		Problems: a.show(problems), Warnings: a.show(warnings),
		At: s.session.at, Questions: questions(a.doc, a.text), Draft: s.session.dirty() && s.session.history[s.session.at].label == leftUnsaved,
	}
	for _, r := range s.session.history {
		m.History = append(m.History, r.label)
	}
	if err := s.session.notKept; err != nil {
		m.Warnings = append(m.Warnings, problemJSON{Code: "not-kept", Where: s.session.autosave, Hint: "save before the page is closed",
			Message: "what is not saved cannot be kept for the next time: " + whyNot(err)})
	}
	return m
}

// questions returns the questions of a first mapping. One that has a line of its own is about the next line.
func questions(doc *yamlpatch.Document, text []byte) []questionJSON {
	list := []questionJSON{}
	isComment := func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }
	all := lines(string(text))
	for i, line := range all {
		found := question.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		one := questionJSON{Line: i + 1, Text: inPageWords(found[1])}
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

// inPage returns a problem as the page gets it, with the column of its cell.
func inPage(p problem.Problem) problemJSON {
	shown := problemJSON{Code: p.Code, Message: inPageWords(p.Message), Hint: inPageWords(p.Hint)}
	if c := columnOf(p.Where); c >= 0 {
		shown.Column = cell.ColumnName(c)
	}
	return shown
}

// show returns problems as the page gets them, with the path of the rule in the mapping.
func (a *analysis) show(list problem.List) []problemJSON {
	shown := []problemJSON{}
	for _, p := range list {
		one := inPage(p)
		one.Where, one.Line, one.Row = p.Where.String(), p.Where.Line, p.Where.Row
		if a.doc != nil && p.Where.Line > 0 {
			one.Path = yamlpatch.Pointer(a.doc.At(p.Where.Line, p.Where.Column)...)
		}
		if p.Code == "no-workflow" && a.doc != nil { // reported at each activity, corrected once
			one.Path = "/workflow/name"
			if _, ok := a.doc.Value("workflow", "name"); ok {
				one.Path = "/workflow/template_identifier"
			}
		}
		shown = append(shown, one)
	}
	return shown
}

func (a *analysis) columnList(targets []targetJSON, v *verdict) []columnJSON {
	list := make([]columnJSON, 0, len(a.book.columns))
	for i, c := range a.book.columns {
		one := c.columnJSON
		one.Targets, one.Ignored = []string{}, a.ignores(i)
		for _, t := range targets {
			if t.Rule != nil && slices.Contains(t.Columns, one.Letter) {
				one.Targets = append(one.Targets, t.Path)
			}
		}
		if v != nil {
			one.tallyJSON = v.columns[i]
		}
		list = append(list, one)
	}
	return list
}

func (s *Server) judgement(v *verdict) judgementJSON {
	j := judgementJSON{Codes: []errorJSON{}}
	if v != nil {
		j = v.sum
	}
	j.Rows, j.Done, j.Stale = len(s.now.book.records), int(s.judged.Load()), s.now.bound == nil
	return j
}

// suggestions returns what is proposed for what is not filled yet.
func (s *Server) suggestions(targets []targetJSON) []suggestionJSON {
	list := []suggestionJSON{}
	for _, g := range s.now.book.suggestions {
		one := suggestionJSON{Path: yamlpatch.Pointer(g.Path...), Certainty: string(g.Certainty), Reason: g.Reason,
			Ask: g.Ask, Sure: g.Ask == ""}
		if c := s.now.book.find(g.Column); c >= 0 {
			one.Column = cell.ColumnName(c)
		}
		at := slices.IndexFunc(targets, func(t targetJSON) bool {
			if g.Path != nil {
				return t.Path == one.Path
			}
			return t.Group == "activity" && t.Of == g.Template && t.Title == g.Attribute
		})
		switch {
		case at < 0 && g.Path == nil:
			continue
		case at >= 0 && (targets[at].Rule != nil || targets[at].Status == string(mapping.Open)):
			continue
		case at >= 0:
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

func (a *analysis) ignores(column int) bool {
	return a.mapping.Ignores(mapping.IgnoredName(a.book.table, column))
}
