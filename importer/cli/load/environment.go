package load

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// Where says where things are: what every command takes that uses an environment.
// Empty fields have the defaults that the flags document.
type Where struct {
	Mapping      string // the mapping file
	Env          string // the environment's name
	Environments string // the environments file
	State        string // the state folder
	Templates    string // a file with the sandbox's reference data
}

// StateDir returns the state folder of an environment; "" when nothing says where
// it is. The sandbox has a folder of its own in it.
func (w Where) StateDir(sandbox bool) string {
	file, _ := environment.Find(w.Mapping, w.Environments)
	dir := environment.StateDir(w.Mapping, file, w.State)
	if sandbox && dir != "" {
		return filepath.Join(dir, "sandbox")
	}
	return dir
}

// LedgerFile returns the path of the ledger in a state folder.
func LedgerFile(state string) string { return filepath.Join(state, "ledger.db") }

// InputsFolder returns the folder in a state folder that has the kept copies of
// sheets.
func InputsFolder(state string) string { return filepath.Join(state, "inputs") }

// choose returns the environment of that name, or the default one.
func (w Where) choose() (*environment.Environment, error) {
	var file *environment.File
	if path, ok := environment.Find(w.Mapping, w.Environments); ok {
		var err error
		if file, err = environment.Load(path); err != nil {
			return nil, err
		}
	}
	return file.Choose(w.Env)
}

func (s *Session) chooseEnvironment(where Where) error {
	s.where = where
	env, err := where.choose()
	if err != nil {
		return err
	}
	if s.Mapping != nil {
		claimType := s.Mapping.ClaimType
		if env, err = env.ForClaimType(claimType.Text); err != nil {
			if p, ok := errors.AsType[problem.Problem](err); ok && p.Where.File == "" {
				p.Where = s.Mapping.At(claimType.At)
				return p
			}
			return err
		}
	}
	s.Env, s.State, s.Warnings = env, where.StateDir(env.Sandbox), env.Warnings()
	return CheckPrivate(s.State)
}

// Scope returns the environment's name in the ledger, as the base url and the
// mapping's version make it.
func (s *Session) Scope() string {
	return s.Env.Identity(apiclient.Version(s.Mapping.API.Text))
}

// Names returns the names of the mapping and of the environment, as far as they
// can be found without checking anything.
func (w Where) Names() (mappingName, environmentName string) {
	if w.Mapping != "" {
		s := &Session{}
		_ = s.readMapping(w.Mapping) // a wrong mapping may have a name too
		mappingName = s.Mapping.Name.Text
	}
	environmentName = w.Env
	if _, ok := environment.Find(w.Mapping, w.Environments); ok {
		if env, err := w.choose(); err == nil {
			environmentName = env.Name
		}
	}
	return mappingName, environmentName
}

// CheckPrivate refuses a state folder that belongs to another user, and one that
// other users of this machine can write to or replace: they could plant a ledger
// or a link there. A folder that does not exist yet will be made for this user
// alone. Windows has no such modes; its folders inherit their rights.
func CheckPrivate(state string) error {
	if runtime.GOOS == "windows" || state == "" {
		return nil
	}
	dir, err := filepath.Abs(state)
	if err != nil {
		return err
	}
	if err := safefile.Owner(dir); err != nil {
		return err
	}
	for forbidden := os.FileMode(0o022); ; forbidden = 0o002 {
		info, err := os.Stat(dir)
		switch {
		case err != nil || !info.IsDir(): // reported when something is made or opened there
		case info.Mode().Perm()&forbidden != 0 && (forbidden == 0o022 || info.Mode()&os.ModeSticky == 0):
			return problem.At(problem.Where{File: dir}, "state-folder", "other users can write to the folder (mode %04o), and so could change what the ledger says is done",
				info.Mode().Perm()).Hinted("%s; or name another state folder with --state", chmod(dir, forbidden))
		}
		above := filepath.Dir(dir)
		if above == dir {
			return nil
		}
		dir = above
	}
}

func chmod(dir string, forbidden os.FileMode) string {
	if forbidden == 0o022 {
		return fmt.Sprintf("chmod go-w %s", dir)
	}
	return fmt.Sprintf("chmod o-w %s", dir)
}

// InStateFolder reports whether a file is in a state folder, where a ledger and
// the files beside it are known by their names.
func InStateFolder(path string) bool {
	dir := filepath.Dir(Absolute(path))
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for {
		_, err := os.Lstat(LedgerFile(dir))
		if err == nil || filepath.Base(dir) == filepath.Base(environment.StateDir(".", "", "")) {
			return true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return false
		}
		dir = above
	}
}

// Absolute returns path as an absolute path, or unchanged when the working
// directory is gone.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// IsFolder reports whether path is a folder, or a link to one.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
