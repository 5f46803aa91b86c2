package load

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/cli/statefolder"
	"claimsheet/importer/safefile"
	"claimsheet/mapping"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// keptTemplates is a file in the state folder: the templates of an environment as the last run
// of a mapping used them. It has names and ids of the service, and no personal data.
type keptTemplates struct {
	Environment string                  `json:"environment"`
	Service     string                  `json:"service"`
	API         apiclient.Version       `json:"api"`
	ClaimType   string                  `json:"claimType,omitempty"`
	Mapping     string                  `json:"mapping"`
	Read        time.Time               `json:"read"`
	Templates   []mapping.Template      `json:"templates"`
	Types       map[string]convert.Type `json:"types,omitempty"` // see mapping.Earlier
}

// kept says of which service and of which mapping a file is.
func (s *Session) kept() keptTemplates {
	return keptTemplates{Environment: s.Env.Name, Service: s.Env.Identity(s.version), API: s.version, ClaimType: s.Mapping.ClaimType.Text, Mapping: s.Mapping.Name.Text}
}

// file returns the path of the file; "" without a state folder. What belongs to
// another base url, case, version or claim type is another file.
func (k keptTemplates) file(state string) string {
	if state == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{k.Service, string(k.API), k.ClaimType, k.Mapping}, "\x00")))
	return filepath.Join(statefolder.Templates(state), url.PathEscape(k.Environment)+"-"+hex.EncodeToString(sum[:8])+".json")
}

// write replaces the file as a whole. It makes the state folder if there is none.
func (k keptTemplates) write(state string) error {
	path := k.file(state)
	if path == "" {
		return nil
	}
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// read fills k from its file; ok is false when there is none.
func (k *keptTemplates) read(state string) (ok bool, err error) {
	path := k.file(state)
	if path == "" {
		return false, nil
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	data, err := safefile.Read(path, maxReferenceData)
	if err == nil {
		err = json.Unmarshal(data, k)
	}
	return err == nil, err
}

// RecordTemplates keeps what the service has for the next run of the mapping, which
// compares it with what the service has then. It returns a warning where that is
// impossible.
func (s *Session) RecordTemplates() problem.List {
	if len(s.Mapping.Activities) == 0 {
		return nil
	}
	k := s.kept()
	k.Read, k.Templates, k.Types = s.now(), s.templates, s.Binding.Types()
	if err := k.write(s.State); err != nil {
		return problem.List{problem.At(problem.Where{File: k.file(s.State)}, "kept-templates", "the templates of this run cannot be kept: %v", problem.Cause(err)).
			Hinted("the next run does not see what has changed in the service since this one")}
	}
	return nil
}

// earlier returns what the last run of the mapping used; nil for the first run, and
// with a warning where that cannot be read: a comparison must not stop a run.
func (s *Session) earlier() *mapping.Earlier {
	k := s.kept()
	ok, err := k.read(s.State)
	if err != nil {
		s.Warnings = append(s.Warnings, problem.At(problem.Where{File: k.file(s.State)}, "kept-templates",
			"the templates of the last run cannot be read, so changes since then are not seen: %v", err).Hinted("remove the file; the next run writes it again"))
	}
	if !ok {
		return nil
	}
	return &mapping.Earlier{Run: k.Read, Templates: k.Templates, Types: k.Types}
}

func (s *Session) now() time.Time {
	if s.connection.Now != nil {
		return s.connection.Now()
	}
	return time.Now()
}
