package studio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/yamlpatch"
)

// style writes new text as the first mapping of init is written.
var style = yamlpatch.Style{Block: []string{"sheet", "client", "lookup", "fields", "attributes", "workflow", "values"}}

// madeFor is what a change was made for. A page sends one change after the other, each for
// the version that the answer before had. Revision, which may be left out, is the version
// whose lists the person saw: a second click on “remove” must not remove the next entry.
type madeFor struct {
	Version  int  `json:"version"`
	Revision *int `json:"revision"`
}

// change makes a change for the version that a page has seen, and returns the state.
// The caller does not hold the lock.
func (s *Server) change(of madeFor, do func() error) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first {
		return nil, errReading
	}
	if of.Version != s.session.version || of.Revision != nil && *of.Revision != s.session.version {
		return nil, errStale
	}
	if err := do(); err != nil {
		return nil, err
	}
	s.refresh()
	return s.state(), nil
}

// mostLabel is how many characters a label of the history may have.
const mostLabel = 200

func (s *Server) postPatch(r *http.Request) (any, error) {
	var in struct {
		madeFor
		Label      string                `json:"label"`
		Operations []yamlpatch.Operation `json:"operations"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if r := []rune(in.Label); len(r) > mostLabel {
		in.Label = string(r[:mostLabel])
	}
	return s.change(in.madeFor, func() error {
		text, err := apply(s.session.text(), s.options.Service, in.Operations)
		if err == nil {
			s.session.change(in.Label, answered(text, in.Operations))
		}
		return err
	})
}

// apply applies operations to a text, one after the other. An operation whose object or
// list is not there yet makes it first, and one that leaves an object of values empty
// removes that too, so that a page need not know what the file has. New attributes go to
// their places in the order of the service's template, if that is known.
func apply(text []byte, service *mapping.Service, operations []yamlpatch.Operation) ([]byte, error) {
	for _, op := range operations {
		doc, err := yamlpatch.Read(text)
		if err != nil {
			return nil, failure{http.StatusUnprocessableEntity, "not-yaml", err.Error(), "correct the file in the pane with its text first"}
		}
		if key, first, second := doc.Twice(resolve(doc, tokens(op.Path))...); key != "" {
			return nil, failure{http.StatusUnprocessableEntity, "duplicate-key", fmt.Sprintf("“%s” is there twice, in lines %d and %d", problem.OneLine(key), first, second), "keep one of the two, in the view “The file”"}
		}
		op = normalise(doc, service, op)
		if text, err = yamlpatch.Apply(text, style, op); err != nil {
			return nil, cannot(doc, op, err)
		}
	}
	if len(text) > mapping.MaxSize {
		return nil, failure{http.StatusUnprocessableEntity, "too-large", "the mapping would be larger than 1 MiB", ""}
	}
	return text, nil
}

// cannot says why an operation could not be applied, without its path.
func cannot(doc *yamlpatch.Document, op yamlpatch.Operation, err error) error {
	if _, there := doc.Value(tokens(op.Path)...); op.Op == "remove" && !there {
		return failure{http.StatusUnprocessableEntity, "cannot-patch", "there is nothing to take away: the mapping does not have it", "look at the mapping as it is now"}
	}
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return failure{http.StatusUnprocessableEntity, "cannot-patch", "the file cannot be changed in this place: " + err.Error(), "change it in the view “The file”"}
}

// question matches the comment of a first mapping that asks for a decision.
var question = regexp.MustCompile(`#.*\bDECIDE: (.*)$`)

// postDecide takes a question out of the text: it is answered.
func (s *Server) postDecide(r *http.Request) (any, error) {
	var in struct {
		madeFor
		Line int `json:"line"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.madeFor, func() error {
		text, ok := withoutQuestion(s.session.text(), in.Line)
		if !ok {
			return failure{http.StatusUnprocessableEntity, "no-question", "there is no question in this line", ""}
		}
		s.session.change("a question is answered", text)
		return nil
	})
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
	list := questions(doc, text)
	for _, q := range slices.Backward(list) { // from below, so that the lines above stay where they are
		path := tokens(q.Path)
		isRule := len(path) > 1 && slices.Contains([]string{"attributes", "fields"}, path[len(path)-2])
		if slices.ContainsFunc(operations, func(op yamlpatch.Operation) bool {
			return q.Path != "" && (op.Path == q.Path || isRule && strings.HasPrefix(op.Path, q.Path+"/"))
		}) {
			if without, ok := withoutQuestion(text, q.Line); ok {
				text = without
			}
		}
	}
	return text
}

func (s *Server) postText(r *http.Request) (any, error) {
	var in struct {
		madeFor
		Text string `json:"text"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.madeFor, func() error {
		if len(in.Text) > mapping.MaxSize {
			return failure{http.StatusUnprocessableEntity, "too-large", "the mapping would be larger than 1 MiB", ""}
		}
		text := withEnds(s.session.text(), in.Text)
		if bytes.Equal(text, s.session.text()) {
			s.session.goTo(s.session.at) // the page shows it as the file has it
			return nil
		}
		s.session.change("the text", text)
		return nil
	})
}

// withEnds gives a text the ends of lines of the one before: a browser knows only one kind.
func withEnds(before []byte, text string) []byte {
	ends := bytes.Count(before, []byte("\n"))
	if ends > 0 && ends == bytes.Count(before, []byte("\r\n")) && !strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text)
}

// postGoTo goes to another revision of the history: the one before or after, or the one
// that “to” names by its version.
func (s *Server) postGoTo(r *http.Request) (any, error) {
	var in struct {
		madeFor
		To *int `json:"to"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.madeFor, func() error {
		to := s.session.at - 1
		if strings.HasSuffix(r.URL.Path, "/redo") {
			to = s.session.at + 1
		}
		if in.To != nil {
			to = slices.IndexFunc(s.session.history, func(m revision) bool { return m.version == *in.To })
		}
		if to < 0 || to >= len(s.session.history) {
			return failure{http.StatusUnprocessableEntity, "no-such-version", "there is nothing to go to in the history", ""}
		}
		s.session.goTo(to)
		return nil
	})
}

func (s *Server) postSave(r *http.Request) (any, error) {
	var in struct {
		madeFor
		Overwrite bool `json:"overwrite"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.madeFor, func() error { return s.session.save(in.Overwrite) })
}

func (s *Server) postReload(r *http.Request) (any, error) {
	var in struct {
		madeFor
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.madeFor, func() error {
		disk, err := readFile(s.session.path)
		if err != nil {
			return err
		}
		if disk.text == nil {
			return failure{http.StatusUnprocessableEntity, "no-file", "the file is not there any more", "save to write it again"}
		}
		s.session.file = disk
		s.session.change("read from the disk", disk.text)
		return nil
	})
}

// postDraft takes what an earlier session left unsaved, or throws it away. What is taken
// was made of the file of then: when that is another one now, saving asks which to keep.
func (s *Server) postDraft(r *http.Request) (any, error) {
	var in struct {
		madeFor
		Take bool `json:"take"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.madeFor, func() error {
		left := s.session.unsavedBefore
		if left == nil {
			return failure{http.StatusUnprocessableEntity, "no-draft", "nothing was left unsaved", ""}
		}
		s.session.unsavedBefore = left.Before
		if in.Take {
			s.session.file.text = left.File
			s.session.change("left unsaved before", []byte(left.Text))
		} else {
			s.session.keep()
		}
		return nil
	})
}

// postSheet chooses the sheet and its header row, in the mapping.
func (s *Server) postSheet(r *http.Request) (any, error) {
	var in struct {
		madeFor
		Name      string `json:"name"`
		HeaderRow int    `json:"headerRow"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.madeFor, func() error {
		if in.HeaderRow < 1 || in.HeaderRow > cell.MaxRows {
			return failure{http.StatusBadRequest, "bad-request", "the header row must be more than 0", ""}
		}
		doc, err := yamlpatch.Read(s.session.text())
		if err != nil {
			return failure{http.StatusUnprocessableEntity, "not-yaml", err.Error(), "correct the file in the pane with its text first"}
		}
		var operations []yamlpatch.Operation
		put := func(key string, isUsual bool, value any) {
			old, there := doc.Value("sheet", key)
			data, _ := json.Marshal(value) // a text or a number
			switch {
			case there && string(old) == string(data), !there && isUsual:
			default:
				operations = append(operations, yamlpatch.Operation{Op: "add", Path: yamlpatch.Pointer("sheet", key), Value: data})
			}
		}
		if names := s.now.book.names; len(names) > 0 && in.Name != "" {
			put("name", in.Name == names[0], in.Name)
		}
		put("header_row", in.HeaderRow == 1, in.HeaderRow)
		text, err := apply(s.session.text(), s.options.Service, operations)
		if err == nil && len(operations) > 0 {
			s.session.change(fmt.Sprintf("the headers are in row %d of %s", in.HeaderRow, problem.OneLine(in.Name)), text)
		}
		return err
	})
}

// ignoredName is how an ignored line names a column.
func (b *book) ignoredName(c *column) string { return mapping.IgnoredName(b.tables[0], c.index) }

func (s *Server) postIgnore(r *http.Request) (any, error) {
	var in struct {
		madeFor
		Column  string `json:"column"`
		Ignored bool   `json:"ignored"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	return s.change(in.madeFor, func() error {
		c := s.now.book.column(in.Column)
		if c == nil {
			return failure{http.StatusNotFound, "no-such-column", "the sheet has no such column", ""}
		}
		name, text := s.now.book.ignoredName(c), s.session.text()
		if s.now.mapping.Ignores(name) == in.Ignored {
			return nil
		}
		changed, label := mapping.Ignore(text, name, in.Ignored), name+" is left out"
		if !in.Ignored {
			label = name + " is not left out"
		}
		if !saysTheSame(text, changed) {
			return failure{http.StatusUnprocessableEntity, "cannot-patch", "the file cannot be changed there", "change it in the view “The file”"}
		}
		s.session.change(label, changed)
		return nil
	})
}
