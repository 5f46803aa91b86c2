package studio

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/yamlpatch"
)

// style writes new text as the first mapping of init is written.
var style = yamlpatch.Style{"sheet", "client", "lookup", "fields", "attributes", "workflow", "values"}

// changeIn is a change that a page asks for. Version is the one that it was made for, so that a second click on “remove” does not remove
// the next entry.
type changeIn struct {
	Version int `json:"version"`

	Label      string                `json:"label"` // of a patch
	Operations []yamlpatch.Operation `json:"operations"`
	Text       string                `json:"text"`
	To         int                   `json:"to"`        // a place of the history
	Overwrite  bool                  `json:"overwrite"` // save over what another program has written
	Line       int                   `json:"line"`      // of the question that is answered
	Column     string                `json:"column"`    // that is left out, or no longer
	Ignored    bool                  `json:"ignored"`
	Kind       string                `json:"kind"` // of a job
}

// changing answers a request for a change with the state after it. do has the lock.
func (s *Server) changing(do func(changeIn) error) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var in changeIn
		if err := read(r, &in); err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if in.Version != s.session.version {
			return nil, cannot("stale", "the mapping has changed meanwhile, perhaps in another tab", "look at it as it is now, and do it again")
		}
		if err := do(in); err != nil {
			return nil, err
		}
		s.refresh()
		return s.state(), nil
	}
}

func (s *Server) patch(in changeIn) error {
	text, err := apply(s.session.text(), in.Operations)
	if err == nil {
		s.session.change(in.Label, answered(text, in.Operations))
	}
	return err
}

// apply applies operations to a text, one after the other. What an operation needs around it is made first, and an object of values that it
// leaves empty goes too, so that a page need not know what the file has.
func apply(text []byte, operations []yamlpatch.Operation) ([]byte, error) {
	for _, op := range operations {
		doc, err := yamlpatch.Read(text)
		if err != nil {
			return nil, cannot("not-yaml", err.Error(), "correct the file in the pane with its text first")
		}
		op = normalise(doc, op)
		if text, err = yamlpatch.Apply(text, style, op); err == nil {
			continue
		}
		if cause := errors.Unwrap(err); cause != nil { // without the operation's path
			err = cause
		}
		return nil, cannot("cannot-patch", "the file cannot be changed in this place: "+err.Error(), "change it in the view “The file”")
	}
	return text, nil
}

// question matches the comment of a first mapping that asks for a decision, with the blanks before it.
var question = regexp.MustCompile(` *#[^#]*\bDECIDE: ([^\r\n]*)`)

// decide takes a question out of the text: it is answered.
func (s *Server) decide(in changeIn) error {
	s.session.change("a question is answered", withoutQuestion(s.session.text(), in.Line))
	return nil
}

// withoutQuestion takes the question of a line away; a line that is nothing else goes too.
func withoutQuestion(text []byte, line int) []byte {
	all := strings.SplitAfter(string(text), "\n")
	all[line-1] = question.ReplaceAllString(all[line-1], "")
	if strings.TrimSpace(all[line-1]) == "" {
		all[line-1] = ""
	}
	return []byte(strings.Join(all, ""))
}

// answered takes the questions away that operations have answered: those about a rule that they changed. Questions about a section stay.
func answered(text []byte, operations []yamlpatch.Operation) []byte {
	doc, err := yamlpatch.Read(text)
	if err != nil {
		return text
	}
	for _, q := range slices.Backward(questions(doc, text)) { // from below, so that the lines above stay where they are
		isRule := isName(tokens(q.Path))
		if q.Path != "" && slices.ContainsFunc(operations, func(op yamlpatch.Operation) bool {
			return op.Path == q.Path || isRule && strings.HasPrefix(op.Path, q.Path+"/")
		}) {
			text = withoutQuestion(text, q.Line)
		}
	}
	return text
}

// replaceText takes a text with the ends of lines of the one before: a browser knows only one kind.
func (s *Server) replaceText(in changeIn) error {
	before := s.session.text()
	if ends := bytes.Count(before, []byte("\n")); ends > 0 && ends == bytes.Count(before, []byte("\r\n")) && !strings.Contains(in.Text, "\r") {
		in.Text = strings.ReplaceAll(in.Text, "\n", "\r\n")
	}
	s.session.change("the text", []byte(in.Text))
	return nil
}

// goTo undoes changes, or does them again.
func (s *Server) goTo(in changeIn) error {
	if in.To < 0 || in.To >= len(s.session.history) {
		return cannot("no-such-version", "there is nothing to go to in the history", "")
	}
	s.session.goTo(in.To)
	return nil
}

