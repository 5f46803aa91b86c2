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

// kept says of which service and of which mapping a file is, and returns its path. What belongs to another
// base url, case, version or claim type is another file.
func (s *Session) kept() (k keptTemplates, path string) {
	k = keptTemplates{Environment: s.Env.Name, Service: s.Env.Identity(s.version), API: s.version, ClaimType: s.Mapping.ClaimType.Text, Mapping: s.Mapping.Name.Text}
	sum := sha256.Sum256([]byte(strings.Join([]string{k.Service, string(k.API), k.ClaimType, k.Mapping}, "\x00")))
	return k, filepath.Join(statefolder.Templates(s.State), url.PathEscape(k.Environment)+"-"+hex.EncodeToString(sum[:8])+".json")
}

// RecordTemplates keeps what the service has for the next run of the mapping, which
// compares it with what the service has then. It returns a warning where that is
// impossible.
func (s *Session) RecordTemplates() problem.List {
	if len(s.Mapping.Activities) == 0 || s.State == "" {
		return nil
	}
	k, path := s.kept()
	k.Read, k.Templates, k.Types = time.Now(), s.templates, s.Binding.Types()
	if s.connection.Now != nil {
		k.Read = s.connection.Now()
	}
	data, err := json.Marshal(k)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = safefile.Replace(path, data, 0o600, os.Rename)
	}
	if err != nil {
		return problem.List{problem.At(problem.Where{File: path}, "kept-templates", "the templates of this run cannot be kept: %v", problem.Cause(err)).
			Hinted("the next run does not see what has changed in the service since this one")}
	}
	return nil
}

// earlier returns what the last run of the mapping used; nil for the first run, and
// with a warning where that cannot be read: a comparison must not stop a run.
func (s *Session) earlier() *mapping.Earlier {
	k, path := s.kept()
	if _, err := os.Lstat(path); s.State == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	data, err := safefile.Read(path, maxReferenceData)
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil {
		s.Warnings = append(s.Warnings, problem.At(problem.Where{File: path}, "kept-templates",
			"the templates of the last run cannot be read, so changes since then are not seen: %v", err).Hinted("remove the file; the next run writes it again"))
		return nil
	}
	return &mapping.Earlier{Run: k.Read, Templates: k.Templates, Types: k.Types}
}
