package studio

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/yamlpatch"
)

// style writes new text as the first mapping of init is written.
var style = yamlpatch.Style{"sheet", "client", "lookup", "fields", "attributes", "workflow", "values"}

// changeIn is a change that a page asks for. Version is the one that it was made for: a
// page sends one change after the other, each for the version that the answer before had,
// so that a second click on “remove” does not remove the next entry.
type changeIn struct {
	Version int `json:"version"`

	Label      string                `json:"label"` // of a patch
	Operations []yamlpatch.Operation `json:"operations"`
	Text       string                `json:"text"`
	To         *int                  `json:"to"`        // a place of the history; null for the one before, or after
	Overwrite  bool                  `json:"overwrite"` // save over what another program has written
	Take       bool                  `json:"take"`      // the draft, else it is dropped
	Line       int                   `json:"line"`      // of the question that is answered
	Column     string                `json:"column"`    // that is left out, or no longer
	Ignored    bool                  `json:"ignored"`
	Kind       JobKind               `json:"kind"`
}

func cannot(code, message, hint string) failure {
	return failure{http.StatusUnprocessableEntity, code, message, hint}
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
			return nil, errStale
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
		const most = 200 // characters of a label
		label := []rune(in.Label)
		s.session.change(string(label[:min(len(label), most)]), answered(text, in.Operations))
	}
	return err
}

// apply applies operations to a text, one after the other. An operation whose object or
// list is not there yet makes it first, and one that leaves an object of values empty
// removes that too, so that a page need not know what the file has.
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
		if _, there := doc.Value(tokens(op.Path)...); op.Op == "remove" && !there {
			return nil, cannot("cannot-patch", "there is nothing to take away: the mapping does not have it", "look at the mapping as it is now")
		}
		if cause := errors.Unwrap(err); cause != nil { // without the operation's path
			err = cause
		}
		return nil, cannot("cannot-patch", "the file cannot be changed in this place: "+err.Error(), "change it in the view “The file”")
	}
	if len(text) > mapping.MaxSize {
		return nil, errTooLarge
	}
	return text, nil
}

var errTooLarge = cannot("too-large", "the mapping would be larger than 1 MiB", "")

// question matches the comment of a first mapping that asks for a decision.
var question = regexp.MustCompile(`#.*\bDECIDE: (.*)$`)

// decide takes a question out of the text: it is answered.
func (s *Server) decide(in changeIn) error {
	text, ok := withoutQuestion(s.session.text(), in.Line)
	if !ok {
		return cannot("no-question", "there is no question in this line", "")
	}
	s.session.change("a question is answered", text)
	return nil
}

// withoutQuestion takes the question of a line away; a line that is nothing else goes too.
// ok is false when the line has no question, or when it is no comment: the file must say the same
// without it.
func withoutQuestion(text []byte, n int) (without []byte, ok bool) {
	all := strings.SplitAfter(string(text), "\n")
	if n < 1 || n > len(all) {
		return nil, false
	}
	line := strings.TrimRight(all[n-1], "\r\n")
	end := all[n-1][len(line):]
	said := strings.TrimRight(question.ReplaceAllString(line, ""), " ")
	if said == "" {
		end = ""
	}
	all[n-1] = said + end
	without = []byte(strings.Join(all, ""))
	_, err := yamlpatch.Read(text)
	return without, err == nil && question.MatchString(line) && saysTheSame(text, without)
}

// saysTheSame reports whether a text differs only in its comments from one before, which
// need not be YAML.
func saysTheSame(before, text []byte) bool {
	was, err := yamlpatch.Read(before)
	if err != nil {
		return true
	}
	is, err := yamlpatch.Read(text)
	if err != nil {
		return false
	}
	said, _ := was.Value()
	says, _ := is.Value()
	return string(said) == string(says)
}

// answered takes the questions away that operations have answered: those about a rule that
// they changed, in whole or in part. Questions about a section stay.
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
			if without, ok := withoutQuestion(text, q.Line); ok {
				text = without
			}
		}
	}
	return text
}

// replaceText takes a text with the ends of lines of the one before: a browser knows only
// one kind.
func (s *Server) replaceText(in changeIn) error {
	if len(in.Text) > mapping.MaxSize {
		return errTooLarge
	}
	before := s.session.text()
	if ends := bytes.Count(before, []byte("\n")); ends > 0 && ends == bytes.Count(before, []byte("\r\n")) && !strings.Contains(in.Text, "\r") {
		in.Text = strings.ReplaceAll(in.Text, "\n", "\r\n")
	}
	if string(before) == in.Text {
		s.session.goTo(s.session.at) // the page shows it as the file has it
	} else {
		s.session.change("the text", []byte(in.Text))
	}
	return nil
}

func (s *Server) goTo(by int) func(changeIn) error {
	return func(in changeIn) error {
		to := s.session.at + by
		if in.To != nil {
			to = *in.To
		}
		if to < 0 || to >= len(s.session.history) {
			return cannot("no-such-version", "there is nothing to go to in the history", "")
		}
		s.session.goTo(to)
		return nil
	}
}

func (s *Server) save(in changeIn) error { return s.session.save(in.Overwrite) }

func (s *Server) reload(changeIn) error {
	text, err := readFile(s.session.path)
	if err != nil {
		return err
	}
	if text == nil {
		return cannot("no-file", "the file is not there any more", "save to write it again")
	}
	s.session.file, s.session.leads = text, whereTo(s.session.path)
	s.session.change("read from the disk", text)
	return nil
}

// draft takes what an earlier session left unsaved, or throws it away. What is taken was
// made of the file of then: when that is another one now, saving asks which to keep.
func (s *Server) draft(in changeIn) error {
	left := s.session.left
	if left == nil {
		return cannot("no-draft", "nothing was left unsaved", "")
	}
	if s.session.left = nil; in.Take {
		s.session.file = left.File
		s.session.change("left unsaved before", []byte(left.Text))
	} else {
		s.session.keep()
	}
	return nil
}

// ignore leaves a column out on purpose, or no longer.
func (s *Server) ignore(in changeIn) error {
	b := s.now.book
	c := b.column(in.Column)
	if c == nil {
		return failure{http.StatusNotFound, "no-such-column", "the sheet has no such column", ""}
	}
	name, text := mapping.IgnoredName(b.tables[0], c.index), s.session.text()
	if s.now.mapping.Ignores(name) == in.Ignored {
		return nil
	}
	changed, label := mapping.Ignore(text, name, in.Ignored), name+" is left out"
	if !in.Ignored {
		label = name + " is not left out"
	}
	if !saysTheSame(text, changed) {
		return cannot("cannot-patch", "the file cannot be changed there", "change it in the view “The file”")
	}
	s.session.change(label, changed)
	return nil
}
