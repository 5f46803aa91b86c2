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

// madeFor is the version that a change was made for. A page sends one change after the
// other, each for the version that the answer before had: a second click on “remove” must not
// remove the next entry.
type madeFor struct {
	Version int `json:"version"`
}

// cannot refuses a change.
func cannot(code, message, hint string) failure {
	return failure{http.StatusUnprocessableEntity, code, message, hint}
}

// changing answers a request for a change with the state after it. do has the lock.
func changing[T any](s *Server, do func(in T) error) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var of madeFor
		var in T
		if err := read(r, &of, &in); err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.first {
			return nil, errReading
		}
		if of.Version != s.session.version {
			return nil, errStale
		}
		if err := do(in); err != nil {
			return nil, err
		}
		s.refresh()
		return s.state(), nil
	}
}

type patchIn struct {
	Label      string                `json:"label"`
	Operations []yamlpatch.Operation `json:"operations"`
}

func (s *Server) patch(in patchIn) error {
	const most = 200 // characters of a label
	if r := []rune(in.Label); len(r) > most {
		in.Label = string(r[:most])
	}
	text, err := apply(s.session.text(), s.options.Service, in.Operations)
	if err == nil {
		s.session.change(in.Label, answered(text, in.Operations))
	}
	return err
}

// apply applies operations to a text, one after the other. An operation whose object or
// list is not there yet makes it first, and one that leaves an object of values empty
// removes that too, so that a page need not know what the file has. New attributes go to
// their places in the order of the service's template, if that is known.
func apply(text []byte, service *mapping.Service, operations []yamlpatch.Operation) ([]byte, error) {
	for _, op := range operations {
		doc, err := yamlpatch.Read(text)
		if err != nil {
			return nil, cannot("not-yaml", err.Error(), "correct the file in the pane with its text first")
		}
		op = normalise(doc, service, op)
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

type decideIn struct {
	Line int `json:"line"`
}

// decide takes a question out of the text: it is answered.
func (s *Server) decide(in decideIn) error {
	text, ok := withoutQuestion(s.session.text(), in.Line)
	if !ok {
		return cannot("no-question", "there is no question in this line", "")
	}
	s.session.change("a question is answered", text)
	return nil
}

// withoutQuestion takes the question of a line away; a line that is nothing else goes too.
// ok is false when there is none, or when it is no comment: the file must say the same
// without it.
func withoutQuestion(text []byte, n int) (without []byte, ok bool) {
	all := strings.SplitAfter(string(text), "\n")
	if n < 1 || n > len(all) {
		return nil, false
	}
	line := strings.TrimRight(all[n-1], "\r\n")
	found := question.FindStringIndex(line)
	if found == nil {
		return nil, false
	}
	end := all[n-1][len(line):]
	if line = strings.TrimRight(line[:found[0]], " "); line == "" {
		end = ""
	}
	all[n-1] = line + end
	without = []byte(strings.Join(all, ""))
	_, err := yamlpatch.Read(text)
	return without, err == nil && saysTheSame(text, without)
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
		isRule := isAttribute(tokens(q.Path))
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

type textIn struct {
	Text string `json:"text"`
}

// replaceText takes a text with the ends of lines of the one before: a browser knows only
// one kind.
func (s *Server) replaceText(in textIn) error {
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

// goToIn names a place of the history; without it the one before, or after, is meant.
type goToIn struct {
	To *int `json:"to"`
}

func (s *Server) goTo(by int) func(goToIn) error {
	return func(in goToIn) error {
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

type saveIn struct {
	Overwrite bool `json:"overwrite"`
}

func (s *Server) save(in saveIn) error { return s.session.save(in.Overwrite) }

// reload takes the file as it is on the disk.
func (s *Server) reload(struct{}) error {
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

type draftIn struct {
	Take bool `json:"take"`
}

// draft takes what an earlier session left unsaved, or throws it away. What is taken was
// made of the file of then: when that is another one now, saving asks which to keep.
func (s *Server) draft(in draftIn) error {
	left := s.session.unsavedBefore
	if left == nil {
		return cannot("no-draft", "nothing was left unsaved", "")
	}
	if s.session.unsavedBefore = left.Before; in.Take {
		s.session.file = left.File
		s.session.change("left unsaved before", []byte(left.Text))
	} else {
		s.session.keep()
	}
	return nil
}

type ignoreIn struct {
	Column  string `json:"column"`
	Ignored bool   `json:"ignored"`
}

// ignore leaves a column out on purpose, or no longer.
func (s *Server) ignore(in ignoreIn) error {
	c := s.book.column(in.Column)
	if c == nil {
		return failure{http.StatusNotFound, "no-such-column", "the sheet has no such column", ""}
	}
	name, text := mapping.IgnoredName(s.book.tables[0], c.index), s.session.text()
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