func (s *Server) reload(changeIn) error {
	text, err := readFile(s.session.path)
	if err != nil {
		return err
	}
	if text == nil {
		return cannot("no-file", "the file is not there any more", "save to write it again")
	}
	s.session.file = text
	s.session.change("read from the disk", text)
	return nil
}

// ignore leaves a column out on purpose, or no longer.
func (s *Server) ignore(in changeIn) error {
	name, text := mapping.IgnoredName(s.now.book.table, cell.ColumnAt(in.Column)), s.session.text()
	if s.now.mapping.Ignores(name) == in.Ignored {
		return nil
	}
	label := name + " is left out"
	if !in.Ignored {
		label = name + " is not left out"
	}
	s.session.change(label, mapping.Ignore(text, name, in.Ignored))
	return nil
}

// optional are objects that mean nothing when they are empty.
var optional = []string{"lookup", "attributes", "values", "sheet", "workflow", "columns", "numbers"}

// lists are keys whose value is a list of objects.
var lists = []string{"activities", "claims", "contacts"}

// textLists are keys whose value is a list of texts, or a text alone. Below other keys “-” is a name, or a text of a value table.
var textLists = []string{"empty", "first_of", "join", "key", "format", "checked", "unchecked", "claimants"}

// byTemplate begins a part of a path that names an activity by its template, which the
// mapping may not have yet: /activities/template=Your details/attributes/Title.
const byTemplate = "template="

// normalise returns what a page asks for as an operation on the file: with what an added value stands in, or what a removed one leaves
// empty.
func normalise(doc *yamlpatch.Document, op yamlpatch.Operation) yamlpatch.Operation {
	path := resolve(doc, tokens(op.Path))
	switch {
	case op.Op == "remove":
		for len(path) > 1 && len(doc.Keys(path[:len(path)-1]...)) == 1 {
			holder := path[:len(path)-1]
			name := holder[len(holder)-1]
			if !slices.Contains(optional, name) && !(slices.Contains(textLists, name) && isList(doc, holder)) {
				break
			}
			path = holder
		}
	case (op.Op == "add" || op.Op == "replace") && len(path) > 0:
		return put(doc, op, path)
	}
	op.Path = yamlpatch.Pointer(path...)
	return op
}

// put returns the operation that makes the value of op the value at a path, with what it stands in where that is not there yet.
func put(doc *yamlpatch.Document, op yamlpatch.Operation, path []string) yamlpatch.Operation {
	holder, name := path[:len(path)-1], path[len(path)-1]
	_, isThere := doc.Value(path...)
	around, hasHolder := doc.Value(holder...)
	switch {
	case isThere:
		op.Op = "replace"
	case isList(doc, holder):
		op.Op, path = "add", append(slices.Clone(holder), "-")
	case name == "-" && len(holder) > 0 && slices.Contains(textLists, holder[len(holder)-1]): // a list that is not there, or is a text alone
		texts := []byte("[")
		if hasHolder && string(around) != "null" {
			texts = slices.Concat(texts, around, []byte(","))
		}
		op.Value = slices.Concat(texts, op.Value, []byte("]"))
		return put(doc, op, holder)
	case hasHolder || len(holder) == 0:
		op.Op = "add"
	case len(holder) == 1 && slices.Contains(lists, holder[0]):
		op.Value = slices.Concat([]byte("["), op.Value, []byte("]"))
		return put(doc, op, holder)
	default:
		var template []byte // of a new activity, whose first member this is
		if of, ok := strings.CutPrefix(holder[len(holder)-1], byTemplate); ok && len(holder) == 2 {
			template = slices.Concat([]byte(`"template":`), cell.QuoteJSON(of), []byte(","))
		}
		op.Value = slices.Concat([]byte("{"), template, cell.QuoteJSON(name), []byte(":"), op.Value, []byte("}"))
		return put(doc, op, holder)
	}
	op.Path = yamlpatch.Pointer(path...)
	return op
}

// resolve replaces an activity that is named by its template by its place in the list; one that is not there stays named.
func resolve(doc *yamlpatch.Document, path []string) []string {
	if len(path) < 2 || path[0] != "activities" || !strings.HasPrefix(path[1], byTemplate) {
		return path
	}
	for _, entry := range doc.Keys("activities") {
		there, _ := doc.Value("activities", entry, "template")
		var name string
		if json.Unmarshal(there, &name) != nil {
			name = string(there) // a person may have written it as a number
		}
		if byTemplate+name == path[1] {
			return append([]string{"activities", entry}, path[2:]...)
		}
	}
	return path
}

func isList(doc *yamlpatch.Document, path []string) bool {
	value, ok := doc.Value(path...)
	return ok && len(value) > 0 && value[0] == '['
}

// tokens returns the path of a JSON Pointer; nil for another text, which Apply refuses.
func tokens(pointer string) []string {
	path, _ := yamlpatch.Path(pointer)
	return path
}
