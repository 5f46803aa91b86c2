package studio

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"claimsheet/importer/cli/load"
	"claimsheet/importer/safefile"
	"claimsheet/importer/sheet"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// session is the text of a mapping with its history, and what is known of its file.
type session struct {
	path    string
	history []revision // at least one
	at      int        // the revision that is now
	version int        // counts the changes, undo and redo included

	file          []byte // as it was last read or saved; nil when there was none
	begin         []byte // the text when the session began, for the diff
	autosave      string // "" for none
	unsavedBefore []byte // the text that an earlier session left unsaved; nil for none
}

// revision is a text of the history.
type revision struct {
	label   string // what was done to come here
	version int    // of the session, when it was done
	text    []byte
}

// mostRevisions bounds the history; the oldest moments but the first are forgotten.
const mostRevisions = 500

func (s *session) open(o Options) error {
	s.path, s.autosave = o.Mapping, o.Autosave
	text, err := readFile(s.path)
	if err != nil {
		return err
	}
	s.file = text
	label := "as it was"
	if text == nil {
		text, label = o.Proposed, "proposed from the sheet"
	}
	s.begin, s.version = text, 1
	s.history = []revision{{label, 1, text}}
	s.unsavedBefore = s.readAutosave()
	return nil
}

// readFile returns the mapping file; nil when there is none.
func readFile(path string) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	text, err := safefile.Read(path, mapping.MaxSize)
	if err == nil && text == nil {
		text = []byte{}
	}
	return text, err
}

// sheetOptions returns how the text says that the sheets are read.
func (s *session) sheetOptions(o Options) sheet.Options {
	m, _ := mapping.Parse(s.path, s.text())
	options := load.SheetOptions(m)
	options.Password = o.Password
	return options
}

func (s *session) text() []byte { return s.history[s.at].text }

// dirty reports whether the text is not that of the file.
func (s *session) dirty() bool { return s.file == nil || !bytes.Equal(s.text(), s.file) }

// onDisk compares the file with what was read or saved last.
func (s *session) onDisk() string {
	text, err := readFile(s.path)
	switch {
	case err == nil && text == nil && s.file != nil:
		return "gone"
	case err != nil || (text == nil) != (s.file == nil) || !bytes.Equal(text, s.file):
		return "changed"
	}
	return "same"
}

// other returns a text that a person may take in the place of the present one: that on the
// disk, or the draft that an earlier session left.
func (s *session) other(which string) ([]byte, error) {
	if which == "draft" {
		return s.unsavedBefore, nil
	}
	return readFile(s.path)
}

// change makes a text the present one; what was undone is forgotten.
func (s *session) change(label string, text []byte) {
	s.version++
	s.history = append(s.history[:s.at+1], revision{label, s.version, text})
	if len(s.history) > mostRevisions {
		s.history = append(s.history[:1], s.history[2:]...)
	}
	s.at = len(s.history) - 1
	s.keep()
}

// goTo goes to another revision of the history.
func (s *session) goTo(to int) {
	s.at = to
	s.version++
	s.keep()
}

// save writes the text in the file's place. It refuses to when the file is not the one
// that was read, unless overwrite is set, and when this user may not write it.
func (s *session) save(overwrite bool) error {
	if on := s.onDisk(); on != "same" && !overwrite {
		message := "another program has changed the file since it was read"
		if on == "gone" {
			message = "the file is not there any more"
		} else if s.file == nil {
			message = "there is a file of this name now"
		}
		return changedOnDisk(message)
	}
	if _, err := readFile(s.path); err != nil { // a folder now, or a link of another user
		return err
	}
	info, err := os.Stat(s.path)
	switch {
	case err == nil && (info.Mode().Perm()&0o200 == 0 || !safefile.Ours(info)):
		err = s.noAccess(errors.New("it is read-only, or belongs to another user"))
	case err == nil || overwrite:
		err = replaceFile(s.path, s.text(), 0o644, os.Rename)
	default: // a file that somebody makes just now stays
		err = replaceFile(s.path, s.text(), 0o644, create)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return changedOnDisk("there is a file of this name now")
	case err != nil:
		return s.noAccess(err)
	}
	s.file = s.text()
	s.keep()
	return nil
}

func changedOnDisk(message string) error {
	return failure{http.StatusConflict, "changed-on-disk", message, "take the file as it is now, or overwrite it with what is here"}
}

func (s *session) noAccess(err error) error {
	return problem.At(problem.Where{File: s.path}, "output-no-access", "the file cannot be written: %v", problem.Cause(err)).
		Hinted("nothing was changed; what is here is not lost while this page is open")
}

// replaceFile writes a file as a whole: after a crash there is the old one or the new
// one. A link stays one. mode is that of a file that does not exist yet. put gives the
// written file its name.
func replaceFile(path string, data []byte, mode fs.FileMode, put func(from, to string) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	folder := filepath.Dir(path)
	temp, err := os.CreateTemp(folder, ".claimsheet-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // a link of it, or what failed
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := put(temp.Name(), path); err != nil {
		return err
	}
	_ = safefile.SyncFolder(folder) // the file is there already
	return nil
}

// create gives a file a name that no other file has.
func create(from, to string) error {
	err := os.Link(from, to)
	if err != nil && !errors.Is(err, fs.ErrExist) { // not every file system has links
		return os.Rename(from, to)
	}
	return err
}

// unsaved is the autosaved file: what was not saved, and of which mapping file.
type unsaved struct {
	Mapping string `json:"mapping"`
	Text    string `json:"text"`
}

// keep writes what is not saved to the autosaved file, and removes that when all is
// saved. A text that an earlier session left stays until it is decided about. Where
// nothing can be written, nothing is kept.
func (s *session) keep() {
	if s.autosave == "" || s.unsavedBefore != nil {
		return
	}
	if !s.dirty() || s.file == nil && bytes.Equal(s.text(), s.begin) { // what was proposed can be proposed again
		_ = os.Remove(s.autosave)
		return
	}
	data, err := json.Marshal(unsaved{safefile.Absolute(s.path), string(s.text())})
	if err == nil && os.MkdirAll(filepath.Dir(s.autosave), 0o700) == nil {
		_ = replaceFile(s.autosave, data, 0o600, os.Rename)
	}
}

// readAutosave returns what an earlier session left unsaved; nil for none.
func (s *session) readAutosave() []byte {
	if s.autosave == "" {
		return nil
	}
	var u unsaved
	data, err := safefile.Read(s.autosave, 8*mapping.MaxSize)
	if err != nil || json.Unmarshal(data, &u) != nil || u.Mapping != safefile.Absolute(s.path) || u.Text == string(s.text()) {
		return nil
	}
	return []byte(u.Text)
}
