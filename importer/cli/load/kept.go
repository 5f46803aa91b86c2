package load

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// keptTemplates is a file in the state folder: the templates of an environment as
// they were read last, or as the last run of a mapping used them. It has names and
// ids of the service, and no personal data.
type keptTemplates struct {
	Environment string                  `json:"environment"`
	Service     string                  `json:"service"`
	API         apiclient.Version       `json:"api"`
	ClaimType   string                  `json:"claimType,omitempty"`
	Mapping     string                  `json:"mapping,omitempty"` // whose run it was; "" for what was read last
	Read        time.Time               `json:"read"`
	Templates   []mapping.Template      `json:"templates"`
	Types       map[string]convert.Type `json:"types,omitempty"` // see mapping.Earlier
}

// kept says of which service a file is, and for a run of which mapping.
func (s *Session) kept(mappingName string) keptTemplates {
	k := keptTemplates{Environment: s.Env.Name, Service: s.Env.Identity(s.version), API: s.version, Mapping: mappingName}
	if s.Mapping != nil {
		k.ClaimType = s.Mapping.ClaimType.Text
	}
	return k
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

// KeepTemplates keeps the templates that were read for the time when the service
// does not answer. Where nothing can be written, nothing is kept: the command has
// what it needs. The sandbox always answers.
func (s *Session) KeepTemplates() {
	if s.templates == nil || s.Env.Sandbox || !s.Cached.IsZero() {
		return
	}
	k := s.kept("")
	k.Read, k.Templates = s.now(), s.templates
	_ = k.write(s.State)
}

// RecordTemplates keeps what the service has for the next run of the mapping, which
// compares it with what the service has then. It returns a warning where that is
// impossible.
func (s *Session) RecordTemplates() problem.List {
	if len(s.Mapping.Activities) == 0 {
		return nil
	}
	s.KeepTemplates()
	k := s.kept(s.Mapping.Name.Text)
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
	k := s.kept(s.Mapping.Name.Text)
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

// fromCache returns the templates that were read last, when cause says that the
// service did not answer; else cause.
func (s *Session) fromCache(cause error) ([]mapping.Template, error) {
	f, ok := errors.AsType[*apiclient.Failure](cause)
	if !ok || f.Stop || f.Retry != apiclient.Now {
		return nil, cause
	}
	k := s.kept("")
	if ok, err := k.read(s.State); !ok {
		return nil, errors.Join(cause, err)
	}
	s.Cached = k.Read
	s.Warnings = append(s.Warnings, problem.New("cached-templates", "templates of %s from the cache, %s old; the service did not give them: %s",
		k.Read.Local().Format("2006-01-02 15:04"), age(s.now().Sub(k.Read)), f.Reason).
		Hinted("run it again when the service answers; a run and a dry run never use the cache"))
	return k.Templates, nil
}

// age is a duration in the largest unit of which there are at least two.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%d days", d/day)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return "a minute"
}

func (s *Session) now() time.Time {
	if s.connection.Now != nil {
		return s.connection.Now()
	}
	return time.Now()
}
