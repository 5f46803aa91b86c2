package studio

import (
	"cmp"
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

// column is what the rows of the sheet have in one column, and what becomes of it.
type column struct {
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

	texts map[string]bool // the distinct texts, at most maxDistinct
}

type errorJSON struct {
	Code    string   `json:"code"`
	Message string   `json:"message,omitempty"`
	Count   int      `json:"count"`
	Example string   `json:"example,omitempty"`
	at      cell.Row // of the example
}

type targetJSON struct {
	Path       string          `json:"path"`
	ByTemplate string          `json:"byTemplate"` // the path by the name of the activity's template; "" for other targets
	Section    string          `json:"section"`
	About      string          `json:"about"` // the section
	Title      string          `json:"title"` // in the section
	Name       string          `json:"name"`  // anywhere
	IsOpen     bool            `json:"isOpen"`
	Type       string          `json:"type"`
	TypeFrom   string          `json:"typeFrom"`
	Required   bool            `json:"required"`
	Editor     string          `json:"editor"` // one of editors, choice, text, value or plain
	Choices    [][3]any        `json:"choices"`
	Options    []string        `json:"options"` // of the service
	Rule       json.RawMessage `json:"rule"`
	Columns    []string        `json:"columns"`
	Line       int             `json:"line,omitempty"`
	tallyJSON

	template string // of an activity
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
func (s *Server) state() map[string]any {
	a, v := s.now, s.judgedBy()
	sheet, targets, environment := a.book.sheet, a.targets(s.options.Service, v), ""
	sheet.Others = len(s.options.Sheets) - 1
	if service := s.options.Service; service != nil {
		environment = service.Environment
	}
	var latest *job
	if s.job != nil {
		copied := *s.job
		copied.Problems = slices.Clone(copied.Problems)
		latest = &copied
	}
	return map[string]any{
		"version": s.session.version, "progress": s.news(), "command": s.options.Command, "mapping": s.mapping(), "environment": environment,
		"sheet": sheet, "columns": a.columnList(targets, v), "targets": targets, "suggestions": s.suggestions(targets),
		"judgement": s.judgement(v), "job": latest,
	}
}

func (s *Server) mapping() map[string]any {
	a := s.now
	problems, warnings := a.problems, a.warnings
	if v := s.judgedBy(); v != nil {
		problems, warnings = slices.Concat(problems, v.found), slices.Concat(warnings, v.warnings)
	}
	shown := a.show(warnings)
	if err := s.session.notKept; err != nil {
		shown = append(shown, problemJSON{Code: "not-kept", Where: s.session.autosave, Hint: "save before the page is closed",
			Message: "what is not saved cannot be kept for the next time: " + whyNot(err)})
	}
	var history []string // what was done, the beginning first
	for _, r := range s.session.history {
		history = append(history, r.label)
	}
	return map[string]any{
		"path": s.session.path, "exists": s.session.file != nil, "diskNote": s.session.onDisk(), "dirty": s.session.dirty(),
		"text": string(s.session.text()), "problems": a.show(problems), "warnings": shown, "history": history, "at": s.session.at,
		"questions": questions(a.doc, a.text), "draft": s.session.dirty() && s.session.history[s.session.at].label == leftUnsaved,
	}
}

// questions returns the questions of a first mapping that are not answered yet. One that has a line of its own is about the next line.
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

func (a *analysis) columnList(targets []targetJSON, v *verdict) []column {
	list := make([]column, 0, len(a.book.columns))
	for i, c := range a.book.columns {
		one := *c
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
func (s *Server) suggestions(targets []targetJSON) []map[string]any {
	list := []map[string]any{}
	for _, g := range s.now.book.suggestions {
		path, column := yamlpatch.Pointer(g.Path...), ""
		if c := s.now.book.find(g.Column); c >= 0 { // it is one alone
			column = cell.ColumnName(c)
		}
		at := slices.IndexFunc(targets, func(t targetJSON) bool {
			if g.Path != nil {
				return t.Path == path
			}
			return t.template == g.Template && t.Title == g.Attribute
		})
		switch {
		case at < 0 && g.Path == nil:
			continue
		case at >= 0 && (targets[at].Rule != nil || targets[at].IsOpen):
			continue
		case at >= 0:
			path = targets[at].Path
		}
		if slices.ContainsFunc(s.now.columnsOf(g.Value, tokens(path)), s.now.ignores) {
			continue
		}
		list = append(list, map[string]any{"path": path, "column": column, "reason": cmp.Or(g.Reason, "no other column fits better"), "ask": g.Ask,
			"sure": g.Ask == "", "operations": []yamlpatch.Operation{{Op: "add", Path: path, Value: g.Value}}})
	}
	return list
}

func (a *analysis) ignores(column int) bool {
	return a.mapping.Ignores(mapping.IgnoredName(a.book.table, column))
}
