package studio

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/safefile"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// session is the text of a mapping with its history, and what is known of its file.
type session struct {
	path    string
	history []revision // at least one
	at      int        // the revision that is now
	version int        // counts the changes, undo and redo included

	file     []byte // the file's text as it was last read or saved; nil for a missing file
	autosave string // "" for none
	notKept  error  // why what is not saved cannot be kept for the next time
}

type revision struct {
	label string
	text  []byte
}

func (s *session) open(o Options) (err error) {
	s.path, s.autosave = o.Mapping, o.Autosave
	if s.file, err = readFile(s.path); err != nil {
		return err
	}
	text, label := s.file, "as it was"
	if text == nil {
		text, label = o.Proposed, "proposed from the sheet"
	}
	s.version = 1
	s.history = []revision{{label, text}}
	var left struct { // see keep
		Text string
		File []byte
	}
	data, err := safefile.Read(s.autosave, 8*mapping.MaxSize)
	if err == nil && json.Unmarshal(data, &left) == nil && left.Text != string(text) {
		s.file, s.at = left.File, 1 // made of the file of then: if that is another one now, saving asks which to keep
		s.history = append(s.history, revision{leftUnsaved, []byte(left.Text)})
	}
	return nil
}

// leftUnsaved is the label of what an earlier session left.
const leftUnsaved = "left unsaved last time"

// readFile reads the mapping file, which need not exist: then the text is nil.
func readFile(path string) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return safefile.Read(path, mapping.MaxSize)
}

// reading returns how the text says that the sheets are read.
func (s *session) reading(o Options) reading {
	m, _ := mapping.Parse(s.path, s.text())
	r := reading{Options: workbook.Options(m)}
	r.Password = o.Password
	for _, name := range m.FillDown() {
		r.fillDown += "\n" + name
	}
	return r
}

func (s *session) text() []byte { return s.history[s.at].text }

// dirty reports whether the text is not that of the file.
func (s *session) dirty() bool { return s.file == nil || !bytes.Equal(s.text(), s.file) }

// onDisk says to a person what has become of the file since it was read or saved last; "" when it is the same, or has the text already.
func (s *session) onDisk() (why string) {
	now, err := readFile(s.path)
	switch {
	case err != nil:
		return "the file cannot be read any more: " + whyNot(err)
	case now == nil && s.file == nil, now != nil && (s.file != nil && bytes.Equal(now, s.file) || bytes.Equal(now, s.text())):
		return ""
	case now == nil:
		return "the file is not there any more"
	}
	return "another program has written the file meanwhile"
}

// whyNot is an error without the file's name and code.
func whyNot(err error) string {
	if p, ok := errors.AsType[problem.Problem](err); ok {
		return p.Message
	}
	return problem.Cause(err).Error()
}

// change makes a text the present one; what was undone is forgotten, unless the text is the present one already.
func (s *session) change(label string, text []byte) {
	if !bytes.Equal(text, s.text()) {
		s.history = append(s.history[:s.at+1], revision{label, text})
		s.at++
	}
	s.goTo(s.at)
}

func (s *session) goTo(to int) {
	s.at = to
	s.version++
	s.keep()
}

// save writes the text to the file, unless that is another one now and overwrite is not set, or this user may not write it.
func (s *session) save(overwrite bool) error {
	if why := s.onDisk(); why != "" && !overwrite {
		return cannot("changed-on-disk", why, "take the file as it is now, or overwrite it with what is here")
	}
	if _, err := readFile(s.path); err != nil { // a folder now, or a link of another user
		return err
	}
	if info, err := os.Stat(s.path); err == nil && (info.Mode().Perm()&0o200 == 0 || !safefile.Ours(info)) {
		return s.noAccess(errors.New("it is read-only, or belongs to another user"))
	}
	if err := safefile.Replace(s.path, s.text(), 0o644); err != nil {
		return s.noAccess(err)
	}
	s.file = s.text()
	s.keep()
	return nil
}

func (s *session) noAccess(err error) error {
	return problem.At(problem.Where{File: s.path}, "output-no-access", "the file cannot be written: %v", problem.Cause(err)).
		Hinted("nothing was changed; what is here is not lost while this page is open")
}

// keep writes what is not saved to the autosaved file, with what the mapping file had when the changes were begun, null when there was
// none. It removes the autosaved file when there is nothing to save.
func (s *session) keep() {
	s.notKept = nil
	isSaved := !s.dirty() || s.file == nil && s.at == 0 // what was proposed can be proposed again
	switch {
	case s.autosave == "":
	case isSaved:
		_ = os.Remove(s.autosave)
	default:
		data, _ := json.Marshal(map[string]any{"text": string(s.text()), "file": s.file}) // texts
		if s.notKept = os.MkdirAll(filepath.Dir(s.autosave), 0o700); s.notKept == nil {
			s.notKept = safefile.Replace(s.autosave, data, 0o600)
		}
	}
}

// getDiff answers with the lines of a unified diff from the text when the session began.
func (s *Server) getDiff(*http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const head = 3 // lines that name the files
	list := lines(string(diff.Diff("", s.session.history[0].text, "", s.session.text())))
	return map[string]any{"lines": list[min(head, len(list)):]}, nil
}

func lines(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}
